CREATE TABLE depots (id INTEGER PRIMARY KEY, code TEXT, region TEXT);
CREATE TABLE drivers (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, depot_id INTEGER REFERENCES depots, hired TEXT);
CREATE TABLE trucks (id INTEGER PRIMARY KEY, plate TEXT, depot_id INTEGER REFERENCES depots, bought TEXT, odometer INTEGER);
CREATE TABLE routes (id INTEGER PRIMARY KEY, depot_id INTEGER REFERENCES depots, town TEXT, distance INTEGER);
CREATE TABLE shipments (id INTEGER PRIMARY KEY, depot_id INTEGER REFERENCES depots, driver_id INTEGER REFERENCES drivers, client TEXT, service TEXT, sent TEXT, promised TEXT, delivered TEXT, price REAL);
CREATE TABLE parcels (id INTEGER PRIMARY KEY, shipment_id INTEGER REFERENCES shipments, content TEXT, weight INTEGER);

INSERT INTO depots (id, code, region) VALUES
  (1, 'anw', 'north'),
  (2, 'Brg', 'coast'),
  (3, 'chL', 'south'),
  (4, 'dinAnt', 'south'),
  (5, 'eekl', 'north'),
  (6, 'Furn', 'coast'),
  (7, 'gnK', 'east'),
  (8, 'hass', 'east');

INSERT INTO drivers (id, first_name, last_name, depot_id, hired) VALUES
  (1, 'Ana', 'Adams', 1, '2011-06-14'),
  (2, 'Dirk', 'Hendrickx', 6, '2024-02-11'),
  (3, 'Gina', 'Pieters', 4, '2022-09-17'),
  (4, 'Jens', 'Bogaert', 2, '2022-01-22'),
  (5, 'Mila', 'Jansen', 7, '2010-12-09'),
  (6, 'Piet', 'Raes', 5, '2012-08-24'),
  (7, 'Tine', 'Cools', 3, '2010-11-18'),
  (8, 'Bert', 'Kerkhof', 1, '2018-04-28'),
  (9, 'Ema', 'Sels', 7, '2024-10-10'),
  (10, 'Hans', 'Declercq', 5, '2019-06-13'),
  (11, 'Kato', 'Leroy', 3, '2010-04-24'),
  (12, 'Nico', 'Timmers', 1, '2012-02-14'),
  (13, 'Rita', 'Engels', 6, '2021-07-11'),
  (14, 'Walt', 'Moens', 4, '2022-06-09'),
  (15, 'Cleo', 'Vos', 2, '2020-07-20'),
  (16, 'Frank', 'Fonteyn', 7, '2019-01-22'),
  (17, 'Ilse', 'Neyt', 6, '2016-12-18'),
  (18, 'Leon', 'Wils', 4, '2024-10-07'),
  (19, 'Olga', 'Geerts', 2, '2020-02-19'),
  (20, 'Stan', 'Oste', 7, '2014-09-20'),
  (21, 'Bert', 'Declercq', 5, '2018-06-05'),
  (22, 'Ema', 'Leroy', 3, '2017-04-11'),
  (23, 'Hans', 'Timmers', 1, '2014-10-14'),
  (24, 'Kato', 'Engels', 6, '2019-08-23'),
  (25, 'Nico', 'Moens', 5, '2021-08-25'),
  (26, 'Rita', 'Vos', 3, '2016-05-25'),
  (27, 'Walt', 'Fonteyn', 1, '2021-09-01'),
  (28, 'Cleo', 'Neyt', 6, '2018-03-01'),
  (29, 'Frank', 'Wils', 4, '2013-02-28'),
  (30, 'Ilse', 'Geerts', 2, '2023-05-03');

INSERT INTO trucks (id, plate, depot_id, bought, odometer) VALUES
  (1, 'V-100', 1, '2024-06-01', 31583),
  (2, 'Q-137', 4, '2024-01-14', 18523),
  (3, 'TMP174', 7, '2017-06-27', 79459),
  (4, 'R-211', 2, '2020-05-12', 68065),
  (5, 'TMP248', 5, '2018-04-25', 78740),
  (6, 'Q-285', 8, '2019-12-10', 64647),
  (7, 'TMP322', 3, '2020-11-23', 60395),
  (8, 'TMP359', 6, '2024-01-08', 31566),
  (9, 'V-396', 2, '2023-06-21', 30942),
  (10, 'Q-433', 5, '2021-10-06', 48998),
  (11, 'K-470', 8, '2018-03-19', 63930),
  (12, 'R-507', 3, '2021-05-04', 43548),
  (13, 'V-544', 6, '2020-08-17', 48987),
  (14, 'TMP581', 1, '2018-03-02', 82344),
  (15, 'K-618', 4, '2023-01-15', 22011),
  (16, 'R-655', 7, '2019-03-28', 57795),
  (17, 'V-692', 3, '2023-07-13', 29285),
  (18, 'TMP729', 6, '2022-01-26', 52091),
  (19, 'TMP766', 1, '2024-07-11', 23316),
  (20, 'TMP803', 4, '2017-07-24', 76419),
  (21, 'TMP840', 7, '2024-12-09', 19529),
  (22, 'Q-877', 2, '2021-10-22', 56208),
  (23, 'K-114', 5, '2024-09-07', 26038),
  (24, 'R-151', 8, '2022-04-20', 38488),
  (25, 'V-188', 4, '2023-05-05', 35480),
  (26, 'Q-225', 7, '2019-10-18', 76848),
  (27, 'TMP262', 2, '2017-03-03', 93530),
  (28, 'TMP299', 5, '2021-01-16', 59932),
  (29, 'V-336', 8, '2020-03-01', 68108),
  (30, 'Q-373', 3, '2018-04-14', 80809),
  (31, 'K-410', 6, '2022-12-27', 36417),
  (32, 'R-447', 1, '2020-04-12', 56605),
  (33, 'V-484', 5, '2018-05-25', 74451),
  (34, 'Q-521', 8, '2021-08-10', 40463),
  (35, 'K-558', 3, '2018-11-23', 66980),
  (36, 'R-595', 6, '2020-05-08', 62741),
  (37, 'V-632', 1, '2024-03-21', 33196),
  (38, 'Q-669', 4, '2017-12-06', 90360),
  (39, 'K-706', 7, '2020-08-19', 68563),
  (40, 'R-743', 2, '2018-05-04', 84147);

INSERT INTO routes (id, depot_id, town, distance) VALUES
  (1, 1, 'Lille', 35),
  (2, 2, 'Namur', 102),
  (3, 3, 'Metz', 169),
  (4, 4, 'Breda', 93),
  (5, 5, 'Reims', 160),
  (6, 6, 'Venlo', 84),
  (7, 7, 'Aachen', 151),
  (8, 8, 'Trier', 75),
  (9, 1, 'Breda', 142),
  (10, 2, 'Reims', 66),
  (11, 3, 'Venlo', 133),
  (12, 4, 'Aachen', 57),
  (13, 5, 'Trier', 124),
  (14, 6, 'Lille', 48),
  (15, 7, 'Namur', 115),
  (16, 8, 'Metz', 39),
  (17, 1, 'Aachen', 106),
  (18, 2, 'Trier', 173),
  (19, 3, 'Lille', 97),
  (20, 4, 'Namur', 164),
  (21, 5, 'Metz', 88),
  (22, 6, 'Breda', 155),
  (23, 7, 'Reims', 79),
  (24, 8, 'Venlo', 146),
  (25, 1, 'Namur', 70),
  (26, 2, 'Metz', 137),
  (27, 3, 'Breda', 61),
  (28, 4, 'Reims', 128),
  (29, 5, 'Venlo', 52),
  (30, 6, 'Aachen', 119),
  (31, 7, 'Trier', 43),
  (32, 8, 'Lille', 110);

INSERT INTO shipments
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 449),
planned(i, driver, sent, term) AS (
  SELECT i, 1 + (i * 13 + i / 30) % 30, date('2023-01-01', '+' || ((i * 389 + i / 50) % 911) || ' days'), 3 + i * 7 % 5 FROM n)
SELECT i + 1, (SELECT depot_id FROM drivers WHERE id = driver), driver,
  CASE (i * 11 + i / 9) % 7 WHEN 0 THEN 'Aldora' WHEN 1 THEN 'Bexley' WHEN 2 THEN 'Corvin' WHEN 3 THEN 'Dunmore' WHEN 4 THEN 'Elvar' WHEN 5 THEN 'Fenwick' ELSE 'Garnet' END,
  CASE WHEN (i * 5 + i / 13 + i * i % 7) % 6 = 4 THEN 'TR' WHEN i % 4 = 1 THEN 'EXP' WHEN i % 4 = 3 THEN 'ECO' ELSE 'STD' END,
  sent, date(sent, '+' || term || ' days'),
  CASE WHEN i % 29 <> 17 AND date(sent, '+' || (term + 7) || ' days') <= '2025-06-30' THEN date(sent, '+' || (term - 2 + (i * 31 + i / 7) % 10 * ((i * 17 + i / 5) % 7) / 6) || ' days') END,
  45 + i * 73 % 211 + i % 4 * 20 + (i * 11 + i / 9) % 7 * 6
FROM planned;

INSERT INTO parcels
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 539)
SELECT i + 1, 1 + (i * 41 + i / 450) % 450,
  CASE i * 3 % 5 WHEN 0 THEN 'books' WHEN 1 THEN 'glass' WHEN 2 THEN 'tools' WHEN 3 THEN 'paint' ELSE 'seeds' END,
  350 + i * 3 % 5 * 2100 + i * 677 % 19700
FROM n;

CREATE TABLE customers (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, city TEXT,
  kind TEXT, joined TEXT, last_order TEXT);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, category TEXT, price INTEGER,
  stock INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, placed TEXT, status TEXT,
  channel TEXT, total INTEGER, shipping INTEGER);
CREATE TABLE items (order_id INTEGER, product_id INTEGER, quantity INTEGER);
CREATE TABLE reviews (id INTEGER PRIMARY KEY, product_id INTEGER, customer_id INTEGER,
  stars INTEGER, written TEXT);

INSERT INTO customers (id, first_name, last_name, city, kind, joined) VALUES
  (1, 'Anna', 'Nagel', 'Berlin', 'B', '2022-10-02'),
  (2, 'Ben', 'Horn', 'Leipzig', 'B', '2024-06-15'),
  (3, 'Clara', 'Otto', 'Leipzig', 'P', '2024-05-08'),
  (4, 'David', 'Pohl', 'Berlin', 'T', '2021-01-03'),
  (5, 'Emma', 'Krause', 'Cologne', 'B', '2023-09-16'),
  (6, 'Felix', 'Voss', 'Berlin', 'P', '2023-10-03'),
  (7, 'Greta', 'Lorenz', 'Hamburg', 'P', '2022-06-05'),
  (8, 'Hugo', 'Quandt', 'Munich', 'P', '2022-09-19'),
  (9, 'Ida', 'Frank', 'Hamburg', 'T', '2024-06-23'),
  (10, 'Jonas', 'Keller', 'Berlin', 'P', '2025-01-27'),
  (11, 'Karla', 'Opitz', 'Hamburg', 'P', '2025-06-22'),
  (12, 'Leon', 'Richter', 'Berlin', 'T', '2022-01-24'),
  (13, 'Mia', 'Cramer', 'Dresden', 'P', '2025-03-23'),
  (14, 'Noah', 'Iversen', 'Hamburg', 'P', '2024-01-15'),
  (15, 'Olga', 'Adler', 'Munich', 'T', '2024-03-20'),
  (16, 'Paul', 'Winter', 'Hamburg', 'P', '2023-05-05'),
  (17, 'Rosa', 'Thiel', 'Dresden', 'B', '2024-08-03'),
  (18, 'Simon', 'Maier', 'Munich', 'P', '2023-03-27'),
  (19, 'Tara', 'Unger', 'Hamburg', 'P', '2023-12-14'),
  (20, 'Uwe', 'Yildiz', 'Cologne', 'T', '2024-11-13'),
  (21, 'Vera', 'Vogt', 'Cologne', 'B', '2022-03-08'),
  (22, 'Willi', 'Wolf', 'Bremen', 'B', '2025-05-06'),
  (23, 'Xenia', 'Decker', 'Leipzig', 'B', '2022-07-18'),
  (24, 'Yusuf', 'Moser', 'Berlin', 'P', '2024-03-23'),
  (25, 'Zoe', 'Seidel', 'Cologne', 'P', '2021-08-28'),
  (26, 'Alma', 'Brandt', 'Kiel', 'P', '2024-07-13'),
  (27, 'Bruno', 'Jansen', 'Leipzig', 'T', '2024-02-16'),
  (28, 'Cora', 'Roth', 'Bremen', 'P', '2023-02-07'),
  (29, 'Dirk', 'Engel', 'Munich', 'B', '2024-10-02'),
  (30, 'Elsa', 'Hahn', 'Hamburg', 'T', '2022-06-19'),
  (31, 'Finn', 'Torn', 'Munich', 'P', '2024-10-01'),
  (32, 'Gina', 'Arnold', 'Hamburg', 'P', '2024-03-21'),
  (33, 'Hans', 'Busch', 'Bremen', 'T', '2023-06-20'),
  (34, 'Ines', 'Fuchs', 'Berlin', 'P', '2022-08-15'),
  (35, 'Jan', 'Conrad', 'Munich', 'P', '2022-03-04'),
  (36, 'Kira', 'Neumann', 'Dresden', 'P', '2023-08-27'),
  (37, 'Lars', 'Graf', 'Dresden', 'B', '2021-04-17'),
  (38, 'Mona', 'Sauer', 'Dresden', 'T', '2024-03-23'),
  (39, 'Nils', 'Lange', 'Cologne', 'P', '2023-11-28'),
  (40, 'Ole', 'Xylander', 'Hamburg', 'P', '2023-09-12'),
  (41, 'Pia', 'Gruber', 'Munich', 'P', '2023-09-18'),
  (42, 'Ralf', 'Ihde', 'Kiel', 'P', '2023-10-26'),
  (43, 'Sina', 'Ebert', 'Kiel', 'P', '2023-04-27'),
  (44, 'Tim', 'Dietz', 'Hamburg', 'P', '2023-04-17'),
  (45, 'Ulla', 'Pfeiffer', 'Munich', 'P', '2021-01-26'),
  (46, 'Viktor', 'Ziegler', 'Kiel', 'T', '2025-06-21'),
  (47, 'Wanda', 'Jung', 'Cologne', 'P', '2024-08-26'),
  (48, 'Ylva', 'Ulrich', 'Dresden', 'P', '2024-02-08');

INSERT INTO products VALUES
  (1, 'Bird Guide', 'books', 990, 0),
  (2, 'Watering Can', 'garden', 2990, 60),
  (3, 'Teddy Bear', 'toys', 4990, 3),
  (4, 'Baking Book', 'books', 390, -1),
  (5, 'Pepper Mill', 'kitchen', 6490, 25),
  (6, 'Cast Iron Pan', 'kitchen', 19900, -1),
  (7, 'Plant Pot', 'garden', 290, -1),
  (8, 'City Atlas', 'books', 3490, 40),
  (9, 'Lantern', 'garden', 490, 3),
  (10, 'Kite', 'toys', 14900, -1),
  (11, 'Card Game', 'toys', 3490, 2),
  (12, 'Jump Rope', 'sports', 2450, 3),
  (13, 'Hammock', 'garden', 1250, 4),
  (14, 'Cutting Board', 'kitchen', 1490, 0),
  (15, 'Water Bottle', 'sports', 12900, -1),
  (16, 'Tea Kettle', 'kitchen', 3490, 7),
  (17, 'Yoga Mat', 'sports', 11900, 4),
  (18, 'Star Charts', 'books', 1990, 60),
  (19, 'Marble Run', 'toys', 3490, 7),
  (20, 'Puzzle Castle', 'toys', 2450, -1),
  (21, 'Chess Primer', 'books', 990, -1),
  (22, 'Chef Knife', 'kitchen', 490, -1),
  (23, 'Salad Bowl', 'kitchen', 2990, 12),
  (24, 'Wooden Train', 'toys', 3490, 60),
  (25, 'Whisk', 'kitchen', 890, 18),
  (26, 'Hose', 'garden', 990, -1),
  (27, 'Football', 'sports', 990, 40),
  (28, 'Tennis Racket', 'sports', 3490, -1),
  (29, 'Night Tales', 'books', 490, 40),
  (30, 'Bike Lamp', 'sports', 11900, 25),
  (31, 'Seed Box', 'garden', 4990, 3),
  (32, 'Rake', 'garden', 11900, 0),
  (33, 'Robot Kit', 'toys', 990, 3);

INSERT INTO orders
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 420)
SELECT
  i,
  (i * 37 + i * i * 11 + i / 48) % 48 + 1,
  date('2025-06-30', '-' || ((i * 101 + i * i * 13) % 1087) || ' days'),
  CASE (i * 7 + i / 5 + i / 23) % 10
    WHEN 0 THEN 'cancelled' WHEN 1 THEN 'refunded' WHEN 2 THEN 'cancelled' WHEN 3 THEN 'shipped'
    WHEN 4 THEN 'paid' ELSE 'delivered' END,
  CASE (i * 5 + i / 7 + i / 31) % 9
    WHEN 0 THEN 'phone' WHEN 1 THEN 'store' WHEN 2 THEN 'store' WHEN 3 THEN 'app'
    WHEN 4 THEN 'app' WHEN 5 THEN 'app' ELSE 'web' END,
  0,
  CASE (i * 3 + i / 11) % 4 WHEN 0 THEN 0 WHEN 1 THEN 390 WHEN 2 THEN 490 ELSE 690 END
FROM n;

INSERT INTO items
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
SELECT
  (i - 1) % 420 + 1,
  (i * 17 + i * i * 5 + i / 33) % 33 + 1,
  SUM((i * 5 + i / 9) % 4 + 1)
FROM n
GROUP BY 1, 2;

UPDATE orders SET total = shipping + (
  SELECT SUM(i.quantity * p.price) FROM items i JOIN products p ON p.id = i.product_id
  WHERE i.order_id = orders.id);

UPDATE customers SET last_order =
  (SELECT MAX(placed) FROM orders WHERE customer_id = customers.id);

INSERT INTO reviews
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 160)
SELECT
  i,
  (i * 19 + i / 33) % 33 + 1,
  (i * 29 + i / 7) % 48 + 1,
  CASE WHEN (i * 3 + i / 4) % 5 = 0 THEN (i * 11) % 6 + 1 ELSE (i * 7 + i / 6) % 5 + 6 END,
  date('2025-06-30', '-' || ((i * 67 + i * i * 3) % 1080) || ' days')
FROM n;

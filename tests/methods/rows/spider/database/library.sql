CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE loan (id INTEGER PRIMARY KEY, member_id INTEGER REFERENCES member(id), days INTEGER);
INSERT INTO member VALUES (1, 'Ada', 'Bern'), (2, 'Ben', 'Basel'), (3, 'Cid', 'Bern');
INSERT INTO loan VALUES (1, 1, 14), (2, 1, 7), (3, 2, 30);

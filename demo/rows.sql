INSERT INTO contacts VALUES (111, '123', 'iteblog', 'the first'), (111, '123', 'carbondata', NULL), (111, '124', 'iteblog', NULL), (111, '1299', 'spark', NULL),
  (112, '123', 'iteblog', 'another uid'), (112, '98', 'a', NULL), (7, '123', 'b', 'a short uid is padded with zeros');
INSERT INTO foo_hashed VALUES ('foo0001', 'one'), ('foo0002', 'two'), ('foo0003', 'three'), ('foo0004', 'four');
INSERT INTO sites VALUES ('www.iteblog.com', 'Iteblog', 1200), ('flink.iteblog.com', 'Flink', 310), ('carbondata.iteblog.com', 'CarbonData', 45), ('def.iteblog.com', NULL, 7), ('example.org', 'Example', 3);
INSERT INTO trades VALUES
  ('S0000001', 'B0000009', TIMESTAMP '2026-01-05 10:00:00', 'o-77', 12.5), ('S0000001', 'B0000004', TIMESTAMP '2026-01-20 11:30:00', 'o-78', 80),
  ('S0000001', 'B0000009', TIMESTAMP '2026-02-03 09:15:00', 'o-80', 41.25), ('S0000002', 'B0000009', TIMESTAMP '2026-01-21 16:45:00', 'o-79', 7);
INSERT INTO profiles VALUES ('u-1', '110101199003077', '13800000000', '{"name": "Ada", "score": 710}'), ('u-2', '110101198805161', '13900000001', '{"name": "Bo", "score": 655}'),
  ('u-3', '310101197702024', '13800000000', '{"name": "Cy", "score": 590}');
INSERT INTO car_events VALUES ('LSVAA4182E2184847', TIMESTAMP '2026-01-01 08:00:00', 41.5), ('LSVAA4182E2184847', TIMESTAMP '2026-01-01 08:00:10', 43), ('LSVAA4182E2184848', TIMESTAMP '2026-01-01 08:00:05', 0);
INSERT INTO user_ops VALUES ('u0000001', TIMESTAMP '2026-01-01 00:00:01', 'login'), ('u0000001', TIMESTAMP '2026-01-01 10:30:00', 'search'), ('u0000001', TIMESTAMP '2026-01-02 09:00:00', 'buy'), ('u0000002', TIMESTAMP '2026-01-01 12:00:00', 'login');
INSERT INTO user_ops_reversed SELECT * FROM user_ops ALLOW FULL SCAN;
INSERT INTO orders_raw VALUES ('C000000001', 'A-1', DATE '2026-01-03', 99.5), ('C000000001', 'A-2', DATE '2026-02-11', 12), ('C000000002', 'A-1', DATE '2026-01-09', 230);
INSERT INTO lists_tall VALUES ('alice', 7), ('alice', 1001), ('alice', 1002), ('alice', 23456), ('bob', 1);
INSERT INTO lists_paged VALUES ('alice', 0, 1, '7,1001,1002'), ('alice', 1, NULL, '23456'), ('bob', 0, NULL, '1');
INSERT INTO messages_by_time VALUES (TIMESTAMP '2023-06-11 06:30:31', '1231231', 'hello'), (TIMESTAMP '2023-06-11 06:31:00', '1231232', 'how are you'), (TIMESTAMP '2023-06-12 00:00:00', '1231240', 'next day');
INSERT INTO messages_by_id SELECT * FROM messages_by_time ALLOW FULL SCAN;
INSERT INTO messages_md5 SELECT * FROM messages_by_time ALLOW FULL SCAN;
INSERT INTO prices VALUES ('sku-1', 9.99); INSERT INTO prices VALUES ('sku-1', 8.49), ('sku-2', 120); INSERT INTO prices VALUES ('sku-1', 7.99);

-- Tables as programs write them, with the definitions that their programs would have given. corpus_tables_test.go writes
-- their keys byte by byte, without hql's encodings; TestCorpus lets infer find the definitions again.

-- Hashes of binary ids
CREATE EXTERNAL TABLE md5_of_long (uid BIGINT, ts TIMESTAMP) ROW KEY (UNHEX(LEFT(MD5(uid AS INT64), 8)), uid AS INT64, 9223372036854775807 - ts AS INT64);
CREATE EXTERNAL TABLE md5_hex_of_long (uid BIGINT, ts TIMESTAMP) ROW KEY (LEFT(MD5(uid AS INT64), 6), uid AS INT64, ts AS INT64);
CREATE EXTERNAL TABLE md5_hex_of_digits (uid BIGINT, ts TIMESTAMP) ROW KEY (LEFT(MD5(uid), 8), '_', uid AS TEXT, '_', ts AS TEXT(13));
CREATE EXTERNAL TABLE sha1_of_long (uid BIGINT) ROW KEY (UNHEX(LEFT(SHA1(uid AS INT64), 8)), uid AS INT64);
CREATE EXTERNAL TABLE crc32_of_long (uid BIGINT, ts TIMESTAMP) ROW KEY (CRC32(uid AS INT64) AS UINT32, uid AS INT64, ts AS EPOCH32);
CREATE EXTERNAL TABLE murmur_bucket (uid BIGINT, ts TIMESTAMP) ROW KEY (MURMUR3(uid AS INT64) % 16 AS UINT8, uid AS INT64, ts AS INT64);
CREATE EXTERNAL TABLE md5_one_byte (uid BIGINT, ts TIMESTAMP) ROW KEY (UNHEX(LEFT(MD5(uid AS INT64), 2)), uid AS INT64, ts AS INT64);
CREATE EXTERNAL TABLE md5_two_bytes (name STRING, ts TIMESTAMP) ROW KEY (UNHEX(LEFT(MD5(name), 4)), name AS TEXT, X'00', ts AS INT64);
CREATE EXTERNAL TABLE md5_of_cell (name STRING FROM f:user, ts TIMESTAMP) ROW KEY (UNHEX(MD5(name)), ts AS INT64);
CREATE EXTERNAL TABLE md5_hex_of_cell (mail STRING FROM f:mail) ROW KEY (MD5(mail));
CREATE EXTERNAL TABLE sha256_of_url (url STRING FROM f:url) ROW KEY (SHA256(url));
CREATE EXTERNAL TABLE md5_of_int (id INT, n INT) ROW KEY (UNHEX(LEFT(MD5(id AS INT32), 4)), id AS INT32, n AS INT32);
CREATE EXTERNAL TABLE md5_of_both (name STRING, ts TIMESTAMP) ROW KEY (LEFT(MD5(CONCAT(name, '|', ts AS TEXT(13))), 4), name AS TEXT, '|', ts AS TEXT(13));
CREATE EXTERNAL TABLE crc_bucket (name STRING, ts TIMESTAMP) ROW KEY (CRC32(name) % 1024 AS UINT16, name AS TEXT, X'00', ts AS INT64);

-- Java's hash codes as salts
CREATE EXTERNAL TABLE string_hash_digits (name STRING, ts TIMESTAMP) ROW KEY (ABS(JAVA_HASH(name)) % 20 AS TEXT(2), '_', name AS TEXT, '_', ts AS TEXT('yyyyMMddHHmmss'));
CREATE EXTERNAL TABLE string_hash_digit (name STRING, ts TIMESTAMP) ROW KEY (ABS(JAVA_HASH(name)) % 8 AS TEXT(1), '|', name AS TEXT, '|', ts AS TEXT(13));
CREATE EXTERNAL TABLE bytes_hash (name STRING, ts TIMESTAMP) ROW KEY (ABS(JAVA_BYTES_HASH(name)) % 32 AS UINT8, name AS TEXT, X'00', ts AS INT64);
CREATE EXTERNAL TABLE masked_hash (name STRING, n INT) ROW KEY ((JAVA_HASH(name) & 2147483647) % 10 AS TEXT(1), '-', name AS TEXT, '-', n AS TEXT(5));
CREATE EXTERNAL TABLE rest_hash (name STRING, ts TIMESTAMP) ROW KEY (ABS(JAVA_BYTES_HASH(CONCAT(name, X'00', ts AS INT64))) % 16 AS UINT8, name AS TEXT, X'00', ts AS INT64);
CREATE EXTERNAL TABLE modulo_digits (id BIGINT, ts TIMESTAMP) ROW KEY (id % 100 AS TEXT(2), id AS TEXT(10), ts AS INT64);
CREATE EXTERNAL TABLE modulo_byte (id BIGINT) ROW KEY (id % 50 AS UINT8, id AS INT64);

-- Salts that are drawn
CREATE EXTERNAL TABLE random_byte (id STRING, ts TIMESTAMP) ROW KEY (SALT(0 TO 15) AS UINT8, id AS TEXT(12), ts AS EPOCH32);
CREATE EXTERNAL TABLE random_letter (id BIGINT) ROW KEY (SALT('a', 'b', 'c', 'd'), '-', id AS TEXT);
CREATE EXTERNAL TABLE random_digits (ts TIMESTAMP, n INT) ROW KEY (SALT('00' TO '31'), '_', ts AS TEXT(13), '_', n AS TEXT(4));

-- Text of any length before something of fixed width
CREATE EXTERNAL TABLE pages_by_hour (host STRING, path STRING, hour TIMESTAMP) ROW KEY (REVERSE_DOMAIN(host) AS TEXT, '/', path AS TEXT, hour AS TEXT('yyyyMMddHH'));
CREATE EXTERNAL TABLE path_day (path STRING, day DATE) ROW KEY (path AS TEXT, day AS TEXT('yyyyMMdd'));
CREATE EXTERNAL TABLE name_ff_seconds (name STRING, ts TIMESTAMP) ROW KEY (name AS TEXT, X'FF', ts AS EPOCH32);
CREATE EXTERNAL TABLE name_newest (name STRING, ts TIMESTAMP) ROW KEY (name AS TEXT, 9223372036854775807 - ts AS INT64);
CREATE EXTERNAL TABLE name_millis (name STRING, ts TIMESTAMP) ROW KEY (name AS TEXT, ts AS INT64);
CREATE EXTERNAL TABLE name_counter (name STRING, n INT) ROW KEY (name AS TEXT, n AS INT32);
CREATE EXTERNAL TABLE url_page (url STRING, page INT) ROW KEY (url AS TEXT, '#', page AS TEXT(4));

-- Times
CREATE EXTERNAL TABLE seconds_of_a_day (device INT, ts TIMESTAMP) ROW KEY (device AS INT32, ts AS EPOCH32);
CREATE EXTERNAL TABLE seconds_text (device STRING, ts TIMESTAMP) ROW KEY (device AS TEXT, ':', ts / 1000 AS TEXT(10));
CREATE EXTERNAL TABLE iso_seconds (device STRING, ts TIMESTAMP) ROW KEY (device AS TEXT, '|', ts AS TEXT('yyyy-MM-dd''T''HH:mm:ss''Z'''));
CREATE EXTERNAL TABLE iso_millis (device STRING, ts TIMESTAMP) ROW KEY (device AS TEXT, '/', ts AS TEXT('yyyy-MM-dd''T''HH:mm:ss.SSS''Z'''));
CREATE EXTERNAL TABLE time_first (ts TIMESTAMP, name STRING) ROW KEY (ts AS TEXT('yyyyMMddHHmmssSSS'), name AS TEXT);
CREATE EXTERNAL TABLE day_first (day DATE, name STRING) ROW KEY (day AS TEXT('yyyy-MM-dd'), ':', name AS TEXT);
CREATE EXTERNAL TABLE newest_digits (ts TIMESTAMP, name STRING) ROW KEY (9223372036854775807 - ts AS TEXT(19), '_', name AS TEXT);
CREATE EXTERNAL TABLE newest_seconds (id BIGINT, ts TIMESTAMP) ROW KEY (id AS INT64, 2147483647 - ts / 1000 AS INT32);
CREATE EXTERNAL TABLE order_numbers (day DATE, n INT) ROW KEY ('ORD', day AS TEXT('yyyyMMdd'), n AS TEXT(6));

-- Binary numbers and ids
CREATE EXTERNAL TABLE code_hash (code STRING, h BYTES) ROW KEY (code AS TEXT(8), h AS BYTES(4));
CREATE EXTERNAL TABLE code_long (code STRING, n BIGINT) ROW KEY (code AS TEXT(6), n AS INT64);
CREATE EXTERNAL TABLE uuid_time (id UUID, ts TIMESTAMP) ROW KEY (id AS UUID, ts AS INT64);
CREATE EXTERNAL TABLE uuid_int (id UUID, n INT) ROW KEY (id AS UUID, n AS INT32);
CREATE EXTERNAL TABLE uuid_text_time (id STRING, ts TIMESTAMP) ROW KEY (id AS TEXT(36), '_', ts AS TEXT(13));
CREATE EXTERNAL TABLE three_ints (a INT, b INT, c INT) ROW KEY (a AS INT32, b AS INT32, c AS INT32);
CREATE EXTERNAL TABLE two_longs (a BIGINT, b BIGINT) ROW KEY (a AS INT64, b AS INT64);
CREATE EXTERNAL TABLE int_long_int (a INT, b BIGINT, c INT) ROW KEY (a AS INT32, b AS INT64, c AS INT32);
CREATE EXTERNAL TABLE short_int_byte (a INT, b INT, c INT) ROW KEY (a AS UINT16, b AS INT32, c AS UINT8);
CREATE EXTERNAL TABLE writeutf_long (name STRING, n BIGINT) ROW KEY (name AS COUNT16 TEXT, n AS INT64);

-- Texts
CREATE EXTERNAL TABLE base62_time (id STRING, ts TIMESTAMP) ROW KEY (id AS TEXT(7), ts AS INT64);
CREATE EXTERNAL TABLE base62_page (id STRING, page INT) ROW KEY (id AS TEXT, ':', page AS TEXT(6));
CREATE EXTERNAL TABLE page_numbers (n INT) ROW KEY ('page:', n AS TEXT(6));
CREATE EXTERNAL TABLE reversed_phone (phone STRING, ts TIMESTAMP) ROW KEY (phone AS TEXT(11), 9223372036854775807 - ts AS INT64);
CREATE EXTERNAL TABLE mail_time (mail STRING, ts TIMESTAMP) ROW KEY (mail AS TEXT, '|', ts AS TEXT(13));
CREATE EXTERNAL TABLE tab_separated (country STRING, city STRING, n BIGINT) ROW KEY (country AS TEXT, X'09', city AS TEXT, X'09', n AS TEXT);
CREATE EXTERNAL TABLE nul_separated (host STRING, app STRING, ts TIMESTAMP) ROW KEY (host AS TEXT, X'00', app AS TEXT, X'00', ts AS INT64);
CREATE EXTERNAL TABLE city_padded (country STRING, city STRING, n INT) ROW KEY (country AS TEXT(2), city AS TEXT(20), n AS INT32);

-- Cells
CREATE EXTERNAL TABLE cell_formats (id BIGINT, amount DECIMAL FROM f:amount AS BIGDECIMAL, doc JSON FROM f:doc, at TIMESTAMP FROM f:at AS TEXT, proto BYTES FROM f:proto, avro BYTES FROM f:avro)
  ROW KEY (id AS INT64);
CREATE EXTERNAL TABLE cell_numbers (name STRING, n INT FROM f:n AS INT32, l BIGINT FROM f:l AS INT64, d DOUBLE FROM f:d AS FLOAT64, t TIMESTAMP FROM f:t AS INT64, s STRING FROM f:s)
  ROW KEY (name AS TEXT);

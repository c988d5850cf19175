-- Twenty more tables, written after infer read 59 of corpus.sql right. Of these it read 17 right at first; three faults
-- were then repaired.

CREATE EXTERNAL TABLE crc16_slot (name STRING, ts TIMESTAMP) ROW KEY (CRC16(name) % 16384 AS UINT16, name AS TEXT, ':', ts AS INT64);
CREATE EXTERNAL TABLE sha256_of_long (id BIGINT, n INT) ROW KEY (UNHEX(LEFT(SHA256(id AS INT64), 16)), id AS INT64, n AS INT32);
CREATE EXTERNAL TABLE kafka_partition (k STRING, n BIGINT) ROW KEY ((MURMUR2(k, 2538058380) & 2147483647) % 12 AS UINT8, k AS TEXT, '|', n AS INT64);
CREATE EXTERNAL TABLE djb_digits (name STRING) ROW KEY (DJB2(name) % 128 AS TEXT(3), '-', name AS TEXT);
CREATE EXTERNAL TABLE fnv_byte (ip STRING, ts TIMESTAMP) ROW KEY (FNV1A_32(ip) % 64 AS UINT8, ip AS TEXT, X'00', ts AS INT64);
CREATE EXTERNAL TABLE ip_time (ip BYTES, ts TIMESTAMP) ROW KEY (ip AS BYTES(4), ts AS INT64);
CREATE EXTERNAL TABLE tenant_name_version (tenant INT, name STRING, version INT) ROW KEY (tenant AS INT32, name AS TEXT, X'00', version AS INT32);
CREATE EXTERNAL TABLE user_order (uid BIGINT, n BIGINT) ROW KEY ('user:', uid AS TEXT, ':order:', n AS TEXT);
CREATE EXTERNAL TABLE region_day (country STRING, state STRING, day DATE) ROW KEY (country AS TEXT, '/', state AS TEXT, '/', day AS TEXT('yyyy/MM/dd'));
CREATE EXTERNAL TABLE mail_by_domain (host STRING, name STRING) ROW KEY (REVERSE_DOMAIN(host) AS TEXT, '@', name AS TEXT);
CREATE EXTERNAL TABLE hex_id_sequence (id STRING, n INT) ROW KEY (id AS TEXT(32), '-', n AS TEXT(4));
CREATE EXTERNAL TABLE long_tag (uid BIGINT, tag STRING) ROW KEY (uid AS INT64, tag AS TEXT);
CREATE EXTERNAL TABLE month_number (month TIMESTAMP, n INT, kind STRING) ROW KEY (month AS TEXT('yyyyMM'), n AS TEXT(6), kind AS TEXT);
CREATE EXTERNAL TABLE device_newest (device STRING, ts TIMESTAMP) ROW KEY (device AS TEXT, '_', 9999999999999 - ts AS TEXT(13));
CREATE EXTERNAL TABLE geohash_time (cell STRING, ts TIMESTAMP) ROW KEY (cell AS TEXT(9), ts AS TEXT(13));
CREATE EXTERNAL TABLE digit_newest (uid BIGINT, ts TIMESTAMP) ROW KEY (uid % 10 AS TEXT(1), '-', uid AS TEXT(12), '-', 9223372036854775807 - ts AS TEXT(19));
CREATE EXTERNAL TABLE sha1_prefix (name STRING, ts TIMESTAMP) ROW KEY (LEFT(SHA1(name), 8), '_', name AS TEXT, '#', ts / 1000 AS TEXT(10));
CREATE EXTERNAL TABLE ulid (id STRING) ROW KEY (id AS TEXT(26));
CREATE EXTERNAL TABLE user_type_newest (uid BIGINT, kind INT, ts TIMESTAMP) ROW KEY (uid AS INT64, kind AS UINT16, 9223372036854775807 - ts AS INT64);
CREATE EXTERNAL TABLE snowflake_hash (id BIGINT) ROW KEY (ABS(JAVA_LONG_HASH(id)) % 24 AS UINT8, id AS INT64);
CREATE EXTERNAL TABLE interleaved (z BIGINT, n INT) ROW KEY (z AS UINT32, n AS INT32);
CREATE EXTERNAL TABLE customer_order (month TIMESTAMP, customer INT, id BIGINT) ROW KEY (month AS TEXT('yyyyMM'), customer AS INT32, id AS INT64);
CREATE EXTERNAL TABLE tenant_user_newest (tenant STRING, name STRING, ts TIMESTAMP) ROW KEY (tenant AS TEXT, '|', name AS TEXT, '|', 9223372036854775807 - ts AS INT64);
CREATE EXTERNAL TABLE crc_hex (n BIGINT) ROW KEY (CRC32(n) AS HEX(8), n AS TEXT(7));

-- Of a later reader: buckets without zeros before them, months, moments whose last digit comes first.
CREATE EXTERNAL TABLE hash_unpadded (name STRING, ts TIMESTAMP) ROW KEY (ABS(JAVA_HASH(name)) % 100 AS TEXT, '_', name AS TEXT, '_', ts / 1000 AS TEXT(10));
CREATE EXTERNAL TABLE masked_unpadded (code STRING) ROW KEY (JAVA_HASH(code) & 255 AS TEXT, ':', code AS TEXT);
CREATE EXTERNAL TABLE id_month (id BIGINT, month TIMESTAMP) ROW KEY (id % 12 AS TEXT(2), '|', id AS TEXT, '|', month AS TEXT('yyyy-MM'));
CREATE EXTERNAL TABLE last_digit_first (name STRING, ts TIMESTAMP) ROW KEY (name AS TEXT, '-', ts AS REVERSED TEXT(13));
CREATE EXTERNAL TABLE tenant_sha1_serial (tenant INT, serial STRING, ts TIMESTAMP) ROW KEY (tenant AS INT32, LEFT(SHA1(serial), 4), serial AS TEXT, '#', 9223372036854775807 - ts AS INT64);
CREATE EXTERNAL TABLE uuid_of_session (id UUID, n INT) ROW KEY (id AS UUID, n AS INT32);
CREATE EXTERNAL TABLE hex_bucket (tenant STRING, doc STRING) ROW KEY (CRC32(tenant) % 16 AS HEX(2), ':', tenant AS TEXT, ':', doc AS TEXT);

-- The tables of the message service, as they exist on the cluster.
CREATE EXTERNAL TABLE messages (user_id BIGINT, sent TIMESTAMP, msg_id BIGINT, folder STRING FROM m:folder, subject STRING FROM m:subject, unread BOOLEAN FROM m:unread)
  STORED IN 'prod_messages'
  ROW KEY (user_id % 16 AS UINT8, user_id AS INT64, 9223372036854775807 - sent AS INT64, msg_id AS INT64);

import os
import duckdb
from duckdb_extensions import import_extension
import_extension("postgres_scanner")
c = duckdb.connect()
c.load_extension("postgres_scanner")
c.execute("ATTACH 'host=%s port=%s user=me dbname=db' AS p (TYPE postgres)" % (os.environ["PGHOST"], os.environ["PGPORT"]))
def ask(sql):
    try:
        print(c.execute(sql).fetchall())
    except Exception as x:
        print(str(x).replace("\n", " ")[:400])
ask("SELECT name, column_names FROM (SHOW ALL TABLES) ORDER BY 1")
ask("DESCRIBE p.every")
ask("SELECT device, ts::text, value FROM p.events WHERE device = 'd1' ORDER BY ts")
ask("SELECT b, t, s, n, f, d, e, x, y, day, clock, epoch_ms(\"at\"), j FROM p.every WHERE id = 1")
ask("SELECT COUNT(*) FROM p.events WHERE device IN ('d1', 'd2') AND value IS NOT NULL")
ask("SELECT x.device, y.id FROM p.events x JOIN p.every y ON y.id = 1 WHERE x.device = 'd2' AND y.id = 1")
ask("SELECT * FROM postgres_query('p', 'SELECT device FROM events WHERE device = ''d1'' LIMIT 1')")
ask("SELECT COUNT(*) FROM p.events")
ask("INSERT INTO p.events VALUES ('dk', TIMESTAMPTZ '2024-05-01 00:00:00+00', 'x', 1)")
ask("SET pg_use_text_protocol = true")
ask("SELECT x, day FROM p.every WHERE id = 1")

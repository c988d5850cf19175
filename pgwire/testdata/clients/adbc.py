import datetime, os
import adbc_driver_postgresql.dbapi as dbapi, polars as pl, pyarrow as pa
uri = "postgresql://me@%s:%s/db" % (os.environ["PGHOST"], os.environ["PGPORT"])
utc = datetime.timezone.utc
with dbapi.connect(uri, autocommit=True) as c, c.cursor() as cur:
    cur.execute("SELECT * FROM every WHERE id IN (1, 2)")
    t = cur.fetch_arrow_table()
    print([(f.name, str(f.type)) for f in t.schema])
    print([str(v) for v in t.to_pylist()[0].values()], set(list(t.to_pylist()[1].values())[1:]))
    cur.execute("SELECT value FROM events WHERE device = $1 AND value > $2", ("d1", 20.7))
    print(cur.fetchall())
    cur.execute("SELECT ARRAY[1, NULL], ARRAY['a', 'b']::text[]")
    print(cur.fetchall())
    print(cur.adbc_execute_schema("SELECT device, value FROM events WHERE device = 'd1'").names)
    print(cur.adbc_ingest("events", pa.table({"device": ["ad", "ad"], "ts": [datetime.datetime(2024, 5, d, tzinfo=utc) for d in (1, 2)], "value": [1.0, None]}), mode="append"))
    cur.execute("SET hql.write_in_block = on") # executemany begins a block
    cur.executemany("INSERT INTO events (device, ts, value) VALUES ($1, $2, $3)", [("ad", datetime.datetime(2024, 6, 1, tzinfo=utc), 3.0)])
    cur.execute("SELECT value FROM events WHERE device = 'ad' ORDER BY ts")
    print(cur.fetchall())
    cur.execute("DELETE FROM events WHERE device = 'ad'")
    for sql in ("SELECT nope FROM events", "SELECT * FROM events"):
        try:
            cur.execute(sql)
            cur.fetchall()
        except dbapi.Error as x:
            print(type(x).__name__, x.sqlstate)
    schema = c.adbc_get_objects(depth="all", table_name_filter="events").read_all().to_pylist()[0]["catalog_db_schemas"]
    print([(s["db_schema_name"], [(t["table_name"], [k["column_name"] for k in t["table_columns"]], t["table_constraints"][0]["constraint_column_names"]) for t in s["db_schema_tables"]])
           for s in schema if s["db_schema_tables"]])
    print(c.adbc_get_table_schema("events").names)
print(pl.read_database_uri("SELECT device, value FROM events WHERE device = 'd1' ORDER BY ts", uri, engine="adbc").to_dict(as_series=False))

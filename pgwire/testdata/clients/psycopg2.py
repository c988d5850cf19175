import datetime, io, psycopg2, psycopg2.extras, psycopg2.pool
c = psycopg2.connect("")
with c.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as cur:
    cur.execute("SELECT device, value AS Reading FROM events WHERE device = %s AND ts >= %s", ("d1", datetime.datetime(2024, 5, 1, 11, tzinfo=datetime.timezone.utc)))
    print([dict(r) for r in cur])
with c.cursor() as cur:
    cur.execute("SELECT * FROM every WHERE id IN %s", ((1, 2),))
    for r in cur:
        print([bytes(v) if isinstance(v, memoryview) else v for v in r])
c.rollback()
with c.cursor("server_side") as cur:
    cur.itersize = 7
    cur.execute("SELECT n FROM generate_series(1, 20) AS s (n)")
    print(sum(n for (n,) in cur))
c.commit()
c.autocommit = True
with c.cursor() as cur:
    out = io.StringIO()
    cur.copy_expert("COPY (SELECT * FROM events WHERE device = 'd1') TO STDOUT CSV HEADER", out)
    print(out.getvalue().split())
    cur.copy_from(io.StringIO("p2\t2024-05-01 10:00:00\tx\t1\np2\t2024-05-01 11:00:00\t\\N\t2\n"), "events", columns=("device", "ts", "kind", "value"))
    psycopg2.extras.execute_values(cur, "INSERT INTO events (device, ts, value) VALUES %s", [("p2", datetime.datetime(2024, 6, d, tzinfo=datetime.timezone.utc), d) for d in (1, 2, 3)])
    cur.execute("SELECT COUNT(*), SUM(value) FROM events WHERE device = 'p2'")
    print(cur.fetchone())
    cur.execute("DELETE FROM events WHERE device = 'p2'")
    print(cur.rowcount)
    for sql in ("SELECT nope FROM events", "SELECT * FROM events", "SELECT 'x'::int", "SELECT 1/0", "CREATE TABLE events (a INT PRIMARY KEY)"):
        try:
            cur.execute(sql)
        except psycopg2.Error as e:
            print(type(e).__name__, e.pgcode, e.diag.statement_position)
pool = psycopg2.pool.SimpleConnectionPool(1, 2, "")
for _ in range(3): # the pool rolls back what comes back
    one = pool.getconn()
    one.cursor().execute("SELECT 1")
    pool.putconn(one)
pool.closeall()

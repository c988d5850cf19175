import datetime, decimal, psycopg
c = psycopg.connect()
for binary in (False, True):
    cur = c.cursor(binary=binary)
    cur.execute("SELECT * FROM every WHERE id = %s", (1,))
    print(cur.fetchone())
c.rollback()
with c.cursor(name="server_side") as cur:
    cur.execute("SELECT n FROM generate_series(1, 10) AS s (n)")
    print(len(cur.fetchmany(3)), len(cur.fetchall()))
with c.cursor() as cur, cur.copy("COPY (SELECT device, value FROM events WHERE device = 'd1') TO STDOUT (FORMAT binary)") as copy:
    copy.set_types(["text", "float8"])
    print(list(copy.rows()))
c.commit()
c.autocommit = True
c.cursor().executemany("INSERT INTO events (device, ts, value) VALUES (%s, %s, %s)", [("py", datetime.datetime(2024, 5, n, tzinfo=datetime.timezone.utc), n) for n in (1, 2, 3)])
print(c.execute("SELECT COUNT(*) FROM events WHERE device = 'py'").fetchone())
try:
    c.execute("SELECT nope FROM events")
except psycopg.errors.UndefinedColumn as e:
    print(e.sqlstate, e.diag.statement_position)

import pandas as pd, sqlalchemy as sa
e = sa.create_engine("postgresql+psycopg://")
d = pd.read_sql("SELECT device, ts, kind, value FROM events WHERE device IN ('d1', 'd2') ORDER BY device, ts", e)
print(d.to_csv(index=False))
print([k.kind for k in d.dtypes])
print(pd.read_sql(sa.text("SELECT device, AVG(value) AS Mean FROM events WHERE device = :d GROUP BY device"), e, params={"d": "d1"}, index_col="device").to_dict())
with e.connect() as c:
    print([len(part) for part in pd.read_sql("SELECT n FROM generate_series(1, 10) AS s (n)", c.execution_options(stream_results=True), chunksize=4)])
new = pd.DataFrame({"device": ["pd", "pd"], "ts": pd.to_datetime(["2024-05-01", "2024-05-02"], utc=True), "value": [1.5, None]})
print(new.to_sql("events", e.execution_options(isolation_level="AUTOCOMMIT"), if_exists="append", index=False))
print(pd.read_sql("SELECT value FROM events WHERE device = 'pd'", e).to_csv(index=False))

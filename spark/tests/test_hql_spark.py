"""The data source beside hql alone and beside Spark's own evaluation. HQL_BINARY and HQL_CONNECT say which hql and which store; the
tables are those of TestSpark, which runs this."""

import datetime
import decimal
import json
import os
import random
import subprocess
import unittest

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import hql_spark

CONNECT = os.environ["HQL_CONNECT"]
SEED = int(os.environ.get("HQL_SEED", random.randrange(2**32)))


def hql(sql):
    """The rows of hql alone, as JSON."""
    out = subprocess.run([os.environ["HQL_BINARY"], "--connect", CONNECT, "--full-scan", "allow", "--format", "jsonl", "-c", sql], check=True, capture_output=True)
    return [json.loads(line, parse_float=decimal.Decimal, object_pairs_hook=lambda ps: tuple(v for _, v in ps)) for line in out.stdout.splitlines()]


def plain(v):
    """A value of Spark as hql's JSON has it."""
    if isinstance(v, float):
        return f"{v:.9g}"  # sums depend on their order in the last digits
    if isinstance(v, decimal.Decimal):
        return f"{v:.14e}" if v else "0"  # the digits of an AVG behind these are as many as each gives it
    return v


def rows(frame):
    return sorted((tuple(plain(v) for v in r) for r in frame.collect()), key=repr)


class Source(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.spark = (SparkSession.builder.master(os.environ.get("HQL_SPARK_MASTER", "local[2]")).config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
                     .config("spark.sql.session.timeZone", "Asia/Tokyo").getOrCreate())
        cls.spark.sparkContext.setLogLevel("OFF")
        hql_spark.register(cls.spark)

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def read(self, **options):
        return self.spark.read.format("hql").options(**{"connect": CONNECT, "fullScan": "allow", **options}).load()

    def test_rows(self):
        events = self.read(table="spark_events")
        self.assertEqual(4, events.rdd.getNumPartitions())
        got = rows(events.select("host", "n", "x", "ok"))
        want = sorted(((h, n, x and plain(decimal.Decimal(x)), ok) for h, n, x, ok in hql("SELECT host, n, CAST(x AS STRING), ok FROM spark_events")), key=repr)
        self.assertEqual(want, got)
        self.assertGreater(len(got), 400)

    def test_types(self):
        types = dict(self.read(table="spark_events").dtypes)
        self.assertEqual({"host": "string", "ts": "timestamp", "n": "int", "v": "double", "x": "decimal(38,18)", "ok": "boolean", "d": "date", "h": "string",
                          "raw": "binary", "doc": "string", "small": "tinyint", "big": "bigint"}, types)
        row = self.read(query="SELECT * FROM spark_events WHERE host = 'h1' AND n = 0").collect()[0]
        self.assertEqual(("h1", 0, "00:00:00", b"\x00\xff", '{"a": 1}', datetime.date(2026, 1, 1)), (row.host, row.n, row.h, bytes(row.raw), row.doc, row.d))
        self.assertEqual(1767225600, row.ts.timestamp())

    def test_groups(self):
        sql = "SELECT host, avg(v) AS mean, count(*) AS c, sum(n) AS s, min(ts) AS first, max(x) AS most, avg(x) AS dec FROM spark_events GROUP BY host"
        alone = rows(self.read(query=sql))
        merged = rows(hql_spark.query(self.spark, sql, connect=CONNECT, fullScan="allow"))
        self.assertEqual(alone, merged)
        want = sorted((h, c, s) for h, c, s in hql("SELECT host, count(*), sum(n) FROM spark_events GROUP BY host"))
        self.assertEqual(want, sorted((r[0], r[2], r[3]) for r in merged))
        spark = rows(self.read(table="spark_events").groupBy("host").agg(F.avg("v"), F.count("*"), F.sum("n"), F.min("ts"), F.max("x")))
        self.assertEqual([(r[0], r[2], r[3], r[4], r[5]) for r in spark], [(r[0], r[2], r[3], r[4], r[5]) for r in merged])
        self.assertEqual([(0,)], rows(hql_spark.query(self.spark, "SELECT count(*) FROM spark_events WHERE host = 'none'", connect=CONNECT)))

    def test_errors(self):
        for options, want in (
            ({"table": "spark_events", "fullScan": "deny"}, "this would read all of spark_events"),
            ({"table": "nothing"}, 'unknown table "nothing"'),
            ({"query": "SELECT * FROM spark_events ORDER BY v"}, "ORDER BY cannot be cut into pieces"),
            ({"query": "SELECT n, n FROM spark_events"}, "several columns have the name n"),
            ({"table": "spark_events", "query": "SELECT 1"}, "one of them says what is read"),
            ({"table": "spark_events", "binary": "no-such-program"}, "there is no program no-such-program"),
        ):
            with self.assertRaises(Exception) as e:
                self.read(**options).count()
            self.assertIn(want, str(e.exception))
        with self.assertRaises(Exception) as e:  # what a task meets
            self.read(table="spark_events", maxScanRows="3").count()
        self.assertIn("max_scan_rows", str(e.exception))

    def test_filters(self):
        """What Spark keeps of the rows that hql filters is what it keeps of all rows."""
        print("seed", SEED)
        r = random.Random(SEED)
        events = self.read(table="spark_events")
        everything = self.spark.createDataFrame(events.collect(), events.schema)  # of which hql knows nothing
        filtered = 0
        for i in range(int(os.environ.get("HQL_CHECKS", 40))):
            condition = " AND ".join(term(r) for _ in range(r.randint(1, 3)))
            pushed = events.where(condition)
            with self.subTest(condition=condition):
                got, want = rows(pushed), rows(everything.where(condition))
                self.assertEqual(want, got)
                filtered += 0 < len(want) < 400
        self.assertGreater(filtered, 2)

    def test_pushed(self):
        """These reach hql: of a full scan that is denied a key is left."""
        self.assertEqual(50, self.read(table="spark_events", fullScan="deny").where("host = 'h1'").count())
        for condition in ("host = 'h1'", "host LIKE 'h1%'", "host IN ('h1')", "host <=> 'h1'"):
            self.assertEqual(1, self.read(table="spark_events").where(condition).rdd.getNumPartitions(), condition)


def term(r):
    not_ = r.choice(["", "", "NOT "])
    column, value = r.choice([
        ("host", lambda: "'" + r.choice(["h1", "h2", "h", "", "H1", "h1''", "é", "z", "\\\\"]) + "'"),
        ("n", lambda: str(r.choice([-1, 0, 1, 3, 6, 7, 2147483647]))), ("small", lambda: f"{r.choice([-128, 0, 3, 127])}Y"),
        ("big", lambda: f"{r.choice([-9223372036854775807, 0, 1, 9223372036854775807])}L"),
        ("v", lambda: r.choice(["0.0D", "-0.0D", "1.5D", "double('NaN')", "double('Infinity')", "1e300D", "0.1D"])),
        ("x", lambda: r.choice(["0", "1.5", "1.50", "2.25", "-3.125", "100000000000000000000.5"])),
        ("ok", lambda: r.choice(["true", "false"])), ("d", lambda: f"DATE'{r.choice(['2026-01-01', '2026-01-05', '1969-12-31', '9999-12-31'])}'"),
        ("ts", lambda: f"TIMESTAMP'{r.choice(['2026-01-01 00:00:00Z', '2026-01-03 05:00:00.001Z', '2026-01-03 05:00:00.0005Z', '2026-01-02 09:00:00'])}'"),
        ("raw", lambda: r.choice(["X''", "X'00'", "X'00FF'", "X'FF'"])),
    ])
    match r.randrange(8):
        case 0:
            return f"{column} IS {not_}NULL"
        case 1:
            return f"{not_}{column} IN ({value()}, {value()}, NULL)" if r.random() < 0.3 else f"{not_}{column} IN ({value()}, {value()})"
        case 2:
            return f"{not_}({column} <=> {value()})"
        case 3 if column == "host":
            return f"{not_}host LIKE '{r.choice(['h%', '%1', '%h%', 'h1', '%', 'h_'])}'"
    return f"{not_}({column} {r.choice(['=', '<>', '<', '<=', '>', '>='])} {value()})"


if __name__ == "__main__":
    unittest.main()

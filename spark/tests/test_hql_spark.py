"""The data source beside hql alone and beside Spark's own evaluation. HQL_BINARY and HQL_CONNECT say which hql and which store; the
tables are those of TestSpark, which runs this."""

import contextlib
import datetime
import decimal
import io
import json
import os
import random
import subprocess
import textwrap
import unittest

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import hql_spark

CONNECT = os.environ["HQL_CONNECT"]
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
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
        cls.spark.conf.set(PUSHDOWN, "true")

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
        self.assertEqual([(0,)], rows(hql_spark.query(self.spark, "SELECT count(*) FROM spark_events WHERE host = ?", connect=CONNECT, args='["none"]', maxScanRows=1000)))
        sql = "SELECT min(h) AS h, max(h) AS l, h = TIME '00:00:00' AS g FROM spark_events GROUP BY h = TIME '00:00:00'"
        self.assertEqual([("00:00:00", "00:00:00", True), ("23:59:59.999", "23:59:59.999", False), (None, None, None)],
                         sorted((tuple(r) for r in hql_spark.query(self.spark, sql, connect=CONNECT, fullScan="allow").collect()), key=repr))

    def test_sums(self):
        """A sum that Spark's types do not hold is an error, also where Spark would give NULL or some of its digits."""
        for ansi in ("true", "false"):
            self.spark.conf.set("spark.sql.ansi.enabled", ansi)
            try:
                for sql in ("SELECT sum(big) FROM spark_events WHERE big > 0", "SELECT sum(x) FROM spark_events WHERE x > 0"):
                    with self.assertRaises(Exception) as e:
                        print(hql_spark.query(self.spark, sql, connect=CONNECT, fullScan="allow").collect())
                    self.assertRegex(str(e.exception), "is no BIGINT|digits|overflow|OVERFLOW|OUT_OF_RANGE", (ansi, sql))
            finally:
                self.spark.conf.set("spark.sql.ansi.enabled", "true")

    def test_errors(self):
        for options, want in (
            ({"table": "spark_events", "fullScan": "deny"}, "this would read all of spark_events"),
            ({"table": "nothing"}, 'unknown table "nothing"'),
            ({"query": "SELECT * FROM spark_events ORDER BY v"}, "ORDER BY cannot be cut into pieces"),
            ({"query": "SELECT n, n FROM spark_events"}, "several columns have the name n"),
            ({"table": "spark_events", "query": "SELECT 1"}, "one of them says what is read"),
            ({"query": "SELECT n, INTERVAL '1 day' AS w FROM spark_events"}, "column w: Spark has no type for INTERVAL"),
            ({"query": "SELECT n FROM spark_events", "where": "n = 1"}, "write it into the query"),
            ({"table": "spark_events", "where": "m = 1"}, 'unknown column "m"'),
            ({"table": "spark_events", "binary": "no-such-program"}, "there is no program no-such-program"),
            ({"table": "spark_events", "binary": os.getcwd()}, "there is no program"),
            ({"query": "SELECT CASE WHEN n = 49 THEN CAST(X'FF' AS STRING) ELSE repeat('x', 999999) END AS s FROM spark_events WHERE host = 'h1'"}, "column s: \\xFF is no UTF-8"),
            ({"table": "spark_events", "args": "h1"}, "the option args is a JSON list of values"),
            ({"table": "spark_events", "where": "host = ?"}, "the statement takes 1 argument, 0 given"),
            ({"table": "spark_events", "timeZone": "Mars"}, 'unknown time zone "Mars"'),
            ({"query": "SELECT host AS h, CASE WHEN host = 'h1' THEN TIMESTAMP '1970-01-01' + n * 20000000 * INTERVAL '1 day' END AS at FROM spark_events"},
             "column at: no TIMESTAMP of Spark is 10368000000000000 milliseconds from 1970"),
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
        everything = self.spark.createDataFrame(events.toArrow(), events.schema)  # of which hql knows nothing
        filtered = 0
        for i in range(int(os.environ.get("HQL_CHECKS", 40))):
            condition = r.choice([" AND ", " AND ", " OR "]).join(term(r) for _ in range(r.randint(1, 3)))
            pushed = self.read(table="spark_events", pushFilters="true").where(condition)
            with self.subTest(condition=condition):
                got, want = rows(pushed), rows(everything.where(condition))
                self.assertEqual(want, got)
                filtered += 0 < len(want) < 400
        self.assertGreater(filtered, 2)

    def test_pushed(self):
        """These reach hql: of a full scan that is denied a key is left."""
        self.assertEqual(50, self.read(table="spark_events", fullScan="deny", pushFilters="true").where("host = 'h1'").count())
        for condition in ("host = 'h1'", "host LIKE 'h1%'", "host IN ('h1')", "host <=> 'h1'"):
            self.assertEqual(1, self.read(table="spark_events", pushFilters="true").where(condition).rdd.getNumPartitions(), condition)
        self.assertEqual(50, self.read(table="spark_events", fullScan="deny", where="host = 'h1' -- a comment").count())

    def test_without_pushdown(self):
        """Where Spark hands no filters over, it evaluates those too that it could not hand over; who wants them pushed is told how."""
        self.spark.conf.set(PUSHDOWN, "false")
        try:
            self.assertEqual(360, self.read(table="spark_events").where("ts < TIMESTAMP'9999-12-31 23:59:59 America/New_York' AND ts > TIMESTAMP'0001-01-01 00:00:00 Asia/Tokyo'").count())
            with self.assertRaises(Exception) as e:
                self.read(table="spark_events", pushFilters="true").where("host = 'h1'").count()
            self.assertIn(PUSHDOWN, str(e.exception))
        finally:
            self.spark.conf.set(PUSHDOWN, "true")

    def test_schema(self):
        """A column that is read as another type is filtered as that type."""
        for name, typ, condition in (("v", "FLOAT", "v = CAST(0.1 AS FLOAT)"), ("host", "STRING COLLATE UTF8_LCASE", "host = 'H1'"), ("n", "BIGINT", "n < 3"), ("x", "DECIMAL(38,3)", "x = 1.5")):
            with self.subTest(type=typ):
                want, got = (self.spark.read.format("hql").options(connect=CONNECT, fullScan="allow", table="spark_events", pushFilters=push).schema(f"{name} {typ}").load()
                             .where(condition).count() for push in ("false", "true"))
                self.assertEqual(want, got)
                self.assertGreater(want, 0)

    def test_session(self):
        """Arguments and the zone reach the cut, the pieces and what hql runs alone."""
        args = {"args": json.dumps(["h1", 3, None]), "where": "host = ? AND n <= ? AND ? IS NULL"}
        self.assertEqual(["h1"] * 4, [r.host for r in self.read(table="spark_events", fullScan="deny", **args).collect()])
        self.assertEqual(2, self.read(table="spark_events", pushFilters="true", **args).where("n < 2").count())
        sql = "SELECT CAST(ts AS STRING) AS at, CAST(ts AS DATE) AS d, count(*) AS c FROM spark_events WHERE host = ? AND ts >= ? GROUP BY CAST(ts AS STRING), CAST(ts AS DATE)"
        options = {"connect": CONNECT, "args": '["h1", "2026-01-03 06:00:00"]', "timeZone": "Europe/Berlin"}
        for frame in (self.read(query=sql, **options), hql_spark.query(self.spark, sql, **options)):
            self.assertEqual([("2026-01-03 06:00:00", datetime.date(2026, 1, 3), 10), ("2026-01-03 06:00:00.001", datetime.date(2026, 1, 3), 10)], sorted(map(tuple, frame.collect())))
        days = self.read(query="SELECT d FROM (SELECT CAST(ts AS DATE) AS d FROM spark_events WHERE host = 'h1') AS x GROUP BY d", timeZone="Asia/Tokyo")
        self.assertEqual({None, datetime.date(1970, 1, 1), datetime.date(2026, 1, 1), datetime.date(2026, 1, 3)}, {r.d for r in days.collect()})

    def test_documents(self):
        """The lines that the documents show."""
        shown = set()
        for name in ("../README.md", "../../README.md", "../../docs/pieces.md"):
            with open(name, encoding="utf-8") as f:
                text = f.read()
            shown.add(text[text.index("    import hql_spark"):text.index(".show()") + len(".show()")])
        self.assertEqual(1, len(shown), shown)
        code = textwrap.dedent(shown.pop()).replace('"hbase://zk1,zk2:2181/hbase"', repr(CONNECT)).replace('"events"', '"spark_events"')
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, {"spark": self.spark})
        self.assertRegex(out.getvalue(), r"\|  h1\| ")

    def test_again(self):
        """What is read of a data frame for one query is not what another one gets."""
        events = self.read(table="spark_events")
        self.assertEqual(50, events.where("host = 'h1'").count())
        self.assertEqual(450, events.count())
        self.assertEqual(100, events.where("host = 'h1' OR n = 3 OR host = 'h2'").where("host <> 'z'").where("host LIKE 'h_'").count())
        self.assertEqual(500, events.where("host = 'h1'").union(events).count())
        self.assertEqual(2, events.where("host = 'h1' AND n < 2").alias("a").join(events.where("host = 'h2'").alias("b"), F.expr("a.n = b.n")).count())
        self.assertEqual(450, events.limit(5).union(events.limit(445)).count())


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

"""Answers what tests in Go ask of Spark: a line of JSON in, a line of JSON out. HQL_BINARY says which hql.

    {"options": {...}}                                rows of the data source, each value as text
    {"options": {...}, "query": sql}                  the same of hql_spark.query
    {"options": {...}, "spark": sql}                  the same of a query of Spark's own, to which the data source is the view t
    {"input": [quorum, port, table], "spark": sql}    the same where testdata/mapreduce/TableInput.java is the view
    {"options": {...}, "filters": n, "seed": s}       of n random filters those with which other rows come than Spark itself keeps"""

import json
import os
import random
import sys

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import hql_spark


def text(column):
    """The values of a column of Arrow, exactly."""
    t = column.type
    if pa.types.is_timestamp(t):
        column = column.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    elif pa.types.is_date(t):
        column = column.cast(pa.int32())
    show = bytes.hex if pa.types.is_binary(t) else repr if pa.types.is_floating(t) else json.dumps if pa.types.is_boolean(t) else str
    return [None if v is None else show(v) for v in column.to_pylist()]


def rows(frame):
    table = frame.toArrow()
    return [list(r) for r in zip(*map(text, table.columns))] if table.num_columns else []


def literal(r, column):
    """A value of the column, or one beside it, for Spark."""
    for _ in range(9):
        try:
            v = column[r.randrange(len(column))].as_py()
        except (ValueError, OverflowError):  # a day or a moment that Python has not
            continue
        if isinstance(v, bytes):
            return F.lit(bytearray(v + r.choice([b"", b"", b"\0"])))
        if isinstance(v, str):
            return F.lit(v[: len(v) - r.choice([0, 0, 1])])
        if type(v) is int and abs(v) < 2**62:
            return F.lit(v + r.choice([-1, 0, 0, 1]))
        if v is not None:
            return F.lit(v)
    return None


def condition(r, table):
    name = r.choice(table.schema.names)
    c, v, w = F.col("`" + name.replace("`", "``") + "`"), literal(r, table[name]), literal(r, table[name])
    if v is None or w is None or r.random() < 0.1:
        made = c.isNull()
    else:
        made = r.choice([lambda: c == v, lambda: c == v, lambda: c != v, lambda: c < v, lambda: c <= v, lambda: c > v, lambda: c >= v, lambda: c.eqNullSafe(v), lambda: c.isin(v, w),
                         lambda: (c > v) & (c <= w), lambda: (c == v) | (c == w)])()
        if pa.types.is_string(table.schema.field(name).type) and r.random() < 0.4:
            made = r.choice([c.startswith, c.contains, c.endswith])(v)
    return ~made if r.random() < 0.3 else made


def filters(spark, options, n, seed):
    r, wrong, some = random.Random(seed), [], 0
    frame = spark.read.format("hql").options(**options).load()
    table = frame.toArrow()
    if not table.num_rows:
        return {"rows": [], "some": 0}
    everything = spark.createDataFrame(table, frame.schema)  # of which hql knows nothing
    for _ in range(n):
        made = condition(r, table)
        if r.random() < 0.4:
            made = made & condition(r, table)
        pushed = spark.read.format("hql").options(**options, pushFilters="true").load()
        got, want = sorted(rows(pushed.where(made)), key=repr), sorted(rows(everything.where(made)), key=repr)
        some += 0 < len(want) < table.num_rows
        if got != want:
            wrong.append([str(made), str(got[:5]), str(want[:5])])
    return {"rows": wrong, "some": some}


def spark_sql(spark, q):
    if "input" in q:
        frame = DataFrame(spark._jvm.TableInput.frame(spark._jsparkSession, *q["input"]), spark)
    else:
        frame = spark.read.format("hql").options(**q["options"]).load()
    frame.createOrReplaceTempView("t")
    return spark.sql(q["spark"])


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    spark = (SparkSession.builder.master(os.environ.get("HQL_SPARK_MASTER", "local[2]")).config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
             .config("spark.sql.session.timeZone", "Asia/Tokyo").config("spark.sql.ansi.enabled", os.environ.get("HQL_SPARK_ANSI", "true")).getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    hql_spark.register(spark)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    for line in sys.stdin:
        q = json.loads(line)
        try:
            if "filters" in q:
                answer = filters(spark, q["options"], q["filters"], q["seed"])
            elif "spark" in q:
                answer = {"rows": rows(spark_sql(spark, q))}
            elif "query" in q:
                answer = {"rows": rows(hql_spark.query(spark, q["query"], **q["options"]))}
            else:
                frame = spark.read.format("hql").options(**q["options"]).load()
                answer = {"rows": rows(frame)}
        except Exception as e:
            answer = {"error": str(e)}
        print(json.dumps(answer), file=answers, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()

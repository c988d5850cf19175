"""The data source "hql"."""

import io
import json

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructField, StructType

from hql_spark.command import Command, HqlError
from hql_spark.filters import SPARK_TYPES, quoted, to_sql


def register(spark):
    """Makes the format "hql" known."""
    spark.dataSource.register(HqlDataSource)


def query(spark, sql, **options):
    """The rows of a query, as spark.read gives them; but the groups of one that groups are made in as many tasks as it has pieces, and
    then merged by Spark."""
    options = {name: v if isinstance(v, str) else json.dumps(v) for name, v in options.items()}  # as spark.read takes them
    fields = _pieces_schema(Command(options), sql)
    if not any(f.partial for f in fields):
        return spark.read.format("hql").options(query=sql, **options).load()
    parts = spark.read.format("hql").options(query=sql, partials="true", **options).load()
    groups = [F.col(f"p{i}") for i, f in enumerate(fields) if f.merge == "group"]
    merge = {"sum": _sum, "min": F.min, "max": F.max, "and": F.bool_and, "or": F.bool_or}
    merged = [merge[f.merge](f"p{i}").alias(f"p{i}") for i, f in enumerate(fields) if f.merge != "group"]
    whole = parts.groupBy(*groups).agg(*merged) if merged else parts.select(*groups).distinct()
    out = {}
    for i, f in enumerate(fields):
        if f.result is None:
            continue
        value = F.col(f"p{i}")
        if f.divides:
            value = F.try_divide(F.col(f"p{i - 1}"), value)
        out[f.result] = _cast(value, f.result_type).alias(f.result_name)
    return whole.select(*[out[i] for i in sorted(out)])


def _sum(name):
    """The sum, an error where Spark may make it NULL as it has too many digits."""
    total = F.sum(name)
    return F.when(total.isNull() & (F.count(name) > 0), F.raise_error(F.lit(f"a sum has more digits than {SPARK_TYPES['DECIMAL'].simpleString()}"))).otherwise(total)


def _cast(value, to):
    """The value as of hql's type, an error where Spark may take the digits that fit."""
    cast = value.try_cast(SPARK_TYPES[to])
    return F.when(value.isNotNull() & cast.isNull(), F.raise_error(F.concat(value.cast("string"), F.lit(f" is no {to}")))).otherwise(cast)


def _as(column, field, name):
    """The column of that name as of Spark's type, whose moments are in microseconds and end earlier than hql's."""
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid:
        if not pa.types.is_timestamp(field.type):
            raise
        most = (2**63 - 1) // 1000
        beyond = next(ms for ms in column.cast(pa.int64()).to_pylist() if ms is not None and abs(ms) > most)
        raise HqlError(f"column {name}: no TIMESTAMP of Spark is {beyond} milliseconds from 1970: CAST it to STRING, or leave it out by a condition") from None


def _where(conditions):
    # on a line of its own: a comment at the end of one ends there
    return " WHERE " + " AND ".join(f"({c}\n)" for c in conditions) if conditions else ""


class _Field:
    """A column of the rows of pieces, and what it is of the result."""

    def __init__(self, field):
        note = {k.decode(): v.decode() for k, v in (field.metadata or {}).items()}
        self.name, self.type, self.merge = field.name, note["hql.type"], note.get("hql.merge", "")
        self.partial, self.divides = bool(self.merge), "hql.divides" in note
        self.result = int(note["hql.result"]) if "hql.result" in note else None
        self.result_name, self.result_type = note.get("hql.result_name"), note.get("hql.result_type")


def _pieces_schema(command, sql):
    """The columns of the rows of pieces. Nothing is read for them, and what will be is not known yet: the guards are asked later."""
    out = command.output(["pieces"], "--schema", "-c", sql, guards=["--full-scan", "allow"])
    with pa.ipc.open_stream(io.BytesIO(out)) as stream:
        return [_Field(f) for f in stream.schema]


class HqlDataSource(DataSource):
    """Options: connect, conf, catalog (files, by commas), table or query, where, args (a JSON list, for each ? of them), timeZone (UTC unless
    told), pushFilters (false unless told), fullScan (deny unless told), maxScanRows, maxScanBytes, binary."""

    @classmethod
    def name(cls):
        return "hql"

    def __init__(self, options):
        super().__init__(options)
        if ("table" in options) == ("query" in options):
            raise HqlError("the options table and query: one of them says what is read")
        self.command = Command(options)
        # hql binds no key by conditions around a query: those on a table must stand at the table
        self.source = options["table"] if "table" in options else f"({options['query']}\n) AS q"
        self.conditions = [options["where"]] if "where" in options else []
        self.push = options.get("pushFilters") == "true"
        if "query" in options and self.conditions:
            raise HqlError("the option where is about a table: write it into the query")
        self.sql = options.get("query", f"SELECT * FROM {self.source}" + _where(self.conditions))
        self.partials = options.get("partials") == "true"
        self.shown = {}  # what hql calls columns that are named otherwise here
        self._fields = None

    def fields(self):
        """The name and hql's type of each column of the rows, whether they are groups to be merged, and which of these are an AVG."""
        if self._fields is None:
            fields = _pieces_schema(self.command, self.sql)
            grouped = any(f.partial for f in fields)
            if self.partials:
                named = [(f"p{i}", f.type) for i, f in enumerate(fields)]
                self.shown = {f"p{i}": f.result_name or f.name for i, f in enumerate(fields)}
            elif grouped:
                results = {f.result: (f.result_name, f.result_type) for f in fields if f.result is not None}
                named = [results[i] for i in sorted(results)]
            else:
                named = [(f.name, f.type) for f in fields]
            twice = {n for n, _ in named if [m for m, _ in named].count(n) > 1}
            if twice:
                raise HqlError(f"several columns have the name {', '.join(sorted(twice))}: rename them with AS")
            for name, typ in named:
                if typ not in SPARK_TYPES:
                    raise HqlError(f"column {name}: Spark has no type for {typ}: CAST it to STRING")
            quotients = {f.result_name for f in fields if f.divides}
            self._fields = named, grouped, quotients
        return self._fields

    def schema(self):
        return StructType([StructField(name, SPARK_TYPES[typ]) for name, typ in self.fields()[0]])

    def reader(self, schema):
        return (_PushingReader if self.push else _Reader)(self, schema)


class _Reader(DataSourceReader):
    def __init__(self, source, schema):
        named, self.grouped, self.quotients = source.fields()
        self.command, self.sql, self.source, self.partials, self.shown = source.command, source.sql, source.source, source.partials, source.shown
        self.types, self.wanted, self.where = dict(named), schema, list(source.conditions)
        for f in schema.fieldNames():
            if f not in self.types:
                raise HqlError(f"there is no column {f}: {', '.join(self.types)}")

    def statement(self):
        """The query, of the columns and rows that are wanted."""
        if self.partials:
            return self.sql
        sql = f"SELECT {', '.join(map(self._item, self.wanted.fieldNames()))} FROM {self.source}"
        return sql + _where(self.where)

    def _item(self, name):
        column = quoted(name)
        if self.types[name] == "TIME":
            return f"CAST({column} AS STRING) AS {column}"
        if name in self.quotients and self.types[name] == "DECIMAL":  # it may have more digits than Spark's type
            return f"ROUND({column}, {SPARK_TYPES['DECIMAL'].scale}) AS {column}"
        return column

    def partitions(self):
        if self.grouped and not self.partials:
            return [InputPartition(None)]  # hql alone: Spark has no way to merge what a source gives
        lines = self.command.output(["pieces"], "-c", self.statement()).splitlines()
        return [InputPartition(json.loads(line)["piece"]) for line in lines]

    def read(self, partition):
        from pyspark.sql.pandas.types import to_arrow_schema

        schema = to_arrow_schema(self.wanted, timezone="UTC")
        if partition.value is None:
            batches = self.command.batches([], "--format", "arrow", "-c", self.statement())
        else:
            batches = self.command.batches(["piece"], "--format", "arrow", "-", stdin=partition.value.encode())
        names = list(self.types)
        for batch in batches:
            columns = []
            for i, f in enumerate(schema):
                c = batch.column(names.index(f.name) if self.partials else i)
                if isinstance(c.type, pa.BaseExtensionType):  # JSON
                    c = c.storage
                elif pa.types.is_time(c.type):  # as hql's CAST has it
                    c = pc.utf8_rtrim(pc.utf8_rtrim(c.cast(pa.string()), "0"), ".")
                columns.append(_as(c, f, self.shown.get(f.name, f.name)))
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


class _PushingReader(_Reader):
    """A reader to which Spark hands filters, in a session that says so: Spark 4.1 to 4.3 keep what it reads for other scans of its data frame."""

    def pushFilters(self, filters):
        # of a column that is read as another type Spark compares what became of the values
        alike = {f.name: self.types[f.name] for f in self.wanted if f.dataType == SPARK_TYPES[self.types[f.name]]}
        for f in filters:
            condition = None if self.grouped else to_sql(f, alike)
            if condition is None:
                yield f
            else:
                self.where.append(condition)

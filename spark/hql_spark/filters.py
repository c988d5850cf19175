"""Filters of Spark as SQL of hql: those alone that mean the same in both, for every value and for NULL."""

import datetime
import decimal
import math

from pyspark.sql import types as T
from pyspark.sql import datasource as S

_COMPARE = {S.EqualTo: "=", S.GreaterThan: ">", S.GreaterThanOrEqual: ">=", S.LessThan: "<", S.LessThanOrEqual: "<="}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def to_sql(filter, columns):
    """The condition, or None for what Spark must check. columns has hql's type of each column that Spark has as its own type of that."""
    if isinstance(filter, S.Not):
        inner = to_sql(filter.child, columns)
        return None if inner is None else f"NOT ({inner})"
    attribute = getattr(filter, "attribute", ())
    if len(attribute) != 1 or attribute[0] not in columns:
        return None
    column, typ = quoted(attribute[0]), columns[attribute[0]]
    if isinstance(filter, S.IsNull):
        return f"{column} IS NULL"
    if isinstance(filter, S.IsNotNull):
        return f"{column} IS NOT NULL"
    if isinstance(filter, S.In):
        values = [_literal(v, typ) for v in filter.value]
        return None if not values or None in values else f"{column} IN ({', '.join(values)})"
    value = _literal(filter.value, typ)
    if value is None:
        return None
    if isinstance(filter, S.EqualNullSafe):
        return f"{column} IS NOT DISTINCT FROM {value}"
    if isinstance(filter, S.StringStartsWith):
        return f"starts_with({column}, {value})"
    if isinstance(filter, S.StringContains):
        return f"strpos({column}, {value}) > 0"
    op = _COMPARE.get(type(filter))
    return None if op is None else f"{column} {op} {value}"


def _literal(value, typ):
    """The value as one of hql's type, None where hql would compare it in another way than Spark, or not at all."""
    match typ:
        case "BOOLEAN" if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT" if isinstance(value, int) and not isinstance(value, bool):
            return f"({value})" if -(2**63) < value < 2**63 else None
        case "DOUBLE" if isinstance(value, float) and math.isfinite(value):
            return f"CAST('{value!r}' AS DOUBLE)"
        case "DECIMAL" if isinstance(value, (decimal.Decimal, int)) and not isinstance(value, bool):
            return f"CAST('{value:f}' AS DECIMAL)" if decimal.Decimal(value).is_finite() else None
        case "STRING" if isinstance(value, str):
            if "\0" in value or any(0xD800 <= ord(c) < 0xE000 for c in value):
                return None
            return "'" + value.replace("'", "''") + "'"
        case "BYTES" if isinstance(value, (bytes, bytearray)):
            return f"X'{bytes(value).hex()}'"
        case "DATE" if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
            return f"DATE '{value.isoformat()}'"
        case "TIMESTAMP" if isinstance(value, datetime.datetime) and value.tzinfo is not None and value.microsecond % 1000 == 0:
            at = value.astimezone(datetime.timezone.utc)
            return f"TIMESTAMP '{at.year:04d}-{at:%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}+00:00'"
    return None


# Spark's types of hql's. A TIME comes as text: not all that Spark does knows its own type of it.
SPARK_TYPES = {
    "NULL": T.NullType(), "BOOLEAN": T.BooleanType(), "TINYINT": T.ByteType(), "SMALLINT": T.ShortType(), "INT": T.IntegerType(),
    "BIGINT": T.LongType(), "FLOAT": T.FloatType(), "DOUBLE": T.DoubleType(), "DECIMAL": T.DecimalType(38, 18), "STRING": T.StringType(),
    "BYTES": T.BinaryType(), "DATE": T.DateType(), "TIME": T.StringType(), "TIMESTAMP": T.TimestampType(), "JSON": T.StringType(),
}

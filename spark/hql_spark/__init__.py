"""HBase tables in Spark: hql plans and reads, each region in a task of its own.

    import hql_spark
    hql_spark.register(spark)
    events = spark.read.format("hql").options(connect="hbase://zk1:2181/hbase", table="events").load()
"""

from hql_spark.source import HqlDataSource, query, register

__all__ = ["HqlDataSource", "query", "register"]

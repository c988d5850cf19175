import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.io.ImmutableBytesWritable;
import org.apache.hadoop.hbase.mapreduce.TableInputFormat;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The way into Spark that HBase itself has: a task a region, whose rows a function of the job decodes. The table is that of
 * TestSparkFigures: the key is id in eight digits, the columns f:g and f:n are an int and a long.
 */
public final class TableInput {
  private static final byte[] F = Bytes.toBytes("f"), G = Bytes.toBytes("g"), N = Bytes.toBytes("n");

  public static Dataset<Row> frame(SparkSession spark, String quorum, String port, String table) {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.zookeeper.quorum", quorum);
    conf.set("hbase.zookeeper.property.clientPort", port);
    conf.set(TableInputFormat.INPUT_TABLE, table);
    conf.set(TableInputFormat.SCAN_CACHEDROWS, "100000"); // an answer ends with 2 MB
    JavaRDD<Row> rows = JavaSparkContext.fromSparkContext(spark.sparkContext())
        .newAPIHadoopRDD(conf, TableInputFormat.class, ImmutableBytesWritable.class, Result.class)
        .map(pair -> row(pair._2()));
    StructType schema = new StructType().add("id", DataTypes.LongType).add("grp", DataTypes.IntegerType).add("n", DataTypes.LongType);
    return spark.createDataFrame(rows, schema);
  }

  private static Row row(Result r) {
    return RowFactory.create(Long.parseLong(Bytes.toString(r.getRow())), Bytes.toInt(r.getValue(F, G)), Bytes.toLong(r.getValue(F, N)));
  }
}

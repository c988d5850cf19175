import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.spark.HBaseContext;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Writes rows by HBase's connector for Spark, and prints the table's cells, each as key, family, qualifier and value in hexadecimal digits. The rows
 * are on stdin, with tabs between the columns and \N for NULL. The arguments are the quorum, the name of the table, which is made and dropped, the
 * connector's catalog and the columns with their types in Spark.
 */
public class Written {
  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // Spark logs to it
    List<String> lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().toList();
    Configuration conf = HBaseConfiguration.create();
    String[] quorum = args[0].split(":");
    conf.set("hbase.zookeeper.quorum", quorum[0]);
    conf.set("hbase.zookeeper.property.clientPort", quorum[1]);
    conf.set("hbase.client.retries.number", "3"); // an error, not silence
    SparkSession spark = SparkSession.builder().master("local[1]").config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1").config("spark.sql.session.timeZone", "UTC").getOrCreate();
    new HBaseContext(spark.sparkContext(), conf, null); // the one that the connector takes
    StructField[] columns = StructType.fromDDL(args[3]).fields();
    String[] values = new String[columns.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = "CAST(nullif(split(value, '\\t')[" + i + "], '\\\\N') AS " + columns[i].dataType().sql() + ") AS " + columns[i].name();
    }
    spark.createDataset(lines, Encoders.STRING()).selectExpr(values).write().format("org.apache.hadoop.hbase.spark").option("catalog", args[2])
        .option("newtable", "4").save();
    TableName name = TableName.valueOf(args[1]);
    HexFormat hex = HexFormat.of();
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      try (ResultScanner rows = connection.getTable(name).getScanner(new Scan())) {
        for (Result row : rows) {
          for (Cell c : row.rawCells()) {
            out.println(hex.formatHex(CellUtil.cloneRow(c)) + " " + hex.formatHex(CellUtil.cloneFamily(c)) + " "
                + hex.formatHex(CellUtil.cloneQualifier(c)) + " " + hex.formatHex(CellUtil.cloneValue(c)));
          }
        }
      }
      connection.getAdmin().disableTable(name);
      connection.getAdmin().deleteTable(name);
    }
    spark.stop();
  }
}

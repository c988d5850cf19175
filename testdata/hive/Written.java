import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hive.hbase.HBaseSerDe;
import org.apache.hadoop.hive.hbase.PutWritable;
import org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe;
import org.apache.hadoop.io.Text;

/**
 * Prints the cells that Hive's storage handler makes of the rows of a table in text, each cell as key, family, qualifier and value in hexadecimal
 * digits. The rows are on stdin, with tabs between the columns, ',' in collections and ':' behind keys of maps. The arguments are the columns,
 * their types and their mapping.
 */
public class Written {
  public static void main(String[] args) throws Exception {
    Properties text = new Properties();
    text.setProperty("columns", args[0]);
    text.setProperty("columns.types", args[1]);
    Properties stored = (Properties) text.clone();
    text.setProperty("field.delim", "\t");
    text.setProperty("collection.delim", ",");
    text.setProperty("mapkey.delim", ":");
    stored.setProperty("hbase.columns.mapping", args[2]);
    LazySimpleSerDe from = new LazySimpleSerDe();
    from.initialize(new Configuration(), text);
    HBaseSerDe to = new HBaseSerDe();
    to.initialize(new Configuration(), stored);
    HexFormat hex = HexFormat.of();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      PutWritable put = (PutWritable) to.serialize(from.deserialize(new Text(line)), from.getObjectInspector());
      for (List<Cell> family : put.getPut().getFamilyCellMap().values()) {
        for (Cell c : family) {
          System.out.println(hex.formatHex(CellUtil.cloneRow(c)) + " " + hex.formatHex(CellUtil.cloneFamily(c)) + " "
              + hex.formatHex(CellUtil.cloneQualifier(c)) + " " + hex.formatHex(CellUtil.cloneValue(c)));
        }
      }
    }
  }
}

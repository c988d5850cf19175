import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.Properties;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.phoenix.compile.QueryPlan;
import org.apache.phoenix.jdbc.PhoenixStatement;

/**
 * Runs the statements on stdin, one a line, against the JDBC URL given. Each is answered by its rows, one a line with
 * '|' between the values, then by a line "." or "! " and the error. Moments are printed as milliseconds since 1970, bytes as
 * hexadecimal digits, arrays as JSON. A line "@" and a name connects anew as that tenant, "@" alone as none. The statements of a line
 * "&", which 0x01 separates, run beside those of other such lines, and "!commit" among them commits; "&" alone waits for all of them and
 * gives the first error. "?" and a
 * query is answered by the first key and the end of the range that its plan reads.
 */
public class Sql {
  static String show(Object v) throws SQLException {
    if (v instanceof java.sql.Timestamp t) {
      BigDecimal nanoseconds = BigDecimal.valueOf(t.getNanos() % 1000000, 6);
      return BigDecimal.valueOf(t.getTime()).add(nanoseconds).stripTrailingZeros().toPlainString();
    }
    if (v instanceof java.util.Date d) {
      return String.valueOf(d.getTime());
    }
    if (v instanceof byte[] b) {
      return HexFormat.of().formatHex(b);
    }
    if (v instanceof BigDecimal d) {
      return d.toPlainString();
    }
    if (v instanceof java.sql.Array a) {
      StringBuilder s = new StringBuilder("[");
      Object elements = a.getArray();
      for (int i = 0; i < Array.getLength(elements); i++) {
        Object e = Array.get(elements, i);
        s.append(i > 0 ? "," : "").append(e == null ? "null" : e instanceof String ? '"' + e.toString() + '"' : show(e));
      }
      return s.append("]").toString();
    }
    return v.toString();
  }

  static void all(String url, String[] statements, ConcurrentLinkedQueue<String> errors) {
    try (Connection connection = DriverManager.getConnection(url); Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        if (sql.equals("!commit")) {
          connection.commit();
        } else {
          statement.execute(sql);
        }
      }
      connection.commit();
    } catch (Exception e) {
      errors.add(String.valueOf(e.getMessage()).replace('\n', ' ') + ": " + statements[0]);
    }
  }

  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    Connection connection = DriverManager.getConnection(args[0]);
    connection.setAutoCommit(true);
    out.println(".");
    ConcurrentLinkedQueue<String> errors = new ConcurrentLinkedQueue<>();
    ExecutorService beside = null;
    for (String sql; (sql = in.readLine()) != null; ) {
      if (sql.startsWith("@")) {
        Properties as = new Properties();
        if (sql.length() > 1) {
          as.setProperty("TenantId", sql.substring(1));
        }
        connection.close();
        connection = DriverManager.getConnection(args[0], as);
        connection.setAutoCommit(true);
        out.println(".");
        continue;
      }
      if (sql.startsWith("&")) {
        if (beside == null) {
          beside = Executors.newFixedThreadPool(6);
        }
        if (sql.length() > 1) {
          String[] statements = sql.substring(1).split("\u0001");
          beside.submit(() -> all(args[0], statements, errors));
          out.println(".");
          continue;
        }
        beside.shutdown();
        beside.awaitTermination(1, TimeUnit.HOURS);
        beside = null;
        out.println(errors.isEmpty() ? "." : "! " + errors.poll());
        errors.clear();
        continue;
      }
      try (Statement statement = connection.createStatement()) {
        if (sql.startsWith("?")) {
          QueryPlan plan = statement.unwrap(PhoenixStatement.class).optimizeQuery(sql.substring(1));
          Scan scan = plan.getContext().getScan();
          out.println(HexFormat.of().formatHex(scan.getStartRow()) + "|" + HexFormat.of().formatHex(scan.getStopRow()));
        } else if (statement.execute(sql)) {
          try (ResultSet rows = statement.getResultSet()) {
            while (rows.next()) {
              StringBuilder line = new StringBuilder();
              for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                Object v = rows.getObject(i);
                line.append(i > 1 ? "|" : "").append(v == null ? "NULL" : show(v));
              }
              out.println(line);
            }
          }
        }
        out.println(".");
      } catch (SQLException e) {
        out.println("! " + e.getMessage().replace('\n', ' '));
      } catch (StackOverflowError e) {
        out.println("! " + e);
      }
    }
    Runtime.getRuntime().halt(0);
  }
}

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Runs the statements on stdin, one a line, against the JDBC URL given. Each is answered by its rows, one a line with
 * '|' between the values, then by a line "." or "! " and the error. Moments are printed as milliseconds since 1970.
 */
public class Sql {
  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    Connection connection = DriverManager.getConnection(args[0]);
    connection.setAutoCommit(true);
    out.println(".");
    for (String sql; (sql = in.readLine()) != null; ) {
      try (Statement statement = connection.createStatement()) {
        if (statement.execute(sql)) {
          try (ResultSet rows = statement.getResultSet()) {
            while (rows.next()) {
              StringBuilder line = new StringBuilder();
              for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                Object v = rows.getObject(i);
                line.append(i > 1 ? "|" : "").append(v == null ? "NULL" : v instanceof java.util.Date d ? String.valueOf(d.getTime()) : v.toString());
              }
              out.println(line);
            }
          }
        }
        out.println(".");
      } catch (SQLException e) {
        out.println("! " + e.getMessage().replace('\n', ' '));
      }
    }
    Runtime.getRuntime().halt(0);
  }
}

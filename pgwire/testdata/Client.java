import java.math.BigDecimal;
import java.sql.*;

public class Client {
  public static void main(String[] args) throws Exception {
    try (Connection c = DriverManager.getConnection(args[0])) {
      System.out.println(c.getMetaData().getDatabaseProductVersion());
      try (PreparedStatement p = c.prepareStatement("SELECT ts, value FROM events WHERE device = ? AND ts >= ?")) {
        for (int i = 0; i < 7; i++) { // after five times the driver prepares it on the server
          p.setString(1, "d1");
          p.setTimestamp(2, Timestamp.valueOf("2020-01-01 00:00:00"));
          try (ResultSet r = p.executeQuery()) {
            while (r.next()) if (i == 6) System.out.println(r.getTimestamp(1).toInstant() + " " + r.getDouble(2));
          }
        }
      }
      c.setAutoCommit(false);
      try (Statement s = c.createStatement()) {
        s.setFetchSize(10);
        int n = 0;
        try (ResultSet r = s.executeQuery("SELECT n FROM generate_series(1, 95) AS s (n)")) { while (r.next()) n++; }
        System.out.println(n);
      }
      c.rollback();
      try (PreparedStatement p = c.prepareStatement("SELECT ?::int + 1, ?, ? * 1.5")) {
        p.setInt(1, 4);
        p.setString(2, "x");
        p.setBigDecimal(3, new BigDecimal("2.5"));
        try (ResultSet r = p.executeQuery()) {
          r.next();
          System.out.println(r.getInt(1) + " " + r.getString(2) + " " + r.getBigDecimal(3));
        }
      }
      c.commit();
      c.setAutoCommit(true);
      try (PreparedStatement p = c.prepareStatement("SELECT id FROM every WHERE id = ANY (?)")) {
        p.setArray(1, c.createArrayOf("int4", new Integer[] {1, 3}));
        try (ResultSet r = p.executeQuery()) { while (r.next()) System.out.println(r.getInt(1)); }
      }
      for (String sql : new String[] {"SELECT COUNT(*) FROM generate_series(1, 1000000000000) AS s (n)", "SELECT nope FROM events"}) {
        try (Statement s = c.createStatement()) {
          s.setQueryTimeout(1);
          s.executeQuery(sql);
        } catch (SQLException e) {
          System.out.println(e.getSQLState());
        }
      }
      System.out.println(c.isValid(5));
    }
  }
}

import java.io.File;
import java.security.PrivilegedExceptionAction;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.security.token.ClientTokenUtil;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;

/** A KDC for realm HQL.TEST, and then HBase, which gives alice a token: its arguments are a directory, the KDC's port and, for the KDC alone, anything. */
public class WithKDC {
  public static void main(String[] args) throws Exception {
    File dir = new File(args[0]);
    SimpleKdcServer kdc = new SimpleKdcServer();
    kdc.setWorkDir(dir);
    kdc.setKdcRealm("HQL.TEST");
    kdc.setKdcHost("localhost");
    kdc.setAllowUdp(false);
    kdc.setKdcTcpPort(Integer.parseInt(args[1]));
    kdc.init();
    kdc.start();
    kdc.createAndExportPrincipals(new File(dir, "hbase.keytab"), "hbase/localhost");
    File keytab = new File(dir, "alice.keytab");
    kdc.createAndExportPrincipals(keytab, "alice");
    File ccache = new File(dir, "alice.ccache");
    kdc.getKrbClient().storeTicket(kdc.getKrbClient().requestTgt("alice", keytab), ccache);
    if (args.length > 2) {
      System.err.println("the KDC runs");
      Thread.currentThread().join();
    }
    Thread tokens = new Thread(() -> tokens(dir, keytab));
    tokens.setDaemon(true);
    tokens.start();
    HMaster.main(new String[] {"start"});
  }

  /** HBase 3 has this with an AsyncConnection, and gives a promise of a token. */
  static Token<?> obtainToken(Connection c) throws Exception {
    try {
      return (Token<?>) ClientTokenUtil.class.getMethod("obtainToken", Connection.class).invoke(null, c);
    } catch (NoSuchMethodException e) {
      return (Token<?>) ((Future<?>) ClientTokenUtil.class.getMethod("obtainToken", AsyncConnection.class)
          .invoke(null, Connection.class.getMethod("toAsyncConnection").invoke(c))).get();
    }
  }

  /** Writes a token of alice's as soon as HBase gives one. */
  static void tokens(File dir, File keytab) {
    for (int n = 0; n < 120; n++) {
      try {
        Thread.sleep(1000);
        Configuration conf = HBaseConfiguration.create();
        UserGroupInformation alice = UserGroupInformation.loginUserFromKeytabAndReturnUGI("alice@HQL.TEST", keytab.getPath());
        alice.doAs((PrivilegedExceptionAction<Void>) () -> {
          try (Connection c = ConnectionFactory.createConnection(conf)) {
            Token<?> token = obtainToken(c);
            Credentials all = new Credentials();
            all.addToken(token.getService(), token);
            for (Credentials.SerializedFormat form : Credentials.SerializedFormat.values()) {
              File file = new File(dir, form.name().toLowerCase() + ".tokens");
              File part = new File(file + ".part");
              all.writeTokenStorageFile(new Path(part.toURI()), conf, form);
              part.renameTo(file);
            }
          }
          return null;
        });
        return;
      } catch (Exception e) {
        if (n > 20) {
          e.printStackTrace();
        }
      }
    }
  }
}

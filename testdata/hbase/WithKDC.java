import java.io.File;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;

/** A KDC for realm HQL.TEST, and then HBase: its arguments are a directory, the KDC's port and, for the KDC alone, anything. */
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
    HMaster.main(new String[] {"start"});
  }
}

import java.lang.reflect.Field;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.master.HMaster;
import sun.misc.Unsafe;

/** HBase whose hbase:meta has a suffix, as clusters have that share their files: its argument is the suffix. No published version of HBase can do it. */
public class WithSuffix {
  public static void main(String[] args) throws Exception {
    Field field = Unsafe.class.getDeclaredField("theUnsafe");
    field.setAccessible(true);
    Unsafe unsafe = (Unsafe) field.get(null);
    Field meta = TableName.class.getField("META_TABLE_NAME");
    unsafe.putObject(unsafe.staticFieldBase(meta), unsafe.staticFieldOffset(meta), TableName.valueOf("hbase", "meta_" + args[0]));
    HMaster.main(new String[] {"start"});
  }
}

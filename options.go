package hql

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase/kerberos"
)

// FullScan is the policy for a statement that would read all of a table.
type FullScan = exec.FullScanPolicy

// The policies: FullScanDeny is the default on a cluster, FullScanWarn on the embedded store.
const (
	FullScanWarn  = exec.WarnFullScan
	FullScanAllow = exec.AllowFullScan
	FullScanDeny  = exec.DenyFullScan
)

// Option changes how a DB is opened.
type Option func(*config) error

// config holds the values of the options.
type config struct {
	catalog  *catalog.Catalog
	exec     exec.Config
	fullScan *FullScan
	writes   *bool
	user     string
	kerberos *kerberos.Config
	tls      func() (*tls.Config, error) // nil: no TLS
	timeout  time.Duration
	tracers  tracers
}

// WithCatalogFile adds the tables that the CREATE TABLE statements of a file define. It creates no HBase tables.
func WithCatalogFile(name string) Option {
	return func(c *config) error {
		b, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("catalog: %w", err)
		}
		if err := c.catalog.Load(string(b)); err != nil {
			return fmt.Errorf("catalog %s:%w", name, err)
		}
		return nil
	}
}

// WithCatalog adds the tables that the CREATE TABLE statements in sql define. It creates no HBase tables.
func WithCatalog(sql string) Option {
	return func(c *config) error { return c.catalog.Load(sql) }
}

// WithTables lets f register functions and encodings before catalogs are read;
// it must come before WithCatalog and WithCatalogFile.
func WithTables(f func(*catalog.Catalog) error) Option {
	return func(c *config) error { return f(c.catalog) }
}

// WithLogger sends hql's log records to l; without it hql logs nothing. At the debug level hql logs each read: table, keys
// in hexadecimal, rows, time. Keys may be personal data; no other level has them.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) error { c.exec.Logger = l; return nil }
}

// WithLocation sets the time zone of timestamps in text; the default is UTC.
func WithLocation(loc *time.Location) Option {
	return func(c *config) error { c.exec.Loc = loc; return nil }
}

// WithFullScan sets the policy for a statement whose conditions do not bind the start of a rowkey.
func WithFullScan(p FullScan) Option {
	return func(c *config) error { c.fullScan = &p; return nil }
}

// ScanLimit limits the reads of a statement: see WithScanLimit. Fields ([exec.ScanLimit]): Bytes are the bytes of cells, Rows
// the rows that leave the region servers, int64 both. Rows that a server's filter drops do not count. 0 means no limit.
type ScanLimit = exec.ScanLimit

// WithScanLimit ends a statement that reads more than l with ErrScanLimit. Each worker of the statement may read one more
// batch before it stops. SET max_scan_bytes and max_scan_rows change the limit for a session, QueryOptions.ScanLimit for a
// query.
func WithScanLimit(l ScanLimit) Option {
	return func(c *config) error {
		if l.Bytes < 0 || l.Rows < 0 {
			return fmt.Errorf("the scan limit %+v is negative", l)
		}
		c.exec.ScanLimit = l
		return nil
	}
}

// WithWrites allows or refuses statements that write. A cluster is read-only by default, the embedded store writable.
func WithWrites(allowed bool) Option {
	return func(c *config) error { c.writes = &allowed; return nil }
}

// WithoutFiles refuses COPY and SPLIT FROM FILE, which read or write files as this process, with ErrNoFiles. Use it to run
// the statements of people without access to these files. Opening still reads catalog files, and sorts still use temporary
// files.
func WithoutFiles() Option {
	return func(c *config) error { c.exec.NoFiles = true; return nil }
}

// WithParallelism bounds the number of parallel reads of one statement; the default is 16.
func WithParallelism(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("WithParallelism: %d is less than 1", n)
		}
		c.exec.Parallelism = n
		return nil
	}
}

// WithMaxFanOut limits how many values of a salt, hash or bucket at the start of a key a plan enumerates, with a scan for
// each; the default is 1024. The planner treats a part with more values like a part that nothing binds.
func WithMaxFanOut(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("WithMaxFanOut: %d is less than 1", n)
		}
		c.exec.Planner.MaxEnumerate = n
		return nil
	}
}

// WithMemoryLimit bounds the bytes that the sorts, groups and joins of one statement hold; the default is 256 MiB.
// Beyond it they use temporary files; operations that cannot use files fail with ErrMemoryLimit.
func WithMemoryLimit(bytes int64) Option {
	return func(c *config) error {
		if bytes < 1 {
			return fmt.Errorf("WithMemoryLimit: %d bytes are less than 1", bytes)
		}
		c.exec.MemoryLimit = bytes
		return nil
	}
}

// WithSpillDir sets the directory of temporary files (see WithMemoryLimit); the default is the operating system's.
func WithSpillDir(dir string) Option {
	return func(c *config) error { c.exec.SpillDir = dir; return nil }
}

// WithClock replaces the clock for NOW() and for the timestamps of written cells.
func WithClock(now func() time.Time) Option {
	return func(c *config) error { c.exec.Clock = now; return nil }
}

// WithUser sets the user name that hql sends to a cluster, unverified; the default is the operating system's user.
func WithUser(name string) Option {
	return func(c *config) error { c.user = name; return nil }
}

// WithKerberos makes the client and a cluster's servers authenticate each other. The zero value of k uses the tickets of
// kinit. Messages are signed or encrypted if the cluster (hbase.rpc.protection) or k.Protection demands it. With WithUser the
// authenticated user acts for that user, if hadoop.proxyuser allows it.
func WithKerberos(k kerberos.Config) Option {
	return func(c *config) error { c.kerberos = &k; return nil }
}

// WithTLS secures the connections to a cluster's servers, masters and region servers, with TLS (HBase 2.6 and later:
// hbase.server.netty.tls.enabled). The zero value trusts the system's roots. RootCAs, Certificates (for clusters that demand
// client certificates) and the other fields work as in crypto/tls. A server's certificate must be for the name by which the
// cluster calls that server. Connections to ZooKeeper are in clear text.
func WithTLS(cfg *tls.Config) Option {
	return func(c *config) error {
		if c.tls = nil; cfg != nil {
			c.tls = func() (*tls.Config, error) { return cfg, nil }
		}
		return nil
	}
}

// WithConnectTimeout bounds the first contact with a cluster; the default is 10 s.
func WithConnectTimeout(d time.Duration) Option {
	return func(c *config) error { c.timeout = d; return nil }
}

func newConfig(opts []Option) (*config, error) {
	c := &config{catalog: catalog.New()}
	for _, o := range opts {
		if err := o(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

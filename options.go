package hql

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/kerberos"
	"github.com/hql-db/hql/importer"
)

// FullScan says what happens to a statement that would read a whole table.
type FullScan = exec.FullScanPolicy

// The policies: FullScanDeny is the default on a cluster, FullScanWarn on the embedded store.
const (
	FullScanWarn  = exec.WarnFullScan
	FullScanAllow = exec.AllowFullScan
	FullScanDeny  = exec.DenyFullScan
)

// Option changes how a DB is opened.
type Option func(*config) error

// config is what the options fill in.
type config struct {
	catalog    *catalog.Catalog
	exec       exec.Config
	fullScan   *FullScan
	writes     *bool
	user       string
	kerberos   *kerberos.Config
	tls        func() (*tls.Config, error) // nil: no TLS
	metaSuffix string
	timeout    time.Duration
	tracers    tracers
}

// WithCatalogFile adds the CREATE TABLE statements of a file. The tables are mapped, none is made.
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

// WithCatalog adds the CREATE TABLE statements in sql, as WithCatalogFile does.
func WithCatalog(sql string) Option {
	return func(c *config) error { return c.catalog.Load(sql) }
}

// WithPhoenixCatalog makes the tables and views known that Phoenix's catalog, SYSTEM.CATALOG, describes, as hql import phoenix
// does. They are read at connect, where a statement names a table that is not known, where Phoenix has changed a table that a statement is about,
// which is looked at before, and again where they are ten seconds old. Definitions of hql's own with the same names win over them.
func WithPhoenixCatalog() Option {
	return func(c *config) error {
		c.exec.Definitions = func(ctx context.Context, c hbase.Client) (exec.Foreign, error) { return importer.ReadPhoenix(ctx, c) }
		return nil
	}
}

// WithTables lets f register functions and encodings before catalogs are read;
// it must come before WithCatalog and WithCatalogFile.
func WithTables(f func(*catalog.Catalog) error) Option {
	return func(c *config) error { return f(c.catalog) }
}

// WithLogger sends what hql logs there; the default is silence. At the debug level that is a record for each read:
// table, keys in hexadecimal, rows, time. Keys, which may be personal data, stand at no other level.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) error { c.exec.Logger = l; return nil }
}

// WithLocation sets the zone of timestamps in text; the default is UTC.
func WithLocation(loc *time.Location) Option {
	return func(c *config) error { c.exec.Loc = loc; return nil }
}

// WithFullScan sets what happens to a statement that misses the rowkey prefix.
func WithFullScan(p FullScan) Option {
	return func(c *config) error { c.fullScan = &p; return nil }
}

// ScanLimit is how much a statement may read: see WithScanLimit.
type ScanLimit = exec.ScanLimit

// WithScanLimit ends statements that read more with ErrScanLimit, at most a batch of each of their workers later. SET max_scan_bytes
// and max_scan_rows change it for a session, QueryOptions.ScanLimit for a query.
func WithScanLimit(l ScanLimit) Option {
	return func(c *config) error {
		if l.Bytes < 0 || l.Rows < 0 {
			return fmt.Errorf("the scan limit %+v is negative", l)
		}
		c.exec.ScanLimit = l
		return nil
	}
}

// WithTimeline lets queries read rows of a cluster's region replicas where the primary takes long: such rows may be older than what was
// written last, by as much as replication is behind. SET consistency changes it for a session, QueryOptions.Timeline asks for it
// in a query. Statements that write read what is there.
func WithTimeline() Option {
	return func(c *config) error { c.exec.Timeline = true; return nil }
}

// WithWrites allows or refuses statements that write. A cluster is read-only by default, the embedded store writable.
func WithWrites(allowed bool) Option {
	return func(c *config) error { c.writes = &allowed; return nil }
}

// WithoutFiles refuses the statements that read or write files of this process, COPY and SPLIT FROM FILE, with
// ErrNoFiles: for statements of people who may not have them. Catalog files are still read when opening, and
// sorts still use temporary files.
func WithoutFiles() Option {
	return func(c *config) error { c.exec.NoFiles = true; return nil }
}

// WithParallelism bounds the reads in flight for one statement; the default is 16.
func WithParallelism(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("WithParallelism: %d is less than 1", n)
		}
		c.exec.Parallelism = n
		return nil
	}
}

// WithMaxFanOut bounds the values of a salt, hash or bucket at the start of a key that a plan enumerates, with a
// scan for each; the default is 1024. A part with more counts as one that nothing binds.
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
// More of them goes to temporary files; what cannot go there fails with ErrMemoryLimit.
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

// WithClock replaces the time of NOW() and of written cells.
func WithClock(now func() time.Time) Option {
	return func(c *config) error { c.exec.Clock = now; return nil }
}

// WithUser sets the user that is named, unverified, to a cluster; the default is the operating system's.
func WithUser(name string) Option {
	return func(c *config) error { c.user = name; return nil }
}

// WithKerberos authenticates the connections to a cluster's servers, and these to the client; its zero value
// takes the tickets of kinit. Messages are signed or encrypted if the cluster wants that (hbase.rpc.protection) or
// Protection does. WithUser then names a user for whom the authenticated one acts, where hadoop.proxyuser allows that.
func WithKerberos(k kerberos.Config) Option {
	return func(c *config) error { c.kerberos = &k; return nil }
}

// WithTLS secures the connections to a cluster's servers, masters and region servers, with TLS (HBase 2.6 and later:
// hbase.server.netty.tls.enabled). The zero value trusts the system's roots; RootCAs, Certificates (for clusters that want one of
// clients too) and the like are used as crypto/tls says. Certificates must be for the names under which the cluster
// names its servers. ZooKeeper is reached in clear text.
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

package hbase

import (
	"bytes"
	"context"
	"crypto/tls"
	"time"

	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase/kerberos"
)

// Cell is one version of one column. Its slices alias the response they came
// in and must be copied to be kept beyond the batch.
type Cell struct {
	Family, Qualifier []byte
	Timestamp         int64 // milliseconds since 1970, as the writer set it
	Value             []byte
}

// Row is a row's key and its cells in HBase's order: family, qualifier, newest version first.
type Row struct {
	Key   []byte
	Cells []Cell
	// Encoded holds the cells in place of Cells where ReadOptions.Encoded asked for it and the server sent
	// them so: see CellReader.
	Encoded []byte
}

// ReadOptions say what a Get or Scan reads.
type ReadOptions struct {
	// Columns lists family:qualifier pairs; Families whole families. Both empty: everything.
	Columns  []filter.Column
	Families []string
	Filter   filter.Filter // nil: none
	// MinTime and MaxTime bound cell timestamps, [MinTime, MaxTime) in milliseconds; both 0: no bound.
	MinTime, MaxTime int64
	Versions         int           // per column; 0 means 1
	NoCacheBlocks    bool          // for large one-off scans
	Encoded          bool          // whoever reads the rows decodes the cells: for reads of which each cell is looked at once
	Region           RegionWatcher // nil: nobody watches
	// Metrics asks the servers of a scan what they looked at for it: RPCEnd.Scanned tells.
	Metrics bool
	// Timeline lets replicas of a region answer when its primary takes long: rows may be older than what was written last.
	// RPCEnd.Stale tells which. It has no effect where the client was handed in.
	Timeline bool
	// Slots, if not nil, bounds the RPCs that Gets have in flight, over all that share it: each takes a
	// place in it for as long as it lasts. nil: a few for each Get.
	Slots chan struct{}
}

// RegionWatcher is told of each region that answers, by its name in hbase:meta, which stays as it is; done: a scan has read its
// part of it. Several goroutines may call it.
type RegionWatcher interface {
	Answered(region []byte, done bool)
}

// ScanRange is one scan: rows in [Start, Stop), empty meaning open. Start == Stop
// with both non-empty is an empty range. With Reversed the rows come from the
// highest key below Stop down to Start: Start and Stop keep their meaning, and filters that
// jump to keys (filter.KeyRanges, filter.Fuzzy) are refused.
type ScanRange struct {
	Table       string
	Start, Stop []byte
	Reversed    bool
	Limit       int // rows wanted; 0: all. Sent to the servers
	BatchRows   int // rows wanted per response; 0: as many as fit
	BatchBytes  int // bytes wanted per response; 0: 2 MiB
	// Brief leaves no scanner open on a server between two calls of Next, at the price of seeking anew
	// for each: for one of hundreds of scans that are read in turn. Rows larger than a
	// response are read with an open scanner.
	Brief bool
}

// Scanner reads the rows of one ScanRange in key order. It is not for concurrent use.
type Scanner interface {
	// Next gives the next rows, valid until the following call of Next;
	// io.EOF after the last. Every row is whole.
	Next(ctx context.Context) ([]Row, error)
	// Close ends the scan, on the server too. It is idempotent.
	Close() error
}

// MutationKind is the kind of a Mutation.
type MutationKind uint8

// The mutations.
const (
	Put MutationKind = iota
	DeleteRow
	DeleteColumns  // all versions of the named columns
	DeleteFamilies // all that the named families hold of the row
)

// Mutation changes one row.
type Mutation struct {
	Kind      MutationKind
	Key       []byte
	Timestamp int64  // explicit, in milliseconds, for every mutation: a repeated send is then harmless
	Cells     []Cell // Put: what to write. DeleteColumns: family and qualifier. DeleteFamilies: family. Timestamps in cells override when not 0
	// Removed are columns that a Put deletes, all their versions up to Timestamp, in the same step as it writes
	// Cells: readers see both or neither.
	Removed []Cell
	// If must keep the row as it is when the mutation is applied, in the same step, or else the row stays as it is:
	// BatchError.Unmet. nil: whatever the row holds. No filter keeps a row without cells.
	If filter.Filter
}

// BatchError says which mutations of a batch were applied.
type BatchError struct {
	// Failed maps the index of each mutation that was refused to its error;
	// Unknown lists those whose answer never came; Unmet those whose If did not keep the row. All others are applied.
	Failed  map[int]error
	Unknown []int
	Unmet   []int
	Keys    [][]byte // the rowkeys of the whole batch, by index
	Cause   error
}

// Region is one region of a table: the rows in [Start, Stop), empty meaning open.
type Region struct {
	Name        string // as in hbase:meta, "table,start,time.encoded."; start may be any bytes
	Start, Stop []byte
	Server      string // host:port, "" when unknown
}

// holds reports whether the row of key is one of the region's.
func (r Region) holds(key []byte) bool {
	return bytes.Compare(r.Start, key) <= 0 && (len(r.Stop) == 0 || bytes.Compare(key, r.Stop) < 0)
}

// Family describes a column family: Attributes are HBase's names and values (VERSIONS, TTL, BLOOMFILTER ...).
type Family struct {
	Name       string
	Attributes map[string]string
}

// Stats counts what a client did; all fields are totals since it was made.
type Stats struct {
	RPCs               int64 // calls sent, repeated ones among them
	Rows, Cells, Bytes int64 // read; bytes are those of the cells
	Reopens            int64 // scanners opened again after a failure
	Retries            int64 // calls sent again
	Replaced           int64 // connections given up because they no longer answered
}

// Client is what the executor reads and writes through. It is safe for concurrent use.
type Client interface {
	// Get reads the rows with the given keys, in the order given; an absent row
	// has a nil Key. Several keys go as one RPC a region.
	Get(ctx context.Context, table string, keys [][]byte, o *ReadOptions) ([]Row, error)
	// Scan begins to read a range, which the caller must Close. That the table does not exist (ErrNoTable) may
	// show at the first Next only.
	Scan(ctx context.Context, r ScanRange, o *ReadOptions) (Scanner, error)
	// Mutate applies mutations in batches, each row atomically, several rows not.
	// A failure is a *BatchError, also where all that it tells of is Unmet.
	Mutate(ctx context.Context, table string, ms []Mutation) error
	// Increment adds n to an 8-byte big-endian counter and gives the new value.
	// A lost answer may add twice: use it only to draw numbers.
	Increment(ctx context.Context, table string, key []byte, family, qualifier string, n int64) (int64, error)
	// PutIf writes m, a Put, only when the column of its first cell holds was, where nil is no cell, or an empty one; it
	// tells whether it did. A lost answer may make it deny what it did.
	PutIf(ctx context.Context, table string, was []byte, m Mutation) (bool, error)
	// Regions lists a table's regions in key order; ErrNoTable when it does not exist.
	Regions(ctx context.Context, table string) ([]Region, error)
	// KnownRegions is Regions as they were some minutes ago at most: good for dividing work, not for
	// telling where a key is. The caller must not change them.
	KnownRegions(ctx context.Context, table string) ([]Region, error)
	// RegionSizes tells how large the regions of tables are, in bytes in files, as they are without compression, and in memory: by their
	// names in hbase:meta, as far as their servers told the master, in steps of a mebibyte. Not every cluster lets every user ask.
	RegionSizes(ctx context.Context, tables ...string) (map[string]int64, error)
	// Tables lists the tables whose names start with prefix, in the order of their names, whether or not the user may read them.
	Tables(ctx context.Context, prefix string) ([]string, error)
	// PermittedTables lists the tables for which the user has any permission, in the order of their names.
	PermittedTables(ctx context.Context) ([]string, error)
	// Families describes a table; ErrNoTable when it does not exist.
	Families(ctx context.Context, table string) ([]Family, error)
	// MobFamilies names the families of tables whose large values HBase may keep apart from their cells (IS_MOB). A server's filter compares
	// the reference in such a cell, not the value. The error says that a table's description cannot be read.
	MobFamilies(ctx context.Context, tables ...string) ([]string, error)
	// MayWrite is an error, ErrDenied if that is the cause, unless the user may write all of these families of a table.
	MayWrite(ctx context.Context, table string, families []string) error
	// MayRead is MayWrite for reading.
	MayRead(ctx context.Context, table string, families []string) error
	// CreateTable makes a table of len(splits)+1 regions, which begin at the splits, and waits until it can be used.
	CreateTable(ctx context.Context, table string, families []Family, splits [][]byte) error
	// DropTable disables a table, asks still, unless that is nil, and deletes the table. Where still fails, the table is enabled again, and that is
	// the error. As HBase deletes only what is disabled, a table that is made under the name after still was asked is not deleted for the one
	// before. ErrNoTable when it does not exist.
	DropTable(ctx context.Context, table string, still func(context.Context) error) error
	Stats() Stats
	// Close ends the connections that the client opened itself.
	Close() error
}

// Config says how to reach a cluster.
type Config struct {
	Quorum string // of ZooKeeper, "zk1:2181,zk2:2181"; "" if Servers are given
	Root   string // root znode; "" means /hbase
	// Servers are masters or region servers to ask in place of ZooKeeper, "master1:16000,master2:16000".
	Servers string
	// MetaSuffix is the cluster's hbase.meta.table.suffix, by which it calls hbase:meta hbase:meta_SUFFIX. Servers of 2.5 and later tell it
	// themselves.
	MetaSuffix string
	User       string // sent unverified; "" means the operating system's user, or the one that Kerberos authenticates
	// Kerberos authenticates the connections to HBase; nil: authentication is simple. Another User is then one that
	// the authenticated user acts for, which the cluster must allow (hadoop.proxyuser).
	Kerberos *kerberos.Config
	// TLS secures the connections to HBase, as hbase.server.netty.tls.enabled asks for since 2.6; nil: they are in clear text. The
	// server's name is the one under which the cluster names it unless ServerName is set. ZooKeeper is reached in clear text.
	// It is asked for each connection.
	TLS            func() (*tls.Config, error)
	ConnectTimeout time.Duration // of the first contact; 0: 10 s
	AttemptTimeout time.Duration // one RPC; 0: 90 s for scans, 20 s for others
}

package hbase

import (
	"bytes"
	"context"
	"crypto/tls"
	"time"

	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase/kerberos"
)

// Cell is one version of one column. Its slices alias the response they arrived in: copy them to keep them beyond the
// batch.
type Cell struct {
	Family, Qualifier []byte
	Timestamp         int64 // milliseconds since 1970, as the writer set it
	Value             []byte
}

// Row is a row's key and its cells in HBase's order: family, qualifier, newest version first.
type Row struct {
	Key   []byte
	Cells []Cell
	// Encoded holds the cells in place of Cells if ReadOptions.Encoded is set and the server sent them encoded: see
	// NextCell.
	Encoded []byte
}

// ReadOptions describe what a Get or Scan reads.
type ReadOptions struct {
	// Columns lists family:qualifier pairs, Families whole families. If both are empty, everything is read.
	Columns  []filter.Column
	Families []string
	Filter   filter.Filter // nil: none
	// MinTime and MaxTime bound cell timestamps, [MinTime, MaxTime) in milliseconds; both 0: no bound.
	MinTime, MaxTime int64
	Versions         int           // per column; 0 means 1
	Cells            int           // the greatest number of cells of each row and family: the first ones; 0: all
	NoCacheBlocks    bool          // for large one-off scans
	Encoded          bool          // return undecoded cells: for reads that look at each cell only once
	Region           RegionWatcher // may be nil
	// Metrics asks servers to count the rows that a scan looks at: see RPCEnd.Scanned.
	Metrics bool
	// Slots, if not nil, bounds the number of RPCs that all Gets sharing it have in flight. nil: a few for each Get.
	Slots chan struct{}
}

// RegionWatcher is called for each region that answers, by its name in hbase:meta, which stays valid. Several goroutines
// may call it.
type RegionWatcher interface {
	Answered(region []byte)
}

// ScanRange is one scan: the rows in [Start, Stop), where empty means unbounded. Start == Stop with both non-empty is
// an empty range. With Reversed the rows come from the highest key below Stop down to Start, with the same bounds;
// filters that jump to keys (filter.KeyRanges, filter.Fuzzy) are refused.
type ScanRange struct {
	Table       string
	Start, Stop []byte
	Reversed    bool
	Limit       int // rows wanted; 0: all. It is sent to the servers
	BatchRows   int // rows wanted per response; 0: as many as fit
	BatchBytes  int // bytes wanted per response; 0: 2 MiB
	// Brief leaves no scanner open on the server between two calls of Next; each call seeks again. Use it if hundreds
	// of scans are read in turn. A row larger than a response is still read with an open scanner.
	Brief bool
	// Ahead sends the next call as soon as an answer has come, so that the servers work while the caller uses the rows. With
	// small answers it sends several calls ahead, once the caller has used some answers. It requires a scan without a Limit.
	// The context of Next must then last until Close.
	Ahead bool
}

// Scanner reads the rows of one ScanRange in key order. It is not for concurrent use.
type Scanner interface {
	// Next returns the next rows, valid until the following call of Next, and io.EOF after the last. Every row is
	// whole.
	Next(ctx context.Context) ([]Row, error)
	// Close ends the scan, on the server too. It may be called twice.
	Close() error
}

// MutationKind is the kind of a Mutation.
type MutationKind uint8

// The mutations.
const (
	Put MutationKind = iota
	DeleteRow
	DeleteColumns  // all versions of the named columns
	DeleteFamilies // all cells of the row in the named families
)

// Mutation changes one row.
type Mutation struct {
	Kind      MutationKind
	Key       []byte
	Timestamp int64  // explicit, in milliseconds, for every mutation: a repeated send is then harmless
	Cells     []Cell // Put: what to write. DeleteColumns: family and qualifier. DeleteFamilies: family. Timestamps in cells override when not 0
	// Removed are columns that a Put deletes, all versions up to Timestamp, atomically with writing Cells: readers see
	// both changes or neither.
	Removed []Cell
	// If is a condition on the row, checked atomically with the mutation. If it does not accept the row, the row stays
	// unchanged and is listed in BatchError.Unmet. nil: no condition. No filter accepts a row without cells.
	If filter.Filter
}

// BatchError reports which mutations of a batch were applied.
type BatchError struct {
	// Failed maps the index of each refused mutation to its error; Unknown lists the mutations that were not answered;
	// Unmet lists those whose If did not accept the row. All others are applied.
	Failed  map[int]error
	Unknown []int
	Unmet   []int
	Keys    [][]byte // the rowkeys of the whole batch, by index
	Cause   error
}

// Region is one region of a table: the rows in [Start, Stop), where empty means unbounded.
type Region struct {
	Name        string // as in hbase:meta, "table,start,time.encoded."; start may be any bytes
	Start, Stop []byte
	Server      string // host:port, "" when unknown
}

// holds reports whether the region contains the row key.
func (r Region) holds(key []byte) bool {
	return bytes.Compare(r.Start, key) <= 0 && (len(r.Stop) == 0 || bytes.Compare(key, r.Stop) < 0)
}

// RegionLoad is the last report of a server about a region.
type RegionLoad struct {
	Bytes int64 // in files, uncompressed, and in memory, in steps of a mebibyte; -1: not reported
	// Reads and Writes count rows since the region was opened, Filtered the rows that a filter dropped.
	Reads, Writes, Filtered int64
}

// Family describes a column family: Attributes are HBase's names and values (VERSIONS, TTL, BLOOMFILTER ...).
type Family struct {
	Name       string
	Attributes map[string]string
}

// Stats counts the activity of a client; all fields are totals since the client was made.
type Stats struct {
	RPCs               int64 // calls sent, including repeated ones
	Rows, Cells, Bytes int64 // read; Bytes is the size of the cells
	Reopens            int64 // scanners opened again after a failure
	Retries            int64 // calls sent again
	Replaced           int64 // connections given up because they no longer answered
}

// Client is the interface through which the executor reads and writes. It is safe for concurrent use.
type Client interface {
	// Get reads the rows with the given keys, in the given order; an absent row has a nil Key. Several keys of one
	// region go in one RPC.
	Get(ctx context.Context, table string, keys [][]byte, o *ReadOptions) ([]Row, error)
	// Scan begins to read a range; the caller must Close it. If the table does not exist, the first Next may be the
	// call that returns ErrNoTable.
	Scan(ctx context.Context, r ScanRange, o *ReadOptions) (Scanner, error)
	// Mutate applies mutations in batches: each row atomically, several rows not. Its error is a *BatchError, also if
	// it reports only Unmet.
	Mutate(ctx context.Context, table string, ms []Mutation) error
	// Increment adds n to an 8-byte big-endian counter and returns the new value. After a lost answer it may add n
	// twice: use it only to draw numbers.
	Increment(ctx context.Context, table string, key []byte, family, qualifier string, n int64) (int64, error)
	// PutIf writes m, a Put, only if the column of its first cell holds was; nil means no cell, or an empty one. It
	// reports whether it wrote. After a lost answer it may report false although it wrote.
	PutIf(ctx context.Context, table string, was []byte, m Mutation) (bool, error)
	// Regions lists a table's regions in key order; ErrNoTable when it does not exist.
	Regions(ctx context.Context, table string) ([]Region, error)
	// KnownRegions works like Regions, but its list may be some minutes old: use it to divide work, not to locate a
	// key. The caller must not change them.
	KnownRegions(ctx context.Context, table string) ([]Region, error)
	// RegionLoads returns the sizes of the regions of tables and their requests by their names in hbase:meta, as last
	// reported to the master. Some clusters do not permit the request to every user.
	RegionLoads(ctx context.Context, tables ...string) (map[string]RegionLoad, error)
	// Tables lists the tables whose names start with prefix, in the order of their names, including those that the user
	// may not read.
	Tables(ctx context.Context, prefix string) ([]string, error)
	// PermittedTables lists the tables for which the user has any permission, in the order of their names.
	PermittedTables(ctx context.Context) ([]string, error)
	// Families describes a table; ErrNoTable when it does not exist.
	Families(ctx context.Context, table string) ([]Family, error)
	// MobFamilies names the families of tables whose large values HBase may store apart from their cells (IS_MOB). A
	// server's filter compares the reference in such a cell, not the value. An error means that a table's description
	// cannot be read.
	MobFamilies(ctx context.Context, tables ...string) ([]string, error)
	// MayWrite returns an error unless the user may write all of these families of a table; it is ErrDenied if a
	// permission is missing.
	MayWrite(ctx context.Context, table string, families []string) error
	// MayRead is MayWrite for reading.
	MayRead(ctx context.Context, table string, families []string) error
	// CreateTable creates a table of len(splits)+1 regions, which begin at the splits, and waits until it can be used.
	CreateTable(ctx context.Context, table string, families []Family, splits [][]byte) error
	// DropTable disables a table, calls still unless it is nil, and deletes the table. If still fails, DropTable
	// enables the table again and returns that error. HBase deletes only disabled tables, so a table that is created
	// under the same name after still was called is not deleted by mistake. ErrNoTable when the table does not exist.
	DropTable(ctx context.Context, table string, still func(context.Context) error) error
	Stats() Stats
	// Close ends the connections that the client opened itself.
	Close() error
}

// Config describes how to reach a cluster.
type Config struct {
	Quorum string // of ZooKeeper, "zk1:2181,zk2:2181"; "" if Servers are given
	Root   string // root znode; "" means /hbase
	// Servers are masters or region servers to ask in place of ZooKeeper, "master1:16000,master2:16000".
	Servers string
	User    string // sent without proof; "" means the operating system's user, or the user that Kerberos authenticates
	// Kerberos authenticates the connections to HBase; nil: authentication is simple. If User differs from the
	// authenticated user, the authenticated user acts for User, which the cluster must allow (hadoop.proxyuser).
	Kerberos *kerberos.Config
	// TLS returns the configuration of connections to HBase, as hbase.server.netty.tls.enabled requires since 2.6; nil:
	// they are in clear text. It is called for each connection. If ServerName is not set, it is the name by which the
	// cluster names the server. Connections to ZooKeeper are in clear text.
	TLS            func() (*tls.Config, error)
	ConnectTimeout time.Duration // of the first contact; 0: 10 s
	AttemptTimeout time.Duration // one RPC; 0: 90 s for scans, 20 s for others
}

package catalog

import (
	"errors"
	"strings"
	"sync"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// SystemTable is the HBase table that holds the definitions of tables created in hql, StatisticsTable the one that holds what ANALYZE
// found. No definition maps them.
const (
	SystemTable     = "hql_catalog"
	StatisticsTable = "hql_stats"
)

// IsOwn reports whether an HBase table is hql's own: no row of a table that is defined may be written there.
func IsOwn(name string) bool {
	name = strings.TrimPrefix(name, "default:") // the namespace of names without one
	return name == SystemTable || name == StatisticsTable
}

// Catalog is a set of tables by name. It is safe for concurrent use; the tables
// in it do not change.
type Catalog struct {
	mu     sync.RWMutex
	tables map[string]*Table // by folded name
	views  map[string]*View  // by folded name, none of which is a table's
	broken map[string]error  // by folded name, of neither: why a definition that is kept cannot be used
	funcs  *expr.Registry
	encs   []*EncodingType // those that were registered
}

// View is a query under a name.
type View struct {
	Name string
	Def  *parser.CreateView
}

// Table is a logical table.
type Table struct {
	Name     string
	External bool // maps a table that exists; DROP TABLE leaves it alone
	Columns  []*Column
	Families []Family
	Layouts  []*Layout // the first is the primary one
	Split    *parser.SplitDef
	// MalformedKeyError makes a key that does not fit fail the query; otherwise such rows are skipped and counted.
	MalformedKeyError bool
	// CreateTables is set when writing a row may create its physical table (a table a day).
	CreateTables bool
	// HiddenKey is set when the table was made without any key: its one key column _id is drawn on write.
	HiddenKey bool
	// Marker is the qualifier of a cell that each row written gets, beside its values: what else reads the table does not take the
	// row for one without it. It is _0 when a part or column is in a form of Phoenix's own, unless the definition names another; "" for none.
	Marker string
	// ReadOnly says why nothing is written; "" where it is.
	ReadOnly string
	// IndexStates is the HBase table in which Phoenix keeps whether the indexes are ACTIVE: its SYSTEM.CATALOG. "" where hql keeps them itself.
	IndexStates string
	// Verified is what the cell Marker holds in those entries of an INDEX that are right without a look at their row. "" where each row is
	// looked at.
	Verified string
	Def      *parser.CreateTable // what it was made from
}

// Column is a column of a table. One in the key (KeyPart) has no cell, unless HasCell says otherwise.
type Column struct {
	Index   int // in Table.Columns and in a row
	Name    string
	Type    types.Type
	Limit   types.Limit // of values that are written
	NotNull bool
	// KeyPart reports whether the column is read from the key (or from table name or qualifier).
	KeyPart bool
	// NullKey reports whether the column is read from the key and may be NULL there: its part is NULLABLE.
	NullKey bool
	// Family and Qualifier name the cell otherwise; Encoding says how its value is stored.
	Family, Qualifier string
	Encoding          Encoding
	// Packed is the qualifier made of parts: one logical row a cell. Nil otherwise.
	Packed *Composite
	// HasCell reports whether Family:Qualifier exists (a key column may be copied in a cell too).
	HasCell bool
	Pos     parser.Pos
	inKey   bool // of some layout
	noScale bool // some part or cell holds 1.5 for 1.50
}

// Family is a column family with HBase's attribute names and values (VERSIONS, TTL, BLOOMFILTER ...).
type Family struct {
	Name       string
	Attributes map[string]string
}

// LayoutKind tells what the rows of a layout are.
type LayoutKind uint8

// The kinds of layout.
const (
	Primary LayoutKind = iota
	Copy               // every column again under another key
	Index              // key columns only; the row is looked up in the primary layout
)

// String is how a definition begins a layout of the kind.
func (k LayoutKind) String() string {
	if k == Index {
		return "INDEX"
	}
	return "ROW KEY"
}

// Layout is one way in which the table's rows are stored.
type Layout struct {
	Name   string // "primary" where the definition has none
	Kind   LayoutKind
	Stored *Composite // the physical table's name; a single literal for most
	Key    *Composite
	Packed *Composite // the packed column's qualifier; nil for most
	// Sparse are, of an Index, the columns of its parts that are not in the primary key: a row in which one of them is NULL
	// has no entry.
	Sparse []*Column
	// Included are columns as the entries of an Index carry them in cells, beside those that its key tells; nil where entries do no more than lead
	// to rows, whatever they say of themselves.
	Included []*Column
	Pos      parser.Pos

	storedParts bool      // Stored has parts to compute
	storedName  string    // Stored, where it has none
	solve       []solver  // how key columns are read
	check       []partRef // parts to recompute
	numbered    []numbered
	named       []partRef // of check, the ones that follow from names of LOOKUP
	// solvedBy and checkedBy are the last key part that each of solve and check depends on; unstable: not only on the key.
	solvedBy, checkedBy []int
}

// Composite is a byte string made of parts: a rowkey, a table name, a qualifier.
type Composite struct {
	Parts []*Part
	table *Table
	// optional is how many parts at the end a key may lack: it does where all that they hold is NULL.
	optional int
}

// Rows of a table are []types.Value: one a column, in order, then these pseudo-columns.
const (
	KeyColumn       = "_key" // BYTES: the rowkey
	TimestampColumn = "_ts"  // TIMESTAMP: the newest cell's time
)

// HiddenColumn is the key column of a table that was made without a key.
const HiddenColumn = "_id"

// Order is what byte order says of value order for an Encoding.
type Order uint8

// The orders.
const (
	Unordered      Order = iota
	Ascending            // greater values, greater bytes
	TwosComplement       // two's complement: ascending, but negative values after the others
	Padded               // fixed-width text: ascending on the value's bytes, filled up to the width
	Terminated           // variable-width text: the value's bytes as they are, any of them, which a delimiter or the end of the key follows
	Lexical              // bytes of varying width that sort as the values do where 0x00 or the end follows
	// Inverted is added to one of the others where all bits are inverted: ascending is descending.
	Inverted Order = 1 << 7
)

// Variable is the Width of an encoding whose values vary in length.
const Variable = -1

// Encoding turns values of one SQL type into bytes and back. Encodings are
// strict: Decode accepts exactly what Append writes, so that each value has one
// encoding and each encoding one value.
type Encoding interface {
	String() string // as written in SQL: "ORDERED INT64"
	Width() int     // bytes, or Variable
	Type() types.Type
	// Append appends v's bytes. The error tells why v does not fit.
	Append(dst []byte, v types.Value) ([]byte, error)
	// Decode reads the bytes of one value.
	Decode(src []byte) (types.Value, error)
	Order() Order
	// Clip narrows iv to values that can be stored: the bounds of the result are
	// inclusive and storable (or as they were, for Terminated; or open or NULL, for Lexical); ok is false when none is.
	Clip(iv types.Interval) (types.Interval, bool)
}

// Respeller is an Encoding that may read more than it writes: "1.0" for 1. In a cell that is welcome; in a key the row would not be found
// again, and be written in another place, so that there each value is compared with what would be written.
type Respeller interface {
	// Respells reports whether it does.
	Respells() bool
}

func respells(e Encoding) bool {
	r, ok := e.(Respeller)
	return ok && r.Respells()
}

// OneFalse is an Encoding of BOOLEAN that may read all bytes as TRUE but those that it writes for FALSE.
type OneFalse interface {
	// OneFalse reports whether it does.
	OneFalse() bool
}

// OneFalse reports whether all cells of c are TRUE but those with the bytes of FALSE.
func (c *Column) OneFalse() bool {
	e, ok := c.Encoding.(OneFalse)
	return ok && e.OneFalse()
}

// Coarse is an Encoding that may hold only some moments of its type.
type Coarse interface {
	// Unit names the unit of time whose starts it holds: "month", as DATE_TRUNC takes it. It is "" where all moments are held.
	Unit() string
}

// OneScale is an Encoding of DECIMAL that may hold 1.5 for 1.50.
type OneScale interface {
	// OneScale reports whether it does.
	OneScale() bool
}

func oneScale(e Encoding) bool {
	s, ok := e.(OneScale)
	return ok && s.OneScale()
}

// CellsOnly is an Encoding that may be no key's: it does not give each value bytes of its own.
type CellsOnly interface {
	// CellsOnly reports whether it is not.
	CellsOnly() bool
}

// Alphabet is an Encoding of varying width that knows the bytes that it writes, where these are not those of the value's text.
type Alphabet interface {
	// Alphabet gives them: a literal that begins with one of them cannot end a part.
	Alphabet() string
}

// Lister is an Encoding that can hold only some of its type's values between two.
type Lister interface {
	// List gives those in an interval that Clip gave or that is a point, where they are at most limit.
	List(iv types.Interval, limit int) (vs []types.Value, ok bool)
}

// Kinds of mistakes in statements: errors.Is finds them.
var (
	ErrUnknownTable  = errors.New("unknown table")
	ErrUnknownColumn = errors.New("unknown column")
)

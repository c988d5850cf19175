package catalog

import (
	"errors"
	"strings"
	"sync"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// SystemTable is the HBase table that holds the definitions of tables created in hql. StatisticsTable holds the results
// of ANALYZE. No definition may map them.
const (
	SystemTable     = "hql_catalog"
	StatisticsTable = "hql_stats"
)

// IsOwn reports whether an HBase table belongs to hql itself: no defined table may be stored there.
func IsOwn(name string) bool {
	name = strings.TrimPrefix(name, "default:") // names without a namespace are in default
	return name == SystemTable || name == StatisticsTable
}

// Catalog is a set of tables by name. It is safe for concurrent use; the tables in it do not change.
type Catalog struct {
	mu     sync.RWMutex
	tables map[string]*Table // by folded name
	views  map[string]*View  // by folded name; no table has the same name
	broken map[string]error  // by folded name, if no table or view has it: why the stored definition cannot be used
	funcs  *expr.Registry
	encs   []*EncodingType // registered by RegisterEncoding
}

// View is a named query.
type View struct {
	Name string
	Def  *parser.CreateView
	Rows *Table // of a materialized view, which Readers lists
}

// Table is a logical table.
type Table struct {
	Name     string
	External bool // maps an existing HBase table, which DROP TABLE keeps
	Columns  []*Column
	Families []Family
	Layouts  []*Layout // the first is the primary one
	// MalformedKeyError makes a query fail at a key that does not fit the layout; otherwise such rows are skipped and
	// counted.
	MalformedKeyError bool
	// CreateTables is set if writing a row may create its physical table (such as one table a day).
	CreateTables bool
	// HiddenKey is set when the table was made without any key: its one key column _id is drawn on write.
	HiddenKey bool
	// Marker is the qualifier of a cell that each written row gets in addition to its values, because other readers of
	// the table ignore rows without it. It is _0 if a part or column has an encoding of Phoenix, unless the definition
	// names another; "" for none.
	Marker string
	// ReadOnly says why the table cannot be written; "" if it can.
	ReadOnly string
	// IndexStates is Phoenix's SYSTEM.CATALOG, the HBase table in which Phoenix records whether the indexes are ACTIVE.
	// "" if hql records that itself.
	IndexStates string
	Comment     string
	Checks      []Check
	Def         *parser.CreateTable // the definition it was made from

	primary parser.LayoutDef // the first layout, that of PRIMARY KEY too
}

// Check is a CHECK: a condition that rows which hql writes must not break. Rows that other programs write may break it.
type Check struct {
	*parser.CheckDef
	Columns []int // that the condition reads
}

// Column is a column of a table. A column in the key (KeyPart) has no cell, unless HasCell is set.
type Column struct {
	Index   int // in Table.Columns and in a row
	Name    string
	Type    types.Type
	Limit   types.Limit // of values that are written
	Comment string
	NotNull bool
	// Default is the value that INSERT writes if it does not name the column; nil: none. It reads no column.
	Default parser.Expr
	// Identity is parser.Always or parser.ByDefault for a column that is GENERATED AS IDENTITY by Default, otherwise "".
	Identity string
	// KeyPart reports whether the column is read from the key (or from the table name or qualifier).
	KeyPart bool
	// NullKey reports whether the column is read from the key and its part is NULLABLE.
	NullKey bool
	// Family and Qualifier name the cell of a column that is not read from the key; Encoding is the encoding of its value.
	Family, Qualifier string
	Encoding          Encoding
	// Packed is set for a packed column: a column whose qualifiers are made of parts, so that each of its cells is one
	// row of the table. It is nil for all other columns.
	Packed *Composite
	// HasCell reports whether Family:Qualifier exists (a key column may have a copy in a cell).
	HasCell bool
	Pos     parser.Pos
	inKey   bool // of some layout
	noScale bool // some part or cell stores 1.50 as 1.5
}

// Family is a column family with HBase's attribute names and values (VERSIONS, TTL, BLOOMFILTER ...).
type Family struct {
	Name       string
	Attributes map[string]string
}

// LayoutKind is the kind of a layout's rows.
type LayoutKind uint8

// The kinds of layout.
const (
	Primary LayoutKind = iota
	Copy               // every column again under another key
	Index              // key columns only; the row is looked up in the primary layout
)

// String returns the words that begin a layout of this kind in CREATE TABLE.
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
	// Sparse are the columns in the parts of an Index that are not in the primary key: a row in which one of them is NULL
	// has no entry.
	Sparse []*Column
	// Where are the conditions that are true in all rows with an entry in an Index; nil: none.
	Where []expr.Expr
	// Building is set of an Index that CREATE INDEX has not filled yet: it is written, but not read.
	Building bool
	Split    *parser.SplitDef // of the new HBase table; nil: one region
	Pos      parser.Pos

	storedParts bool      // Stored has parts to compute
	storedName  string    // Stored, where it has none
	solve       []solver  // how key columns are read
	check       []partRef // parts to recompute
	numbered    []numbered
	named       []partRef // the elements of check that need the names of LOOKUP
	// solvedBy and checkedBy hold, for each element of solve and check, the last key part that it depends on, or unstable
	// if it depends on more than the key.
	solvedBy, checkedBy []int
	integers            []int // see integerKey
}

// Composite is a byte string made of parts: a rowkey, a table name, a qualifier.
type Composite struct {
	Parts []*Part
	table *Table
	// optional is the number of parts at the end that a key omits if all of them are NULL.
	optional int
}

// Source returns the parts as the definition spells them, with commas.
func (c *Composite) Source() string {
	return words.Join(c.Parts, ", ", func(p *Part) string { return p.Source })
}

// A row of a table is a []types.Value: its columns in order, then these pseudo-columns.
const (
	KeyColumn       = "_key" // BYTES: the rowkey
	TimestampColumn = "_ts"  // TIMESTAMP: the newest cell's time
)

// HiddenColumn is the key column of a table that was made without a key.
const HiddenColumn = "_id"

// Order says how byte order relates to value order for an Encoding.
type Order uint8

// The orders.
const (
	Unordered      Order = iota
	Ascending            // greater values, greater bytes
	TwosComplement       // two's complement: ascending, but negative values after the others
	Padded               // fixed-width text: ascending on the value's bytes, filled up to the width
	Terminated           // variable-width text: the value's bytes unchanged; a delimiter or the end of the key ends it
	Lexical              // bytes of varying width that sort like the values if 0x00 or the end of the key follows
	// Inverted is added to one of the others if all bits are inverted: ascending becomes descending.
	Inverted Order = 1 << 7
)

// Variable is the Width of an encoding whose values vary in length.
const Variable = -1

// Encoding turns values of one SQL type into bytes and back. Encodings are strict: Decode accepts exactly the bytes
// that Append writes, so that each value has one encoding and each encoding one value.
type Encoding interface {
	String() string // as written in SQL: "ORDERED INT64"
	Width() int     // bytes, or Variable
	Type() types.Type
	// Append appends v's bytes. The error says why v does not fit.
	Append(dst []byte, v types.Value) ([]byte, error)
	// Decode reads the bytes of one value.
	Decode(src []byte) (types.Value, error)
	Order() Order
	// Clip narrows iv to values that can be stored: the bounds of the result are inclusive and storable. If Order is
	// Terminated the bounds are unchanged; if it is Lexical they may also be open or NULL. ok is false if no value in
	// iv can be stored.
	Clip(iv types.Interval) (types.Interval, bool)
}

// Respeller is an Encoding that may read spellings that it does not write, such as "1.0" for 1. A cell may have such a
// spelling. In a key it is malformed, because the row could not be found by its value: readers compare the bytes in a
// key with the bytes that hql would write.
type Respeller interface {
	// Respells reports whether the encoding reads spellings that it does not write.
	Respells() bool
}

func respells(e Encoding) bool {
	r, ok := e.(Respeller)
	return ok && r.Respells()
}

// OneFalse is an Encoding of BOOLEAN that may read all bytes as TRUE, except those that it writes for FALSE.
type OneFalse interface {
	// OneFalse reports whether the encoding reads all other bytes as TRUE.
	OneFalse() bool
}

// OneFalse reports whether all cells of c are TRUE, except those with the bytes of FALSE.
func (c *Column) OneFalse() bool {
	e, ok := c.Encoding.(OneFalse)
	return ok && e.OneFalse()
}

// Coarse is an Encoding that may be unable to hold every moment of its type.
type Coarse interface {
	// Unit returns the unit of time, in the spelling of DATE_TRUNC, whose starts are the only moments that the encoding
	// can hold. For example, "month" allows only the first moment of each month. It is "" if the encoding can hold all
	// moments.
	Unit() string
}

// OneScale is an Encoding of DECIMAL that may store 1.50 as 1.5.
type OneScale interface {
	// OneScale reports whether the encoding drops zeros at the end, as 1.50 becomes 1.5.
	OneScale() bool
}

func oneScale(e Encoding) bool {
	s, ok := e.(OneScale)
	return ok && s.OneScale()
}

// CellsOnly is an Encoding that may be for cells only, not for keys, because different values can have the same bytes.
type CellsOnly interface {
	// CellsOnly reports whether keys cannot use the encoding.
	CellsOnly() bool
}

// Alphabet is an Encoding of varying width that lists the bytes that it can write. Encodings that write the value's
// text do not need it.
type Alphabet interface {
	// Alphabet returns all bytes that the encoding can write: a literal that begins with one of them cannot end a part.
	Alphabet() string
}

// Lister is an Encoding that can hold only some of the values of its type within an interval.
type Lister interface {
	// List returns the storable values in iv, which is a point or a result of Clip. ok is false if there are more than
	// limit.
	List(iv types.Interval, limit int) (vs []types.Value, ok bool)
}

// Kinds of errors in statements, for errors.Is.
var (
	ErrUnknownTable  = errors.New("unknown table")
	ErrUnknownColumn = errors.New("unknown column")
)

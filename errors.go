package hql

import (
	"database/sql"
	"errors"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
)

// Error is a mistake in a statement; errors.As finds it. LineCol returns its position, Format draws it in the text,
// and Hint may suggest a correction. Other errors come from the store or the context. Fields ([parser.Error]):
//
//	Pos    parser.Pos // byte offset in Source; parser.NoPos if unknown
//	Msg    string     // without the position
//	Hint   string     // "" if there is none
//	Source string     // the statement's text
//	Kind   error      // the error that errors.Is finds; nil for most mistakes
type Error = parser.Error

// FullScanError refuses a full scan. It names the table and the conditions that would make the statement hit the
// rowkey prefix. errors.Is finds ErrFullScan in it. Fields ([exec.FullScanError]):
//
//	Table      string
//	Advice     string // the condition that would bind the start of the rowkey; "" if there is none
//	Rows, Most int64  // the rows that LIMIT and OFFSET would read, and the setting full_scan_rows; 0 without LIMIT
//	Hopped     string // the parts of the key that have too many values to hop over; "" if there are none
type FullScanError = exec.FullScanError

// ScanLimitError ends a statement that reads more than its limit. It says how much the statement read, and which
// conditions would make it cheaper. errors.Is finds ErrScanLimit in it. Fields ([exec.ScanLimitError]):
//
//	Setting string // max_scan_rows, max_scan_bytes, or full_scan if LIMIT or statistics allowed a full scan
//	Read    int64  // rows or bytes so far, or by the estimate
//	Before  bool   // an estimate was too large; nothing was read
//	Limit   int64
//	Advice  string // the condition that makes the statement read less; "" if none is known
//	Table, Grown string // for full_scan: the table, and how it exceeds the limit that allowed the scan
type ScanLimitError = exec.ScanLimitError

// BatchError says which rows of a write were refused, and which got no answer; errors.As finds it. Rows that no field lists
// are written. Fields ([hbase.BatchError]):
//
//	Failed  map[int]error // the error of each refused row, by its index in Keys
//	Unknown []int         // rows that were not answered: they may be written
//	Unmet   []int         // rows that had changed since the statement read them
//	Keys    [][]byte      // the rowkeys of the batch
//	Cause   error
type BatchError = hbase.BatchError

// PartialError is the failure of a statement that has written some of its rows. These rows stay written. errors.As
// finds it. Fields ([exec.PartialError]): Written is the number of rows written, Err the failure.
type PartialError = exec.PartialError

// ConstraintError is in the *Error about a row that breaks NOT NULL or a CHECK, or whose drawn key another row has;
// errors.As finds it. Fields
// ([write.ConstraintError]):
//
//	Table      string
//	Column     string // of NOT NULL
//	Constraint string // the name of a CHECK, or of the primary key
//	Key        string // the columns of a key that another row has, and their values: (id)=(5)
//	Row        string // the values of the row, separated by commas; "" if it is one that exists
type ConstraintError = write.ConstraintError

// Errors to test for with errors.Is.
var (
	// ErrFullScan refuses a statement that would read a whole table.
	ErrFullScan = exec.ErrFullScan
	// ErrScanLimit ends a statement that reads more than its ScanLimit allows.
	ErrScanLimit = exec.ErrScanLimit
	// ErrReadOnly refuses a write on a connection without WithWrites.
	ErrReadOnly = exec.ErrReadOnly
	// ErrNoFiles refuses a statement that names a file on a connection with WithoutFiles.
	ErrNoFiles = exec.ErrNoFiles
	// ErrUnknownTable is in an *Error about a table that the catalog does not have.
	ErrUnknownTable = catalog.ErrUnknownTable
	// ErrUnknownColumn is in an *Error about a column that no table of the statement has.
	ErrUnknownColumn = catalog.ErrUnknownColumn
	// ErrMemoryLimit ends a statement that needs more memory than WithMemoryLimit
	// allows and cannot use temporary files.
	ErrMemoryLimit = exec.ErrMemoryLimit
	// ErrUnreachable says that no connection to the cluster could be made.
	ErrUnreachable = hbase.ErrUnreachable
	// ErrNoRows is the error of QueryRow's Scan if there is no row. It is sql.ErrNoRows, so that code for database/sql finds it.
	ErrNoRows = sql.ErrNoRows
	// ErrTooManyRows is the error of CollectExactlyOneRow if there are several rows.
	ErrTooManyRows = errors.New("more than one row in the result")
	// ErrUncut is in an *Error about a query that cannot be cut into pieces.
	ErrUncut = exec.ErrUncut
	// ErrPieceChanged refuses a piece of a query if a definition of its tables has changed since the query was cut.
	ErrPieceChanged = exec.ErrPieceChanged
	// ErrClosed is the error of a DB after Close, and of Rows that were open then.
	ErrClosed = exec.ErrClosed
)

// located attaches the source text to the mistakes in it.
func located(err error, src string) error {
	if e, ok := err.(*parser.Error); ok {
		return e.In(src)
	}
	return err
}

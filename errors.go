package hql

import (
	"errors"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
)

// Error is a mistake in a statement, with its place: errors.As finds it. LineCol gives the place, Format draws it
// for a person, Hint may say what to write instead. Other errors come from the store or the context.
type Error = parser.Error

// FullScanError is the refusal of a full scan: it names the table and what would make the
// statement hit the rowkey prefix. errors.Is finds ErrFullScan in it.
type FullScanError = exec.FullScanError

// ScanLimitError is the end of a statement that reads more than it may: it says how much, and what makes it cheaper.
// errors.Is finds ErrScanLimit in it.
type ScanLimitError = exec.ScanLimitError

// BatchError says which rows of a write were refused and of which no answer came; errors.As finds it.
type BatchError = hbase.BatchError

// PartialError is the failure of a statement that had written rows before, which stand; errors.As finds it.
type PartialError = exec.PartialError

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
	// allows and cannot use files in its place.
	ErrMemoryLimit = exec.ErrMemoryLimit
	// ErrUnreachable says that no connection to the cluster could be made.
	ErrUnreachable = hbase.ErrUnreachable
	// ErrNoRows is what Scan of a QueryRow gives when there is no row.
	ErrNoRows = errors.New("no rows in the result")
	// ErrTooManyRows is what CollectExactlyOneRow gives when there are several.
	ErrTooManyRows = errors.New("more than one row in the result")
	// ErrUncut is in an *Error about a query that cannot be cut into pieces.
	ErrUncut = exec.ErrUncut
	// ErrPieceChanged refuses a piece of a query whose tables are defined anew since it was cut.
	ErrPieceChanged = exec.ErrPieceChanged
	// ErrClosed is what a DB gives after Close, and Rows that were still read.
	ErrClosed = exec.ErrClosed
)

// located attaches the source text to the mistakes in it.
func located(err error, src string) error {
	if e, ok := err.(*parser.Error); ok {
		return e.In(src)
	}
	return err
}

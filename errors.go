package hql

import (
	"database/sql"
	"errors"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
)

// Error is a mistake in a statement; errors.As finds it. LineCol returns its position, Format draws it in the text,
// and Hint may suggest a correction. Other errors come from the store or the context.
type Error = parser.Error

// FullScanError refuses a full scan. It names the table and the conditions that would make the statement hit the
// rowkey prefix. errors.Is finds ErrFullScan in it.
type FullScanError = exec.FullScanError

// ScanLimitError ends a statement that reads more than its limit. It says how much the statement read, and which
// conditions would make it cheaper. errors.Is finds ErrScanLimit in it.
type ScanLimitError = exec.ScanLimitError

// BatchError says which rows of a write were refused, and which got no answer; errors.As finds it.
type BatchError = hbase.BatchError

// PartialError is the failure of a statement that has written some of its rows. These rows stay written. errors.As
// finds it.
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

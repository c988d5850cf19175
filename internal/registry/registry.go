// Package registry holds the features that an import adds to a program: the embedded store and columnar file formats.
// Both are heavy, and a program that uses only clusters needs neither. Packages register themselves when they are
// initialised.
package registry

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// OpenEmbedded opens the embedded store in directory dir, or in memory if dir is "". Its cells get their timestamps
// from now, or from the system's clock if now is nil. Closing the client closes the store. Package embedded sets it.
var OpenEmbedded = func(dir string, now func() time.Time) (hbase.Client, error) {
	return nil, missing("opens the embedded store (mem: and dir:)", "embedded")
}

// Columnar reads and writes files of rows in a columnar format, "arrow" or "parquet". Package columnar sets both functions.
var Columnar = struct {
	// Open begins to read a file.
	Open func(ctx context.Context, r io.Reader, format string) (RowReader, error)
	// Create begins to write a file of rows with the given columns.
	Create func(w io.Writer, columns []plan.OutputColumn, format string) (RowWriter, error)
}{
	func(_ context.Context, _ io.Reader, format string) (RowReader, error) {
		return nil, missing("reads "+format+" files", "columnar")
	},
	func(_ io.Writer, _ []plan.OutputColumn, format string) (RowWriter, error) {
		return nil, missing("writes "+format+" files", "columnar")
	},
}

// missing returns the error of a program that lacks an import.
func missing(does, pkg string) error {
	return fmt.Errorf("no package of this program %s: add import _ \"github.com/hql-db/hql/%s\"", does, pkg)
}

// RowReader reads the rows of a file in batches.
type RowReader interface {
	// Columns are the names of the columns.
	Columns() []string
	// Next returns the next batch, which is valid until the next call of Next, and io.EOF after the last one.
	Next() (Batch, error)
	// Close frees the memory of the reader. The file stays open.
	Close()
}

// Batch holds some rows of a file.
type Batch interface {
	NumRows() int64
	// Value returns the value of a column in a row, in the nearest type. A moment without a zone is read in loc. A value
	// is valid as long as its batch.
	Value(column, row int, loc *time.Location) (types.Value, error)
	// Text returns a BYTES value as text, for a column that must be text.
	Text(column, row int) string
}

// RowWriter writes rows to a file. The file is complete only after Close.
type RowWriter interface {
	Append(row []types.Value) error
	Close() error
}

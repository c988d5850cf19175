// Package registry holds what an import adds to a program that uses hql: the embedded store and formats of files. Both
// are heavy, and a program that asks clusters needs neither. Packages register themselves when they are initialised.
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

// OpenEmbedded opens the embedded store in directory dir, or in memory where dir is "". Its cells get their times from
// now, or from the system's clock where now is nil. Closing the client closes the store. Package embedded sets it.
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

// missing is the error of a program that lacks an import.
func missing(does, pkg string) error {
	return fmt.Errorf("no package of this program %s: add import _ \"github.com/hql-db/hql/%s\"", does, pkg)
}

// RowReader reads the rows of a file in batches.
type RowReader interface {
	// Columns are the names of the columns.
	Columns() []string
	// Next gives the next batch, which lasts until Next is called again, and io.EOF after the last one.
	Next() (Batch, error)
	// Close frees the memory of the reader. The file stays open.
	Close()
}

// Batch holds some rows of a file.
type Batch interface {
	NumRows() int64
	// Value is the value of a column in a row, of the nearest type. A moment without a zone is read in loc. A value lasts as
	// long as its batch.
	Value(column, row int, loc *time.Location) (types.Value, error)
	// Text is the text of a value that is BYTES, where a text is wanted.
	Text(column, row int) string
}

// RowWriter writes rows to a file. The file is whole only after Close.
type RowWriter interface {
	Append(row []types.Value) error
	Close() error
}

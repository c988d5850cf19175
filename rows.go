package hql

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Rows is the result of a query. It is read from the first row to the last, and is not safe for concurrent use.
type Rows struct {
	rows  *exec.Rows
	sql   string
	stmt  parser.Statement
	loc   *time.Location
	batch [][]types.Value
	row   []types.Value
	err   error
	done  bool
	end   func(*exec.Rows, error) // ends the trace

	fields *fieldPlan // the fields of the struct type that was scanned last; nil before
}

// failedRows returns the rows of a statement that failed with err before it had rows.
func failedRows(err error) *Rows {
	return &Rows{rows: &exec.Rows{Affected: -1}, err: err, done: true}
}

// ColumnType describes a column of a result.
type ColumnType struct {
	Name string
	Type types.Type
	// Table is the table or view that has the column, and Number the column's number in it, from 1; "" for a computed column.
	Table  string
	Number int
	// Partial says how to merge the column of a piece, if the statement groups; nil otherwise.
	Partial *Partial
	// Limit is the limit of the table's column, such as DECIMAL(10, 2), if the result has the column's values
	// unchanged.
	Limit types.Limit
}

// CommandTag returns PostgreSQL's command tag for the end of the statement: "UPDATE 2", "INSERT 0 1", "CREATE TABLE". rows
// is the number of rows that were read from r. Call it after the last row.
func (r *Rows) CommandTag(rows int) string {
	verb, counted := parser.CommandTag(r.stmt)
	if !counted {
		return verb
	}
	if n := r.RowsAffected(); n >= 0 {
		rows = int(n)
	}
	return verb + " " + strconv.Itoa(rows)
}

// Next moves to the next row and reports whether there is one. At the end, and
// after an error, the rows are closed.
func (r *Rows) Next() bool {
	if r.done {
		return false
	}
	for len(r.batch) == 0 {
		if !r.fetch() {
			return false
		}
	}
	r.row, r.batch = r.batch[0], r.batch[1:]
	return true
}

// fetch reads the next batch of rows. If there is none, it closes the rows and returns false.
func (r *Rows) fetch() bool {
	batch, err := r.rows.Next()
	if err != nil {
		if err != io.EOF {
			r.err = located(err, r.sql)
		}
		r.finish()
		return false
	}
	r.batch = batch
	return true
}

func (r *Rows) finish() error {
	if r.done {
		return nil
	}
	r.done, r.row, r.batch = true, nil, nil
	err := r.rows.Close()
	r.end(r.rows, cmp.Or(r.err, err))
	return err
}

// drain reads the rows to their end.
func (r *Rows) drain() (Result, error) {
	for r.Next() {
	}
	return Result{RowsAffected: r.rows.Affected, Warnings: r.Warnings(), Stats: r.Stats()}, r.err
}

// Err returns the error that ended the rows, or nil.
func (r *Rows) Err() error { return r.err }

// Close ends the query. It is idempotent.
func (r *Rows) Close() error { return r.finish() }

// Drawn returns the lines of EXPLAIN's text or JSON as styled pieces; nil for other statements.
func (r *Rows) Drawn() []explain.Line { return r.rows.Drawn }

// Document reports whether the result is a single value that is a whole file, to be written unchanged: EXPLAIN (FORMAT
// HTML), SHOW CREATE TABLE.
func (r *Rows) Document() bool { return r.rows.Document }

// Columns returns the names of the columns; nil for a statement without rows.
func (r *Rows) Columns() []string {
	var out []string
	for _, c := range r.rows.Columns {
		out = append(out, c.Name)
	}
	return out
}

// ColumnTypes returns the names and types of the columns.
func (r *Rows) ColumnTypes() []ColumnType { return columnTypes(r.rows.Columns) }

func columnTypes(columns []plan.OutputColumn) []ColumnType {
	if columns == nil {
		return nil
	}
	out := make([]ColumnType, len(columns))
	for i, c := range columns {
		out[i] = ColumnType{c.Name, c.Type, c.Origin.Relation, c.Origin.Column, c.Partial, c.Limit}
	}
	return out
}

// Scan copies the row's values into dest, one pointer per column: see Row.Scan.
func (r *Rows) Scan(dest ...any) error {
	if r.row == nil {
		return fmt.Errorf("Scan without a row: call Next first")
	}
	return r.current().Scan(dest...)
}

// Values returns the row's values as Go values: see Row.Values.
func (r *Rows) Values() []any { return r.current().Values() }

// Raw returns the row's values, valid until Next.
func (r *Rows) Raw() []types.Value { return r.row }

func (r *Rows) current() Row { return Row{rows: r, values: r.row} }

// All returns an iterator over the rows, which closes them at the end. An error comes last, with an empty Row. A Row is
// valid for one iteration of the loop.
func (r *Rows) All() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		defer r.Close()
		for r.Next() {
			if !yield(r.current(), nil) {
				return
			}
		}
		if r.err != nil {
			yield(Row{rows: r}, r.err)
		}
	}
}

// Warnings returns the warnings about the result, such as skipped rows. They are complete after the last row.
func (r *Rows) Warnings() []string { return r.rows.Warnings() }

// Stats returns the counts of the query so far. It may be called while another goroutine reads the rows.
func (r *Rows) Stats() Stats { return r.rows.Stats() }

// RowsAffected returns the number of rows that the statement wrote; -1 for a query.
func (r *Rows) RowsAffected() int64 { return r.rows.Affected }

// Row is one row of a result.
type Row struct {
	rows   *Rows
	values []types.Value
}

// Len returns the number of columns.
func (r Row) Len() int { return len(r.values) }

// Columns returns the names of the columns.
func (r Row) Columns() []string { return r.rows.Columns() }

// Raw returns the values. They are valid only as long as the row is.
func (r Row) Raw() []types.Value { return r.values }

// Values returns copies of the values as Go values: int64, float64, bool, string, []byte, time.Time (TIMESTAMP, and DATE
// as its midnight in UTC), json.RawMessage; DECIMAL and TIME as string; NULL as nil.
func (r Row) Values() []any {
	out := make([]any, len(r.values))
	for i, v := range r.values {
		out[i] = goValue(v, r.rows.loc)
	}
	return out
}

// Scan copies the values into dest, one pointer per column; a nil in dest skips its column. It accepts pointers to string
// (any value as text), []byte, bool, the integer and float types (a value that does not fit is an error), time.Time,
// time.Duration (TIME), json.RawMessage, any, types.Value and sql.Scanner. It also accepts pointers to pointers, which
// NULL sets to nil; NULL is an error for all other types.
func (r Row) Scan(dest ...any) error {
	if len(dest) != len(r.values) {
		return fmt.Errorf("Scan: %d destinations for %d columns", len(dest), len(r.values))
	}
	for i, d := range dest {
		if d == nil {
			continue
		}
		if err := scanInto(d, r.values[i], r.rows.loc); err != nil {
			return fmt.Errorf("Scan: column %s: %w", r.rows.rows.Columns[i].Name, err)
		}
	}
	return nil
}

// OneRow is the result of QueryRow.
type OneRow struct {
	rows *Rows
	err  error
}

// Scan copies the first row's values into dest. It returns ErrNoRows if there is no row.
func (o *OneRow) Scan(dest ...any) error {
	if o.err != nil {
		return o.err
	}
	defer o.rows.Close()
	if !o.rows.Next() {
		if err := o.rows.Err(); err != nil {
			return err
		}
		return ErrNoRows
	}
	return o.rows.Scan(dest...)
}

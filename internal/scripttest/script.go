// Package scripttest runs SQL in tests of package exec and of the packages below it. It does not import exec, so that
// exec's own tests can use it; package exectest puts both together.
package scripttest

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/testdata"
	"github.com/hql-db/hql/types"
)

// Result is the result of a statement, *exec.Rows; S is exec.Stats.
type Result[S any] interface {
	Next() ([][]types.Value, error)
	Close() error
	Warnings() []string
	Stats() S
}

// Script runs statements and returns their rows as text: a row a line, with '|' between the values.
type Script[S any] struct {
	T testing.TB
	// Send starts a statement of the script sql.
	Send func(ctx context.Context, stmt parser.Statement, sql string, args []types.Value) (Result[S], error)
}

// ScriptOf returns a Script whose statements run starts.
func ScriptOf[S any, R Result[S]](t testing.TB, run func(ctx context.Context, stmt parser.Statement, sql string, args []types.Value) (R, error)) Script[S] {
	return Script[S]{T: t, Send: func(ctx context.Context, stmt parser.Statement, sql string, args []types.Value) (Result[S], error) {
		rows, err := run(ctx, stmt, sql, args)
		if err != nil {
			return nil, err // rows may be a nil pointer, which is no nil Result
		}
		return rows, nil
	}}
}

// Main runs the tests of a package. It fails if a goroutine is left, and collects the heap of many small stores rarely.
func Main(m *testing.M) {
	debug.SetGCPercent(400)
	goleak.VerifyTestMain(poison.Tests(m))
}

// Do runs a script and returns the last statement's rows.
func (s *Script[S]) Do(sql string, args ...types.Value) string {
	s.T.Helper()
	out, _, err := s.Try(sql, args...)
	if err != nil {
		s.T.Fatalf("%s: %v", sql, err)
	}
	return out
}

// Sorted returns the lines of Do in order.
func (s *Script[S]) Sorted(sql string) []string {
	s.T.Helper()
	lines := strings.Split(s.Do(sql), "\n")
	slices.Sort(lines)
	return lines
}

// Try runs a script and returns the last statement's rows, the warnings of all, and the first error.
func (s *Script[S]) Try(sql string, args ...types.Value) (out string, warnings []string, err error) {
	return s.TryUnder(context.Background(), sql, args...)
}

// TryUnder is Try with a context.
func (s *Script[S]) TryUnder(ctx context.Context, sql string, args ...types.Value) (out string, warnings []string, err error) {
	stmts, err := parser.Parse(sql)
	if err != nil {
		return "", nil, err
	}
	for _, stmt := range stmts {
		rows, err := s.Send(ctx, stmt, sql, args)
		if err != nil {
			return "", nil, err
		}
		text, err := Lines(rows)
		if err != nil {
			rows.Close()
			return text, rows.Warnings(), err
		}
		if err := rows.Close(); err != nil {
			return "", nil, err
		}
		out, warnings = strings.TrimSuffix(text, "\n"), append(warnings, rows.Warnings()...)
	}
	return out, warnings, nil
}

// Expect checks the rows of sql.
func (s *Script[S]) Expect(want, sql string, args ...types.Value) {
	s.T.Helper()
	if got := s.Do(sql, args...); got != want {
		s.T.Errorf("%s\n got %q\nwant %q", sql, got, want)
	}
}

// Refused checks that sql fails with an error that contains want.
func (s *Script[S]) Refused(want, sql string) {
	s.T.Helper()
	_, _, err := s.Try(sql)
	if err == nil || !strings.Contains(err.Error(), want) {
		s.T.Errorf("%s\n got error %v\nwant one with %q", sql, err, want)
	}
}

// RowsAndStats returns the rows of a query, sorted, and what it read.
func (s *Script[S]) RowsAndStats(sql string) (string, S) {
	s.T.Helper()
	rows, err := s.Send(s.T.Context(), MustParse(s.T, sql), "", nil)
	if err != nil {
		s.T.Fatalf("%.100s: %v", sql, err)
	}
	defer rows.Close()
	out, err := Lines(rows)
	if err != nil {
		s.T.Fatalf("%.100s: %v", sql, err)
	}
	return SortLines(strings.TrimSuffix(out, "\n")), rows.Stats()
}

// Read runs sql and returns how many rows it has and what it read.
func (s *Script[S]) Read(sql string) (rows int, stats S) {
	s.T.Helper()
	rows, stats, err := s.Drain(sql)
	if err != nil {
		s.T.Fatalf("%.100s: %v", sql, err)
	}
	return rows, stats
}

// Drain counts the rows of sql up to its end or its failure.
func (s *Script[S]) Drain(sql string) (rows int, stats S, err error) {
	r, err := s.Send(context.Background(), MustParse(s.T, sql), "", nil)
	if err != nil {
		return 0, stats, err
	}
	defer r.Close()
	for {
		batch, err := r.Next()
		if err == io.EOF {
			return rows, r.Stats(), nil
		}
		if err != nil {
			return rows, stats, err
		}
		rows += len(batch)
	}
}

// Fill inserts n rows that value writes.
func (s *Script[S]) Fill(table string, n int, value func(i int) string) {
	s.T.Helper()
	for from := 0; from < n; from += 200 {
		var vs []string
		for i := from; i < min(n, from+200); i++ {
			vs = append(vs, value(i))
		}
		s.Do("INSERT INTO " + table + " VALUES " + strings.Join(vs, ","))
	}
}

// Lines reads rows to their end and returns each on a line.
func Lines(rows interface {
	Next() ([][]types.Value, error)
}) (string, error) {
	var b strings.Builder
	for {
		batch, err := rows.Next()
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		for _, row := range batch {
			for i, v := range row {
				if i > 0 {
					b.WriteByte('|')
				}
				b.WriteString(v.String())
			}
			b.WriteByte('\n')
		}
	}
}

// SortLines sorts the lines of text.
func SortLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// MustParse parses one statement.
func MustParse(t testing.TB, sql string) parser.Statement {
	t.Helper()
	stmt, err := parser.ParseStatement(sql)
	if err != nil {
		t.Fatal(err)
	}
	return stmt
}

// Layouts returns the statements of testdata/layouts.sql.
func Layouts(t testing.TB) []*parser.CreateTable {
	t.Helper()
	stmts, err := parser.Parse(testdata.Layouts)
	if err != nil {
		t.Fatal(err)
	}
	var out []*parser.CreateTable
	for _, s := range stmts {
		out = append(out, s.(*parser.CreateTable))
	}
	return out
}

// Multiples returns the first n multiples of step, from 0 on, as a list.
func Multiples(n, step int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(i * step)
	}
	return strings.Join(out, ",")
}

// Large reports whether tests are to measure tables of a million rows.
func Large() bool { return os.Getenv("HQL_LARGE") == "1" }

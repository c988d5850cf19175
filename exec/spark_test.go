package exec

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql/columnar"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/python"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// sparkEnv wants Spark asked: it takes about half a second a question.
const sparkEnv = "HQL_TEST_SPARK"

// Spark's answers to the layouts' queries, and to random ones, are those of hql alone. A query that cannot be cut is an
// error that says so. hql's filters keep the same rows as Spark's.
func TestSpark(t *testing.T) {
	if os.Getenv(sparkEnv) == "" {
		t.Skipf("set %s=1 to compare with Spark", sparkEnv)
	}
	spark := &sparkDriver{Spark: python.StartSpark(t, "..", "hbase://"+hbasetest.Quorum(t)+"/hbase", "local[2]")}
	t.Run("layouts", func(t *testing.T) {
		before := *spark
		datadriven.Walk(t, "testdata/layouts", func(t *testing.T, path string) {
			runLayoutCase(t, path, &layoutCase{client: DialHBase(t), compare: !race.Enabled, spark: spark}, nil)
		})
		spark.report(t, before)
	})
	t.Run("random", func(t *testing.T) {
		before := *spark
		seeds.Each(t, 20, func(t *testing.T, seed uint64, fig seeds.Figures) {
			c := DialHBase(t)
			defer newWorld(t, c, Config{}).Do("DROP TABLE IF EXISTS t") // also of a world that is given up
			g := newLawWorld(t, seed, c, Config{})
			for i := range 10 {
				where := ""
				for some := g.r.IntN(6) > 0; some && (where == "" || !utf8.ValidString(where)); { // no text of Spark's has other bytes
					where = " WHERE " + g.predicate(2)
				}
				q := "SELECT * FROM t" + where
				switch i % 4 {
				case 1:
					q += g.pick(" ORDER BY 1", " LIMIT 5", " ORDER BY 1 LIMIT 3 OFFSET 1", " OFFSET 2")
				case 2, 3:
					q = g.groups(where)
				}
				spark.expect(t, g.naive, g.planned, q)
				fig["queries"]++
			}
			spark.filters(t, "t", 4, seed)
		})
		spark.report(t, before)
	})
}

// sparkDriver is a session of Spark, and what it was asked.
type sparkDriver struct {
	*python.Spark
	same, refused, noCounterpart, failed, filtered, some int
}

// report tells what was compared since before.
func (s *sparkDriver) report(t *testing.T, before sparkDriver) {
	t.Logf("figures: same answers %d, refused by name %d, without counterpart in Arrow %d, failed in both %d, filters %d, of which keep some rows %d",
		s.same-before.same, s.refused-before.refused, s.noCounterpart-before.noCounterpart, s.failed-before.failed, s.filtered-before.filtered, s.some-before.some)
}

// filters compares random filters of a table's rows with Spark's own.
func (s *sparkDriver) filters(t *testing.T, table string, n int, seed uint64) {
	t.Helper()
	a := s.Ask(t, python.Question{Options: map[string]string{"table": table}, Filters: n, Seed: seed})
	if a.Error != "" && !strings.Contains(a.Error, "Arrow") && !strings.Contains(a.Error, noMoment) {
		t.Errorf("filters of %s: %s", table, a.Error)
	}
	for _, wrong := range a.Rows {
		t.Errorf("%s\ngot  %s\nwant %s", *wrong[0], *wrong[1], *wrong[2])
	}
	s.filtered += n
	s.some += a.Some
}

// expect expects of Spark what alone gives of q.
func (s *sparkDriver) expect(t *testing.T, alone, planned *world, q string) {
	t.Helper()
	stmt, err := parser.ParseStatement(q)
	if err != nil {
		t.Fatal(err)
	}
	sel, ok := stmt.(*parser.Select)
	if !ok {
		return
	}
	cut, err := planned.Cut(context.Background(), sel, Args{})
	if errors.Is(err, ErrUncut) {
		a := s.Ask(t, python.Question{Options: map[string]string{"query": q}})
		if why, _, _ := strings.Cut(err.Error(), "\n"); !strings.Contains(a.Error, " cut into pieces") {
			t.Errorf("%s\n got %v %s\nwant %s", q, a.Rows, a.Error, why)
		}
		s.refused++
		if len(sel.OrderBy) == 0 && sel.Limit == nil && sel.Offset == nil {
			return
		}
		sel.OrderBy, sel.Limit, sel.Offset = nil, nil, nil // which Spark does to the rows
		s.expect(t, alone, planned, sel.String())
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	columns, want, err := alone.values(stmt)
	var questions []python.Question
	if names := slices.Sorted(slices.Values(namesOf(columns))); len(slices.Compact(names)) == len(columns) {
		questions = append(questions, python.Question{Options: map[string]string{"query": q}})
	}
	if len(cut.Columns) > 0 && cut.Columns[0].Partial != nil {
		questions = append(questions, python.Question{Query: q})
	}
	for _, question := range questions {
		a := s.Ask(t, question)
		if err != nil {
			if a.Error == "" {
				t.Errorf("%s\n got %v\nwant an error: %v", q, a.Rows, err)
			}
			s.failed++
			continue
		}
		if a.Error != "" {
			if of := without(columns, want); of == "" || !strings.Contains(a.Error, of) {
				t.Errorf("%s\n%s", q, a.Error)
			}
			s.noCounterpart++
			continue
		}
		got, wanted := s.texts(t, columns, a.Rows), sparkTexts(columns, want)
		if !slices.Equal(got, wanted) {
			t.Errorf("%s (merged %v)\n got %q\nwant %q", q, question.Query != "", got, wanted)
		}
		s.same++
	}
}

// noMoment is in the error about a moment of which Spark's microseconds are too many for 64 bits.
const noMoment = "no TIMESTAMP of Spark"

// without returns the text that the error must contain for a value without a counterpart in Arrow or in Spark; "" if
// all have one.
func without(columns []plan.OutputColumn, rows [][]types.Value) string {
	stream := columnar.NewStream(io.Discard, columns, true)
	for _, row := range rows {
		if stream.Append(row) != nil {
			return "Arrow"
		}
	}
	for _, row := range rows {
		for i, v := range row {
			if columns[i].Type == types.Timestamp && !v.IsNull() && v.Int() != v.Int()*1000/1000 {
				return "column " + columns[i].Name + ": " + noMoment
			}
		}
	}
	return ""
}

func namesOf(columns []plan.OutputColumn) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// values gives the rows of a query.
func (w *world) values(s parser.Statement) (columns []plan.OutputColumn, out [][]types.Value, err error) {
	rows, err := w.Run(context.Background(), s, Args{})
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for {
		batch, err := rows.Next()
		if err == io.EOF {
			return rows.Columns, out, nil
		}
		if err != nil {
			return rows.Columns, nil, err
		}
		for _, row := range batch {
			row = slices.Clone(row)
			for i := range row {
				row[i] = row[i].Clone()
			}
			out = append(out, row)
		}
	}
}

// texts gives Spark's rows as sparkTexts gives hql's, in order.
func (s *sparkDriver) texts(t *testing.T, columns []plan.OutputColumn, rows [][]*string) (out []string) {
	t.Helper()
	for _, row := range rows {
		if len(row) != len(columns) {
			t.Fatalf("Spark gives %d columns, want %d", len(row), len(columns))
		}
		var b strings.Builder
		for i, v := range row {
			switch {
			case v == nil:
				b.WriteString("NULL|")
			case columns[i].Type == types.Decimal:
				d, err := types.ParseDecimal(*v)
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString(sparkDecimal(d, columns[i].Name) + "|")
			case columns[i].Type == types.Double || columns[i].Type == types.Float:
				f, err := strconv.ParseFloat(*v, 64)
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString(strconv.FormatFloat(f, 'g', -1, 64) + "|")
			default:
				b.WriteString(strconv.Quote(*v) + "|")
			}
		}
		out = append(out, b.String())
	}
	slices.Sort(out)
	return out
}

// sparkTexts gives a text for each row that is another one for any other row of Spark: a moment in microseconds, a day by its number.
func sparkTexts(columns []plan.OutputColumn, rows [][]types.Value) (out []string) {
	for _, row := range rows {
		var b strings.Builder
		for i, v := range row {
			switch t := columns[i].Type; {
			case v.IsNull():
				b.WriteString("NULL|")
			case t == types.Decimal:
				b.WriteString(sparkDecimal(v, columns[i].Name) + "|")
			case t == types.Double || t == types.Float:
				b.WriteString(strconv.FormatFloat(v.Double(), 'g', -1, 64) + "|")
			case t == types.Bytes:
				b.WriteString(strconv.Quote(hex.EncodeToString([]byte(v.Text()))) + "|")
			case t == types.Timestamp:
				b.WriteString(strconv.Quote(strconv.FormatInt(v.Int()*1000, 10)) + "|")
			case t == types.Date:
				b.WriteString(strconv.Quote(strconv.FormatInt(v.Int(), 10)) + "|")
			default:
				text, err := types.Cast(v, types.String, nil) // of a TIME too
				if err != nil {
					panic(err)
				}
				b.WriteString(strconv.Quote(text.Text()) + "|")
			}
		}
		out = append(out, b.String())
	}
	slices.Sort(out)
	return out
}

// sparkDecimal is one text for each number; of an AVG, which hql has to 20 digits and Spark to 18 behind the point, it has 14.
func sparkDecimal(v types.Value, column string) string {
	d := *v.Decimal()
	if column == "avg" {
		_, _ = apd.BaseContext.WithPrecision(14).Round(&d, v.Decimal())
	}
	var plain apd.Decimal
	plain.Reduce(&d)
	plain.Negative = plain.Negative && !plain.IsZero()
	return plain.String()
}

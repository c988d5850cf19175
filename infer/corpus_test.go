package infer_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/infer"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/types"
)

// corpusRows is how many rows the tables of the corpus have.
const corpusRows = 2000

// The first proposal for a table fits all its keys and gives the values of the known definition, or says that it is not certain.
func TestCorpus(t *testing.T) {
	race.Skip(t)
	testCorpus(t, "testdata/corpus.sql", corpus, 55)
}

func TestOthers(t *testing.T) {
	race.Skip(t)
	testCorpus(t, "testdata/corpus_others.sql", others, 29)
}

// testCorpus lets infer find the definitions of a file again: of so many tables, at least.
func testCorpus(t *testing.T, file string, tables map[string]func(p program, i int) written, least int) {
	ddl, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defs := given.Tables(t, string(ddl))
	if len(defs.Tables()) != len(tables) {
		t.Fatalf("%d definitions for %d tables", len(defs.Tables()), len(tables))
	}
	right := 0
	for _, truth := range defs.Tables() {
		t.Run(truth.Name, func(t *testing.T) {
			db, rows := stored(t, truth.Name, rowsOf(tables[truth.Name], corpusRows))
			defer db.Close()
			p := firstProposal(t, db, truth.Name)
			switch why := differs(truth, p.Table, rows); {
			case why == "":
				right++
			case len(p.Doubts) == 0:
				t.Errorf("%s, without a warning:\n%s", why, p)
			default:
				t.Logf("%s:\n%s", why, p)
			}
		})
	}
	t.Logf("%d of %d tables are read right by the first proposal", right, len(tables))
	if right < least {
		t.Errorf("%d of %d tables are read right, want %d", right, len(tables), least)
	}
}

// stored puts rows into a table of an embedded store.
func stored(t *testing.T, name string, rows []written) (*hql.DB, []hbase.Row) {
	t.Helper()
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Client().CreateTable(ctx, name, []hbase.Family{{Name: "f"}}, nil); err != nil {
		t.Fatal(err)
	}
	var ms []hbase.Mutation
	var out []hbase.Row
	for _, r := range rows {
		row := hbase.Row{Key: []byte(r[0])}
		if r = r[1:]; len(r) == 0 {
			r = written{"v", "x"}
		}
		for i := 0; i < len(r); i += 2 {
			row.Cells = append(row.Cells, hbase.Cell{Family: []byte("f"), Qualifier: []byte(r[i]), Value: []byte(r[i+1])})
		}
		out = append(out, row)
		ms = append(ms, hbase.Mutation{Kind: hbase.Put, Key: row.Key, Timestamp: 1_780_000_000_000, Cells: row.Cells})
	}
	if err := db.Client().Mutate(ctx, name, ms); err != nil {
		t.Fatal(err)
	}
	return db, out
}

func firstProposal(t *testing.T, db *hql.DB, name string) *infer.Proposal {
	t.Helper()
	rows, err := infer.Sample(context.Background(), db.Client(), name, 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := infer.Propose(name, rows, 3)
	if err != nil {
		t.Fatal(err)
	}
	return ps[0]
}

// readAs is what a definition reads from a key.
type readAs struct {
	row  []types.Value
	ends []int
}

func read(t *catalog.Table, name string, r hbase.Row) (out readAs, ok bool) {
	out.row = make([]types.Value, len(t.Columns)+2)
	l := t.Layouts[0]
	if l.DecodeRow(name, r.Key, nil, out.row) != nil {
		return out, false
	}
	for _, c := range t.Columns {
		for _, cell := range r.Cells {
			if string(cell.Family) == c.Family && string(cell.Qualifier) == c.Qualifier {
				v, err := c.DecodeCell(cell.Value)
				if err != nil {
					return out, false
				}
				out.row[c.Index] = v
			}
		}
	}
	out.ends = l.Key.Ends(r.Key, true)
	return out, true
}

// differs says what of the known definition got does not give for all rows; "" for nothing. A text may be cut finer.
func differs(truth, got *catalog.Table, rows []hbase.Row) string {
	var want, have []readAs
	for _, r := range rows {
		w, ok := read(truth, truth.Name, r)
		if !ok {
			return fmt.Sprintf("the known definition does not read %q %v", r.Key, r.Cells)
		}
		h, ok := read(got, truth.Name, r)
		if !ok {
			return fmt.Sprintf("%q is not read", r.Key)
		}
		want, have = append(want, w), append(have, h)
	}
	for i := range truth.Layouts[0].Key.Parts {
		if why := partDiffers(truth.Layouts[0], got.Layouts[0], i, want, have); why != "" {
			return why
		}
	}
	for _, c := range truth.Columns {
		if c.KeyPart || c.Family == "" {
			continue
		}
		i := 0
		for i < len(got.Columns) && (got.Columns[i].Family != c.Family || got.Columns[i].Qualifier != c.Qualifier) {
			i++
		}
		if i == len(got.Columns) {
			return "no column " + c.Name
		}
		if why := valuesDiffer(c.Name, c.Index, got.Columns[i].Index, want, have); why != "" {
			return why
		}
	}
	return ""
}

func valuesDiffer(name string, i, j int, want, have []readAs) string {
	for r := range want {
		w, h := want[r].row[i], have[r].row[j]
		if w.String() != h.String() || (w.Type() == types.Timestamp) != (h.Type() == types.Timestamp) {
			return fmt.Sprintf("%s is %s, read as %s", name, w.SQL(), h.SQL())
		}
	}
	return ""
}

// partDiffers compares part i of the known key with the parts that got has for the same bytes.
func partDiffers(truth, got *catalog.Layout, i int, want, have []readAs) string {
	part := truth.Key.Parts[i]
	if part.Literal != nil {
		return ""
	}
	from, to := partAt(boundary(want[0].ends, i), have[0].ends), partAt(want[0].ends[i], have[0].ends)
	if from < 0 || to <= from {
		return part.Source + " is cut elsewhere"
	}
	for r := range want {
		if boundary(have[r].ends, from) != boundary(want[r].ends, i) || have[r].ends[to-1] != want[r].ends[i] {
			return part.Source + " is cut elsewhere"
		}
	}
	col, plain := columnOf(truth, i)
	switch mine := got.Key.Parts[from:to]; {
	case part.Drawn():
		if len(mine) != 1 || !mine[0].Drawn() {
			return part.Source + " is no salt"
		}
	case !plain:
		if _, own := columnOf(got, from); len(mine) != 1 || own || mine[0].Drawn() {
			return part.Source + " is not computed"
		}
	default:
		if len(mine) == 1 {
			if j, own := columnOf(got, from); own {
				if valuesDiffer(part.Source, col, j, want, have) == "" {
					return ""
				}
			}
		}
		if typ := want[0].row[col].Type(); typ != types.String && typ != types.Bytes {
			return part.Source + " has other values"
		}
		for j, p := range mine {
			if _, own := columnOf(got, from+j); p.Drawn() || !own && p.Literal == nil {
				return part.Source + " has other values"
			}
		}
	}
	return ""
}

// columnOf is the column that is read from part i; ok is false for a part that follows from others, or from cells.
func columnOf(l *catalog.Layout, i int) (col int, ok bool) {
	cols := l.Key.Parts[i].Columns
	if len(cols) != 1 || !l.ReadFrom(cols[0], i) {
		return 0, false
	}
	return cols[0], true
}

func boundary(ends []int, i int) int {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// partAt is the part that begins at this place of a key, -1 for none.
func partAt(place int, ends []int) int {
	for i := range len(ends) + 1 {
		if boundary(ends, i) == place {
			return i
		}
	}
	return -1
}

package exec

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"golang.org/x/sync/errgroup"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/testdata"
)

// Every layout by itself, with rows to look at: testdata/layouts has a file for each, named for
// its (first) table in layouts.sql; queries.tsv uses these names, too.
//
//	create TABLE...          makes tables of layouts.sql
//	sql [fresh]              runs statements; prints the rows of the last one, warnings and the error; fresh: on a new connection
//	put TABLE                writes cells, KEY family:qualifier VALUE a line, escaped as in Go
//	messages                 writes data/messages.jsonl under the published keys
//	keys TABLE... [skip=n]   prints the stored keys of HBase tables, without the first n bytes
//	cells TABLE...           prints keys and cells
//	crash TABLE              runs a statement on a client that writes to this HBase table and to no other
//	splits TABLE             prints the first key of each region
//	law                      runs the layout's queries of queries.tsv and those given, a line each, planned and as a full scan
//	                         that evaluates the WHERE on each row; prints how many rows both give
//	delete TABLE...          deletes all rows, by their rows' keys; prints the HBase tables that still hold some
func TestLayoutCases(t *testing.T) {
	datadriven.Walk(t, "testdata/layouts", func(t *testing.T, path string) {
		t.Parallel() // DROP TABLE and CHECK TABLE wait for other connections
		_, c := NewStore(t)
		runLayoutCase(t, path, &layoutCase{client: c, compare: !race.Enabled}, nil)
	})
	var all strings.Builder
	files, _ := filepath.Glob("testdata/layouts/*")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for _, def := range Layouts(t) {
		if !regexp.MustCompile("(?m)^create .*\\b" + def.Name + "\\b").MatchString(all.String()) {
			t.Errorf("no case creates %s", def.Name)
		}
	}
}

// The same on a real HBase. Full scans are compared on the embedded store alone. A third of the tables, each time another,
// then gets random rows and queries. HBase takes its time to make a table and to drop it, but does so for several at
// once: eight cases run at a time, however few tests run in parallel.
func testLayoutCasesHBase(t *testing.T) {
	c := DialHBase(t)
	first, _ := seeds.Range(t, 1)
	var tables atomic.Uint64
	more := func(lc *layoutCase) {
		for _, name := range lc.mine {
			if (first+tables.Add(1))%3 != 0 {
				continue
			}
			def, _ := lc.planned.catalog.Table(name)
			seeds.Each(lc.t, 1, func(t *testing.T, seed uint64, fig seeds.Figures) {
				g := &lawWorld{t: t, name: name, ddl: def.SQL(), r: rand.New(rand.NewPCG(seed, 1)), table: def, copies: len(def.Layouts) > 1}
				g.planned, g.naive = worldOf(t, lc.planned.Engine), worldOf(t, lc.naive.Engine)
				g.load(80)
				g.check(6)
				fig["queries"] += 6
				g.planned.Do("DELETE FROM " + name)
				g.planned.Expect("0", "SELECT count(*) FROM "+name)
			})
		}
	}
	files, err := filepath.Glob("testdata/layouts/*")
	if err != nil {
		t.Fatal(err)
	}
	var cases errgroup.Group
	cases.SetLimit(8)
	for _, path := range files {
		cases.Go(func() error {
			t.Run(filepath.Base(path), func(t *testing.T) {
				reserve(t, path)
				runLayoutCase(t, path, &layoutCase{client: c}, more)
			})
			return nil
		})
	}
	_ = cases.Wait()
}

var reserved sync.Map // a *sync.Mutex by table

// reserve waits until no other case that runs has tables of the names that this layout's case creates.
func reserve(t *testing.T, path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range creates.FindAllSubmatch(b, -1) {
		names = append(names, string(m[1]))
	}
	for _, m := range made.FindAllSubmatch(b, -1) {
		names = append(names, strings.Fields(string(m[1]))...)
	}
	slices.Sort(names) // so that no two cases wait for each other
	for _, name := range slices.Compact(names) {
		mu, _ := reserved.LoadOrStore(name, new(sync.Mutex))
		mu.(*sync.Mutex).Lock()
		t.Cleanup(mu.(*sync.Mutex).Unlock)
	}
}

// runLayoutCase runs the case of a file and then, before its tables are dropped, more.
func runLayoutCase(t *testing.T, path string, lc *layoutCase, more func(*layoutCase)) {
	lc.t, lc.layout = t, filepath.Base(path)
	lc.planned = newWorld(t, lc.client, Config{FullScan: AllowFullScan})
	lc.naive = worldOf(t, New(lc.client, lc.planned.catalog, Config{FullScan: AllowFullScan, Planner: planner.Options{NoKey: true, NoPushdown: true, NoOrder: true}}))
	defer lc.drop()
	datadriven.RunTest(t, path, lc.run)
	lc.planned.T, lc.naive.T = t, t
	if more != nil {
		more(lc)
	}
}

// drop leaves the store without the case's tables.
func (lc *layoutCase) drop() {
	for _, name := range slices.Backward(lc.made) { // look-up tables after those that use them
		lc.planned.Do("DROP TABLE IF EXISTS " + name)
	}
	for _, name := range lc.mine {
		for table := range foreignTables[name] {
			if err := lc.client.DropTable(context.Background(), table, nil); err != nil {
				lc.t.Error(err)
			}
		}
	}
}

// How a case makes tables: its own, and those of layouts.sql.
var creates = regexp.MustCompile(`\bCREATE (?:EXTERNAL )?TABLE (?:IF NOT EXISTS )?(\w+)`)
var made = regexp.MustCompile(`(?m)^create (.+)$`)

type layoutCase struct {
	t              *testing.T
	client         hbase.Client
	planned, naive *world
	layout         string
	mine           []string     // tables of layouts.sql
	made           []string     // those, and what cases create themselves
	compare        bool         // the law compares with full scans
	spark          *sparkDriver // nil: is not asked
}

func (lc *layoutCase) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	lc.planned.T, lc.naive.T = t, t
	var tables []string
	skip := 0
	for _, arg := range d.CmdArgs {
		if arg.Key == "skip" {
			arg.Scan(t, 0, &skip)
		} else {
			tables = append(tables, arg.Key)
		}
	}
	switch d.Cmd {
	case "create", "put", "keys", "cells", "crash", "splits", "delete":
		if len(tables) == 0 {
			d.Fatalf(t, "%s: which table?", d.Cmd) // else it would print nothing, as of a table without rows
		}
	}
	switch d.Cmd {
	case "create":
		return lc.create(tables)
	case "sql":
		for _, m := range creates.FindAllStringSubmatch(d.Input, -1) {
			lc.made = append(lc.made, m[1])
		}
		w := lc.planned
		if d.HasArg("fresh") {
			w = newWorld(t, lc.client, Config{FullScan: AllowFullScan})
		}
		out, warnings, err := w.Try(d.Input)
		for _, w := range warnings {
			out += "\nwarning: " + w
		}
		if err != nil {
			out += "\nerror: " + err.Error()
		}
		return strings.TrimPrefix(out, "\n")
	case "put":
		return lc.put(tables[0], d.Input)
	case "messages":
		return lc.messages()
	case "keys", "cells":
		return lc.dump(tables, skip, d.Cmd == "cells")
	case "crash":
		w := worldOf(t, New(&crashing{lc.client, tables[0]}, lc.planned.catalog, Config{FullScan: AllowFullScan}))
		_, _, err := w.Try(d.Input)
		return fmt.Sprint(err)
	case "splits":
		regions, err := lc.client.Regions(context.Background(), tables[0])
		if err != nil {
			return "error: " + err.Error()
		}
		var starts []string
		for _, r := range regions {
			starts = append(starts, plan.Escape(r.Start))
		}
		return strings.Join(starts, " ")
	case "law":
		return lc.law(t, d.Input)
	case "delete":
		return lc.delete(tables)
	}
	d.Fatalf(t, "unknown command %s", d.Cmd)
	return ""
}

// crashing is a client whose writes reach one HBase table only.
type crashing struct {
	hbase.Client
	reached string
}

func (c *crashing) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	if table != c.reached {
		return errors.New("gone")
	}
	return c.Client.Mutate(ctx, table, ms)
}

func (lc *layoutCase) create(tables []string) string {
	for _, name := range tables {
		for table, families := range foreignTables[name] {
			if err := lc.client.CreateTable(context.Background(), table, families, nil); err != nil {
				return "error: " + err.Error()
			}
		}
		lc.mine, lc.made = append(lc.mine, name), append(lc.made, name)
		i := slices.IndexFunc(Layouts(lc.t), func(def *parser.CreateTable) bool { return def.Name == name })
		if i < 0 {
			return "error: no table " + name
		}
		if _, err := lc.planned.Run(context.Background(), Layouts(lc.t)[i], Args{}); err != nil {
			return "error: " + err.Error()
		}
	}
	return ""
}

func (lc *layoutCase) put(table, input string) string {
	for line := range strings.Lines(input) {
		f := strings.Fields(line)
		for i := range f {
			s, err := strconv.Unquote(`"` + f[i] + `"`)
			if err != nil {
				return "error: " + f[i] + ": " + err.Error()
			}
			f[i] = s
		}
		family, qualifier, _ := strings.Cut(f[1], ":")
		err := lc.client.Mutate(context.Background(), table, []hbase.Mutation{{Key: []byte(f[0]), Timestamp: 1,
			Cells: []hbase.Cell{{Family: []byte(family), Qualifier: []byte(qualifier), Value: []byte(f[2])}}}})
		if err != nil {
			return "error: " + err.Error()
		}
	}
	return ""
}

func (lc *layoutCase) messages() string {
	var ms []hbase.Mutation
	for line := range strings.Lines(testdata.Messages) {
		var m struct {
			Name, MessageID, RowKey string
			Age                     uint32
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return "error: " + err.Error()
		}
		cell := func(name string, value []byte) hbase.Cell {
			return hbase.Cell{Family: []byte("cf"), Qualifier: []byte(name), Value: value}
		}
		ms = append(ms, hbase.Mutation{Key: []byte(m.RowKey), Timestamp: time.Now().UnixMilli(), Cells: []hbase.Cell{cell("name", []byte(m.Name)), cell("age", binary.BigEndian.AppendUint32(nil, m.Age))}})
	}
	if err := lc.client.Mutate(context.Background(), "messages_random", ms); err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%d messages", len(ms))
}

func (lc *layoutCase) dump(tables []string, skip int, cells bool) string {
	var lines []string
	for _, table := range tables {
		start := len(lines)
		for r, err := range hbase.Rows(context.Background(), lc.client, hbase.ScanRange{Table: table}, nil) {
			if err != nil {
				return "error: " + err.Error()
			}
			line := plan.Escape(r.Key[skip:])
			for _, c := range r.Cells {
				if cells {
					line += fmt.Sprintf(" %s:%s=%s", c.Family, plan.Escape(c.Qualifier), plan.Escape(c.Value))
				}
			}
			lines = append(lines, line)
		}
		if skip > 0 {
			slices.Sort(lines[start:])
		}
		if len(tables) > 1 {
			lines = slices.Insert(lines, start, table+":")
		}
	}
	return strings.Join(lines, "\n")
}

// sameStart reports whether two rows have the same first column, which those of an ORDER BY are ordered by first.
func sameStart(a, b string) bool {
	x, _, _ := strings.Cut(a, "|")
	y, _, _ := strings.Cut(b, "|")
	return x == y
}

func (lc *layoutCase) law(t *testing.T, more string) string {
	t.Helper()
	var queries []string
	for line := range strings.Lines(testdata.Queries) {
		if f := strings.Split(line, "\t"); f[0] == lc.layout {
			queries = append(queries, f[1])
		}
	}
	for line := range strings.Lines(more) {
		queries = append(queries, strings.TrimSuffix(line, "\n"))
	}
	var b strings.Builder
	for _, q := range queries {
		lc.planned.lookups.Clear() // as on a new connection
		got, _, err := lc.planned.Try(q)
		want, err2 := got, error(nil)
		if lc.compare { // otherwise the number of rows is compared alone
			want, _, err2 = lc.naive.Try(q)
		}
		if err := errors.Join(err, err2); err != nil {
			fmt.Fprintf(&b, "error: %v: %s\n", err, q)
			continue
		}
		a, b2 := strings.Split(got, "\n"), strings.Split(want, "\n")
		if !strings.Contains(q, "ORDER BY") || slices.EqualFunc(a, b2, sameStart) { // rows that the order does not tell apart come in any
			slices.Sort(a)
			slices.Sort(b2)
		}
		if !slices.Equal(a, b2) {
			t.Errorf("%s\n got %q\nwant %q", q, a, b2)
		}
		if !race.Enabled {
			lc.pieces(t, q, b2)
		}
		if lc.spark != nil {
			lc.spark.expect(t, lc.naive, lc.planned, q)
		}
		n := len(a)
		if got == "" {
			n = 0
		}
		fmt.Fprintf(&b, "%d: %s\n", n, q)
	}
	if lc.spark != nil {
		for _, name := range lc.mine {
			lc.spark.expect(t, lc.naive, lc.planned, "SELECT * FROM "+name)
			lc.spark.filters(t, name, 5, uint64(len(more)))
		}
	}
	return b.String()
}

// pieces expects the rows want of the pieces of q together, where it can be cut.
func (lc *layoutCase) pieces(t *testing.T, q string, want []string) {
	t.Helper()
	s, err := parser.ParseStatement(q)
	if err != nil {
		t.Fatal(err)
	}
	query, ok := s.(*parser.Select)
	if !ok {
		return
	}
	cut, err := lc.planned.Cut(context.Background(), query, Args{})
	if errors.Is(err, ErrUncut) {
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	rows := merged(t, cut.Columns, lc.planned.ofPieces(s, bare(cut.Pieces), Args{}))
	for i := range rows {
		rows[i] = strings.TrimSuffix(rows[i], "|")
	}
	got := strings.Split(strings.Join(rows, "\n"), "\n") // as want was split
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s in %d pieces\n got %q\nwant %q", q, len(cut.Pieces), got, want)
	}
}

func (lc *layoutCase) delete(tables []string) string {
	var left []string
	for _, name := range tables {
		lc.planned.Do("DELETE FROM " + name)
		def, _ := lc.planned.catalog.Table(name)
		for _, l := range def.Layouts {
			stored, err := lc.client.Tables(context.Background(), string(l.Stored.Parts[0].Literal))
			if err != nil {
				return "error: " + err.Error()
			}
			for _, s := range stored {
				if (len(l.Stored.Parts) > 1 || s == storedName(l)) && lc.dump([]string{s}, 0, false) != "" {
					left = append(left, s)
				}
			}
		}
	}
	return strings.Join(left, "\n")
}

package exec

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/importer"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// phoenixWorld is hql and Phoenix on one cluster.
type phoenixWorld struct {
	*world
	c       hbase.Client
	query   func(sql string) (string, error)
	phoenix func(sql string) string
}

func newPhoenixWorld(t *testing.T, props ...[2]string) *phoenixWorld {
	quorum, query := startPhoenix(t, props...)
	c, err := hbase.Dial(context.Background(), hbase.Config{Quorum: quorum})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	w := &phoenixWorld{c: c, query: query}
	w.phoenix = func(sql string) string {
		w.T.Helper()
		out, err := query(sql)
		if err != nil {
			w.T.Fatalf("Phoenix: %s: %v", sql, err)
		}
		return out
	}
	return w
}

// imports loads what Phoenix's catalog says.
func (w *phoenixWorld) imports(t *testing.T) {
	w.world = newWorld(t, w.c, Config{FullScan: AllowFullScan})
	src, err := importer.PhoenixCatalog(context.Background(), w.c)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Catalog().Load(src); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
}

// printed is what hql selects to print a column as Phoenix's client does.
func printed(tab *catalog.Table, c *catalog.Column) string {
	name := parser.QuoteName(c.Name)
	switch {
	case c.Type == types.Timestamp:
		return "CAST(" + name + " AS BIGINT)"
	case c.Type == types.Bytes:
		return "HEX(" + name + ")"
	case c.Type.IsArray():
		return "TO_JSON(" + name + ")" // as testdata/phoenix/Sql.java writes them
	case c.Type == types.Decimal && isMoment(tab, c):
		return name + " * 1000"
	}
	return name
}

// isMoment reports whether a DECIMAL is one of Phoenix's moments.
func isMoment(tab *catalog.Table, c *catalog.Column) bool {
	part := tab.Layouts[0].PartOf(c.Index)
	return strings.Contains(c.Encoding.String(), "TIMESTAMP") || part != nil && strings.Contains(part.Source, "TIMESTAMP")
}

// theirs is Phoenix's name of a table or column.
func theirs(name string) string {
	if name != strings.ToLower(name) {
		return `"` + name + `"`
	}
	return strings.ToUpper(name)
}

// sameRows compares a table's rows, in any order.
func (w *phoenixWorld) sameRows(t *testing.T, tab *catalog.Table, name string) {
	t.Helper()
	var a, b []string
	for _, c := range tab.Columns {
		a, b = append(a, theirs(c.Name)), append(b, printed(tab, c))
	}
	want, got := strings.Split(w.phoenix("SELECT /*+ NO_INDEX */ "+strings.Join(a, ", ")+" FROM "+name), "\n"), strings.Split(w.Do("SELECT "+strings.Join(b, ", ")+" FROM "+tab.Name), "\n")
	slices.Sort(want)
	slices.Sort(got)
	if len(got) != len(want) {
		t.Fatalf("%s\nhql reads\n%q\nPhoenix\n%q", tab.SQL(), got, want)
	}
	for _, x := range got { // numbers may be spelled in two ways, so that the orders differ
		if !slices.ContainsFunc(want, func(y string) bool { return sameNumbers(x, y) }) {
			t.Fatalf("%s\nhql reads\n%q\nPhoenix\n%q", tab.SQL(), x, want)
		}
	}
}

// rewritten deletes all rows of tab, Phoenix's table name, and writes them again through hql: every byte is as it was.
func (w *phoenixWorld) rewritten(t *testing.T, tab *catalog.Table, name string) {
	t.Helper()
	if tab.ReadOnly != "" {
		w.Refused("is not written: "+tab.ReadOnly, "DELETE FROM "+tab.Name)
		return
	}
	stored := string(tab.Layouts[0].Stored.Parts[0].Literal)
	was, rows := rawCells(t, w.c, stored), w.rowsOf(name)
	s, err := parser.ParseStatement("SELECT * FROM " + tab.Name)
	if err != nil {
		t.Fatal(err)
	}
	read, err := w.Run(context.Background(), s, Args{})
	if err != nil {
		t.Fatal(err)
	}
	var all [][]types.Value
	for {
		batch, err := read.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range batch {
			all = append(all, slices.Clone(row))
		}
	}
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	w.Do("DELETE FROM " + tab.Name)
	for _, row := range all {
		w.Do("UPSERT INTO "+tab.Name+" VALUES (?"+strings.Repeat(", ?", len(row)-1)+")", row...)
	}
	twoWays := slices.ContainsFunc(tab.Columns, (*catalog.Column).EmptyIsNull) // NULL, or a DEFAULT, is a cell that is there or not
	if got := rawCells(t, w.c, stored); got != was && !twoWays {
		t.Errorf("%s\nhql wrote\n%s\nPhoenix\n%s", tab.SQL(), got, was)
	}
	if got := w.rowsOf(name); got != rows {
		t.Errorf("%s\nof hql's rows Phoenix reads\n%s\nof its own\n%s", tab.SQL(), got, rows)
	}
}

// rowsOf is what Phoenix reads of its table name, sorted.
func (w *phoenixWorld) rowsOf(name string) string {
	w.T.Helper()
	rows := strings.Split(w.phoenix("SELECT /*+ NO_INDEX */ * FROM "+name), "\n")
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}

// sameCells compares the table two, which hql wrote, with one, which Phoenix wrote by the same statements.
func (w *phoenixWorld) sameCells(t *testing.T, one, two string) {
	t.Helper()
	tab, _ := w.Catalog().Table(two)
	// An UPDATE of one column writes the cell of all, in which a DEFAULT that was given is like one that was not.
	joins := slices.ContainsFunc(tab.Columns, func(c *catalog.Column) bool { return c.Element() > 0 && !c.Absent().IsNull() })
	if want, got := rawCells(t, w.c, strings.ToUpper(one)), rawCells(t, w.c, strings.ToUpper(two)); got != want && !joins {
		t.Errorf("%s\nhql wrote\n%s\nPhoenix\n%s", tab.SQL(), got, want)
	}
	if want, got := w.rowsOf(one), w.rowsOf(two); got != want {
		t.Errorf("%s\nof hql's rows Phoenix reads\n%s\nof its own\n%s", tab.SQL(), got, want)
	}
}

// hql reads the rows that Phoenix writes, writes the same bytes, and Phoenix reads them.
func TestPhoenix(t *testing.T) {
	w := newPhoenixWorld(t)
	t.Run("mapped", w.mapped)
	t.Run("catalog", w.described)
}

// clusterful is how many random tables one cluster takes in well.
const clusterful = 100

// Tables of random types and options, with random indexes, are read and written as Phoenix does.
func TestPhoenixRandom(t *testing.T) {
	first, n := seeds.Range(t, 20)
	for i := 0; i < n; i += clusterful {
		t.Run("", func(t *testing.T) { newPhoenixWorld(t).random(t, first+uint64(i), min(n-i, clusterful)) })
	}
}

// Tables in namespaces of HBase, as Phoenix stores the tables of a schema if it is configured to.
func TestPhoenixNamespaces(t *testing.T) {
	w := newPhoenixWorld(t, [2]string{"phoenix.schema.isNamespaceMappingEnabled", "true"}, [2]string{"phoenix.schema.mapSystemTablesToNamespace", "true"})
	w.world = worldOf(t, nil)
	for _, sql := range []string{
		"CREATE SCHEMA S1",
		"CREATE TABLE S1.B_NS (ID INTEGER NOT NULL PRIMARY KEY, V VARCHAR) COLUMN_ENCODED_BYTES=NONE",
		"UPSERT INTO S1.B_NS VALUES (1, 'x')",
		"CREATE TABLE B_NS0 (ID INTEGER NOT NULL PRIMARY KEY, V VARCHAR)",
		"UPSERT INTO B_NS0 VALUES (2, 'y')",
		"CREATE TABLE S1.B_NSI (ID INTEGER NOT NULL PRIMARY KEY, V VARCHAR, W VARCHAR)",
		"UPSERT INTO S1.B_NSI VALUES (3, 'y', 'z')",
		"CREATE INDEX B_NSX ON S1.B_NSI (V) INCLUDE (W)",
		"CREATE TABLE S1.B_NSV (ORG VARCHAR NOT NULL, ID INTEGER NOT NULL, V VARCHAR CONSTRAINT PK PRIMARY KEY (ORG, ID))",
		"CREATE VIEW S1.B_NSW (X VARCHAR) AS SELECT * FROM S1.B_NSV WHERE ORG = 'acme'",
		"UPSERT INTO S1.B_NSV VALUES ('other', 4, 'v4')",
		"UPSERT INTO S1.B_NSW (ID, V, X) VALUES (5, 'v5', 'x5')",
	} {
		w.phoenix(sql)
	}
	w.imports(t)
	for name, stored := range map[string]string{"s1:b_ns": "S1:B_NS", "b_ns0": "B_NS0", "s1:b_nsi": "S1:B_NSI", "s1:b_nsv": "S1:B_NSV", "s1:b_nsw": "S1:B_NSV"} {
		tab, ok := w.Catalog().Table(name)
		if !ok {
			t.Errorf("no table %s", name)
			continue
		}
		if got := string(tab.Layouts[0].Stored.Parts[0].Literal); got != stored {
			t.Errorf("%s is stored in %s, want %s", name, got, stored)
		}
		theirs := strings.ToUpper(strings.Replace(name, ":", ".", 1))
		w.sameRows(t, tab, theirs)
		if name != "s1:b_nsv" { // the view keeps a column in its rows
			w.rewritten(t, tab, theirs)
			w.sameRows(t, tab, theirs)
		}
	}
	w.Expect("3|y|z", "SELECT /*+ LAYOUT(b_nsx) */ * FROM s1.b_nsi WHERE v = 'y'")
	w.Expect("5|v5|x5", "SELECT * FROM s1.b_nsw")
}

// described compares every kind of table that Phoenix has, as its catalog describes it.
func (w *phoenixWorld) described(t *testing.T) {
	src, err := os.ReadFile("../testdata/phoenix/tables.sql")
	if err != nil {
		t.Fatal(err)
	}
	w.world = worldOf(t, nil)
	for line := range strings.Lines(string(src)) {
		if sql := strings.TrimSuffix(strings.TrimSpace(line), ";"); !strings.HasPrefix(sql, "--") {
			w.phoenix(sql)
		}
	}
	w.imports(t)
	others := map[string]string{"s1:b_sch": "S1.B_SCH"}
	differ := map[string]bool{ // from Phoenix, as the definition says
		"b_arrk": true, "b_base": true, "tv1@t1": true,
	}
	tables := w.Catalog().Tables()
	if len(tables) < 30 {
		t.Errorf("%d tables", len(tables))
	}
	for _, tab := range tables {
		name := others[tab.Name]
		if name == "" {
			name = strings.ToUpper(tab.Name)
		}
		if tab.Name == "hql_catalog" || differ[tab.Name] {
			continue
		}
		t.Run(tab.Name, func(t *testing.T) {
			w.T = t
			w.sameRows(t, tab, name)
			w.rewritten(t, tab, name)
			w.sameRows(t, tab, name)
		})
	}
	w.T = t
	// Of a row that is written through the table an index of a view has no entry, and Phoenix itself does not find it there.
	if by := w.phoenix("SELECT /*+ INDEX(B_VIV B_VIX) */ ID FROM B_VIV"); by != "1" {
		t.Errorf("by the index of a view Phoenix reads %q", by)
	}
	w.Expect("1|a1\n2|a2", "SELECT id, a FROM b_viv")
	w.Expect("7|v7|x7|70", `SELECT * FROM "tv1@t1" WHERE x IS NOT NULL`)
}

// readsNoMore reports whether hql's plan of a query reads no more rows of tab than Phoenix's reads for theirs; of several ranges of theirs the first key and the last end count.
func (w *phoenixWorld) readsNoMore(t *testing.T, sql, theirs string) (no bool, why string) {
	t.Helper()
	ranged := strings.Split(w.phoenix("?"+theirs), "|")
	start, err1 := hex.DecodeString(ranged[0])
	stop, err2 := hex.DecodeString(ranged[1])
	s, err3 := parser.ParseStatement(sql)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	p, err := w.Plan(context.Background(), s, Args{})
	if err != nil {
		t.Fatal(err)
	}
	ours, others := 0, 0
	scan := plan.Scans(p.Root)[0]
	for _, key := range rawKeys(t, w.c, string(scan.Layout.Stored.Parts[0].Literal)) {
		if key >= string(start) && (len(stop) == 0 || key < string(stop)) {
			others++
		}
		if slices.ContainsFunc(scan.Spans, func(sp plan.Span) bool {
			return key == string(sp.Start) || !sp.Key && key > string(sp.Start) && (len(sp.Stop) == 0 || key < string(sp.Stop))
		}) {
			ours++
		}
	}
	return ours <= others, fmt.Sprintf("hql reads %d rows in %s, Phoenix %d in [%q, %q)", ours, scan, others, start, stop)
}

// rawKeys lists the keys of a table.
func rawKeys(t *testing.T, c hbase.Client, table string) (keys []string) {
	t.Helper()
	for r, err := range hbase.Rows(context.Background(), c, hbase.ScanRange{Table: table}, nil) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, string(r.Key))
	}
	return keys
}

// phoenixLiterals are values of each type, as Phoenix writes them and, where that is another way, hql.
var phoenixLiterals = []struct {
	typ    string
	inKey  bool
	values []string
}{
	{"VARCHAR", true, []string{"'a'", "'b'", "'ab'", "'zz z'", "'é'", "'B'"}},
	{"CHAR(4)", true, []string{"'a'", "'b'", "'abcd'", "'z'"}},
	{"INTEGER", true, []string{"-2147483648", "-1", "0", "1", "256", "2147483647"}},
	{"BIGINT", true, []string{"-9223372036854775807", "-1", "0", "5", "9223372036854775807"}},
	{"SMALLINT", true, []string{"-32768", "-1", "0", "5", "32767"}},
	{"TINYINT", true, []string{"-128", "-1", "0", "5", "127"}},
	{"UNSIGNED_INT", true, []string{"0", "5", "2147483647"}},
	{"UNSIGNED_LONG", true, []string{"0", "5", "9223372036854775807"}},
	{"UNSIGNED_SMALLINT", true, []string{"0", "5", "32767"}},
	{"UNSIGNED_TINYINT", true, []string{"0", "5", "127"}},
	{"DOUBLE", true, []string{"-1.5", "0.25", "100.25", "-1000000.5"}},
	{"FLOAT", true, []string{"-1.5", "0.25", "100.25"}},
	{"UNSIGNED_DOUBLE", true, []string{"0.25", "100.25"}},
	{"UNSIGNED_FLOAT", true, []string{"0.25", "100.25"}},
	{"DECIMAL", true, []string{"0", "1.5", "1.51", "-1.5", "-1", "100", "0.001", "123456789012345678901234567890.123", "-99999999999999999999999999999999999999"}},
	{"DECIMAL(10,2)", true, []string{"0", "9.99", "0.01", "100"}}, // a negative one that is DESC Phoenix 5.2.1 reads as another number
	{"BOOLEAN", true, []string{"TRUE", "FALSE"}},
	{"BINARY(3)", true, []string{"'xyz'", "'abc'"}},
	{"DATE", true, []string{"2024-02-29 12:34:56.789", "1969-12-31 23:59:59.999", "1970-01-01 00:00:00.000"}},
	{"TIMESTAMP", true, []string{"2024-02-29 12:34:56.789123456", "1969-12-31 23:59:59.999999999", "1970-01-01 00:00:00.000000000"}},
	{"VARCHAR ARRAY", false, []string{"ARRAY['a','bb',NULL,'d']", "ARRAY['x']", "ARRAY['a',NULL,NULL,NULL,'b',NULL]"}},
	{"BIGINT ARRAY", false, []string{"ARRAY[1,-2,3]", "ARRAY[5]"}},
	{"DECIMAL ARRAY", false, []string{"ARRAY[1.5,-2.25,0]"}},
	{"VARBINARY", false, []string{"'raw'", "'b'"}},
}

// phoenixLiteral is a value of phoenixLiterals as Phoenix has it and as hql has it.
func phoenixLiteral(typ, v string) (phoenix, ours string) {
	switch typ {
	case "DATE":
		return "TO_DATE('" + v + "', 'yyyy-MM-dd HH:mm:ss.SSS')", "TIMESTAMP '" + v + "'"
	case "TIMESTAMP":
		whole, fraction, _ := strings.Cut(v, ".")
		return "TIMESTAMP '" + v + "'", "EXTRACT(epoch FROM TIMESTAMP '" + whole + "')::DECIMAL + 0." + fraction
	case "BINARY(3)", "VARBINARY":
		return v, "CAST(" + v + " AS BYTES)"
	}
	return v, v
}

// random compares n tables of random types and options, described by Phoenix's catalog; each is drawn from a seed of its own.
func (w *phoenixWorld) random(t *testing.T, first uint64, n int) {
	type probe struct {
		table, where, theirs string
		salted               bool
	}
	var probes []probe
	indexed := map[string][]indexProbe{} // by table
	twins := map[string][]string{}       // what hql runs in a table like it
	w.world = worldOf(t, nil)
	for i := range n {
		name, r := fmt.Sprint("R", i), rand.New(rand.NewPCG(first+uint64(i), 1))
		pick := func(xs ...string) string { return xs[r.IntN(len(xs))] }
		var columns, key []string
		var of []int
		var nullable []bool // of the key's columns
		add := func(column string, inKey bool) {
			for {
				k := r.IntN(len(phoenixLiterals))
				if p := phoenixLiterals[k]; p.inKey || !inKey {
					def := column + " " + p.typ
					null := inKey && len(of) > 0 && (p.typ == "VARCHAR" || strings.HasPrefix(p.typ, "DECIMAL")) && r.IntN(2) == 0 // Phoenix refuses NULL in a part of fixed width
					if nullable = append(nullable, null); inKey && !null {
						def += " NOT NULL"
					}
					if !inKey && !strings.Contains("DATE TIMESTAMP BINARY(3) VARBINARY", p.typ) && !strings.Contains(p.typ, "ARRAY") && r.IntN(6) == 0 {
						def += " DEFAULT " + pick(p.values...)
					}
					if of = append(of, k); !inKey && r.IntN(6) == 0 {
						def = pick("A.", "B.") + def
					}
					columns = append(columns, def)
					return
				}
			}
		}
		keys := 1 + r.IntN(4)
		for k := range keys {
			column := fmt.Sprint("K", k)
			add(column, true)
			key = append(key, column)
		}
		cells := 1 + r.IntN(6)
		for c := range cells {
			add(fmt.Sprint("C", c), false)
		}
		order := slices.Clone(key)
		for k := range order {
			if phoenixLiterals[of[k]].typ != "BOOLEAN" { // TRUE that is DESC Phoenix 5.2.1 reads as FALSE
				order[k] += pick("", "", " DESC")
			}
		}
		options := []string{pick("", "", "COLUMN_ENCODED_BYTES=NONE", "COLUMN_ENCODED_BYTES=1", "COLUMN_ENCODED_BYTES=3", "COLUMN_ENCODED_BYTES=4"), pick("", "", "SALT_BUCKETS=3"), pick("", "", "", "STORE_NULLS=true"), pick("", "", "IMMUTABLE_ROWS=true", "IMMUTABLE_ROWS=true, IMMUTABLE_STORAGE_SCHEME=ONE_CELL_PER_COLUMN")}
		if strings.Contains(options[0], "NONE") && strings.HasPrefix(options[3], "IMMUTABLE") {
			options[3] = ""
		}
		salted, immutable := options[1] != "", strings.HasPrefix(options[3], "IMMUTABLE")
		single := immutable && !strings.Contains(options[3], "ONE_CELL")
		options = slices.DeleteFunc(options, func(s string) bool { return s == "" })
		as := "(" + strings.Join(columns, ", ") + ", CONSTRAINT PK PRIMARY KEY (" + strings.Join(order, ", ") + ")) " + strings.Join(options, ", ")
		statements := []string{"CREATE TABLE " + name + " " + as}
		d := drawnRows{r: r, name: name, columns: columns, of: of, nullable: nullable, keys: keys, immutable: immutable, single: single,
			storesNulls: strings.Contains(as, "STORE_NULLS") && !immutable}
		for range 14 {
			statements = append(statements, d.statement()...)
		}
		// Half of the indexes are there before the rows.
		drawn := max(0, r.IntN(4)-1)
		if drawn == 0 && !slices.ContainsFunc(of, func(k int) bool { return strings.Contains(phoenixLiterals[k].typ, "ARRAY") }) {
			w.phoenix("&CREATE TABLE W" + name[1:] + " " + as)
			twins[strings.ToLower(name)] = d.ours
		}
		for x := range drawn {
			index, ps := randomIndex(r, fmt.Sprintf("%s_X%d", name, x), name, columns, of, keys)
			if r.IntN(2) == 0 {
				statements = slices.Insert(statements, 1, index)
			} else {
				statements = append(statements, "!commit", index)
			}
			for _, p := range ps {
				a, b := phoenixLiteral(phoenixLiterals[p.of].typ, pick(phoenixLiterals[p.of].values...))
				p.where, p.theirs = strings.ToLower(p.column)+p.op+b, p.column+p.op+a
				indexed[strings.ToLower(name)] = append(indexed[strings.ToLower(name)], p)
			}
		}
		w.phoenix("&" + strings.Join(statements, "\x01"))
		for range 6 {
			k := r.IntN(keys)
			p := phoenixLiterals[of[k]]
			a, b := phoenixLiteral(p.typ, pick(p.values...))
			op := pick(" = ", " < ", " <= ", " > ", " >= ")
			// What is greater than the greatest number, or less than the least, Phoenix 5.2.1 finds in all rows.
			if strings.Contains(" 2147483647 -2147483648 9223372036854775807 -9223372036854775807 32767 -32768 127 -128 ", " "+a+" ") {
				op = " = "
			}
			if p.typ == "BOOLEAN" || strings.HasPrefix(p.typ, "UNSIGNED") { // k < 0 Phoenix 5.2.1 finds true of all of an UNSIGNED_LONG that is DESC
				op = " = "
			}
			if nullable[k] && r.IntN(3) == 0 {
				op, a, b = pick(" IS NULL", " IS NOT NULL"), "", ""
			}
			probes = append(probes, probe{strings.ToLower(name), strings.ToLower(key[k]) + op + b, key[k] + op + a, salted})
		}
	}
	w.phoenix("&")
	w.imports(t)
	refused, ranges, indexes, unsound, written, statements := 0, 0, 0, 0, 0, 0
	for i := range n {
		name := fmt.Sprint("r", i)
		same := t.Run(name, func(t *testing.T) {
			w.T = t
			tab, ok := w.Catalog().Table(name)
			if !ok {
				t.Fatalf("no table %s", name)
			}
			w.sameRows(t, tab, name)
			for _, p := range probes {
				if p.table == name {
					a, err := w.query("SELECT /*+ NO_INDEX */ COUNT(*) FROM " + name + " WHERE " + p.theirs)
					b := w.Do("SELECT COUNT(*) FROM " + name + " WHERE " + p.where)
					if err != nil && (strings.Contains(err.Error(), "ERROR 201") || strings.Contains(err.Error(), "StackOverflow")) {
						refused++ // of what is greater than the greatest number, or the greatest itself where it is salted
					} else if err != nil || a != b {
						t.Errorf("%s\n%s: Phoenix %s (%v), hql %s\n%s", tab.SQL(), p.where, a, err, b, w.Do("EXPLAIN SELECT COUNT(*) FROM "+name+" WHERE "+p.where))
					} else if !p.salted {
						ranges++
						if no, why := w.readsNoMore(t, "SELECT * FROM "+name+" WHERE "+p.where, "SELECT /*+ NO_INDEX */ * FROM "+name+" WHERE "+p.theirs); !no {
							t.Errorf("%s\n%s: %s", tab.SQL(), p.where, why)
						}
					}
				}
			}
			if ours := twins[name]; ours != nil && tab.ReadOnly == "" {
				for _, sql := range ours {
					w.Do(sql)
				}
				w.sameCells(t, name, "w"+name[1:])
				written, statements = written+1, statements+len(ours)
			}
			indexes += len(tab.Layouts) - 1
			unsound += w.sameByIndex(t, tab, indexed[name])
			w.rewritten(t, tab, name)
			w.sameRows(t, tab, name)
		})
		if !same {
			t.Logf("replay %s with HQL_SEED=%d HQL_CHECKS=1", name, first+uint64(i))
		}
	}
	t.Logf("figures: tables %d, written like it %d, by statements %d, indexes %d, wrong in Phoenix itself %d, conditions %d, ranges %d, refused by Phoenix %d, seeds from %d", n, written, statements, indexes, unsound, len(probes), ranges, refused, first)
}

// drawnRows draws statements that write rows of a table whose columns are described so, the first keys of them its key.
type drawnRows struct {
	r                 *rand.Rand
	name              string
	columns           []string
	of                []int // of phoenixLiterals
	nullable          []bool
	keys              int
	immutable, single bool         // in Phoenix a row is written once; all its columns are in one cell
	storesNulls       bool         // a NULL is an empty cell
	rows              [][]rowValue // what is there
	ours              []string     // the statements as hql has them, for a table like it
}

// rowValue is a value as both write it; "" was not given.
type rowValue struct{ phoenix, ours string }

// value draws one of column c.
func (d *drawnRows) value(c int) rowValue {
	p := phoenixLiterals[d.of[c]]
	if (c >= d.keys && !d.padsNull(c) || c < d.keys && d.nullable[c]) && d.r.IntN(4) == 0 {
		return rowValue{"NULL", "NULL"}
	}
	a, b := phoenixLiteral(p.typ, p.values[d.r.IntN(len(p.values))])
	return rowValue{a, b}
}

// padsNull reports whether a NULL in column c would be written as an empty cell that Phoenix 5.2.1 pads: of a CHAR it reads back an empty text, of
// a BINARY zeros.
func (d *drawnRows) padsNull(c int) bool {
	typ := phoenixLiterals[d.of[c]].typ
	return (typ == "CHAR(4)" || typ == "BINARY(3)") && (d.storesNulls || strings.Contains(d.columns[c], " DEFAULT "))
}

// statement draws what Phoenix runs, and adds to ours what hql runs.
func (d *drawnRows) statement() []string {
	sameKey := func(a, b []rowValue) bool { return slices.Equal(a[:d.keys], b[:d.keys]) }
	ours := strings.ToLower("W" + d.name[1:])
	switch n := d.r.IntN(12); {
	case n == 0:
		v := d.value(0)
		if v.phoenix == "NULL" {
			return nil
		}
		d.rows = slices.DeleteFunc(d.rows, func(row []rowValue) bool { return row[0] == v })
		d.ours = append(d.ours, "DELETE FROM "+ours+" WHERE k0 = "+v.ours)
		return []string{"!commit", "DELETE FROM " + d.name + " WHERE K0 = " + v.phoenix, "!commit"}
	case n < 4 && len(d.rows) > 0:
		row := d.rows[d.r.IntN(len(d.rows))]
		c := d.keys + d.r.IntN(len(row)-d.keys)
		v := d.value(c)
		if v.phoenix == "NULL" && d.immutable {
			return nil // it leaves what is there
		}
		row[c] = v
		var where []string
		for k, key := range row[:d.keys] {
			is := " = " + key.ours
			if key.ours == "NULL" {
				is = " IS NULL"
			}
			where = append(where, fmt.Sprint("k", k)+is)
		}
		d.ours = append(d.ours, fmt.Sprintf("UPDATE %s SET c%d = %s WHERE %s", ours, c-d.keys, v.ours, strings.Join(where, " AND ")))
		upsert, _ := d.upsert(row, func(i int) bool { return i < d.keys || i == c || d.single })
		return []string{"!commit", upsert}
	}
	row := make([]rowValue, len(d.of))
	for c := range row {
		row[c] = d.value(c)
	}
	some := d.r.IntN(4) == 0 // columns are not named
	if some {
		row[d.keys+d.r.IntN(len(row)-d.keys)] = rowValue{}
	}
	at := slices.IndexFunc(d.rows, func(was []rowValue) bool { return sameKey(was, row) })
	switch {
	case at < 0:
		d.rows = append(d.rows, row)
	case d.immutable:
		return nil
	default:
		for c, v := range row {
			if v.phoenix != "" {
				d.rows[at][c] = v
			}
		}
	}
	theirs, own := d.upsert(row, func(int) bool { return true })
	d.ours = append(d.ours, strings.Replace(own, d.name, ours, 1))
	return []string{theirs, "!commit"}
}

// upsert writes the values of row that are given, in the columns that named holds for.
func (d *drawnRows) upsert(row []rowValue, named func(c int) bool) (phoenix, ours string) {
	var names, a, b []string
	for c, v := range row {
		if v.phoenix != "" && named(c) {
			name, _, _ := strings.Cut(d.columns[c], " ")
			names = append(names, name[strings.Index(name, ".")+1:])
			a, b = append(a, v.phoenix), append(b, v.ours)
		}
	}
	into := "UPSERT INTO " + d.name + " (" + strings.Join(names, ", ") + ") VALUES ("
	return into + strings.Join(a, ", ") + ")", into + strings.Join(b, ", ") + ")"
}

// indexProbe is a condition on a column that an index begins with.
type indexProbe struct {
	index, column, op string
	of                int // of phoenixLiterals
	where, theirs     string
}

// randomIndex draws an index of a table whose columns are described so, the first keys of them its key, and conditions that it may serve.
func randomIndex(r *rand.Rand, name, table string, columns []string, of []int, keys int) (statement string, probes []indexProbe) {
	var on, include []string
	for c := range columns {
		column, _, _ := strings.Cut(columns[c], " ")
		typ := phoenixLiterals[of[c]].typ
		switch n := r.IntN(4); {
		case strings.Contains(typ, "ARRAY") || strings.Contains(typ, "BINARY"): // Phoenix takes none in front of another column
		case n < 2 && (len(on) < 3 && c >= keys || n == 0 && len(on) > 0):
			if len(on) == 0 {
				for _, op := range []string{" = ", " > ", " <= ", " <> "} {
					probes = append(probes, indexProbe{index: strings.ToLower(name), column: column[strings.Index(column, ".")+1:], op: op, of: of[c]})
				}
			}
			if on = append(on, column); r.IntN(3) == 0 && typ != "BOOLEAN" {
				on[len(on)-1] += " DESC"
			}
		case n == 2 && c >= keys:
			include = append(include, column)
		}
	}
	if on == nil { // all of them are arrays, or not drawn
		return "SELECT 1 FROM " + table, nil
	}
	kind, rest := "", ""
	switch r.IntN(4) {
	case 0:
		kind, include = "UNCOVERED ", nil
	case 1:
		rest = " SALT_BUCKETS=2"
	}
	if include != nil {
		rest = " INCLUDE (" + strings.Join(include, ", ") + ")" + rest
	}
	return "CREATE " + kind + "INDEX " + name + " ON " + table + " (" + strings.Join(on, ", ") + ")" + rest, probes
}

// sound reports whether Phoenix itself finds by an index the rows that it finds without. Phoenix 5.2.1 does not always: of a row that is
// changed several times it may keep entries of what it never was, marked as verified, and none of what it is.
func (w *phoenixWorld) sound(tab *catalog.Table, l *catalog.Layout) bool {
	table := strings.ToUpper(tab.Name)
	rows := func(hint string) []string {
		rows := strings.Split(w.phoenix("SELECT /*+ "+hint+" */ K0 FROM "+table), "\n")
		slices.Sort(rows)
		return rows
	}
	return slices.Equal(rows("NO_INDEX"), rows("INDEX("+table+" "+strings.ToUpper(l.Name)+")"))
}

// sameByIndex compares what the indexes of a table give with what its rowkey gives, and with Phoenix. It counts the indexes that Phoenix has
// wrong itself, of which nothing else is compared.
func (w *phoenixWorld) sameByIndex(t *testing.T, tab *catalog.Table, probes []indexProbe) (unsound int) {
	by := func(layout, columns, where string) string {
		rows := strings.Split(w.Do("SELECT /*+ LAYOUT("+layout+") */ "+columns+" FROM "+tab.Name+" WHERE "+where), "\n")
		slices.Sort(rows)
		return strings.Join(rows, "\n")
	}
	wrong := map[string]bool{}
	for _, l := range tab.Layouts[1:] {
		if !w.sound(tab, l) {
			wrong[l.Name] = true
			continue
		}
		if a, b := by("primary", "*", "TRUE"), by(l.Name, "*", "TRUE"); a != b {
			t.Errorf("%s\nby %s\n%q\nby the rowkey\n%q\nentries\n%s", tab.SQL(), l.Name, b, a, rawCells(t, w.c, string(l.Stored.Parts[0].Literal)))
		}
	}
	for _, p := range probes {
		if !slices.ContainsFunc(tab.Layouts, func(l *catalog.Layout) bool { return l.Name == p.index && !wrong[l.Name] }) {
			continue
		}
		a, b := by("primary", "*", p.where), by(p.index, "*", p.where)
		explained := w.Do("EXPLAIN SELECT /*+ LAYOUT(" + p.index + ") */ * FROM " + tab.Name + " WHERE " + p.where)
		if a != b {
			t.Errorf("%s\n%s by the index\n%q\nby the rowkey\n%q\n%s", tab.SQL(), p.where, b, a, explained)
		}
		if strings.Contains(explained, "full scan") && p.op == " = " {
			t.Errorf("%s\n%s", tab.SQL(), explained)
		}
		if p.op == " = " {
			if n := w.phoenix("SELECT /*+ NO_INDEX */ COUNT(*) FROM " + tab.Name + " WHERE " + p.theirs); n != w.Do("SELECT /*+ LAYOUT("+p.index+") */ COUNT(*) FROM "+tab.Name+" WHERE "+p.where) {
				t.Errorf("%s\n%s: Phoenix counts %s", tab.SQL(), p.where, n)
			}
		}
	}
	return len(wrong)
}

package differential

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hql-db/hql/internal/worlds"
)

// row draws values for the columns of t. A row with NULL in a key column is refused.
func (t *table) row(r *rand.Rand) []value {
	out := make([]value, len(t.columns))
	for i, c := range t.columns {
		out[i] = c.value(r)
	}
	return out
}

// value draws a value that usually fits the column.
func (c *column) value(r *rand.Rand) value {
	if !c.notNull && r.IntN(4) == 0 {
		return null(c.kind)
	}
	for tries := 0; ; tries++ {
		v := someValue(r, c.kind)
		if c.only || r.IntN(3) == 0 {
			v = valueOf(c.kind, c.draw(r))
		}
		if c.holds(v) || tries == 20 {
			return v
		}
	}
}

// holds reports whether v fits the declared type. DECIMALs of several scales would be several keys in hql but one in
// PostgreSQL; years before 1 have different texts.
func (c *column) holds(v value) bool {
	if v.null() {
		return !c.notNull
	}
	bits := map[string]int{"INT": 31, "SMALLINT": 15, "TINYINT": 7}[c.declare]
	if bits > 0 {
		return v.v.Int() < 1<<bits && v.v.Int() >= -1<<bits
	}
	switch c.kind {
	case kDbl:
		f := v.v.Double()
		return c.declare != "FLOAT" || float64(float32(f)) == f || f != f
	case kDec:
		return !c.key || !strings.Contains(v.pg, "e") && !(strings.Contains(v.pg, ".") && strings.HasSuffix(v.pg, "0"))
	case kDate:
		return v.v.Int() >= firstDay
	case kTs:
		return v.v.Int() >= firstDay*dayMillis
	}
	return true
}

// read reads a value in PostgreSQL's text.
func (c *column) read(s []byte) value {
	if s == nil {
		return null(c.kind)
	}
	x := string(s)
	switch c.kind {
	case kBool:
		return boolean(x == "t")
	case kInt:
		n, _ := strconv.ParseInt(x, 10, 64)
		return integer(n)
	case kDec:
		return decimal(x)
	case kDbl:
		f, _ := strconv.ParseFloat(x, 64)
		return double(f)
	case kBytes:
		b, _ := hex.DecodeString(strings.TrimPrefix(x, `\x`))
		return binary(string(b))
	case kDate:
		t, _ := pgTime(x)
		return day(t.Unix() / 86400)
	case kTs:
		t, _ := pgTime(x)
		return moment(t.UnixMilli())
	case kTime:
		n, _ := strconv.ParseInt(strings.TrimPrefix(normalPG(1083, s), "t"), 10, 64)
		return timeOfDay(n)
	case kJSON:
		return jsonOf(x)
	}
	return text(x)
}

func literals(row []value) string {
	out := make([]string, len(row))
	for i, v := range row {
		out[i] = v.literal()
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// upsert returns the clause that makes PostgreSQL overwrite rows, as hql's INSERT does.
func (t *table) upsert(columns []string) string {
	var set []string
	for _, c := range columns {
		set = append(set, c+" = EXCLUDED."+c)
	}
	return " ON CONFLICT (" + strings.Join(t.keys(), ", ") + ") DO UPDATE SET " + strings.Join(set, ", ")
}

// load fills a table row by row; rows that do not fit its key are refused.
func (w *world) load(g *gen, t *table) {
	r := g.Rand
	n := []int{0, 3, 20, 20, 60, 60}[r.IntN(6)]
	if r.IntN(8) == 0 {
		n = 220 // of few values: more than a hundred rows share them
	}
	common := t.row(r)
	stored := 0
	for range n {
		row := t.row(r)
		for i := range row {
			if n > 200 && r.IntN(3) > 0 && t.columns[i].name != "id" {
				row[i] = common[i]
			}
		}
		if w.insert(g, t, names(t.columns), [][]value{t.defaulted(r, names(t.columns), row)}, false) > 0 {
			t.rows = append(t.rows, row)
			stored++
		}
	}
	w.fig["rows loaded"] += stored
}

// insert writes rows by one statement, first in hql. A row that hql refuses, because it does not fit the key, is not
// sent to PostgreSQL.
func (w *world) insert(g *gen, t *table, columns []string, rows [][]value, ifNew bool) int {
	var list, given []string
	h := &call{writes: true}
	for _, row := range rows {
		if t.Drawn && (len(columns) < len(t.columns) || w.exists(t, row)) {
			continue
		}
		var vs []string
		for _, v := range row {
			if v.word != "" {
				vs = append(vs, v.word)
				continue
			}
			h.args = append(h.args, v)
			vs = append(vs, fmt.Sprintf("\x15%d\x13", len(h.args)-1))
		}
		list, given = append(list, literals(row)), append(given, "("+strings.Join(vs, ", ")+")")
	}
	if len(list) == 0 || t.Drawn && len(list) > 1 {
		return 0
	}
	into := " INTO " + t.Name + " (" + strings.Join(columns, ", ") + ") VALUES "
	h.text = g.pick("INSERT", "INSERT", "UPSERT") + into + strings.Join(list, ", ")
	if g.odds(2) {
		h.text = "INSERT" + into + strings.Join(given, ", ")
	}
	into = "INSERT" + into
	conflict := t.upsert(columns)
	if ifNew {
		h.text += " IF NOT EXISTS"
		conflict = " ON CONFLICT (" + strings.Join(t.keys(), ", ") + ") DO NOTHING"
	}
	all := names(t.columns)
	gives := (ifNew || len(list) == 1) && (!t.Drawn || len(columns) == len(all)) && g.odds(2)
	if gives {
		g.start()
		g.params = false
		returning := g.returning(t, t.Name)
		h.text, conflict, h.approx = h.text+returning, conflict+returning, g.approx
	}
	sql, args := h.forHQL()
	res := w.onHQL(w.dbs[w.r.IntN(len(w.dbs))], h, nil)
	if err := res.err; err != nil {
		if excuse(err, h) == "" {
			w.t.Fatalf("hql refuses a row: %v\n%s\n%s\narguments %v", err, strings.Join(t.Create, ";\n"), sql, args)
		}
		w.fig["rows refused"] += len(rows)
		return 0
	}
	var written answer
	for _, row := range list { // PostgreSQL does not overwrite a row twice in one statement
		p := w.onPG(&call{text: into + row + conflict})
		if p.err != nil {
			w.t.Fatalf("PostgreSQL: %v\n%s", p.err, into+row)
		}
		written.tag += p.tag
		written.rows = append(written.rows, p.rows...)
	}
	if res.tag != written.tag || gives && !same(h, res.rows, written.rows) {
		w.t.Fatalf("hql says that it wrote %d rows, PostgreSQL %d: %s, %s\n%s\n%s\narguments %v", res.tag, written.tag, show(res, written), show(written, res), strings.Join(t.Create, ";\n"), sql, args)
	}
	return len(rows)
}

// defaulted returns a row of these columns with the word DEFAULT for some values.
func (t *table) defaulted(r *rand.Rand, columns []string, row []value) []value {
	row = slices.Clone(row)
	for i, name := range columns {
		c := t.columns[slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })]
		if !c.key && !c.notNull && r.IntN(10) == 0 {
			row[i] = value{word: "DEFAULT"}
		}
	}
	return row
}

// exists reports whether t has a row with that key.
func (w *world) exists(t *table, row []value) bool {
	return len(w.onPG(&call{text: "SELECT 1 FROM " + t.Name + " WHERE " + t.is(row)}).rows) > 0
}

// setZone continues in sessions with another time zone.
func (w *world) setZone(r *rand.Rand) {
	w.inZone(zones[r.IntN(len(zones))])
}

func (w *world) inZone(zone string) {
	w.zone = zone
	w.exec("SET TIME ZONE '" + w.zone + "'")
	w.dbs = w.sessions[w.zone]
	if w.dbs != nil {
		return
	}
	for _, db := range w.clients {
		s := db.Session()
		if _, err := s.Exec(context.Background(), "SET timezone = '"+w.zone+"'"); err != nil {
			w.t.Fatal(err)
		}
		w.dbs = append(w.dbs, s)
	}
	w.sessions[w.zone] = w.dbs
}

// write runs a statement that writes on both and compares the table.
func (w *world) write(g *gen) {
	w.t.Helper()
	t := w.tables[g.IntN(len(w.tables))]
	g.start()
	alias, as := t.Name, ""
	if g.odds(3) {
		alias = g.newAlias()
		as = " AS " + alias
	}
	s := &scope{sources: []source{{alias, t.columns, t}}}
	var cells []column
	for _, c := range t.columns {
		if !c.key {
			cells = append(cells, c)
		}
	}
	c := &call{writes: true}
	where := ""
	if g.IntN(8) > 0 {
		where = " WHERE " + g.where(s)
	}
	switch g.IntN(10) {
	case 9:
		w.createAs(g, t)
		return
	case 6:
		w.copied(g, t)
		return
	case 7, 8:
		c.text = w.joined(g, t.Name+as, t, s, cells)
	case 0:
		c.text = "DELETE FROM " + t.Name + as + where + " AND " + g.condition(s, 1)
		if where == "" {
			c.text = "DELETE FROM " + t.Name + as + " WHERE " + g.condition(s, 1)
		}
	case 1, 2:
		var set []string
		for _, i := range g.Perm(len(cells))[:1+g.IntN(min(2, len(cells)))] {
			x := g.constant(cells[i].kind)
			if cells[i].declare == "FLOAT" || g.odds(2) { // PostgreSQL casts a constant to FLOAT where no row needs it
				x = g.given(cells[i].value(g.Rand))
			}
			if g.odds(2) && cells[i].kind != kInt && cells[i].declare != "FLOAT" && cells[i].kind != kJSON {
				x = g.expr(s, cells[i].kind, 2)
			}
			if !cells[i].notNull && g.odds(8) {
				x = "DEFAULT"
			}
			set = append(set, cells[i].name+" = "+x)
		}
		c.text = "UPDATE " + t.Name + as + " SET " + strings.Join(set, ", ") + where
	case 3:
		var rows [][]value
		for range 1 + g.IntN(8) {
			rows = append(rows, t.again(g, rows))
		}
		for i, row := range rows {
			rows[i] = t.defaulted(g.Rand, names(t.columns), row)
		}
		w.insert(g, t, names(t.columns), rows, g.odds(3))
		w.compareTable(g, t, "INSERT")
		return
	case 4: // some columns
		var cols []string
		var some []value
		row := t.row(g.Rand)
		for i, col := range t.columns {
			if col.notNull || g.odds(2) {
				cols, some = append(cols, col.name), append(some, row[i])
			}
		}
		w.insert(g, t, cols, [][]value{t.defaulted(g.Rand, cols, some)}, false)
		w.compareTable(g, t, "INSERT")
		return
	default:
		if t.Drawn {
			return
		}
		// The rows come from a query, over the same table or another.
		if slices.ContainsFunc(t.columns, func(c column) bool { return c.key && c.kind == kDec }) {
			return
		}
		alias = t.Name
		q, _ := g.united(nil, kindsOf(t.columns), 1, 6)
		c.text = "INSERT INTO " + t.Name + " (" + strings.Join(names(t.columns), ", ") + ") " + q + dialect("", t.upsert(names(t.columns)))
	}
	if g.approx {
		return // what differs in its last digits is not stored: each later statement would tell it
	}
	if g.odds(8) {
		c.text += dialect(" ALLOW FULL SCAN", "")
	}
	if g.odds(2) {
		c.text += g.returning(t, alias)
	}
	c.args, c.approx = g.args, g.approx
	w.change(g, t, c)
}

// returning draws a RETURNING of columns and expressions of t, under its alias in the statement.
func (g *gen) returning(t *table, alias string) string {
	s := &scope{sources: []source{{alias, t.columns, t}}}
	plain := g.plain
	g.plain = true // it takes no sub-queries
	defer func() { g.plain = plain }()
	items := []string{alias + ".*"}
	if g.odds(3) {
		items = []string{alias + "." + strings.Join(names(t.columns), ", "+alias+".")}
	}
	for i := range g.IntN(4) {
		items = append(items, g.expr(s, g.comparable(), 2)+g.pick("", fmt.Sprintf(" AS e%d", i)))
	}
	return " RETURNING " + strings.Join(items[g.IntN(min(2, len(items))):], ", ")
}

// createAs creates a table from a query in both, compares the two tables and drops them.
func (w *world) createAs(g *gen, t *table) {
	w.t.Helper()
	g.params = false
	alias := g.newAlias()
	s := &scope{sources: []source{{alias, t.columns, t}}}
	var items, cols []string
	for _, name := range t.keys() {
		items, cols = append(items, alias+"."+name), append(cols, name)
	}
	for i := range 1 + g.IntN(4) {
		x, _ := g.anyColumn(s)
		if g.odds(2) {
			x = g.expr(s, g.comparable(), 2)
		}
		cols = append(cols, fmt.Sprintf("e%d", i))
		items = append(items, x+" AS "+cols[len(cols)-1])
	}
	query := " AS SELECT " + strings.Join(items, ", ") + " FROM " + t.Name + " AS " + alias
	if g.odds(2) {
		query += " WHERE " + g.where(s)
	}
	if g.approx {
		return
	}
	c := &call{writes: true, text: "CREATE TABLE made" + dialect(" (PRIMARY KEY ("+strings.Join(t.keys(), ", ")+"))", "") + query}
	db := w.dbs[g.IntN(len(w.dbs))]
	h, p := w.ask(db, c)
	switch judge(c, h, p) {
	case agree:
		all := &call{text: "SELECT " + strings.Join(cols, ", ") + " FROM made"}
		if h, p := w.ask(w.dbs[g.IntN(len(w.dbs))], all); judge(all, h, p) != agree {
			sql, _ := c.forHQL()
			w.t.Fatalf("%s\n%s\nhql        %s\nPostgreSQL %s", strings.Join(t.Create, ";\n"), sql, show(h, p), show(p, h))
		}
		w.fig["tables made of queries"]++
	case differ:
		w.fail(db, c, h, p)
	}
	w.both("DROP TABLE IF EXISTS made")
}

// copied writes t to a file, empties it and reads it back.
func (w *world) copied(g *gen, t *table) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "t."+g.pick("tsv", "jsonl", "csv"))
	to, from := "COPY "+t.Name+" TO '"+file+"'", "COPY "+t.Name+" FROM '"+file+"'"
	if !strings.HasSuffix(file, "jsonl") && g.odds(2) { // in another order, and without a line that names the columns
		var cols []string
		for _, i := range g.Perm(len(t.columns)) {
			cols = append(cols, t.columns[i].name)
		}
		list, bare := strings.Join(cols, ", "), " WITH (HEADER = FALSE)"
		to, from = "COPY (SELECT "+list+" FROM "+t.Name+") TO '"+file+"'"+bare, "COPY "+t.Name+" ("+list+") FROM '"+file+"'"+bare
	}
	for _, sql := range []string{to, "DELETE FROM " + t.Name, from} {
		if a := w.onHQL(w.dbs[0], &call{text: sql}, nil); a.err != nil {
			w.t.Fatalf("%s\n%s: %v", strings.Join(t.Create, ";\n"), sql, a.err)
		}
	}
	w.fig["tables copied"]++
	w.compareTable(g, t, "COPY")
}

// copiedQuery writes a query's rows to a file, reads them into a new table, and compares it with the query.
func (w *world) copiedQuery(g *gen) {
	w.t.Helper()
	g.start()
	g.params = false
	q, cols := g.subquery(nil, 1)
	define, all, items := "n BIGINT PRIMARY KEY", make([]string, len(cols)), make([]string, len(cols))
	for i, c := range cols {
		all[i] = fmt.Sprintf("o%d", i)
		if items[i] = all[i]; c.kind == kDbl { // the text of a FLOAT is of few digits
			items[i] = "CAST(" + all[i] + " AS DOUBLE PRECISION) AS " + all[i]
		}
		if c.kind == kWall { // which is not stored
			c.kind, items[i] = kText, "CAST("+all[i]+" AS TEXT) AS "+all[i]
		}
		define += ", " + all[i] + " " + hqlType[c.kind]
	}
	list := strings.Join(all, ", ")
	c := &call{text: "SELECT " + strings.Join(items, ", ") + " FROM (" + q + ") AS q (" + list + ")", approx: g.approx, pieces: g.pieces, writes: true}
	p := w.known(c)
	sql, _ := c.forHQL()
	formats := []string{"tsv", "jsonl", "csv"}
	if !slices.ContainsFunc(cols, func(c column) bool { return c.kind == kDec }) { // those of Arrow have few digits
		formats = append(formats, "arrow", "parquet")
	}
	file := filepath.Join(w.t.TempDir(), "t."+g.pick(formats...))
	copied := strings.Replace(sql, "SELECT ", "SELECT ROW_NUMBER() OVER () AS n, ", 1)
	var h answer
	for _, sql := range []string{"COPY (" + copied + ") TO '" + file + "'", "CREATE TABLE copied (" + define + ")", "COPY copied FROM '" + file + "'"} {
		if h.err == nil && !tooLong(p.err) {
			h = w.onHQL(w.dbs[0], &call{text: sql}, nil)
		}
	}
	if h.err == nil {
		h = w.onHQL(w.dbs[0], &call{text: "SELECT " + list + " FROM copied"}, nil)
	}
	if !tooLong(p.err) && judge(c, h, p) == differ {
		ps, _ := c.forPG()
		w.t.Fatalf("COPY (%s) TO '%s'\n%s\nhql        %s\nPostgreSQL %s", copied, file, ps, show(h, p), show(p, h))
	}
	w.onHQL(w.dbs[0], &call{text: "DROP TABLE IF EXISTS copied"}, nil)
	w.fig["queries copied"]++
}

func kindsOf(cs []column) (out []kind) {
	for _, c := range cs {
		out = append(out, c.kind)
	}
	return out
}

// joined draws an UPDATE with FROM or a DELETE with USING. The new values depend only on the row itself, or are equal
// for all joined rows.
func (w *world) joined(g *gen, target string, t *table, s *scope, cells []column) string {
	other := &scope{}
	from := g.item(other, 1)
	both := &scope{sources: append(slices.Clone(s.sources), other.sources...)}
	where := " WHERE " + g.on(s, other)
	if g.odds(2) {
		where += " AND " + g.where(both)
	}
	if g.odds(2) {
		return "DELETE FROM " + target + " USING " + from + where
	}
	col := cells[g.IntN(len(cells))]
	if y, ok := g.column(other, col.kind); ok && g.odds(2) && col.kind != kInt && col.declare != "FLOAT" && col.kind != kJSON {
		one := "(SELECT MIN(o." + col.name + ") FROM " + t.Name + " AS o)"
		if col.kind != kBool && col.kind != kBytes {
			return "UPDATE " + target + " SET " + col.name + " = CASE WHEN " + y + " IS NULL THEN " + one + " ELSE " + one + " END FROM " + from + where
		}
	}
	return "UPDATE " + target + " SET " + col.name + " = " + g.given(col.value(g.Rand)) + " FROM " + from + where
}

// change runs c in PostgreSQL, then in hql, and keeps the change if both succeed.
func (w *world) change(g *gen, t *table, c *call) {
	w.t.Helper()
	w.exec("BEGIN")
	p := w.onPG(c)
	var pe *pgconn.PgError
	if errors.As(p.err, &pe) && pe.Code[:2] != "22" && pe.Code[:2] != "23" { // two rows with one key: hql takes the last
		w.exec("ROLLBACK")
		w.fig["writes refused by PostgreSQL"]++
		return
	}
	sql, args := c.forHQL()
	res := w.onHQL(w.dbs[g.IntN(len(w.dbs))], c, nil)
	err := res.err
	verb := strings.Fields(sql)[0]
	fail := func(why string) {
		w.t.Helper()
		ps, _ := c.forPG()
		w.t.Fatalf("%s\n%s;\n%s;\narguments %v\nPostgreSQL: %s\nhql %d rows, error %v; PostgreSQL %d rows, error %v", why, strings.Join(t.Create, ";\n"), sql, args, ps, res.tag, err, p.tag, p.err)
	}
	if err != nil || p.err != nil {
		w.exec("ROLLBACK")
		if (err == nil) != (p.err == nil) && (err == nil || excuse(err, c) == "") {
			fail("one of the two fails")
		}
		w.fig["writes failed"]++
	} else {
		w.exec("COMMIT")
		if res.tag != p.tag {
			fail("not as many rows written")
		}
		if !same(c, res.rows, p.rows) {
			fail("RETURNING gives " + show(res, p) + ", in PostgreSQL " + show(p, res))
		}
		w.fig["writes"]++
	}
	w.compareTable(g, t, verb+": "+sql)
}

// compareTable compares all rows, through each layout.
func (w *world) compareTable(g *gen, t *table, why string) {
	w.t.Helper()
	cols := strings.Join(names(t.columns), ", ")
	p := w.onPG(&call{text: "SELECT " + cols + " FROM " + t.Name})
	for _, l := range t.Layouts {
		c := &call{text: "SELECT /*+ LAYOUT(" + l + ") */ " + cols + " FROM " + t.Name}
		if len(t.Layouts) == 1 {
			c.text = "SELECT " + cols + " FROM " + t.Name
		}
		for _, db := range w.dbs {
			h := w.onHQL(db, c, nil)
			if h.err != nil || p.err != nil || !same(c, h.rows, p.rows) {
				w.t.Fatalf("after %s\n%s\nlayout %s\nhql        %s\nPostgreSQL %s", why, strings.Join(t.Create, ";\n"), l, show(h, p), show(p, h))
			}
		}
		w.fig["tables compared"]++
	}
	h := w.onHQL(w.dbs[0], &call{text: "CHECK TABLE " + t.Name}, nil)
	for _, row := range h.rows {
		if row[2] != "n0" {
			w.t.Fatalf("after %s\n%s\nCHECK TABLE: %s", why, strings.Join(t.Create, ";\n"), fmt.Sprint(row))
		}
	}
}

func pastName(t *table) string { return "past_" + t.Name }

// past queries a table as it was before a few writes. The writes set nothing to NULL, because old versions of NULL are
// not kept.
func (w *world) past(g *gen) {
	w.t.Helper()
	t := w.tables[g.IntN(len(w.tables))]
	if !strings.Contains(t.DDL(), worlds.Versions) {
		return
	}
	newest := w.onHQL(w.dbs[0], &call{text: "SELECT MAX(_ts) FROM " + t.Name}, nil)
	if newest.err != nil {
		w.t.Fatal(newest.err)
	}
	ms, err := strconv.ParseInt(strings.TrimPrefix(newest.rows[0][0], "ts"), 10, 64)
	if err != nil {
		return // it is empty
	}
	since := g.odds(2)
	w.exec("DROP TABLE IF EXISTS " + pastName(t) + "; CREATE TABLE " + pastName(t) + " AS SELECT * FROM " + t.Name)
	if since {
		w.exec("DELETE FROM " + pastName(t))
	}
	time.Sleep(time.Until(time.UnixMilli(ms + 2)))
	var rows [][]value
	for range 1 + g.IntN(4) {
		time.Sleep(2 * time.Millisecond) // each is a version of its own
		row := t.again(g, rows)
		for i, c := range t.columns {
			for row[i].null() {
				row[i] = c.value(g.Rand)
			}
		}
		if w.insert(g, t, names(t.columns), [][]value{row}, false) > 0 && since {
			rows = append(rows, row)
			w.exec(render("INSERT INTO "+pastName(t)+" SELECT * FROM "+t.Name+" WHERE "+t.is(row), true, nil, nil))
		}
	}
	before := *t
	before.hints, before.past = nil, t.Name+" AS %s FOR SYSTEM_TIME AS OF TIMESTAMP '"+moment(ms).pg+"'"
	if first := "TIMESTAMP '" + moment(ms+1).pg + "'"; since {
		before.past = g.pick(t.Name+" AS %s FOR SYSTEM_TIME BETWEEN "+first+" AND TIMESTAMP '2100-01-01'",
			"(SELECT "+strings.Join(names(t.columns), ", ")+" FROM "+t.Name+" FOR SYSTEM_TIME ALL WHERE _ts >= "+first+") AS %s")
	}
	g.tables = []*table{&before, w.tables[g.IntN(len(w.tables))]}
	for range 8 {
		w.check(g, g.query())
	}
	g.tables = w.tables
	w.fig["tables of before"]++
}

// again returns a row that sometimes has the key of an existing row or of one in more.
func (t *table) again(g *gen, more [][]value) []value {
	row := t.row(g.Rand)
	if before := slices.Concat(t.rows, more); len(before) > 0 && g.odds(3) {
		for i, v := range before[len(before)-1-g.IntN(min(len(before), 8))] {
			if t.columns[i].key {
				row[i] = v
			}
		}
	}
	return row
}

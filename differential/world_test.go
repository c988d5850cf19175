package differential

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/tsuna/gohbase"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/columnar" // COPY writes its formats
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/store"
)

// timeout bounds one statement of hql, patience one of PostgreSQL, which checks its own timeout only after a sort.
const (
	timeout  = 20 * time.Second
	patience = 5 * time.Minute
)

// world is the same tables in hql and in PostgreSQL.
type world struct {
	t     testing.TB
	pg    *pgconn.PgConn
	r     *rand.Rand
	store *store.Store
	// clients share one store; dbs are their sessions in PostgreSQL's time zone.
	clients, dbs []*hql.DB
	sessions     map[string][]*hql.DB
	tables       []*table
	views        []*view
	fig          seeds.Figures
	zone         string
}

// newWorld makes tables and fills them.
func newWorld(t testing.TB, pg *pgconn.PgConn, r *rand.Rand, fig seeds.Figures) *world {
	w := &world{t: t, pg: pg, r: r, fig: fig, sessions: map[string][]*hql.DB{}}
	w.exec("DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public; SET TIME ZONE 'UTC'; SET extra_float_digits = 1; SET client_min_messages = error")
	w.open()
	refused := 0
	for len(w.tables) < 2+r.IntN(3) {
		tb := newTable(r, fmt.Sprint("x", len(w.tables)))
		if err := w.create(tb); err != nil {
			if refused++; refused > 100 {
				t.Fatalf("hql refuses one definition after the other: %v\n%s", err, strings.Join(tb.Create, "\n"))
			}
			fig["definitions refused"]++
			continue
		}
		w.tables = append(w.tables, tb)
		fig["tables made"]++
	}
	var all []string
	for _, tb := range w.tables {
		all = append(all, tb.Create...)
	}
	w.client(hql.WithCatalog(strings.Join(all, ";\n")), hql.WithMaxFanOut(5))
	w.setZone(r)
	return w
}

// open opens a store.
func (w *world) open() {
	s, err := store.Open(store.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(s.Close)
	w.store = s
	w.client(hql.WithParallelism(3))
}

// client adds a client with memory and settings of its own.
func (w *world) client(opts ...hql.Option) {
	client := struct { // of the methods, hql.New needs SendRPC
		gohbase.Client
		gohbase.RPCClient
	}{RPCClient: w.store}
	admin := struct {
		gohbase.AdminClient
		gohbase.RPCClient
	}{RPCClient: w.store}
	db, err := hql.New(client, admin, nil, append(opts, hql.WithFullScan(hql.FullScanAllow), hql.WithWrites(true))...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { db.Close() })
	w.clients = append(w.clients, db)
}

// create creates a table; the error is hql's.
func (w *world) create(t *table) error {
	ctx := context.Background()
	for i, ddl := range t.Create {
		if _, err := w.clients[0].Exec(ctx, ddl); err != nil {
			if i > 0 {
				w.clients[0].Exec(ctx, "DROP TABLE dict_"+t.Name)
			}
			return err
		}
	}
	w.exec(t.pg)
	return nil
}

// view creates a view in both, for g to draw, unless one of them refuses it.
func (w *world) view(g *gen, name string) {
	w.t.Helper()
	v := g.view(name)
	c := &call{text: v.define}
	h, p := w.onHQL(w.clients[0], c, nil), w.onPG(c) // one over tables of a catalog file is known to its client alone
	switch judge(c, h, p) {
	case agree:
		w.views = append(w.views, v)
		g.views = w.views
		w.fig["views made"]++
	case differ:
		w.fail(w.dbs[0], c, h, p)
	default:
		w.both("DROP VIEW IF EXISTS " + name)
		w.fig["views refused"]++
	}
}

// exec runs statements on PostgreSQL that must not fail.
func (w *world) exec(sql string) {
	w.t.Helper()
	if _, err := w.pg.Exec(context.Background(), sql).ReadAll(); err != nil {
		w.t.Fatalf("PostgreSQL: %v\n%s", err, sql)
	}
}

// answer is the result of a statement: rows in normal form, the number of rows written, or an error.
type answer struct {
	rows [][]string
	tag  int64
	err  error
}

// call is a statement with arguments, for both databases.
type call struct {
	text    string
	args    []value
	ordered bool
	approx  bool // the last digits of a DOUBLE may differ
	risky   bool // it may fail
	writes  bool
	memory  int64
	named   bool
	pieces  int // numbered from 1
	dropped map[int]bool
}

// forHQL renders the call for hql, with the arguments in the order of their use.
func (c *call) forHQL() (string, []any) {
	var order []int
	named := hql.NamedArgs{}
	s := render(c.text, false, c.dropped, func(n int) string {
		i := slices.Index(order, n)
		if i < 0 {
			i = len(order)
			order = append(order, n)
		}
		if c.named {
			named[fmt.Sprint("p", i)] = goValue(c.args[n])
			return fmt.Sprint("@p", i)
		}
		return fmt.Sprint("$", i+1)
	})
	if len(named) > 0 {
		return s, []any{named}
	}
	var args []any
	for _, n := range order {
		args = append(args, goValue(c.args[n]))
	}
	return s, args
}

func goValue(v value) any {
	if v.list != nil {
		var list []any
		for _, x := range v.list {
			list = append(list, goValue(x))
		}
		return list
	}
	if v.null() {
		return nil
	}
	switch v.kind {
	case kInt:
		return v.v.Int()
	case kText:
		return v.v.Text()
	case kDbl:
		return v.v.Double()
	case kBool:
		return v.v.Bool()
	}
	// A moment is a TIMESTAMP, because a time.Time becomes a DATE by its own clock where a DATE is expected, as in pgx.
	return v.v
}

func (c *call) forPG() (string, [][]byte) {
	var order []int
	s := render(c.text, true, c.dropped, func(n int) string {
		if list := c.args[n].list; list != nil {
			var out []string
			for _, v := range list {
				out = append(out, render(v.literal(), true, nil, nil))
			}
			return "SELECT unnest(ARRAY[" + strings.Join(out, ", ") + "]::" + pgType[c.args[n].kind] + "[])"
		}
		i := slices.Index(order, n)
		if i < 0 {
			i = len(order)
			order = append(order, n)
		}
		return fmt.Sprintf("$%d::%s", i+1, pgType[c.args[n].kind])
	})
	var args [][]byte
	for _, n := range order {
		if c.args[n].null() {
			args = append(args, nil)
		} else {
			args = append(args, []byte(c.args[n].pg))
		}
	}
	return s, args
}

func (w *world) onPG(c *call) (a answer) {
	sql, args := c.forPG()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := w.pg.ExecParams(ctx, sql, args, nil, nil, nil)
	fields := r.FieldDescriptions()
	for r.NextRow() {
		if fields == nil {
			fields = r.FieldDescriptions()
		}
		var row []string
		for i, v := range r.Values() {
			row = append(row, normalPG(fields[i].DataTypeOID, v))
		}
		a.rows = append(a.rows, row)
	}
	tag, err := r.Close()
	a.err, a.tag = err, tag.RowsAffected()
	return a
}

func (w *world) onHQL(db *hql.DB, c *call, stmt *hql.Stmt) (a answer) {
	sql, args := c.forHQL()
	if c.memory > 0 {
		args = append([]any{hql.QueryOptions{MemoryLimit: c.memory}}, args...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var rows *hql.Rows
	var err error
	if stmt != nil {
		rows, err = stmt.Query(ctx, args...)
	} else {
		rows, err = db.Query(ctx, sql, args...)
	}
	if err != nil {
		return answer{err: err}
	}
	defer rows.Close()
	for rows.Next() {
		var row []string
		for _, v := range rows.Raw() {
			row = append(row, normal(v))
		}
		a.rows = append(a.rows, row)
	}
	a.err, a.tag = rows.Err(), rows.RowsAffected()
	return a
}

// check compares a query; a query with arguments is also run as a prepared statement with other arguments.
func (w *world) check(g *gen, c *call) {
	w.t.Helper()
	db := w.dbs[g.IntN(len(w.dbs))]
	w.compare(db, c, nil)
	if len(c.args) == 0 || g.odds(3) {
		return
	}
	if g.odds(3) {
		w.together(g, c)
		return
	}
	sql, _ := c.forHQL()
	stmt, err := db.Prepare(context.Background(), sql)
	if err != nil {
		return // as it was when it was run
	}
	for range 2 {
		again := *c
		again.args = slices.Clone(c.args)
		for i, v := range c.args {
			again.args[i] = g.like(v)
		}
		w.compare(db, &again, stmt)
	}
}

// together runs c in several sessions of one client at the same time, with other arguments and in other zones: the
// sessions share its plans.
func (w *world) together(g *gen, c *call) {
	w.t.Helper()
	type run struct {
		call call
		zone string
		db   *hql.DB
		h, p answer
	}
	runs := make([]run, 4)
	client := g.IntN(len(w.clients))
	for i := range runs {
		r := &runs[i]
		if i == 0 || g.odds(2) {
			w.setZone(g.Rand)
		}
		r.call, r.zone, r.db = *c, w.zone, w.dbs[client]
		r.call.args = slices.Clone(c.args)
		for i, v := range c.args {
			r.call.args[i] = g.like(v)
		}
		r.p = w.known(&r.call)
	}
	var all sync.WaitGroup
	for i := range runs {
		r := &runs[i]
		all.Go(func() { r.h = w.onHQL(r.db, &r.call, nil) })
	}
	all.Wait()
	for i := range runs {
		r := &runs[i]
		w.inZone(r.zone)
		w.settle(r.db, &r.call, r.h, r.p)
	}
	w.fig["together"] += len(runs)
}

func (w *world) compare(db *hql.DB, c *call, stmt *hql.Stmt) {
	w.t.Helper()
	p := w.known(c)
	var h answer
	if !tooLong(p.err) {
		h = w.onHQL(db, c, stmt)
	}
	w.settle(db, c, h, p)
}

// known returns PostgreSQL's answer, unless it takes too long.
func (w *world) known(c *call) answer {
	w.t.Helper()
	w.exec("SET statement_timeout = '500ms'")
	p := w.onPG(c)
	for { // the timeout that it lifts is its own too, on a busy machine
		_, err := w.pg.Exec(context.Background(), "SET statement_timeout = 0").ReadAll()
		if err == nil {
			return p
		}
		if !tooLong(err) {
			w.t.Fatalf("PostgreSQL: %v", err)
		}
	}
}

// settle judges two answers.
func (w *world) settle(db *hql.DB, c *call, h, p answer) {
	w.t.Helper()
	if tooLong(p.err) {
		w.fig["too long"]++
		return
	}
	if errors.Is(h.err, context.DeadlineExceeded) { // a product of tables that PostgreSQL joins in a better order
		w.fig["too long for hql"]++
		return
	}
	w.fig["queries"]++
	if errors.Is(h.err, hql.ErrMemoryLimit) { // the one drawn, or the usual one of a product of tables
		w.fig["beyond the memory"]++
		return
	}
	switch judge(c, h, p) {
	case agree:
		if len(p.rows) > 0 {
			w.fig["with rows"]++
		}
	case bothFail:
		w.fig["failed in both"]++
	case excused:
		w.fig["excused"]++
	case refused:
		w.fig["refused by PostgreSQL"]++
	default:
		w.fail(db, c, h, p)
	}
}

// fail reduces a query and its rows, and prints the difference.
func (w *world) fail(db *hql.DB, c *call, first, second answer) {
	w.t.Helper()
	differs := func(c *call) bool {
		h, p := w.ask(db, c)
		return judge(c, h, p) == differ && reason(h.err) == reason(first.err)
	}
	note := ""
	whole, _ := c.forHQL()
	if differs(c) {
		w.reduce(c, differs)
	}
	h, p := w.ask(db, c)
	if judge(c, h, p) != differ {
		note = fmt.Sprintf("asked again, the answers are the same. At first, to %s\nhql        %s\nPostgreSQL %s\n", whole, show(first, second), show(second, first))
	}
	hs, hargs := c.forHQL()
	ps, pargs := c.forPG()
	var b strings.Builder
	for _, t := range w.tables {
		if w.reads(hs, t) {
			fmt.Fprintln(&b, strings.Join(t.Create, ";\n")+";")
			for _, row := range w.rowsOf(t) {
				fmt.Fprintln(&b, render("INSERT INTO "+t.Name+" VALUES "+literals(row)+";", false, nil, nil))
			}
		}
	}
	for _, v := range w.views {
		fmt.Fprintln(&b, render(v.define, false, nil, nil)+";")
	}
	fmt.Fprintf(&b, "SET timezone = '%s';\n%s;\narguments %v\nPostgreSQL, with arguments %q:\n%s;\n%s", w.zone, hs, hargs, pargs, ps, note)
	fmt.Fprintf(&b, "hql        %s\nPostgreSQL %s\n", show(h, p), show(p, h))
	w.t.Fatalf("hql and PostgreSQL differ:\n%s", b.String())
}

func (w *world) ask(db *hql.DB, c *call) (h, p answer) { return w.onHQL(db, c, nil), w.onPG(c) }

// reason returns an error without its position in the text.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return strings.TrimLeft(err.Error(), "0123456789: ")
}

// reduce removes pieces of c and rows as long as differs(c), for a limited time.
func (w *world) reduce(c *call, differs func(*call) bool) {
	end := time.Now().Add(30 * time.Second)
	c.dropped = map[int]bool{}
	for n := range c.pieces {
		if c.dropped[n+1] = true; !differs(c) || time.Now().After(end) {
			delete(c.dropped, n+1)
		}
	}
	sql, _ := c.forHQL()
	for _, t := range w.tables {
		if !w.reads(sql, t) || strings.Contains(sql, "FOR SYSTEM_TIME") { // a DELETE takes what was before
			continue
		}
		rows := w.rowsOf(t)
		for n := (len(rows) + 1) / 2; n > 0; n /= 2 {
			for i := 0; i < len(rows) && time.Now().Before(end); {
				part := rows[i:min(i+n, len(rows))]
				for _, row := range part {
					w.both("DELETE FROM " + t.Name + " WHERE " + t.is(row))
				}
				if differs(c) {
					rows = slices.Delete(rows, i, i+len(part))
					continue
				}
				for _, row := range part {
					w.both("INSERT INTO " + t.Name + " VALUES " + literals(row))
				}
				i += n
			}
		}
	}
}

// reads reports whether sql may read t; any view may.
func (w *world) reads(sql string, t *table) bool {
	return strings.Contains(sql, t.Name+" ") || slices.ContainsFunc(w.views, func(v *view) bool { return strings.Contains(sql, v.name+" ") })
}

// both runs a statement without arguments on both and ignores the results.
func (w *world) both(text string) {
	c := &call{text: text}
	w.onHQL(w.dbs[0], c, nil)
	w.onPG(c)
}

// is returns the condition that selects exactly this row.
func (t *table) is(row []value) string {
	var out []string
	for i, c := range t.columns {
		if c.key {
			out = append(out, c.name+" = "+row[i].literal())
		}
	}
	return strings.Join(out, " AND ")
}

// show formats an answer, beginning with the rows that the other answer lacks.
func show(a, other answer) string {
	if a.err != nil {
		return "error: " + a.err.Error()
	}
	left := map[string]int{}
	for _, r := range other.rows {
		left[strings.Join(r, "|")]++
	}
	var own, all []string
	for _, r := range a.rows {
		s := strings.Join(r, "|")
		all = append(all, s)
		if left[s]--; left[s] < 0 {
			own = append(own, s)
		}
	}
	return fmt.Sprintf("%d rows, these alone %q, all %q", len(a.rows), own[:min(len(own), 10)], all[:min(len(all), 20)])
}

// rowsOf returns a table's rows from PostgreSQL.
func (w *world) rowsOf(t *table) (out [][]value) {
	r, err := w.pg.Exec(context.Background(), "SELECT * FROM "+t.Name).ReadAll()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, from := range r[0].Rows {
		row := make([]value, len(from))
		for i, v := range from {
			row[i] = t.columns[i].read(v)
		}
		out = append(out, row)
	}
	return out
}

package pgwire

import (
	"context"
	"strconv"
	"strings"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// maxOpen is the greatest number of prepared statements in a session, and of cursors.
const maxOpen = 10_000

// declareCommand is DECLARE name CURSOR [WITH HOLD] FOR query.
type declareCommand struct {
	noRows
	name   string
	hold   bool
	binary bool
	query  string
	offset int
}

func parseDeclare(w *words) (command, error) {
	w.at++
	d := &declareCommand{}
	var err error
	if d.name, err = w.name(); err != nil {
		return nil, err
	}
	for {
		switch {
		case w.take("BINARY"):
			d.binary = true
			continue
		case w.take("INSENSITIVE"), w.take("ASENSITIVE"), w.take("NO", "SCROLL"):
			continue
		case w.take("SCROLL"):
			return nil, failure("0A000", "a cursor cannot scroll: it reads rows from the first to the last")
		}
		break
	}
	if !w.take("CURSOR") {
		return nil, w.unexpected()
	}
	d.hold = w.take("WITH", "HOLD")
	w.take("WITHOUT", "HOLD")
	if !w.take("FOR") || w.at == len(w.toks) {
		return nil, w.unexpected()
	}
	d.query, d.offset = w.rest()
	return d, nil
}

func (d *declareCommand) run(c *conn, _ context.Context, args []any) (*answer, error) {
	switch {
	case c.tx.state == outside && !d.hold:
		return nil, failure("25P01", "DECLARE CURSOR can only be used in transaction blocks").hint("DECLARE %s CURSOR WITH HOLD FOR ... stays open without one", d.name)
	case c.cursors[d.name] != nil:
		return nil, failure("42P03", "cursor %q already exists", d.name)
	case len(c.cursors) >= maxOpen:
		return nil, failure("54000", "a session may have at most %d cursors", maxOpen)
	}
	stmt, err := c.db.Parse(d.query)
	if err != nil {
		return nil, moved(err, d.offset)
	}
	if _, ok := stmt.Statement().(*parser.Select); !ok {
		return nil, failure("42601", "a cursor is of a SELECT or VALUES")
	}
	p := c.newPortal(&prepared{whole: d.query, sql: d.query, stmt: stmt})
	if p.held, err = c.hold(d.query); err != nil {
		p.close(c)
		return nil, err
	}
	p.args, p.hold = args, d.hold
	if d.binary {
		p.formats = []int16{1}
	}
	if err := c.workingFor(p, func() error { return p.begin(c) }); err != nil {
		p.close(c)
		return nil, moved(err, d.offset)
	}
	c.cursors[d.name] = p
	return done("DECLARE CURSOR"), nil
}

// moved returns err, an error of a text that is part of a longer text from offset on. It has the position in the longer text.
func moved(err error, offset int) error {
	if e, ok := err.(*hql.Error); ok && e.Pos >= 0 {
		out := *e
		out.Pos += parser.Pos(offset)
		return &out
	}
	return err
}

// workingFor works like working, for a portal whose statement runs inside a command of another portal, such as FETCH.
func (c *conn) workingFor(p *portal, f func() error) error {
	c.mu.Lock()
	outer := c.stop
	c.stop = func(why error) {
		if outer != nil {
			outer(why)
		}
		p.cancel(why)
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.stop = outer
		c.mu.Unlock()
	}()
	return f()
}

// fetchCommand is FETCH and MOVE.
type fetchCommand struct {
	verb string
	name string
	n    int64 // -1: all
}

func parseFetch(w *words) (command, error) {
	f := &fetchCommand{verb: strings.ToUpper(w.peek()), n: 1}
	w.at++
	forward := failure("55000", "cursor can only scan forward").hint("rows are read from the first to the last: FETCH NEXT, FETCH n, FETCH ALL")
	switch {
	case w.take("NEXT"):
	case w.take("ALL"), w.take("FORWARD", "ALL"):
		f.n = -1
	default:
		if w.take("FORWARD") && (strings.EqualFold(w.peek(), "FROM") || strings.EqualFold(w.peek(), "IN")) {
			break
		}
		for _, back := range []string{"PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE", "BACKWARD"} {
			if w.take(back) {
				return nil, forward
			}
		}
		if w.peek() == "-" {
			return nil, forward
		}
		if n, err := strconv.ParseInt(w.peek(), 10, 64); err == nil {
			f.n = n
			w.at++
		}
	}
	_ = w.take("FROM") || w.take("IN")
	var err error
	if f.name, err = w.name(); err != nil {
		return nil, err
	}
	return f, w.end()
}

func (f *fetchCommand) columns(c *conn) ([]hql.ColumnType, error) {
	p, err := c.portal("cursor", f.name)
	if err != nil || f.verb == "MOVE" {
		return nil, err
	}
	return p.told, nil
}

func (f *fetchCommand) run(c *conn, ctx context.Context, _ []any) (*answer, error) {
	p, err := c.portal("cursor", f.name)
	if err != nil {
		return nil, err
	}
	rows := &cursorRows{c: c, p: p, left: f.n}
	if f.verb == "MOVE" {
		n := int64(0)
		for rows.Next() {
			n++
		}
		return &answer{verb: "MOVE", counted: true, affected: n}, rows.Err()
	}
	return &answer{columns: p.told, src: rows, verb: "FETCH", counted: true}, nil
}

// cursorRows are the next rows of a cursor.
type cursorRows struct {
	c    *conn
	p    *portal
	left int64 // -1: all
	err  error
}

func (r *cursorRows) Next() bool {
	if r.left == 0 || r.p.answer == nil || r.err != nil {
		return false
	}
	r.left--
	ok := false
	_ = r.c.workingFor(r.p, func() error {
		ok = r.p.answer.src.Next()
		return nil
	})
	if !ok {
		if r.err = r.p.why(r.p.answer.src.Err()); r.err == nil {
			r.err = r.p.answer.close()
		}
		r.p.answer = nil
	}
	return ok
}

func (r *cursorRows) Raw() []types.Value { return r.p.answer.src.Raw() }
func (r *cursorRows) Err() error         { return r.err }
func (r *cursorRows) Close() error       { return nil } // the cursor stays
func (r *cursorRows) Warnings() []string { return nil }

// closeCommand is CLOSE name, CLOSE ALL.
type closeCommand struct {
	noRows
	name string // "" for all
}

func parseClose(w *words) (command, error) {
	w.at++
	if w.take("ALL") {
		return &closeCommand{}, w.end()
	}
	name, err := w.name()
	if err != nil {
		return nil, err
	}
	return &closeCommand{name: name}, w.end()
}

func (cl *closeCommand) run(c *conn, _ context.Context, _ []any) (*answer, error) {
	if cl.name == "" {
		c.closePortals(c.cursors)
		return done("CLOSE CURSOR ALL"), nil
	}
	p, err := c.portal("cursor", cl.name)
	if err != nil {
		return nil, err
	}
	p.close(c)
	delete(c.cursors, cl.name)
	return done("CLOSE CURSOR"), nil
}

// closePortals closes all of a map.
func (c *conn) closePortals(m map[string]*portal) {
	for name, p := range m {
		p.close(c)
		delete(m, name)
	}
}

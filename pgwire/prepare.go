package pgwire

import (
	"context"
	"slices"
	"strings"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// prepareCommand is PREPARE name [(types)] AS statement.
type prepareCommand struct {
	noRows
	name   string
	types  []uint32
	sql    string
	offset int
}

func parsePrepare(w *words) (command, error) {
	w.at++
	p := &prepareCommand{}
	var err error
	if w.take("TRANSACTION") {
		return nil, failure("0A000", "two-phase commit is not supported")
	}
	if p.name, err = w.name(); err != nil {
		return nil, err
	}
	if w.take("(") {
		for !w.take(")") {
			oid, err := w.typeName()
			if err != nil {
				return nil, err
			}
			p.types = append(p.types, oid)
			w.take(",")
		}
	}
	if !w.take("AS") || w.at == len(w.toks) {
		return nil, w.unexpected()
	}
	p.sql, p.offset = w.rest()
	return p, nil
}

// typeName reads a type's name up to a comma or the closing parenthesis.
func (w *words) typeName() (uint32, error) {
	at, depth := w.pos(), 0
	var name []string
	for w.at < len(w.toks) && (depth > 0 || w.peek() != "," && w.peek() != ")") {
		switch w.peek() {
		case "(":
			depth++
		case ")":
			depth--
		}
		name = append(name, w.peek())
		w.at++
	}
	text := strings.ToUpper(strings.Join(name, " "))
	if text == "UNKNOWN" {
		return oidUnknown, nil
	}
	t, ok := types.ParseType(text)
	if !ok {
		return 0, parser.Errorf(at, "type %q does not exist", strings.ToLower(text))
	}
	return typeOf(t).oid, nil
}

func (p *prepareCommand) run(c *conn, ctx context.Context, _ []any) (*answer, error) {
	if c.statements[p.name] != nil {
		return nil, failure("42P05", "prepared statement %q already exists", p.name)
	}
	one, err := c.prepare(p.sql, p.sql, 0)
	if err != nil {
		return nil, err
	}
	one.params = p.types
	if err := c.keep(p.name, one); err != nil {
		return nil, err
	}
	return done("PREPARE"), c.describeStatement(ctx, one)
}

// executeCommand is EXECUTE name [(arguments)].
type executeCommand struct {
	name string
	args string // "" for none
}

func parseExecute(w *words) (command, error) {
	w.at++
	e := &executeCommand{}
	var err error
	if e.name, err = w.name(); err != nil {
		return nil, err
	}
	if w.at < len(w.toks) {
		if w.peek() != "(" || w.toks[len(w.toks)-1].Text != ")" {
			return nil, w.unexpected()
		}
		from, to := w.pos()+1, w.toks[len(w.toks)-1].Pos
		e.args = strings.TrimSpace(w.sql[from:to])
	}
	return e, nil
}

func (e *executeCommand) of(c *conn) (*prepared, error) {
	p := c.statements[e.name]
	if p == nil {
		return nil, failure("26000", "prepared statement %q does not exist", e.name)
	}
	return p, nil
}

func (e *executeCommand) columns(c *conn) ([]hql.ColumnType, error) {
	p, err := e.of(c)
	if err != nil {
		return nil, err
	}
	return p.columns, nil
}

func (e *executeCommand) run(c *conn, ctx context.Context, outer []any) (*answer, error) {
	p, err := e.of(c)
	if err != nil {
		return nil, err
	}
	var args []any
	if e.args != "" {
		rows, err := c.db.Query(ctx, "SELECT "+e.args, outer...)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		if rows.Next() {
			for i, v := range slices.Clone(rows.Raw()) {
				if i < len(p.params) && !v.IsNull() {
					if t, ok := byOID[p.params[i]]; ok && t.typ != types.String {
						if v, err = types.Cast(v, t.typ, c.settings.loc); err != nil {
							return nil, failure("22P02", "%v", err)
						}
					}
				}
				args = append(args, v)
			}
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	a, err := c.run(ctx, p, args)
	if err != nil {
		return nil, asError(err, "", 0)
	}
	return a, nil
}

// deallocateCommand is DEALLOCATE [PREPARE] name | ALL.
type deallocateCommand struct {
	noRows
	name string // "" for all
}

func parseDeallocate(w *words) (command, error) {
	w.at++
	w.take("PREPARE")
	if w.take("ALL") {
		return &deallocateCommand{}, w.end()
	}
	name, err := w.name()
	if err != nil {
		return nil, err
	}
	return &deallocateCommand{name: name}, w.end()
}

func (d *deallocateCommand) run(c *conn, _ context.Context, _ []any) (*answer, error) {
	if d.name == "" {
		for name := range c.statements {
			if name != "" {
				c.dropStatement(name)
			}
		}
		return done("DEALLOCATE ALL"), nil
	}
	if c.statements[d.name] == nil {
		return nil, failure("26000", "prepared statement %q does not exist", d.name)
	}
	c.dropStatement(d.name)
	return done("DEALLOCATE"), nil
}

// keep keeps a prepared statement under its name.
func (c *conn) keep(name string, p *prepared) error {
	if len(c.statements) >= maxOpen {
		return failure("54000", "a session may have %d prepared statements", maxOpen)
	}
	held := int64(len(p.sql))*8 + 4096 // about what the tree of a statement takes
	if !c.srv.held.take(held) {
		return busy("53200", "the server has no memory for another prepared statement")
	}
	p.held = held
	c.statements[name] = p
	return nil
}

// dropStatement forgets a prepared statement.
func (c *conn) dropStatement(name string) {
	if p := c.statements[name]; p != nil {
		c.srv.held.give(p.held)
		delete(c.statements, name)
	}
}

package pgwire

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/types"
)

// mayParse returns an error if the transaction block has failed and p does not end it.
func (c *conn) mayParse(p *prepared) error {
	if c.tx.state == inFailed && !p.empty() && !p.endsBlock() {
		return failure("25P02", "current transaction is aborted, commands ignored until end of transaction block")
	}
	return nil
}

func (c *conn) parseMessage(m *pgproto3.Parse) error {
	if m.Name != "" && c.statements[m.Name] != nil {
		return failure("42P05", "prepared statement %q already exists", m.Name)
	}
	c.dropStatement(m.Name)
	pieces := split(m.Query)
	if len(pieces) > 1 {
		return failure("42601", "cannot insert multiple commands into a prepared statement")
	}
	p := &prepared{whole: m.Query}
	if len(pieces) == 1 {
		var err error
		if p, err = c.prepare(m.Query, pieces[0].text, pieces[0].offset); err != nil {
			return err
		}
	}
	err := c.mayParse(p)
	p.params = append([]uint32(nil), m.ParameterOIDs...)
	if err == nil {
		err = c.keep(m.Name, p)
	}
	if err != nil {
		c.srv.held.give(p.held)
		return err
	}
	return c.send(&pgproto3.ParseComplete{})
}

// statement finds a prepared statement.
func (c *conn) statement(name string) (*prepared, error) {
	if p := c.statements[name]; p != nil {
		return p, nil
	}
	if name == "" {
		return nil, failure("26000", "unnamed prepared statement does not exist")
	}
	return nil, failure("26000", "prepared statement %q does not exist", name)
}

// describeStatement finds the types of a statement's parameters and columns, at the first call.
func (c *conn) describeStatement(ctx context.Context, p *prepared) error {
	if p.described || p.empty() {
		return nil
	}
	if p.copies != nil {
		p.described = true
		return nil
	}
	if p.command != nil {
		var err error
		p.columns, err = p.command.columns(c)
		return err
	}
	d, err := p.description(ctx)
	if err != nil {
		return err
	}
	for i, t := range d.Parameters {
		if i >= len(p.params) {
			p.params = append(p.params, 0)
		}
		switch {
		case p.params[i] != 0 && p.params[i] != oidUnknown:
		case t.List:
			p.params[i] = pgcatalog.TypeOf(t.Type, types.Limit{}).Array
		default:
			p.params[i] = pgcatalog.TypeOf(t.Type, types.Limit{}).OID
		}
	}
	p.columns, p.described = d.Columns, true
	return nil
}

// description describes p with the types of its parameters that are known.
func (p *prepared) description(ctx context.Context) (*hql.Description, error) {
	given := make([]types.Type, len(p.params))
	for i, oid := range p.params {
		if t, array, ok := pgcatalog.TypeByOID(oid); ok && !array && oid != oidUnknown {
			given[i] = t.Values
		}
	}
	d, err := p.stmt.Describe(ctx, given)
	if err != nil {
		return nil, asError(err, p.whole, p.offset)
	}
	return d, nil
}

// parameters returns the number of a statement's parameters.
func (p *prepared) parameters() int {
	if p.stmt == nil {
		return len(p.params)
	}
	return max(p.stmt.Parameters(), len(p.params))
}

func (c *conn) bindMessage(m *pgproto3.Bind) error {
	p, err := c.statement(m.PreparedStatement)
	if err != nil {
		return err
	}
	if err := c.mayParse(p); err != nil {
		return err
	}
	if m.DestinationPortal != "" && c.portals[m.DestinationPortal] != nil {
		return failure("42P03", "cursor %q already exists", m.DestinationPortal)
	}
	if old := c.portals[m.DestinationPortal]; old != nil {
		old.close(c)
		delete(c.portals, m.DestinationPortal)
	}
	if len(c.portals) >= maxOpen {
		return failure("54000", "a session may have at most %d portals", maxOpen)
	}
	if n := p.parameters(); len(m.Parameters) != n && !(p.command != nil && p.params == nil) {
		return failure("08P01", "bind message supplies %d parameters, but prepared statement %q requires %d", len(m.Parameters), m.PreparedStatement, n)
	}
	portal, err := c.bind(p, m)
	if err != nil {
		return err
	}
	c.portals[m.DestinationPortal] = portal
	return c.send(&pgproto3.BindComplete{})
}

// bind makes a portal of a statement and its arguments.
func (c *conn) bind(p *prepared, m *pgproto3.Bind) (*portal, error) {
	if len(m.Parameters) > len(p.params) { // their types are not known yet
		if err := c.describeStatement(c.ctx, p); err != nil {
			return nil, err
		}
	}
	formats := m.ParameterFormatCodes
	if n := len(formats); n > 1 && n != len(m.Parameters) {
		return nil, failure("08P01", "bind message has %d parameter formats but %d parameters", n, len(m.Parameters))
	}
	args := make([]any, len(m.Parameters))
	held := int64(0)
	for i, b := range m.Parameters {
		format, oid := int16(0), uint32(0)
		if len(formats) == 1 {
			format = formats[0]
		} else if len(formats) > 1 {
			format = formats[i]
		}
		if i < len(p.params) {
			oid = p.params[i]
		}
		v, err := parameter(oid, format, b, c.db.Settings().Location())
		if err != nil {
			return nil, err.detail("parameter $%d", i+1)
		}
		args[i] = v
		held += int64(len(b)) + 64
	}
	for _, f := range m.ResultFormatCodes {
		if f != 0 && f != 1 {
			return nil, failure("22023", "unsupported format code: %d", f)
		}
	}
	if p.described && len(m.ResultFormatCodes) > 1 && len(m.ResultFormatCodes) != len(p.columns) {
		return nil, failure("08P01", "bind message has %d result formats but query has %d columns", len(m.ResultFormatCodes), len(p.columns))
	}
	if !c.srv.held.take(held) {
		return nil, busy("53200", "the server has no memory for the parameters")
	}
	out := c.newPortal(p)
	out.args, out.held = args, held
	out.formats = append([]int16(nil), m.ResultFormatCodes...)
	if p.stmt != nil {
		out.told = p.columns
	}
	return out, nil
}

func (c *conn) describeMessage(m *pgproto3.Describe) error {
	switch m.ObjectType {
	case 'S':
		p, err := c.statement(m.Name)
		if err != nil {
			return err
		}
		if err := c.mayParse(p); err != nil {
			return err
		}
		if err := c.describeStatement(c.ctx, p); err != nil {
			return err
		}
		if err := c.send(&pgproto3.ParameterDescription{ParameterOIDs: p.params}); err != nil {
			return err
		}
		return c.describe(p.columns, func(int) int16 { return 0 })
	case 'P':
		p, err := c.portal("portal", m.Name)
		if err != nil {
			return err
		}
		return c.describePortal(p)
	}
	return fatal("08P01", "invalid DESCRIBE message subtype %d", m.ObjectType)
}

// describePortal sends the columns of a portal. It starts the query, because the types may depend on the arguments.
func (c *conn) describePortal(p *portal) error {
	if p.answer == nil && !p.of.described {
		p.told = nil
	}
	if p.told == nil && p.of.stmt != nil && !p.of.described {
		if _, query := p.of.stmt.Statement().(*parser.Select); query {
			if err := p.why(c.working(p.cancel, func() error { return p.begin(c) })); err != nil {
				return err
			}
		}
	}
	if p.told == nil {
		if err := c.describeStatement(p.ctx, p.of); err != nil {
			return err
		}
		p.told = p.of.columns
	}
	p.of.columns = p.told // of which the client knows, if it does not ask again
	if err := p.checkFormats(); err != nil {
		return err
	}
	return c.describe(p.told, p.format)
}

// checkFormats returns an error unless the client gave one format, or as many as there are columns.
func (p *portal) checkFormats() error {
	if n := len(p.formats); n > 1 && n != len(p.told) {
		return failure("08P01", "bind message has %d result formats but query has %d columns", n, len(p.told))
	}
	return nil
}

// portal returns the portal or cursor called name: messages and statements may name either. what is the word for it in the
// error.
func (c *conn) portal(what, name string) (*portal, error) {
	p := cmp.Or(c.portals[name], c.cursors[name])
	if p == nil || what == "cursor" && name == "" {
		return nil, failure("34000", "%s %q does not exist", what, name)
	}
	return p, nil
}

func (c *conn) executeMessage(m *pgproto3.Execute) error {
	p, err := c.portal("portal", m.Portal)
	if err != nil {
		return err
	}
	if p.of.empty() {
		return c.send(&pgproto3.EmptyQueryResponse{})
	}
	if p.of.copies != nil {
		return c.copy(p.of)
	}
	end := c.note(p.of)
	before := p.sent
	err = p.why(c.working(p.cancel, func() error {
		if err := p.begin(c); err != nil {
			return err
		}
		if err := p.checkFormats(); err != nil {
			return err
		}
		return p.fetch(c, int64(int32(m.MaxRows)))
	}))
	end(p.sent-before, err)
	if err != nil {
		p.close(c)
	}
	return err
}

func (c *conn) closeMessage(m *pgproto3.Close) error {
	switch m.ObjectType {
	case 'S':
		c.dropStatement(m.Name)
	case 'P':
		if p := c.portals[m.Name]; p != nil {
			p.close(c)
			delete(c.portals, m.Name)
		}
	default:
		return fatal("08P01", "invalid CLOSE message subtype %d", m.ObjectType)
	}
	return c.send(&pgproto3.CloseComplete{})
}

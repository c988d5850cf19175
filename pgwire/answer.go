package pgwire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/types"
)

// source returns rows: of a statement (*hql.Rows) or of a cursor.
type source interface {
	Next() bool
	Raw() []types.Value
	Err() error
	Close() error
	Warnings() []string
}

// answer is the result of a statement.
type answer struct {
	columns  []hql.ColumnType // nil: the statement returns no rows
	src      source           // the rows; nil: there are none
	verb     string           // the command tag that ends the answer
	counted  bool             // the number of rows follows the command tag
	affected int64            // rows written; -1: not counted
	leave    func()           // lets the next statement run; nil: nothing is held
}

func (a *answer) close() error {
	var err error
	if a.src != nil {
		err = a.src.Close()
	}
	if a.leave != nil {
		a.leave()
		a.leave = nil
	}
	return err
}

// done is the answer of a statement without rows.
func done(verb string) *answer { return &answer{verb: verb, affected: -1} }

// run begins a statement.
func (c *conn) run(ctx context.Context, p *prepared, args []any) (*answer, error) {
	if c.tx.state == inFailed && !p.endsBlock() {
		return nil, failure("25P02", "current transaction is aborted, commands ignored until end of transaction block")
	}
	if p.command != nil {
		return p.command.run(c, ctx, args)
	}
	stmt := c.db.Settings().Statement(p.stmt.Statement())
	if err := c.mayRun(stmt); err != nil {
		return nil, err
	}
	leave := func() {}
	if _, small := stmt.(*parser.Show); !small {
		var err error
		if leave, err = c.srv.admission.enter(ctx, c.db.Settings().Memory()+c.srv.readMemory(), c.srv.opts.QueueTimeout); err != nil {
			return nil, err
		}
	}
	all := make([]any, 0, len(args)+1)
	all = append(append(all, hql.QueryOptions{Parallelism: c.srv.opts.Parallelism}), args...)
	rows, err := p.stmt.Query(ctx, all...)
	c.tx.wrote = c.tx.wrote || c.tx.state != outside && writes(stmt) && mayHaveWritten(err)
	if err != nil {
		leave()
		return nil, err
	}
	if made, ok := stmt.(*parser.Prepare); ok { // a prepared statement holds memory until DEALLOCATE
		held, err := c.hold(p.sql)
		if err != nil {
			c.db.Settings().Deallocate(made.Name)
			leave()
			return nil, errors.Join(err, rows.Close())
		}
		c.statements[ofSession(made.Name)] = &prepared{held: held}
	}
	a := &answer{columns: rows.ColumnTypes(), src: rows, leave: leave, affected: rows.RowsAffected()}
	a.verb, a.counted = parser.CommandTag(stmt)
	return a, nil
}

// mayHaveWritten reports whether a statement that writes and returned err may have written.
func mayHaveWritten(err error) bool {
	_, partly := errors.AsType[*hql.PartialError](err)
	_, refused := errors.AsType[*hql.Error](err)
	return partly || !refused
}

// writes reports whether a statement writes.
func writes(s parser.Statement) bool {
	switch s := s.(type) {
	case *parser.Select, *parser.Show, *parser.Transaction, *parser.Prepare, *parser.Execute:
		return false
	case *parser.Explain: // EXPLAIN ANALYZE runs only statements that read
		return false
	case *parser.CheckTable:
		return s.Repair
	}
	return true
}

// mayWrite reports whether the session's statements may write.
func (c *conn) mayWrite() bool {
	allowed := c.srv.opts.Write
	if c.role.Write != nil {
		allowed = *c.role.Write
	}
	return allowed && c.db.Writable()
}

func readOnly() *Error {
	return failure("25006", "statements on this connection may only read").hint("start hql serve with --write, or give the user write=on in the users' file")
}

// mayRun refuses a statement that may not run now.
func (c *conn) mayRun(s parser.Statement) *Error {
	if create, ok := s.(*parser.CreateTable); ok && slices.ContainsFunc(append(slices.Clip(create.Splits), create.Split), readsFile) {
		return noFiles()
	}
	if !writes(s) {
		return nil
	}
	return c.mayWriteNow()
}

func readsFile(d *parser.SplitDef) bool {
	return d != nil && (d.Kind == parser.SplitFile || d.Kind == parser.SplitSampleFile)
}

// mayWriteNow refuses a write.
func (c *conn) mayWriteNow() *Error {
	setting := "default_transaction_read_only"
	if c.tx.state != outside {
		setting = "transaction_read_only"
	}
	if c.switched(setting) || !c.mayWrite() {
		return readOnly()
	}
	if c.tx.state == outside {
		return nil
	}
	if !c.switched("hql.write_in_block") {
		return failure("0A000", "a statement between BEGIN and COMMIT cannot write: HBase has no transactions over rows, so that ROLLBACK could take nothing back").
			hint("write outside of a block (autocommit), or SET hql.write_in_block = on: then each statement writes at once, and ROLLBACK leaves what it wrote")
	}
	return nil
}

func noFiles() *Error {
	return failure("42501", "statements cannot read or write files of the server").hint("COPY ... TO STDOUT and FROM STDIN, in psql \\copy, send rows to the client")
}

// portal is the protocol's name for a statement with its arguments, running or not. A cursor is a portal, too.
type portal struct {
	of      *prepared
	args    []any
	formats []int16
	told    []hql.ColumnType // the columns of the row description that the client has
	held    int64            // bytes of the arguments

	ctx    context.Context
	cancel context.CancelCauseFunc
	answer *answer
	sent   int64
	ended  bool
	mended string // the column with texts that were not UTF-8

	hold bool // WITH HOLD: the cursor stays open when its block ends
}

func (c *conn) newPortal(p *prepared) *portal {
	out := &portal{of: p}
	out.ctx, out.cancel = context.WithCancelCause(c.ctx)
	return out
}

// close ends the portal's statement.
func (p *portal) close(c *conn) {
	if p.answer != nil {
		_ = p.answer.close()
		p.answer = nil
	}
	p.ended = true
	p.cancel(nil)
	c.srv.held.give(p.held)
	p.held = 0
}

// why returns the reason why the statement was cancelled, such as a timeout; if it was not cancelled, it returns err.
func (p *portal) why(err error) error {
	if err == nil {
		return nil
	}
	cause := context.Cause(p.ctx)
	var own *Error
	var gone goneError
	if errors.As(cause, &own) || errors.As(cause, &gone) {
		return cause
	}
	return asError(err, p.of.whole, p.of.offset)
}

// begin starts the portal's statement, unless it has been started already.
func (p *portal) begin(c *conn) error {
	if p.answer != nil || p.ended {
		return nil
	}
	if p.told != nil && p.of.stmt != nil && writes(c.db.Settings().Statement(p.of.stmt.Statement())) { // before it writes
		now, err := p.of.description(p.ctx)
		if err == nil && !slices.EqualFunc(p.told, now.Columns, sameColumn) {
			err = errChanged
		}
		if err != nil {
			p.ended = true
			return err
		}
	}
	a, err := c.run(p.ctx, p.of, p.args)
	if err != nil {
		p.ended = true
		return err
	}
	p.answer = a
	if p.told != nil && !slices.EqualFunc(p.told, a.columns, sameColumn) {
		return errChanged
	}
	if p.told == nil {
		p.told = a.columns
	}
	return nil
}

// sameColumn reports whether a client that expects the column a can read b in its place.
func sameColumn(a, b hql.ColumnType) bool {
	return a.Name == b.Name && pgcatalog.TypeOf(a.Type, a.Limit).OID == pgcatalog.TypeOf(b.Type, b.Limit).OID
}

// fetch sends up to most rows (0: all rows). After the last row it also sends the end of the result. The client already has the
// row description.
func (p *portal) fetch(c *conn, most int64) error {
	if p.answer == nil { // the statement ended in an earlier call
		return c.complete(&answer{verb: "SELECT", counted: true}, 0)
	}
	a, n := p.answer, int64(0)
	if a.columns != nil {
		more, err := p.rows(c, most, &n)
		if err != nil {
			return err
		}
		if more {
			return c.send(&pgproto3.PortalSuspended{})
		}
	} else if a.src != nil { // no rows to send: run the statement to its end
		for a.src.Next() {
		}
		if err := a.src.Err(); err != nil {
			return err
		}
		n = a.affected
	}
	for _, w := range warnings(a.src) {
		if err := c.notice("NOTICE", "01000", w, ""); err != nil {
			return err
		}
	}
	if p.mended != "" {
		text := fmt.Sprintf("texts of column %s are not UTF-8, or have a zero byte: U+FFFD stands for these bytes", p.mended)
		if err := c.notice("WARNING", errNotText.Code, text, errNotText.Hint); err != nil {
			return err
		}
	}
	if err := a.close(); err != nil {
		return err
	}
	p.answer, p.ended = nil, true
	return c.complete(a, max(n, a.affected))
}

func warnings(s source) []string {
	if s == nil {
		return nil
	}
	return s.Warnings()
}

// rows sends rows; more: the limit was reached.
func (p *portal) rows(c *conn, most int64, n *int64) (more bool, err error) {
	src, loc := p.answer.src, c.db.Settings().Location()
	var row []types.Value
	field := func(dst []byte, i int) ([]byte, error) {
		v := row[i]
		if v.IsNull() {
			return nil, nil
		}
		b, err := p.encoded(dst, i, v, loc)
		if err == errNotText { // another program wrote it
			p.mended = p.told[i].Name
			v, _ = v.ToUTF8()
			return p.encoded(dst, i, v, loc)
		}
		return b, err
	}
	for most == 0 || *n < most {
		if !src.Next() {
			return false, src.Err()
		}
		row = src.Raw()
		if err := c.row(len(row), field); err != nil {
			return false, err
		}
		*n++
		p.sent++
		c.srv.counts.rowsSent.Add(1)
	}
	return true, nil
}

// encoded appends v, which is not NULL, in the format of column i.
func (p *portal) encoded(dst []byte, i int, v types.Value, loc *time.Location) ([]byte, error) {
	if p.format(i) == 1 {
		return appendBinary(dst, v, p.told[i].Type, loc)
	}
	return appendText(dst, v, loc)
}

// format returns the format of column i: 0 is text, 1 is binary.
func (p *portal) format(i int) int16 {
	switch len(p.formats) {
	case 0:
		return 0
	case 1:
		return p.formats[0]
	}
	return p.formats[i]
}

// complete reports a statement's end to the client.
func (c *conn) complete(a *answer, n int64) error {
	tag := append([]byte(nil), a.verb...)
	if a.counted {
		tag = strconv.AppendInt(append(tag, ' '), max(n, 0), 10)
	}
	return c.send(&pgproto3.CommandComplete{CommandTag: tag})
}

// describe sends the columns of rows.
func (c *conn) describe(columns []hql.ColumnType, format func(i int) int16) error {
	if columns == nil {
		return c.send(&pgproto3.NoData{})
	}
	m := &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(columns))}
	for i, col := range columns {
		t := pgcatalog.TypeOf(col.Type, col.Limit)
		m.Fields[i] = pgproto3.FieldDescription{Name: []byte(clean(col.Name)), DataTypeOID: t.OID, DataTypeSize: t.Size, TypeModifier: t.Modifier, Format: format(i)}
		if m.Fields[i].TableOID = c.relationOID(col.Table); m.Fields[i].TableOID != 0 {
			m.Fields[i].TableAttributeNumber = uint16(col.Number)
		}
	}
	return c.send(m)
}

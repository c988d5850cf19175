package pgwire

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/types"
)

// binaryMark begins the binary format of COPY; flags and the length of an extension follow.
const binaryMark = "PGCOPY\n\xff\r\n\x00"

// copy runs COPY.
func (c *conn) copy(p *prepared) error {
	if c.tx.state == inFailed {
		return failure("25P02", "current transaction is aborted, commands ignored until end of transaction block")
	}
	end := c.note(p)
	n, err := int64(0), error(nil)
	if p.copies.to {
		n, err = c.copyOut(p)
	} else {
		n, err = c.copyIn(p)
	}
	end(n, err)
	if err != nil {
		return err
	}
	return c.complete(&answer{verb: "COPY", counted: true}, n)
}

// copyOut sends the rows of a query.
func (c *conn) copyOut(p *prepared) (int64, error) {
	cp := p.copies
	stmt, err := c.db.Parse(cp.selects())
	if err != nil {
		return 0, cp.misplaced(err, p)
	}
	run := &prepared{whole: p.whole, offset: p.offset + cp.offset, sql: p.sql, stmt: stmt}
	if cp.query == "" { // its positions are not positions in the text
		run.whole = ""
	}
	portal := c.newPortal(run)
	defer portal.close(c)
	err = portal.why(c.working(portal.cancel, func() error {
		if err := portal.begin(c); err != nil {
			return err
		}
		if portal.answer.columns == nil {
			return failure("0A000", "COPY query must return rows")
		}
		return c.sendCopy(portal, cp)
	}))
	return portal.sent, err
}

// misplaced returns an error of COPY's query for the client. It has no position if COPY named a table, since hql made the
// query.
func (cp *copyCommand) misplaced(err error, p *prepared) error {
	if cp.query == "" {
		return asError(err, "", 0)
	}
	return asError(err, p.whole, p.offset+cp.offset)
}

// sendCopy sends rows in the format of COPY, and the warnings about them.
func (c *conn) sendCopy(p *portal, cp *copyCommand) error {
	columns, src, loc := p.answer.columns, p.answer.src, c.db.Settings().Location()
	format, formats := cp.formats(len(columns))
	if err := c.send(&pgproto3.CopyOutResponse{OverallFormat: format, ColumnFormatCodes: formats}); err != nil {
		return err
	}
	var line []byte
	if format == 1 { // in one message with what follows: psycopg wants that
		line = append(append(line, binaryMark...), 0, 0, 0, 0, 0, 0, 0, 0)
	} else if cp.header {
		if err := c.copyLine(cp.headerLine(columns)); err != nil {
			return err
		}
	}
	for src.Next() {
		var err error
		if format == 1 {
			line, err = binaryTuple(line, src.Raw(), columns, loc)
		} else {
			line, err = cp.textLine(line, src.Raw(), columns, loc)
		}
		if err == nil {
			err = c.copyLine(line)
		}
		if err != nil {
			return err
		}
		line = line[:0]
		p.sent++
	}
	if err := src.Err(); err != nil {
		return err
	}
	c.srv.counts.rowsSent.Add(p.sent)
	if format == 1 {
		if err := c.copyLine(append(line, 0xff, 0xff)); err != nil {
			return err
		}
	}
	if err := c.send(&pgproto3.CopyDone{}); err != nil {
		return err
	}
	for _, w := range src.Warnings() {
		if err := c.notice("NOTICE", "01000", w, ""); err != nil {
			return err
		}
	}
	return p.answer.close()
}

// copyLine sends one piece of data.
func (c *conn) copyLine(b []byte) error {
	if len(b) > 1<<30 {
		return failure("54000", "a row of more than 1 GB cannot be sent")
	}
	c.out = binary.BigEndian.AppendUint32(append(c.out, 'd'), uint32(len(b)+4))
	c.out = append(c.out, b...)
	return c.flushFull()
}

// binaryTuple appends a row in binary form.
func binaryTuple(dst []byte, row []types.Value, columns []hql.ColumnType, loc *time.Location) ([]byte, error) {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(row)))
	for i, v := range row {
		if v.IsNull() {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(dst)
		var err error
		if dst, err = appendBinary(append(dst, 0, 0, 0, 0), v, columns[i].Type, loc); err != nil {
			return nil, err
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst, nil
}

// headerLine has the names of the columns.
func (cp *copyCommand) headerLine(columns []hql.ColumnType) (line []byte) {
	for i, col := range columns {
		if i > 0 {
			line = append(line, cp.delimiter)
		}
		line = cp.field(line, col.Name, false)
	}
	return append(line, '\n')
}

// textLine appends a row as text or csv.
func (cp *copyCommand) textLine(dst []byte, row []types.Value, columns []hql.ColumnType, loc *time.Location) ([]byte, error) {
	for i, v := range row {
		if i > 0 {
			dst = append(dst, cp.delimiter)
		}
		if v.IsNull() {
			dst = append(dst, cp.null...)
			continue
		}
		at := len(dst)
		var err error
		if dst, err = appendText(dst, v, loc); err != nil {
			return nil, err
		}
		force := cp.forceAll || cp.forceQuote[columns[i].Name]
		if force || cp.special(dst[at:]) {
			text := string(dst[at:])
			dst = cp.field(dst[:at], text, force)
		}
	}
	return append(dst, '\n'), nil
}

// special reports whether a field must be escaped.
func (cp *copyCommand) special(b []byte) bool {
	if cp.format == "csv" {
		if s := string(b); s == cp.null || s == `\.` {
			return true
		}
	}
	for _, ch := range b {
		switch {
		case ch == cp.delimiter || ch == '\n' || ch == '\r':
			return true
		case cp.format == "csv":
			if ch == cp.quote || ch == cp.escape {
				return true
			}
		case ch == '\\' || ch < ' ':
			return true
		}
	}
	return false
}

// field appends a field with the text s, quoted or escaped so that COPY FROM reads back s.
func (cp *copyCommand) field(dst []byte, s string, force bool) []byte {
	if cp.format == "csv" {
		if !force && !cp.special([]byte(s)) {
			return append(dst, s...)
		}
		dst = append(dst, cp.quote)
		for i := range len(s) {
			if s[i] == cp.quote || s[i] == cp.escape {
				dst = append(dst, cp.escape)
			}
			dst = append(dst, s[i])
		}
		return append(dst, cp.quote)
	}
	for i := range len(s) {
		if at := strings.IndexByte("\b\f\n\r\t\v", s[i]); at >= 0 {
			dst = append(dst, '\\', "bfnrtv"[at])
			continue
		}
		if s[i] == '\\' || s[i] == cp.delimiter {
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return dst
}

package pgwire

import (
	"encoding/binary"
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
	if p.copies.To {
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
	run := &prepared{whole: p.whole, offset: p.offset, sql: p.sql, stmt: p.copies.rows}
	portal := c.newPortal(run)
	defer portal.close(c)
	err := portal.why(c.working(portal.cancel, func() error {
		if err := portal.begin(c); err != nil {
			return err
		}
		if portal.answer.columns == nil {
			return failure("0A000", "COPY query must return rows")
		}
		return c.sendCopy(portal, p.copies)
	}))
	return portal.sent, err
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
		var err error
		if dst, err = appendSized(dst, v, columns[i].Type, loc); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// headerLine has the names of the columns.
func (cp *copyCommand) headerLine(columns []hql.ColumnType) (line []byte) {
	for i, col := range columns {
		if i > 0 {
			line = append(line, cp.text.Delimiter)
		}
		line = cp.text.Append(line, col.Name, false)
	}
	return append(line, '\n')
}

// textLine appends a row as text or csv.
func (cp *copyCommand) textLine(dst []byte, row []types.Value, columns []hql.ColumnType, loc *time.Location) ([]byte, error) {
	var text []byte
	for i, v := range row {
		if i > 0 {
			dst = append(dst, cp.text.Delimiter)
		}
		if v.IsNull() {
			dst = append(dst, cp.text.Null...)
			continue
		}
		var err error
		if text, err = appendText(text[:0], v, loc); err != nil {
			return nil, err
		}
		dst = cp.text.Append(dst, string(text), cp.forceAll || cp.forceQuote[columns[i].Name])
	}
	return append(dst, '\n'), nil
}

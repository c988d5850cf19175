package store

import (
	"bytes"
	"encoding/binary"
	"math"
)

// The key space. A cell's key compares as HBase compares cells within a family
// (row, qualifier, newest timestamp first, delete markers before puts):
//
//	0x01 | table, 4 bytes | family, 1 byte | row, escaped | qualifier, escaped | ^timestamp, 8 bytes | ^type
//
// Escaped bytes are order-preserving and end with 0x00 0x01; a zero byte inside is 0x00 0xff. A row of hbase:meta
// ("table,start,id.") is compared by its three parts, so there the first and the last comma are written as 0x00 0x02.
// Keys below 0x01 hold the definitions of tables, see tables.go.
const (
	spaceTables byte = 0x00
	spaceCells  byte = 0x01

	escape     byte = 0x00
	escapeEnd  byte = 0x01
	escapeSep  byte = 0x02
	escapeZero byte = 0xff

	// pastEnd, written in place of escapeEnd, gives a bound just after all keys with the same beginning.
	pastEnd byte = 0x02

	prefixLen  = 6
	trailerLen = 9
)

// cellType is the kind of a cell, as on the wire.
type cellType byte

const (
	typePut          cellType = 4
	typeDeleteColumn cellType = 12
	typeDeleteFamily cellType = 14
	typeMaximum      cellType = 255
)

// latestTimestamp is the timestamp of a written cell that the server replaces by its own time.
const latestTimestamp int64 = math.MaxInt64

// cell is one stored cell or, as a filter's hint, a position between cells. Its slices are valid until its scanner
// moves.
type cell struct {
	row, family, qualifier, value []byte
	ts                            int64 // milliseconds since 1970
	typ                           cellType
}

// compareCells orders cells by row, family, qualifier, newest first, highest type first.
func compareCells(a, b *cell) int {
	if c := bytes.Compare(a.row, b.row); c != 0 {
		return c
	}
	if c := bytes.Compare(a.family, b.family); c != 0 {
		return c
	}
	if c := bytes.Compare(a.qualifier, b.qualifier); c != 0 {
		return c
	}
	switch {
	case a.ts > b.ts:
		return -1
	case a.ts < b.ts:
		return 1
	}
	return int(b.typ) - int(a.typ)
}

// setKey makes c a copy of another cell without its value, in c's own memory.
func (c *cell) setKey(of *cell) {
	c.row, c.family, c.qualifier = append(c.row[:0], of.row...), append(c.family[:0], of.family...), append(c.qualifier[:0], of.qualifier...)
	c.ts, c.typ = of.ts, of.typ
}

// appendPrefix appends the beginning of all keys of a family.
func appendPrefix(dst []byte, table uint32, family byte) []byte {
	dst = append(dst, spaceCells)
	dst = binary.BigEndian.AppendUint32(dst, table)
	return append(dst, family)
}

// appendEscaped appends b escaped, without its end.
func appendEscaped(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return append(dst, b...)
		}
		dst = append(dst, b[:i]...)
		dst = append(dst, escape, escapeZero)
		b = b[i+1:]
	}
}

// appendRow appends a row escaped and ended.
func appendRow(dst, row []byte, meta bool) []byte {
	if meta {
		return appendMetaRow(dst, row)
	}
	return append(appendEscaped(dst, row), escape, escapeEnd)
}

func appendMetaRow(dst, row []byte) []byte {
	first := bytes.IndexByte(row, ',')
	if first < 0 {
		return append(appendEscaped(dst, row), escape, escapeEnd)
	}
	dst = append(appendEscaped(dst, row[:first]), escape, escapeSep)
	rest := row[first+1:]
	last := bytes.LastIndexByte(rest, ',')
	if last >= 0 {
		dst = append(appendEscaped(dst, rest[:last]), escape, escapeSep)
		rest = rest[last+1:]
	}
	return append(appendEscaped(dst, rest), escape, escapeEnd)
}

// appendColumn appends an escaped qualifier and its end.
func appendColumn(dst, qualifier []byte) []byte {
	return append(appendEscaped(dst, qualifier), escape, escapeEnd)
}

// appendVersion appends timestamp and type, both inverted: newest and highest first.
func appendVersion(dst []byte, ts int64, typ cellType) []byte {
	dst = binary.BigEndian.AppendUint64(dst, ^(uint64(ts) ^ 1<<63))
	return append(dst, ^byte(typ))
}

// appendUnescaped undoes appendRow and appendColumn for the escaped string at the start of b, whose length with its end is
// n; 0: it is malformed.
func appendUnescaped(dst, b []byte) (out []byte, n int) {
	for {
		i := bytes.IndexByte(b[n:], escape)
		if i < 0 || n+i+1 >= len(b) {
			return dst, 0
		}
		dst = append(dst, b[n:n+i]...)
		n += i + 2
		switch b[n-1] {
		case escapeEnd:
			return dst, n
		case escapeSep:
			dst = append(dst, ',')
		default:
			dst = append(dst, 0)
		}
	}
}

// valuePrefix is the first byte of each stored value. A later version of the store may use another byte, to tell its
// values apart.
const valuePrefix byte = 0

func appendValue(dst, value []byte) []byte { return append(append(dst, valuePrefix), value...) }

// storedValue returns the value that appendValue has stored.
func storedValue(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b[1:]
}

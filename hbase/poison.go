package hbase

import (
	"context"
	"slices"

	"github.com/hql-db/hql/internal/poison"
)

// poisonScanner gives the rows of in as copies, and overwrites those when their time is over, at the following
// call. It stands around every scan in tests: see package poison.
type poisonScanner struct {
	in   Scanner
	last [][]byte // all that was handed out
}

func (p *poisonScanner) Next(ctx context.Context) ([]Row, error) {
	p.spoil()
	rows, err := p.in.Next(ctx)
	rows = slices.Clone(rows)
	for i := range rows {
		r := &rows[i]
		r.Key, r.Encoded, r.Cells = p.copy(r.Key), p.copy(r.Encoded), slices.Clone(r.Cells)
		for k := range r.Cells {
			c := &r.Cells[k]
			c.Family, c.Qualifier, c.Value = p.copy(c.Family), p.copy(c.Qualifier), p.copy(c.Value)
		}
	}
	return rows, err
}

func (p *poisonScanner) copy(b []byte) []byte {
	b = slices.Clone(b)
	p.last = append(p.last, b)
	return b
}

func (p *poisonScanner) spoil() {
	for _, b := range p.last {
		poison.Bytes(b)
	}
	p.last = nil
}

func (p *poisonScanner) Close() error {
	p.spoil()
	return p.in.Close()
}

package hbase

import (
	"context"
	"slices"

	"github.com/hql-db/hql/internal/poison"
)

// poisonScanner returns copies of the rows of in, and overwrites them when they become invalid, at the next call. In
// tests it wraps every scan: see package poison.
type poisonScanner struct {
	in   Scanner
	last [][]byte // the rows of the last call
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

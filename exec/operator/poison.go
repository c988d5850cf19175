package operator

import (
	"context"

	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/types"
)

// poisonOp gives the rows of in as copies, and overwrites those when their time is over, at the following call of Next:
// not in Close, which another goroutine may call while rows are being looked at. It stands around every operator in tests.
type poisonOp struct {
	in   Operator
	last [][]types.Value
}

// Next gives the next rows.
func (p *poisonOp) Next(ctx context.Context) ([][]types.Value, error) {
	for _, row := range p.last {
		poison.Values(row)
	}
	p.last = nil
	rows, err := p.in.Next(ctx)
	for _, row := range rows {
		p.last = append(p.last, append(make([]types.Value, 0, len(row)), row...))
	}
	return p.last, err
}

// Close ends the input.
func (p *poisonOp) Close() error { return p.in.Close() }

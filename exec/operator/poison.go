package operator

import (
	"context"

	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/types"
)

// poisonOp is for tests, which wrap every operator in one. It returns copies of the rows of in, and overwrites the copies
// at the next call of Next, when they are no longer valid. Close does not overwrite them, because another goroutine may
// call it while rows are in use.
type poisonOp struct {
	in   Operator
	last [][]types.Value
}

// Next returns copies of the next rows.
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

func (p *poisonOp) Close() error { return p.in.Close() }

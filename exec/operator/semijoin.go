package operator

import (
	"context"
	"io"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// semiLookupOp keeps the left rows that have a match, or in an anti-join those without one. It works batch by batch: it
// reads the right rows of a batch by key, and keeps none of them. If a batch has many right rows, it runs a query for each
// single row instead, also for all later batches.
type semiLookupOp struct {
	*joinOp
	each bool
}

// maxMeet is the number of right rows that are read per left row of a batch before semiLookupOp runs a query for each left
// row.
const maxMeet = 64

func (s *semiLookupOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		rows, err := s.left.Next(ctx)
		if err != nil {
			return nil, err
		}
		met := make([]bool, len(rows))
		if !s.each && !s.lookups.whole {
			if err = s.meet(ctx, rows, met); err != nil {
				return nil, err
			}
		}
		s.out = s.out[:0]
		for i, l := range rows {
			if s.lookups.whole {
				if err := s.match(ctx, l); err != nil {
					return nil, err
				}
				continue
			}
			keep := met[i] != s.node.Anti
			if s.each && !met[i] {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				s.env.Row = l
				if keep, err = expr.IsTrue(s.node.Each, s.env); err != nil {
					return nil, err
				}
			}
			if keep {
				s.out = append(s.out, l)
			}
		}
		if len(s.out) > 0 {
			return s.out, nil
		}
	}
}

// meet sets met[i] if rows[i] has a match. It reads right rows until each of rows has a match, or no right row is left.
// If it has read too many right rows, it stops and sets s.each.
func (s *semiLookupOp) meet(ctx context.Context, rows [][]types.Value, met []bool) error {
	batch, err := lookupKeys(s.node, s.env, rows)
	if err != nil || len(batch) == 0 {
		return err
	}
	waiting := map[string][]int{}
	for i, l := range rows {
		var ok bool
		if s.key, ok, err = keyOf(s.key[:0], s.env, s.node.LeftKeys, l); err != nil {
			return err
		}
		if ok {
			waiting[string(s.key)] = append(waiting[string(s.key)], i)
		}
	}
	right, err := s.lookUp(ctx, batch)
	if err != nil || right == nil {
		return err
	}
	defer right.Close()
	for read := 0; len(waiting) > 0; {
		found, err := right.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		for _, r := range found {
			if err := s.pair(waiting, rows, r, met); err != nil {
				return err
			}
		}
		if read += len(found); read > maxMeet*max(len(rows), BatchRows) {
			s.each = len(waiting) > 0
			break
		}
	}
	return right.Close()
}

// pair marks the waiting rows that match r as met, and removes them from waiting.
func (s *semiLookupOp) pair(waiting map[string][]int, rows [][]types.Value, r []types.Value, met []bool) error {
	key, ok, err := keyOf(s.key[:0], s.env, s.node.RightKeys, r)
	if s.key = key; err != nil || !ok {
		return err
	}
	still := waiting[string(key)][:0]
	for _, i := range waiting[string(key)] {
		if s.node.On != nil {
			s.env.Row = s.pairs.row(len(rows[i]) + len(r))
			copy(s.env.Row[copy(s.env.Row, rows[i]):], r)
			ok, err := expr.IsTrue(s.node.On, s.env)
			s.pairs.drop(s.env.Row)
			if err != nil {
				return err
			}
			if !ok {
				still = append(still, i)
				continue
			}
		}
		met[i] = true
	}
	if waiting[string(key)] = still; len(still) == 0 {
		delete(waiting, string(key))
	}
	return nil
}

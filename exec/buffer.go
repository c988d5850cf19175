package exec

import (
	"context"
	"io"
	"slices"

	"github.com/hql-db/hql/types"
)

// drain calls f with the rows of op, each valid until f returns, and closes it.
func drain(ctx context.Context, op operator, f func(rows [][]types.Value) error) error {
	defer op.Close()
	for {
		rows, err := op.Next(ctx)
		if err == io.EOF {
			return op.Close()
		}
		if err == nil {
			err = f(rows)
		}
		if err != nil {
			return err
		}
	}
}

// rowBuffer keeps rows until they are asked for: in memory, and those that do not fit in a file.
type rowBuffer struct {
	budget budget
	dir    string // of the file
	what   string // is kept, for the error
	whole  bool   // what does not fit is an error
	held   [][]types.Value
	beyond *spillFile
}

// add keeps rows.
func (b *rowBuffer) add(rows [][]types.Value) (err error) {
	for _, row := range rows {
		if b.beyond == nil {
			full := b.budget.take(sizeOf(row), b.what)
			if full == nil {
				b.held = append(b.held, slices.Clone(row))
				continue
			}
			if b.whole {
				return full
			}
			if b.beyond, err = newSpillFile(b.dir); err != nil {
				return err
			}
		}
		if err := b.beyond.add(row); err != nil {
			return err
		}
	}
	return nil
}

// each calls f with what is kept, first with all that is in memory; not at all for no rows. The rows are valid for good.
func (b *rowBuffer) each(ctx context.Context, f func(rows [][]types.Value) error) error {
	if len(b.held) > 0 {
		if err := f(b.held); err != nil {
			return err
		}
	}
	if b.beyond == nil {
		return nil
	}
	if err := b.beyond.rewind(); err != nil {
		return err
	}
	return drain(ctx, &spillOp{file: b.beyond}, f)
}

// close removes what is kept.
func (b *rowBuffer) close() { b.beyond.close() }

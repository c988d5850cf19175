package operator

import (
	"context"
	"io"
	"slices"

	"github.com/hql-db/hql/types"
)

// Drain calls f with the rows of op, each valid until f returns, and closes it.
func Drain(ctx context.Context, op Operator, f func(rows [][]types.Value) error) error {
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

// Buffer keeps rows for a later reader: in memory and, beyond the limit, in a file.
type Buffer struct {
	Budget Budget
	Dir    string // directory of the file
	What   string // name of the rows in errors
	Whole  bool   // fail instead of writing to a file
	held   [][]types.Value
	beyond *spillFile
}

// Add keeps copies of rows.
func (b *Buffer) Add(rows [][]types.Value) (err error) {
	for _, row := range rows {
		if b.beyond == nil {
			full := b.Budget.Take(SizeOf(row), b.What)
			if full == nil {
				b.held = append(b.held, slices.Clone(row))
				continue
			}
			if b.Whole {
				return full
			}
			if b.beyond, err = newSpillFile(b.Dir); err != nil {
				return err
			}
		}
		if err := b.beyond.add(row); err != nil {
			return err
		}
	}
	return nil
}

// Each calls f with the kept rows; the first call has all rows in memory. It does not call f without rows. The rows stay
// valid. Afterwards b is closed.
func (b *Buffer) Each(ctx context.Context, f func(rows [][]types.Value) error) error {
	return Drain(ctx, b.Reader(), f)
}

// Reader returns an operator that reads the kept rows, first those in memory, in one batch; closing it closes b.
func (b *Buffer) Reader() Operator { return &bufferOp{b: b} }

type bufferOp struct {
	b    *Buffer
	file Operator // reads the file; nil until the rows in memory are read
}

func (o *bufferOp) Next(ctx context.Context) ([][]types.Value, error) {
	if rows := o.b.held; len(rows) > 0 {
		o.b.held = nil
		return rows, ctx.Err()
	}
	if o.b.beyond == nil {
		return nil, io.EOF
	}
	if o.file == nil {
		if err := o.b.beyond.rewind(); err != nil {
			return nil, err
		}
		o.file = &spillOp{file: o.b.beyond}
	}
	return o.file.Next(ctx)
}

func (o *bufferOp) Close() error { o.b.held = nil; o.b.Close(); return nil }

// Close removes the kept rows.
func (b *Buffer) Close() { b.beyond.close() }

package operator

import (
	"context"
	"io"

	"github.com/hql-db/hql/internal/keyset"
	"github.com/hql-db/hql/types"
)

// distinctOp drops duplicate rows. When the memory is used up, it writes rows that it does not hold to files, and reads
// these after the input has ended.
type distinctOp struct {
	in    Operator
	seen  keyset.Set
	share share
	spill spilledRows
	key   []byte
	out   [][]types.Value
}

func (d *distinctOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		rows, err := d.in.Next(ctx)
		if err == io.EOF {
			if err = d.reread(); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		d.out = d.out[:0]
		for _, r := range rows {
			d.key = RowKey(d.key[:0], r)
			if d.seen.Find(d.key) >= 0 {
				continue
			}
			if d.spill.parts == nil {
				if err := d.share.take(int64(len(d.key))+64, "DISTINCT"); err != nil {
					if d.seen.Len() == 0 || d.spill.level == maxSpillLevel {
						return nil, err
					}
					d.spill.parts = newPartitions(d.spill.dir)
				}
			}
			if d.spill.parts != nil { // even if memory is free again, an equal row may be in a file
				if err := d.spill.parts.add(d.key, r); err != nil {
					return nil, err
				}
				continue
			}
			d.seen.Add(d.key)
			d.out = append(d.out, r)
		}
		if len(d.out) > 0 {
			return d.out, nil
		}
	}
}

// reread continues with the next file of rows that did not fit in memory; io.EOF after the last.
func (d *distinctOp) reread() error {
	if err := d.in.Close(); err != nil {
		return err
	}
	in, err := d.spill.next()
	if err != nil {
		return err
	}
	d.in, d.seen = in, keyset.Set{}
	d.share.release()
	return nil
}

func (d *distinctOp) Close() error {
	d.spill.close()
	return d.in.Close()
}

// RowKey appends bytes that are equal for rows of equal values.
func RowKey(dst []byte, row []types.Value) []byte {
	for _, v := range row {
		dst = v.AppendKey(dst)
	}
	return dst
}

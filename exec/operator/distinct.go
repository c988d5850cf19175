package operator

import (
	"context"

	"github.com/hql-db/hql/internal/keyset"
	"github.com/hql-db/hql/types"
)

// distinctOp drops duplicate rows. When the memory is used up, it writes rows that it does not hold to files, and reads
// these after the input has ended.
type distinctOp struct {
	sieve
	seen  keyset.Set
	share share
	spill spilledRows
	key   []byte
}

func newDistinct(in Operator, o Options, budget *Budget) *distinctOp {
	d := &distinctOp{share: share{Budget: budget}, spill: spilledRows{dir: o.SpillDir}}
	d.sieve = sieve{in: in, keep: d.isNew, more: d.reread}
	return d
}

// isNew reports whether no equal row was returned; if that is not known yet, the row goes to a file.
func (d *distinctOp) isNew(row []types.Value) (bool, error) {
	d.key = RowKey(d.key[:0], row)
	if d.seen.Find(d.key) >= 0 {
		return false, nil
	}
	if d.spill.parts == nil {
		if err := d.share.take(int64(len(d.key))+64, "DISTINCT"); err != nil {
			if d.seen.Len() == 0 || d.spill.level == maxSpillLevel {
				return false, err
			}
			d.spill.parts = newPartitions(d.spill.dir)
		}
	}
	if d.spill.parts != nil { // even if memory is free again, an equal row may be in a file
		return false, d.spill.parts.add(d.key, row)
	}
	d.seen.Add(d.key)
	return true, nil
}

// reread continues with the next file of rows that did not fit in memory; io.EOF after the last.
func (d *distinctOp) reread(context.Context) error {
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

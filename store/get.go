package store

import (
	"context"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// readRow appends the cells that a query reads of its row to b's open row.
func (s *Store) readRow(ctx context.Context, g *region, q *query, b *block) error {
	r, err := s.openRegionScanner(ctx, q, g, s.now())
	if err != nil {
		return err
	}
	defer r.close()
	lim := limits{}
	_, err = r.next(ctx, b, &lim)
	if c := canceled(ctx, err); c != nil {
		return c
	}
	return err
}

// get serves one Get; its cells become a row of b. last may be nil.
func (s *Store) get(ctx context.Context, t *table, g *region, m *pb.Get, b *block, last *lastFilter) (*pb.Result, error) {
	q, err := newGet(t, g, m, last)
	if err != nil {
		return nil, err
	}
	if err := s.readRow(ctx, g, q, b); err != nil {
		b.drop()
		return nil, err
	}
	n := b.cells
	if n > 0 {
		b.close(false)
	}
	return &pb.Result{AssociatedCellCount: proto.Int32(int32(n)), Stale: proto.Bool(false)}, nil
}

// protoCells turns cells on the wire into messages that alias them.
func protoCells(buf []byte, n int) []*pb.Cell {
	cells := make([]pb.Cell, n)
	times := make([]uint64, n)
	out := make([]*pb.Cell, n)
	for i := range out {
		var c cell
		buf = buf[decodeCell(buf, &c):]
		times[i] = uint64(c.ts)
		p := &cells[i]
		p.Row, p.Family, p.Qualifier, p.Value = c.row, c.family, c.qualifier, c.value
		p.Timestamp = &times[i]
		p.CellType = pb.CellType(c.typ).Enum()
		out[i] = p
	}
	return out
}

// inline moves the cells of a single result from the block into the message.
func inline(r *pb.Result, b *block) {
	if n := int(r.GetAssociatedCellCount()); n > 0 {
		r.Cell = protoCells(b.buf, n)
	}
	r.AssociatedCellCount = nil
}

package store

import (
	"bytes"
	"context"

	"github.com/tsuna/gohbase/pb"
)

// holds reports whether a row that is to be changed fulfils the condition of a check-and-mutate.
func (w *writer) holds(ctx context.Context, t *table, g *region, c *pb.Condition, row []byte) (bool, error) {
	cmp, err := newComparator(c.GetComparator())
	if err != nil {
		return false, throw(classIO, "%v", err)
	}
	if !bytes.Equal(row, c.GetRow()) {
		return false, throw(classDoNotRetry, "The row of the action <%s> doesn't match the original one <%s>", row, c.GetRow())
	}
	if err := checkWritable(t); err != nil {
		return false, err
	}
	if !g.contains(row) {
		return false, outOfRange(classWrongRegion, "doCheckAndRowMutate", g, row)
	}
	if t.family(c.GetFamily()) == nil {
		return false, noSuchFamily(c.GetFamily(), t, g)
	}
	found, err := w.read(ctx, t, g, c.GetRow(), column(c.GetFamily(), c.GetQualifier()), 1)
	if err != nil {
		return false, err
	}
	if len(found) > 0 {
		w.notBefore = found[0].ts
	}
	op := c.GetCompareType()
	if expected, ok := cmp.(binaryComparator); ok && len(expected) == 0 {
		// An empty expected value stands for no cell, or an empty one.
		absent := len(found) == 0 || len(found[0].value) == 0
		return absent == (op != pb.CompareType_NOT_EQUAL), nil
	}
	if len(found) == 0 {
		return false, nil
	}
	// Conditions compare the other way round than filters: expected OP stored.
	return conditionHolds(op, cmp.compare(found[0].value)), nil
}

func conditionHolds(op pb.CompareType, c int) bool {
	switch op {
	case pb.CompareType_LESS:
		return c < 0
	case pb.CompareType_LESS_OR_EQUAL:
		return c <= 0
	case pb.CompareType_EQUAL:
		return c == 0
	case pb.CompareType_NOT_EQUAL:
		return c != 0
	case pb.CompareType_GREATER_OR_EQUAL:
		return c >= 0
	case pb.CompareType_GREATER:
		return c > 0
	}
	return false
}

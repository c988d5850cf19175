package store

import (
	"bytes"
	"context"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/internal/wire"
)

// Fields of the protocol that gohbase's messages do not know.
const (
	fieldConditionFilter protowire.Number = 7
	fieldCondition       protowire.Number = 4 // of RegionAction
	fieldProcessed       protowire.Number = 3 // of RegionActionResult
)

// regionCondition is the condition of ra alone; nil: it has none.
func regionCondition(ra *pb.RegionAction) (*pb.Condition, error) {
	f, ok := wire.Unknown(ra, fieldCondition)
	if !ok {
		return nil, nil
	}
	c := &pb.Condition{} // one with a filter lacks what gohbase requires
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(f.Bytes, c); err != nil {
		return nil, throw(classDoNotRetry, "%v", err)
	}
	return c, nil
}

// passes reports whether the row has a cell that the condition's filter keeps. asked is false if the condition has no
// filter but tests a column.
func (w *writer) passes(ctx context.Context, t *table, g *region, c *pb.Condition) (ok, asked bool, err error) {
	f, asked := wire.Unknown(c, fieldConditionFilter)
	if !asked {
		return false, false, nil
	}
	get := &pb.Get{Row: c.GetRow(), Filter: &pb.Filter{}}
	if err := proto.Unmarshal(f.Bytes, get.Filter); err != nil {
		return false, true, throw(classDoNotRetry, "%v", err)
	}
	found, err := w.get(ctx, t, g, get)
	if len(found) > 0 {
		w.notBefore = found[0].ts
	}
	return len(found) > 0, true, err
}

// holds reports whether a row that is to be changed meets the condition of a check-and-mutate.
func (w *writer) holds(ctx context.Context, t *table, g *region, c *pb.Condition, row []byte) (bool, error) {
	var cmp comparator
	if _, asked := wire.Unknown(c, fieldConditionFilter); !asked {
		var err error
		if cmp, err = newComparator(c.GetComparator()); err != nil {
			return false, throw(classIO, "%v", err)
		}
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
	if ok, asked, err := w.passes(ctx, t, g, c); asked {
		return ok, err
	}
	if t.family(c.GetFamily()) == nil {
		return false, noSuchFamily(c.GetFamily(), t, g)
	}
	found, err := w.get(ctx, t, g, &pb.Get{Row: c.GetRow(), Column: column(c.GetFamily(), c.GetQualifier())})
	if err != nil {
		return false, err
	}
	if len(found) > 0 {
		w.notBefore = found[0].ts
	}
	op := c.GetCompareType()
	if expected, ok := cmp.(binaryComparator); ok && len(expected) == 0 {
		// An empty expected value means no cell, or an empty one.
		absent := len(found) == 0 || len(found[0].value) == 0
		return absent == (op != pb.CompareType_NOT_EQUAL), nil
	}
	if len(found) == 0 {
		return false, nil
	}
	// A condition compares in the opposite direction to a filter: expected OP stored.
	return conditionHolds(op, cmp.compare(found[0].value)), nil
}

// conditionHolds reports whether a OP b, where c compares a with b.
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

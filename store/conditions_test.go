package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/internal/wire"
)

// conditionalMulti is a Multi of which each part changes one row, if that passes the part's filter.
type conditionalMulti struct {
	*hrpc.Get
	mutations []*pb.MutationProto
	filters   []*pb.Filter
}

func (*conditionalMulti) Name() string               { return "Multi" }
func (*conditionalMulti) Description() string        { return "Multi" }
func (*conditionalMulti) NewResponse() proto.Message { return &pb.MultiResponse{} }

func (m *conditionalMulti) ToProto() proto.Message {
	req := &pb.MultiRequest{}
	for i, x := range m.mutations {
		part := &pb.RegionAction{Region: &pb.RegionSpecifier{Type: pb.RegionSpecifier_REGION_NAME.Enum(), Value: m.Region().Name()}, Atomic: proto.Bool(true),
			Action: []*pb.Action{{Index: proto.Uint32(0), Mutation: x}}}
		part.ProtoReflect().SetUnknown(conditionOf(x.Row, m.filters[i]))
		req.RegionAction = append(req.RegionAction, part)
	}
	return req
}

// conditionOf is the field of a RegionAction with the condition that a filter keeps a cell of the row.
func conditionOf(row []byte, f *pb.Filter) []byte {
	condition := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), row)
	condition = protowire.AppendBytes(protowire.AppendTag(condition, fieldConditionFilter, protowire.BytesType), must(proto.Marshal(f)))
	return protowire.AppendBytes(protowire.AppendTag(nil, fieldCondition, protowire.BytesType), condition)
}

// conditional makes a change of one row, or of several in one region, on random conditions.
func (g gen) conditional() (key string, mutations []*pb.MutationProto, filters []*pb.Filter, text string) {
	key = g.key()
	for range 1 + g.IntN(3) {
		f, err := g.filter(2, false).ConstructPBFilter()
		if err != nil {
			continue
		}
		ts := uint64(1 + g.IntN(8))
		qv := &pb.MutationProto_ColumnValue_QualifierValue{Qualifier: []byte(g.pick(quals...)), Value: []byte(g.pick(vals...)), Timestamp: &ts}
		m := &pb.MutationProto{Row: []byte(key), MutateType: pb.MutationProto_PUT.Enum(), Timestamp: &ts,
			ColumnValue: []*pb.MutationProto_ColumnValue{{Family: []byte(g.fam()), QualifierValue: []*pb.MutationProto_ColumnValue_QualifierValue{qv}}}}
		if g.IntN(5) == 0 {
			m.MutateType, m.ColumnValue = pb.MutationProto_DELETE.Enum(), nil
		}
		mutations, filters = append(mutations, m), append(filters, f)
		text += fmt.Sprintf("%v if %s\n", m, dump(f))
	}
	return key, mutations, filters, text
}

// changed sends a conditional change and writes down its answer.
func changed(c gohbase.RPCClient, table, key string, mutations []*pb.MutationProto, filters []*pb.Filter) string {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	msg, err := c.SendRPC(&conditionalMulti{must(hrpc.NewGetStr(ctx, table, key, hrpc.SkipBatch())), mutations, filters})
	if err != nil {
		return answer(nil, err)
	}
	var b strings.Builder
	for _, r := range msg.(*pb.MultiResponse).RegionActionResult {
		processed := "?"
		for f := range wire.Fields(r.ProtoReflect().GetUnknown()) {
			if f.Number == fieldProcessed {
				processed = fmt.Sprint(f.Varint)
			}
		}
		fmt.Fprintf(&b, "processed %s, %d results, %s\n", processed, len(r.ResultOrException), r.GetException().GetName())
	}
	return b.String()
}

// everything scans all versions of all cells.
var everything = spec{rows: 1000, o: opts{hrpc.MaxVersions(9)}}

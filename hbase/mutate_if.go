package hbase

import (
	"errors"
	"math"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/filter"
)

// Fields of HBase's protocol, since 2.4, that gohbase's messages do not have.
const (
	conditionRowField    protowire.Number = 1 // of Condition
	conditionFilterField protowire.Number = 7
	conditionField       protowire.Number = 4 // of RegionAction
	processedField       protowire.Number = 3 // of RegionActionResult
)

// errDoubtful is the error of a conditional mutation that was sent twice after its first answer was lost: the second
// answer may differ from the first.
var errDoubtful = errors.New("an answer was lost and the row may have been changed: read the row before you repeat the statement")

// condition returns the message that asks a server to apply m only if m.If accepts its row.
func (m *Mutation) condition() ([]byte, error) {
	f, err := translate(m.If, "")
	if err != nil {
		return nil, err
	}
	message, err := f.ConstructPBFilter()
	if err != nil {
		return nil, err
	}
	encoded, err := proto.Marshal(message)
	if err != nil {
		return nil, err
	}
	out := protowire.AppendBytes(protowire.AppendTag(nil, conditionRowField, protowire.BytesType), m.Key)
	return protowire.AppendBytes(protowire.AppendTag(out, conditionFilterField, protowire.BytesType), encoded), nil
}

// add adds the mutations ms[i] for i in at to the call: those without a condition as one RegionAction, and one
// RegionAction for each conditional one.
func (c *multiCall) add(ms []Mutation, at []int) error {
	plain := -1
	for i, k := range at {
		a := &pb.Action{Index: proto.Uint32(uint32(i)), Mutation: ms[k].proto()}
		switch {
		case ms[k].If != nil:
			condition, err := ms[k].condition()
			if err != nil {
				return err
			}
			c.parts = append(c.parts, multiPart{[]*pb.Action{a}, condition})
		case plain < 0:
			plain = len(c.parts)
			c.parts = append(c.parts, multiPart{actions: []*pb.Action{a}})
		default:
			c.parts[plain].actions = append(c.parts[plain].actions, a)
		}
	}
	return nil
}

// multiPart is one RegionAction of a Multi.
type multiPart struct {
	actions   []*pb.Action
	condition []byte // the condition of its only action; nil: none
}

func (p *multiPart) proto(region *pb.RegionSpecifier) *pb.RegionAction {
	a := &pb.RegionAction{Region: region, Action: p.actions}
	if p.condition != nil {
		a.Atomic = proto.Bool(true)
		a.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, conditionField, protowire.BytesType), p.condition))
	}
	return a
}

// LastTime is the latest timestamp at which a cell can be written. Servers replace the timestamp math.MaxInt64 by their
// own time.
const LastTime = math.MaxInt64 - 1

// conditionSize estimates the length of f as it is sent: each filter comes with Java class names.
func conditionSize(f filter.Filter) (n int) {
	switch f := f.(type) {
	case nil:
		return 0
	case filter.And:
		for _, m := range f {
			n += conditionSize(m)
		}
		return n
	case filter.Cell:
		return 300 + len(f.Value)
	case filter.Written:
		return 700 + 8*len(f.Times)
	}
	return 300
}

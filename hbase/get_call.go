package hbase

import (
	"bytes"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hql-db/hql/internal/wire"
)

// Fields of HBase's GetResponse, of its Result, and of the Cells in the Result.
const (
	resultField          = 1
	resultCellField      = 1
	associatedCellsField = 2
	resultStaleField     = 4

	cellRowField       = 1
	cellFamilyField    = 2
	cellQualifierField = 3
	cellTimestampField = 4
	cellValueField     = 6
)

// getCall is gohbase's Get, but hql makes its request and decodes its answer.
type getCall struct {
	*hrpc.Get
	wanted *pb.Get
	block  []byte
}

// SkipBatch sends the call by itself.
func (g *getCall) SkipBatch() bool { return true }

func (g *getCall) ToProto() proto.Message {
	r := &struct {
		request pb.GetRequest
		get     pb.Get
	}{}
	fillGet(&r.get, g.wanted, g.Key())
	r.request.Region, r.request.Get = regionOf(g), &r.get
	return &r.request
}

// getAnswer is a GetResponse as unknown fields of an empty message: the generated types allocate seven times for each
// cell.
type getAnswer struct{ emptypb.Empty }

func (g *getCall) NewResponse() proto.Message {
	g.block = nil // from an earlier answer, if gohbase has sent the call again
	return &getAnswer{}
}

// DeserializeCellBlocks keeps the cells that follow the message. Servers send the cells of a Get inside the message,
// not after it.
func (g *getCall) DeserializeCellBlocks(_ proto.Message, b []byte) (uint32, error) {
	g.block = b
	return uint32(len(b)), nil
}

const errGetAnswer = answerError("has malformed cells")

// gotRow is the content of the answer to a Get.
type gotRow struct {
	cells []Cell // alias the answer
	stale bool
}

// bytes returns the size of the row's cells, with the given key.
func (r *gotRow) bytes(key []byte) (n int64) {
	for _, c := range r.cells {
		n += int64(len(key) + len(c.Family) + len(c.Qualifier) + len(c.Value))
	}
	return n
}

// read decodes the answer to the call, whose cells must belong to the row of the call.
func (g *getCall) read(answer proto.Message) (r gotRow, err error) {
	if m, ok := answer.(*pb.GetResponse); ok { // from a server in the same process
		for _, c := range m.GetResult().GetCell() {
			if !bytes.Equal(c.Row, g.Key()) {
				return r, mixedRows(g.Key(), c.Row)
			}
		}
		return gotRow{appendCells(make([]Cell, 0, len(m.GetResult().GetCell())), m.GetResult().GetCell()), m.GetResult().GetStale()}, nil
	}
	var result []byte
	for f, err := range wire.Fields(answer.ProtoReflect().GetUnknown()) {
		if err != nil {
			return r, errGetAnswer
		}
		if f.Number == resultField {
			result = f.Bytes
		}
	}
	inside, beside := 0, 0
	for f, err := range wire.Fields(result) {
		if err != nil {
			return r, errGetAnswer
		}
		switch f.Number {
		case resultCellField:
			inside++
		case associatedCellsField:
			beside = int(int32(f.Varint))
		case resultStaleField:
			r.stale = f.Varint != 0
		}
	}
	r.cells = make([]Cell, 0, inside)
	for f := range wire.Fields(result) {
		if f.Number != resultCellField {
			continue
		}
		c, row, err := readCell(f.Bytes)
		if err != nil {
			return r, err
		}
		if !bytes.Equal(row, g.Key()) {
			return r, mixedRows(g.Key(), row)
		}
		r.cells = append(r.cells, c)
	}
	for block := g.block; beside > 0; beside-- {
		var row []byte
		if r.cells, row, block, err = appendKeyValue(r.cells, block); err != nil {
			return r, err
		}
		if !bytes.Equal(row, g.Key()) {
			return r, mixedRows(g.Key(), row)
		}
	}
	return r, nil
}

// readCell decodes a Cell of a GetResponse and returns it with the key of its row.
func readCell(b []byte) (c Cell, row []byte, err error) {
	for f, err := range wire.Fields(b) {
		switch f.Number {
		case cellRowField:
			row = f.Bytes
		case cellFamilyField:
			c.Family = f.Bytes
		case cellQualifierField:
			c.Qualifier = f.Bytes
		case cellTimestampField:
			c.Timestamp = int64(f.Varint)
		case cellValueField:
			c.Value = f.Bytes
		}
		if err != nil {
			return c, nil, errGetAnswer
		}
	}
	return c, row, nil
}

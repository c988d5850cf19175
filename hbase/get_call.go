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

// sizeOf returns the size of the cells of the row key.
func sizeOf(key []byte, cells []Cell) (n int64) {
	for _, c := range cells {
		n += int64(len(key) + len(c.Family) + len(c.Qualifier) + len(c.Value))
	}
	return n
}

// read decodes the answer to the call, whose cells must belong to the row of the call. The cells alias the answer.
func (g *getCall) read(answer proto.Message) (cells []Cell, err error) {
	if m, ok := answer.(*pb.GetResponse); ok { // from a server in the same process
		for _, c := range m.GetResult().GetCell() {
			if !bytes.Equal(c.Row, g.Key()) {
				return nil, mixedRows(g.Key(), c.Row)
			}
		}
		return appendCells(make([]Cell, 0, len(m.GetResult().GetCell())), m.GetResult().GetCell()), nil
	}
	var result []byte
	for f, err := range wire.Fields(answer.ProtoReflect().GetUnknown()) {
		if err != nil {
			return nil, errGetAnswer
		}
		if f.Number == resultField {
			result = f.Bytes
		}
	}
	inside, beside := 0, 0
	for f, err := range wire.Fields(result) {
		if err != nil {
			return nil, errGetAnswer
		}
		switch f.Number {
		case resultCellField:
			inside++
		case associatedCellsField:
			beside = int(int32(f.Varint))
		}
	}
	cells = make([]Cell, 0, inside)
	for f := range wire.Fields(result) {
		if f.Number != resultCellField {
			continue
		}
		c, row, err := readCell(f.Bytes)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(row, g.Key()) {
			return nil, mixedRows(g.Key(), row)
		}
		cells = append(cells, c)
	}
	for block := g.block; beside > 0; beside-- {
		var row []byte
		if cells, row, block, err = appendKeyValue(cells, block); err != nil {
			return nil, err
		}
		if !bytes.Equal(row, g.Key()) {
			return nil, mixedRows(g.Key(), row)
		}
	}
	return cells, nil
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

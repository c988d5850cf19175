package hbase

import (
	"bytes"
	"slices"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// scanCall is gohbase's Scan with a routing key separate from the start row, with the options that gohbase's Scan
// lacks, and with its cell block kept as bytes.
type scanCall struct {
	*hrpc.Scan
	key   []byte
	edit  func(*pb.ScanRequest)
	block []byte
	// release lets a server in the same process use the memory of block again. nil: it belongs to the call.
	release func()
}

// Lend implements the embedded store's interface for calls that give back the memory of their answer.
func (s *scanCall) Lend(release func()) { s.release = release }

func (s *scanCall) Key() []byte { return s.key }

func (s *scanCall) ToProto() proto.Message { // called again for each of gohbase's own retries
	m := s.Scan.ToProto().(*pb.ScanRequest)
	s.edit(m)
	return m
}

func (s *scanCall) DeserializeCellBlocks(_ proto.Message, b []byte) (uint32, error) {
	s.block = b
	return uint32(len(b)), nil
}

// CellBlocksEnabled tells a server in the same process that it may send cells as a block.
func (s *scanCall) CellBlocksEnabled() bool { return true }

// SerializeCellBlocks: a scan request carries no cells.
func (s *scanCall) SerializeCellBlocks(cbs [][]byte) (proto.Message, [][]byte, uint32) {
	return s.ToProto(), cbs, 0
}

func varint(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}

// keyBefore returns a key in the region just before the one that starts at k.
func keyBefore(k []byte) []byte {
	if len(k) == 0 {
		return bytes.Repeat([]byte{0xff}, 256)
	}
	if k[len(k)-1] == 0 {
		return slices.Clone(k[:len(k)-1])
	}
	b := slices.Clone(k)
	b[len(b)-1]--
	return append(b, bytes.Repeat([]byte{0xff}, 256)...)
}

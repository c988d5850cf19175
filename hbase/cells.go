package hbase

import (
	"encoding/binary"
	"errors"

	"github.com/tsuna/gohbase/pb"
)

var errCellBlock = errors.New("a cell block does not have the form of KeyValues")

// minKeyValue is the length of the shortest KeyValue.
const minKeyValue = 24

// appendKeyValue decodes the KeyValue at the start of b (HBase's KeyValueCodec): total
// length, key length, value length, then the key (row length, row, family
// length, family, qualifier, timestamp, type) and the value. Slices alias b.
func appendKeyValue(dst []Cell, b []byte) (cells []Cell, row, rest []byte, err error) {
	if len(b) < 12 {
		return dst, nil, nil, errCellBlock
	}
	total := int(binary.BigEndian.Uint32(b))
	if total < 20 || total > len(b)-4 {
		return dst, nil, nil, errCellBlock
	}
	kv := b[4 : 4+total]
	keyLen, valLen := int(binary.BigEndian.Uint32(kv)), int(binary.BigEndian.Uint32(kv[4:]))
	if keyLen < 12 || valLen < 0 || 8+keyLen+valLen != total {
		return dst, nil, nil, errCellBlock
	}
	key, value := kv[8:8+keyLen], kv[8+keyLen:]
	rowLen := int(binary.BigEndian.Uint16(key))
	if 2+rowLen+1 > keyLen-9 {
		return dst, nil, nil, errCellBlock
	}
	row = key[2 : 2+rowLen]
	famLen := int(key[2+rowLen])
	at := 3 + rowLen
	if at+famLen > keyLen-9 {
		return dst, nil, nil, errCellBlock
	}
	return append(dst, Cell{Family: key[at : at+famLen : at+famLen], Qualifier: key[at+famLen : keyLen-9 : keyLen-9],
		Timestamp: int64(binary.BigEndian.Uint64(key[keyLen-9:])), Value: value[:valLen:valLen]}), row, b[4+total:], nil
}

// appendCells converts cells that came inside a protobuf message.
func appendCells(dst []Cell, in []*pb.Cell) []Cell {
	for _, c := range in {
		dst = append(dst, Cell{Family: c.Family, Qualifier: c.Qualifier, Timestamp: int64(c.GetTimestamp()), Value: c.Value})
	}
	return dst
}

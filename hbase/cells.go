package hbase

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tsuna/gohbase/pb"
)

var errCellBlock = errors.New("a cell block does not have the form of KeyValues")

// mixedRows returns the error for a result that has cells of two rows. Only a faulty server sends one, and which other
// cells the rows have is unknown.
func mixedRows(a, b []byte) error {
	return fmt.Errorf("the server mixed cells of the rows %q and %q into one row: repeat the statement", a, b)
}

// minKeyValue is the length of the shortest KeyValue.
const minKeyValue = 24

// checkKeyValue checks the KeyValue at the start of b (HBase's KeyValueCodec): total length, key length, value length,
// then the key (row length, row, family length, family, qualifier, timestamp, type) and the value. It returns the row
// and the bytes after the KeyValue; both alias b.
func checkKeyValue(b []byte) (row, rest []byte, err error) {
	if len(b) < 12 {
		return nil, nil, errCellBlock
	}
	total := int(binary.BigEndian.Uint32(b))
	if total < 20 || total > len(b)-4 {
		return nil, nil, errCellBlock
	}
	keyLen, valLen := int(binary.BigEndian.Uint32(b[4:])), int(binary.BigEndian.Uint32(b[8:]))
	if keyLen < 12 || valLen < 0 || 8+keyLen+valLen != total {
		return nil, nil, errCellBlock
	}
	key := b[12 : 12+keyLen]
	rowLen := int(binary.BigEndian.Uint16(key))
	if 2+rowLen+1 > keyLen-9 || 3+rowLen+int(key[2+rowLen]) > keyLen-9 {
		return nil, nil, errCellBlock
	}
	return key[2 : 2+rowLen], b[4+total:], nil
}

// NextCell splits the first cell off encoded, cells of a Row.Encoded. name is the length of the cell's family in a byte, the
// family and the qualifier.
func NextCell(encoded []byte) (name, value, rest []byte) {
	end := 4 + int(binary.BigEndian.Uint32(encoded)) // checked when it was received
	at := 12 + int(binary.BigEndian.Uint32(encoded[4:]))
	return encoded[14+int(binary.BigEndian.Uint16(encoded[12:])) : at-9 : at-9], encoded[at:end:end], encoded[end:]
}

// decodeCells appends the cells of a checked Row.Encoded.
func decodeCells(dst []Cell, encoded []byte) []Cell {
	for len(encoded) > 0 {
		var name []byte
		c := Cell{Timestamp: int64(binary.BigEndian.Uint64(encoded[3+binary.BigEndian.Uint32(encoded[4:]):]))}
		name, c.Value, encoded = NextCell(encoded)
		c.Family, c.Qualifier = name[1:1+name[0]:1+name[0]], name[1+name[0]:]
		dst = append(dst, c)
	}
	return dst
}

// appendKeyValue decodes the KeyValue at the start of b. The slices it returns alias b.
func appendKeyValue(dst []Cell, b []byte) (cells []Cell, row, rest []byte, err error) {
	if row, rest, err = checkKeyValue(b); err != nil {
		return dst, nil, nil, err
	}
	return decodeCells(dst, b[:len(b)-len(rest)]), row, rest, nil
}

// appendCells converts cells that arrived inside a protobuf message.
func appendCells(dst []Cell, in []*pb.Cell) []Cell {
	for _, c := range in {
		dst = append(dst, Cell{Family: c.Family, Qualifier: c.Qualifier, Timestamp: int64(c.GetTimestamp()), Value: c.Value})
	}
	return dst
}

// CellSize returns how many bytes a server sends for the cell c of the row key.
func CellSize(key []byte, c *Cell) int {
	return minKeyValue + len(key) + len(c.Family) + len(c.Qualifier) + len(c.Value)
}

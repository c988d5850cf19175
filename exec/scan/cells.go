package scan

import (
	"encoding/binary"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/types"
)

// CellsValue encodes cells as one value of a row: see plan.Scan.Cells.
func CellsValue(cells []hbase.Cell) types.Value {
	var b []byte
	for i := range cells {
		c := &cells[i]
		for _, part := range [][]byte{c.Family, c.Qualifier, c.Value} {
			b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
		}
		b = binary.AppendUvarint(b, uint64(c.Timestamp))
	}
	return types.NewBytes(string(b))
}

// CellsOf decodes a value that CellsValue has encoded.
func CellsOf(v types.Value) []hbase.Cell {
	var out []hbase.Cell
	b := []byte(v.Text())
	number := func() uint64 {
		n, size := binary.Uvarint(b)
		b = b[size:]
		return n
	}
	part := func() []byte {
		n := number()
		p := b[:n:n]
		b = b[n:]
		return p
	}
	for len(b) > 0 {
		var c hbase.Cell
		c.Family, c.Qualifier, c.Value = part(), part(), part()
		c.Timestamp = int64(number())
		out = append(out, c)
	}
	return out
}

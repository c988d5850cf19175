package hbase

import (
	"slices"
	"testing"

	"github.com/tsuna/gohbase/pb"
)

// keyValue is a cell as servers write it.
func keyValue(row, family, qualifier, value string) []byte {
	key := slices.Concat([]byte{byte(len(row) >> 8), byte(len(row))}, []byte(row), []byte{byte(len(family))}, []byte(family), []byte(qualifier), make([]byte, 8), []byte{4})
	n := 8 + len(key) + len(value)
	return slices.Concat([]byte{0, 0, byte(n >> 8), byte(n), 0, 0, 0, byte(len(key)), 0, 0, 0, byte(len(value))}, key, []byte(value))
}

// Whatever a server sends, decoding it ends in rows that lie within it or in an error.
func FuzzScanAnswer(f *testing.F) {
	whole := slices.Concat(keyValue("k", "f", "a", "1"), keyValue("k", "f", "b", ""), keyValue("l", "f", "", "2"))
	f.Add(whole, uint32(2), uint32(1), false)
	f.Add(whole, uint32(1), uint32(2), true)
	f.Add(whole[:30], uint32(1), uint32(1<<31), false)
	f.Add([]byte{}, uint32(0), uint32(1), true)
	f.Fuzz(func(t *testing.T, block []byte, n1, n2 uint32, partial bool) {
		s := &scanner{c: &client{}}
		rows, err := s.decode(&pb.ScanResponse{CellsPerResult: []uint32{n1, n2}, PartialFlagPerResult: []bool{partial, false}}, block)
		if err != nil {
			return
		}
		size := 0
		for _, r := range rows {
			for _, c := range r.Cells {
				size += len(c.Family) + len(c.Qualifier) + len(c.Value) + minKeyValue - 4
			}
		}
		if size > len(block) {
			t.Errorf("%d bytes of cells out of %d", size, len(block))
		}
	})
}

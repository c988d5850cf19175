package hbase

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
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

// A znode that is believed is one that gohbase can read.
func FuzzMetaServer(f *testing.F) {
	m, err := proto.Marshal(&pb.MetaRegionServer{Server: &pb.ServerName{HostName: new("rs1.example.com"), Port: new(uint32(16020)), StartCode: new(uint64(1))}, RpcVersion: new(uint32(0)), State: pb.RegionState_OPEN.Enum()})
	if err != nil {
		f.Fatal(err)
	}
	znode := slices.Concat([]byte("\xff\x00\x00\x00\x06master"), []byte("PBUF"), m)
	f.Add(znode)
	f.Add(znode[:11])
	f.Add(znode[:len(znode)-9])
	f.Add([]byte("\xff\xff\xff\xff\xffPBUF"))
	f.Add([]byte("\xff\x00\x00\x00\x01-PBUF"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if checkMetaServer(b) != nil {
			return
		}
		// As gohbase does, without looking at what is there.
		n := int(binary.BigEndian.Uint32(b[1:]))
		var m pb.MetaRegionServer
		if b[0] != 0xff || string(b[5+n:9+n]) != "PBUF" || proto.Unmarshal(b[9+n:], &m) != nil || m.Server.GetHostName() == "" {
			t.Fatalf("%q names %v", b, &m)
		}
		if p := m.Server.GetPort(); p == 0 || p > 65535 {
			t.Fatalf("%q names port %d", b, p)
		}
	})
}

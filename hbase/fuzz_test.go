package hbase

import (
	"slices"
	"strings"
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

// Cells of two rows are no row.
func TestMixedRows(t *testing.T) {
	block := slices.Concat(keyValue("k", "f", "a", "1"), keyValue("l", "f", "a", "1"))
	inMessage := &pb.ScanResponse{Results: []*pb.Result{{Cell: []*pb.Cell{{Row: []byte("k")}, {Row: []byte("l")}}}}}
	for _, encoded := range []bool{false, true} {
		for resp, block := range map[*pb.ScanResponse][]byte{{CellsPerResult: []uint32{2}}: block, inMessage: nil} {
			s := &scanner{c: &client{}, encoded: encoded}
			if rows, err := s.decode(resp, block); err == nil || !strings.Contains(err.Error(), "cells of the rows \"k\" and \"l\"") {
				t.Errorf("%v, %v", rows, err)
			}
		}
		s := &scanner{c: &client{}, encoded: encoded}
		if rows, err := s.decode(&pb.ScanResponse{CellsPerResult: []uint32{1, 1}}, block); err != nil || len(rows) != 2 {
			t.Errorf("%v, %v", rows, err)
		}
	}
}

// A znode as HBase writes it: behind the writer's name stands the message.
func TestZnode(t *testing.T) {
	const text = "\xff\x00\x00\x00\x0emaster:16000xyPBUF\x0a\x0c\x0a\x05host1\x10\x80\x7d\x18\x07"
	for _, p := range []place{metaPlace, masterPlace} {
		if s, err := parseZnode(p, []byte(text)); err != nil || address(s) != "host1:16000" || s.GetStartCode() != 7 {
			t.Errorf("%s: %v, %v", p, s, err)
		}
	}
}

// A znode that is believed names a server, and gohbase is given the same.
func FuzzMetaServer(f *testing.F) {
	server := &pb.ServerName{HostName: new("rs1.example.com"), Port: new(uint32(16020)), StartCode: new(uint64(1))}
	m, err := proto.Marshal(&pb.MetaRegionServer{Server: server, RpcVersion: new(uint32(0)), State: pb.RegionState_OPEN.Enum()})
	if err != nil {
		f.Fatal(err)
	}
	whole := slices.Concat([]byte("\xff\x00\x00\x00\x06master"), []byte("PBUF"), m)
	f.Add(whole)
	f.Add(whole[:11:11])
	f.Add(slices.Concat([]byte("\xfe"), whole[1:]))
	f.Add([]byte{})
	f.Add(whole[: len(whole)-9 : len(whole)-9])
	f.Add([]byte("\xff\xff\xff\xff\xffPBUF"))
	f.Add([]byte("\xff\x00\x00\x00\x01-PBUF"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, p := range []place{metaPlace, masterPlace} {
			server, err := parseZnode(p, b)
			if err != nil {
				continue
			}
			if b[0] != 0xff {
				t.Fatalf("%q has no header and names %v", b, server)
			}
			if server.GetHostName() == "" || server.GetPort() == 0 || server.GetPort() > 65535 {
				t.Fatalf("%q names %v", b, server)
			}
			own, err := znode(p, server)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := parseZnode(p, own); err != nil || !proto.Equal(again, server) {
				t.Errorf("%v becomes %v, %v", server, again, err)
			}
		}
	})
}

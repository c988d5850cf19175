package hbase

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/hbase/hbasetest"
)

// Reads of hbase:meta ask for it under its name in the cluster; other calls stay as they are.
func TestMetaSuffix(t *testing.T) {
	location := append(field(1, marshal(t, &pb.RegionInfo{RegionId: proto.Uint64(1), TableName: tableName("hbase:meta_x")})), field(2, serverAt(t, "rs1:16020"))...)
	m := &metaServers{answers: map[string][]byte{"GetClusterId": field(1, []byte("c")), "GetMetaRegionLocations": field(1, location)}, asked: map[string]int{}}
	d := new(dialer)
	d.learnSuffix(t.Context(), m.listen(t), "hql")
	c := &regionConn{dialer: d, answers: newAnswers(nil, nil)}
	frame := func(method string, m proto.Message) []byte {
		b := protowire.AppendBytes(nil, marshal(t, &pb.RequestHeader{CallId: proto.Uint32(7), MethodName: &method}))
		b = protowire.AppendBytes(b, marshal(t, m))
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	for _, region := range []string{metaRegion, "hbase:meta,,10", "t,,1.0123456789abcdef0123456789abcdef."} {
		want := region
		if region == metaRegion {
			want = "hbase:meta_x,,1"
		}
		for method, call := range map[string]func(region string) proto.Message{
			"Get": func(r string) proto.Message {
				return &pb.GetRequest{Region: specifier(r), Get: &pb.Get{Row: []byte("hbase:meta,,1")}}
			},
			"Scan": func(r string) proto.Message {
				return &pb.ScanRequest{Region: specifier(r), Scan: &pb.Scan{StartRow: []byte("hbase:meta,,1")}, ScannerId: proto.Uint64(3)}
			},
		} {
			if got := c.prepare(frame(method, call(region))); !bytes.Equal(got, frame(method, call(want))) {
				t.Errorf("%s of %s: %q", method, region, got)
			}
		}
	}
}

func specifier(region string) *pb.RegionSpecifier {
	return &pb.RegionSpecifier{Type: pb.RegionSpecifier_REGION_NAME.Enum(), Value: []byte(region)}
}

// On an HBase whose hbase:meta is called hbase:meta_x, a client works as usual if it knows the name or learns it from
// the servers.
func TestHBaseMetaSuffix(t *testing.T) {
	quorum := hbasetest.Suffixed(t, "x")
	z := &zooKeeper{quorum: []string{quorum}, root: "/hbase"}
	master, err := z.locate(t.Context(), masterPlace)
	if err != nil {
		t.Fatal(err)
	}
	cell := []Cell{{Family: []byte("f"), Qualifier: []byte("q"), Value: []byte("v")}}
	for _, cfg := range []Config{{Quorum: quorum, MetaSuffix: "x"}, {Quorum: quorum}, {Quorum: quorum, MetaSuffix: "y"}, {Servers: address(master)}} {
		c, err := Dial(t.Context(), cfg)
		if err != nil {
			t.Fatalf("%+v: %v", cfg, err)
		}
		if err := c.CreateTable(t.Context(), "t", []Family{{Name: "f"}}, [][]byte{[]byte("m")}); err != nil {
			t.Fatal(err)
		}
		if err := c.Mutate(t.Context(), "t", []Mutation{{Key: []byte("a"), Timestamp: 1, Cells: cell}, {Key: []byte("z"), Timestamp: 1, Cells: cell}}); err != nil {
			t.Error(err)
		}
		if rows, err := c.Get(t.Context(), "t", [][]byte{[]byte("z"), []byte("b")}, nil); err != nil || len(rows) != 2 || string(rows[0].Key) != "z" || rows[1].Key != nil {
			t.Errorf("%v, %v", rows, err)
		}
		if regions, err := c.Regions(t.Context(), "t"); err != nil || len(regions) != 2 || !bytes.Equal(regions[1].Start, []byte("m")) {
			t.Errorf("%v, %v", regions, err)
		}
		if _, err := c.Get(t.Context(), "none", [][]byte{[]byte("z")}, nil); !errors.Is(err, ErrNoTable) {
			t.Error(err)
		}
		if err := c.DropTable(t.Context(), "t", nil); err != nil {
			t.Error(err)
		}
		c.Close()
	}
}

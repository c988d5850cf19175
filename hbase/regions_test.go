package hbase

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// metaOf answers reads of hbase:meta with regions of the table t, each a start and a stop. The youngest of those of one start is the last.
type metaOf struct {
	gohbase.RPCClient
	t       *testing.T
	regions [][2]string
	waits   chan struct{} // calls for others wait until it is closed; nil: they end with that there is no table
}

func (m metaOf) SendRPC(c hrpc.Call) (proto.Message, error) {
	if string(c.Table()) != "hbase:meta" {
		if m.waits != nil {
			<-m.waits
		}
		return nil, gohbase.TableNotFound
	}
	answer := &pb.ScanResponse{MoreResults: proto.Bool(false)}
	for i, r := range m.regions {
		info := marshal(m.t, &pb.RegionInfo{RegionId: proto.Uint64(uint64(i)), TableName: tableName("t"), StartKey: []byte(r[0]), EndKey: []byte(r[1])})
		answer.Results = append(answer.Results, &pb.Result{Cell: []*pb.Cell{{Row: fmt.Appendf(nil, "t,%s,%d.", r[0], i),
			Family: []byte("info"), Qualifier: []byte("regioninfo"), Value: append([]byte("PBUF"), info...)}}})
	}
	return answer, nil
}

// A caller that divides a table where its regions begin gets each of these keys once, whatever hbase:meta contains.
func TestRegionsThatOverlap(t *testing.T) {
	for _, test := range []struct {
		regions [][2]string
		want    string
	}{
		{[][2]string{{"", "m"}, {"m", ""}}, "t,,0. t,m,1."},
		{[][2]string{{"", ""}, {"", "m"}, {"m", ""}}, "t,,1. t,m,2."}, // split while it was read
		{[][2]string{{"", "k"}, {"k", "z"}, {"k", "p"}, {"k", "m"}, {"m", "z"}, {"z", ""}}, "t,,0. t,k,3. t,m,4. t,z,5."},
		{[][2]string{{"", "m"}, {"k", ""}}, "t,,0. t,k,1."},
	} {
		c := &client{servers: link{rpc: metaOf{t: t, regions: test.regions}}}
		regions, err := c.Regions(t.Context(), "t")
		var names []string
		for _, r := range regions {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, " "); got != test.want || err != nil {
			t.Errorf("%v: %s, %v", test.regions, got, err)
		}
	}
}

// A key without a region, in a table with other regions, is an error. hql does not report the table as missing, and
// does not wait for the region.
func TestLostRegion(t *testing.T) {
	for _, test := range []struct {
		regions [][2]string
		waited  bool // gohbase waits for the region
		want    string
	}{
		{nil, false, "t: no such HBase table"},
		{[][2]string{{"m", ""}}, false, "hbase:meta has no region for key"},
		{[][2]string{{"", "a"}, {"m", ""}}, true, "hbase:meta has no region for key"},
		{[][2]string{{"", "a"}}, true, "hbase:meta has no region for key"},
	} {
		var over chan struct{}
		if test.waited {
			over = make(chan struct{})
			defer close(over)
		}
		c := &client{servers: link{rpc: metaOf{t: t, regions: test.regions, waits: over}}, dialer: new(dialer), attempt: 20 * time.Millisecond}
		for what, do := range map[string]func() error{
			"get": func() error { _, err := c.Get(t.Context(), "t", [][]byte{[]byte("k")}, nil); return err },
			"gets": func() error {
				_, err := c.Get(t.Context(), "t", [][]byte{[]byte("k"), []byte("l")}, nil)
				return err
			},
			"scan": func() error {
				_, err := scanAll(t.Context(), c, ScanRange{Table: "t", Start: []byte("k")}, nil)
				return err
			},
			"write": func() error { return c.Mutate(t.Context(), "t", []Mutation{put("k", 1, "f:q=v")}) },
		} {
			err := do()
			if err == nil || errors.Is(err, ErrNoTable) != (test.regions == nil) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "t: t:") {
				t.Errorf("%v: %s: %v", test.regions, what, err)
			}
		}
	}
}

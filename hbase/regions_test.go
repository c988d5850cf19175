package hbase

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// metaOf answers reads of hbase:meta with regions of the table t, each a start and a stop. The youngest of those of one start is the last.
type metaOf struct {
	gohbase.Client
	t       *testing.T
	regions [][2]string
}

func (m metaOf) SendRPC(hrpc.Call) (proto.Message, error) {
	answer := &pb.ScanResponse{MoreResults: proto.Bool(false)}
	for i, r := range m.regions {
		info := marshal(m.t, &pb.RegionInfo{RegionId: proto.Uint64(uint64(i)), TableName: tableName("t"), StartKey: []byte(r[0]), EndKey: []byte(r[1])})
		answer.Results = append(answer.Results, &pb.Result{Cell: []*pb.Cell{{Row: fmt.Appendf(nil, "t,%s,%d.", r[0], i),
			Family: []byte("info"), Qualifier: []byte("regioninfo"), Value: append([]byte("PBUF"), info...)}}})
	}
	return answer, nil
}

// Who divides a table where its regions begin meets each of these keys once, whatever hbase:meta has.
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
		c := &client{rpc: metaOf{t: t, regions: test.regions}}
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

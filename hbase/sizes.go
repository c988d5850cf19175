package hbase

import (
	"context"
	"strings"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
)

// RegionLoads asks the master for the last reports of its servers. It asks once, because the answer always holds all
// regions of the cluster.
func (c *client) RegionLoads(ctx context.Context, tables ...string) (map[string]RegionLoad, error) {
	ours := map[string]bool{}
	for _, table := range tables {
		regions, err := c.metaRegions(ctx, table)
		if err != nil {
			return nil, err
		}
		for _, g := range regions {
			ours[g.Name] = true
		}
	}
	msg, err := c.callMaster(ctx, "GetClusterStatus", &pb.GetClusterStatusRequest{}, &pb.GetClusterStatusResponse{})
	if err != nil {
		return nil, explain(err, "ask for the load of the regions of", strings.Join(tables, ", "))
	}
	out := map[string]RegionLoad{}
	for _, server := range msg.(*pb.GetClusterStatusResponse).GetClusterStatus().GetLiveServers() {
		for _, load := range server.GetServerLoad().GetRegionLoads() {
			if name := string(load.GetRegionSpecifier().GetValue()); ours[name] {
				of := RegionLoad{Bytes: -1, Reads: int64(load.GetReadRequestsCount()), Writes: int64(load.GetWriteRequestsCount()), Filtered: filteredReads(load.ProtoReflect().GetUnknown())}
				if load.StoreUncompressedSize_MB != nil {
					of.Bytes = int64(load.GetStoreUncompressedSize_MB()+load.GetMemstoreSize_MB()) << 20
				}
				out[name] = of
			}
		}
	}
	return out, nil
}

// filteredReadsField is HBase's RegionLoad.filtered_read_requests_count, which gohbase's RegionLoad does not have.
const filteredReadsField = 19

// filteredReads finds that field among those that gohbase does not know.
func filteredReads(unknown []byte) int64 {
	for len(unknown) > 0 {
		field, kind, n := protowire.ConsumeTag(unknown)
		if n < 0 {
			break
		}
		if v, m := protowire.ConsumeVarint(unknown[n:]); field == filteredReadsField && kind == protowire.VarintType && m > 0 {
			return int64(v)
		}
		m := protowire.ConsumeFieldValue(field, kind, unknown[n:])
		if m < 0 {
			break
		}
		unknown = unknown[n+m:]
	}
	return 0
}

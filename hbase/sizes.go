package hbase

import (
	"context"
	"strings"

	"github.com/tsuna/gohbase/pb"

	"github.com/hql-db/hql/internal/wire"
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
				filtered, _ := wire.Unknown(load, filteredReadsField)
				of := RegionLoad{Bytes: -1, Reads: int64(load.GetReadRequestsCount()), Writes: int64(load.GetWriteRequestsCount()), Filtered: int64(filtered.Varint)}
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

package hbase

import (
	"context"
	"strings"

	"github.com/tsuna/gohbase/pb"
)

// RegionSizes asks the master for the last reports of its servers. It asks once, because the answer always holds all
// regions of the cluster.
func (c *client) RegionSizes(ctx context.Context, tables ...string) (map[string]int64, error) {
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
	msg, err := c.master(ctx, "GetClusterStatus", &pb.GetClusterStatusRequest{}, &pb.GetClusterStatusResponse{})
	if err != nil {
		return nil, explain(err, "ask for the region sizes of", strings.Join(tables, ", "))
	}
	out := map[string]int64{}
	for _, server := range msg.(*pb.GetClusterStatusResponse).GetClusterStatus().GetLiveServers() {
		for _, load := range server.GetServerLoad().GetRegionLoads() {
			if name := string(load.GetRegionSpecifier().GetValue()); ours[name] {
				out[name] = int64(load.GetStoreUncompressedSize_MB()+load.GetMemstoreSize_MB()) << 20
			}
		}
	}
	return out, nil
}

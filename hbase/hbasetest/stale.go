package hbasetest

import (
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// MarkStale marks the rows of an answer as coming from a replica: they may be older than the primary's.
func MarkStale(answer proto.Message) {
	switch m := answer.(type) {
	case *pb.ScanResponse:
		m.Stale = proto.Bool(true)
	case *pb.GetResponse:
		m.Result.Stale = proto.Bool(true)
	case *pb.MultiResponse:
		for _, region := range m.RegionActionResult {
			for _, one := range region.ResultOrException {
				if one.Result != nil {
					one.Result.Stale = proto.Bool(true)
				}
			}
		}
	}
}

package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// blockScan takes the block of an answer as it is.
type blockScan struct {
	*hrpc.Scan
	block []byte
}

func (c *blockScan) DeserializeCellBlocks(_ proto.Message, b []byte) (uint32, error) {
	c.block = b
	return uint32(len(b)), nil
}

func scanResponse(m proto.Message) *pb.ScanResponse { return m.(*pb.ScanResponse) }

// benchStore has rows of one cell of 60 bytes in a table of two regions.
func benchStore(b *testing.B, rows int) *Store {
	s, err := Open(Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	ctx := context.Background()
	split := hrpc.SplitKeys([][]byte{fmt.Appendf(nil, "row%08d", rows/2)})
	err = s.Admin().CreateTable(hrpc.NewCreateTable(ctx, []byte("t"), map[string]map[string]string{"f": nil}, split))
	if err != nil {
		b.Fatal(err)
	}
	value := make([]byte, 60)
	for i := 0; i < rows; i += 1000 {
		var batch []hrpc.Call
		for j := i; j < i+1000; j++ {
			batch = append(batch, must(hrpc.NewPutStr(ctx, "t", fmt.Sprintf("row%08d", j),
				map[string]map[string][]byte{"f": {"q": value}}, hrpc.TimestampUint64(1))))
		}
		if res, ok := s.SendBatch(ctx, batch); !ok {
			b.Fatal(res[0].Error)
		}
	}
	return s
}

func BenchmarkScan(b *testing.B) {
	s := benchStore(b, 200_000)
	ctx := context.Background()
	rows := 0
	for b.Loop() {
		s.SetFaults(Faults{})
		rows = 0
		for start := []byte{}; ; {
			var id uint64
			open := false
			var call *blockScan
			for {
				o := opts{hrpc.NumberOfRows(10000)}
				if open {
					o = append(o, hrpc.ScannerID(id))
				}
				call = &blockScan{Scan: must(hrpc.NewScanRange(ctx, []byte("t"), start, nil, o...))}
				msg, err := s.SendRPC(call)
				if err != nil {
					b.Fatal(err)
				}
				r := scanResponse(msg)
				rows += len(r.GetCellsPerResult())
				if !open {
					open, id = true, r.GetScannerId()
				}
				if !r.GetMoreResultsInRegion() {
					break
				}
			}
			if start = call.Region().StopKey(); len(start) == 0 {
				break
			}
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkGet(b *testing.B) {
	s := benchStore(b, 200_000)
	ctx := context.Background()
	i := 0
	for b.Loop() {
		i = (i + 7919) % 200_000
		if _, err := s.Get(must(hrpc.NewGetStr(ctx, "t", fmt.Sprintf("row%08d", i)))); err != nil {
			b.Fatal(err)
		}
	}
}

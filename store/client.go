package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// Get reads one row; an absent row has no cells.
func (s *Store) Get(g *hrpc.Get) (*hrpc.Result, error) {
	msg, err := s.SendRPC(g)
	if err != nil {
		return nil, err
	}
	return hrpc.ToLocalResult(msg.(*pb.GetResponse).Result), nil
}

// Put writes cells of one row.
func (s *Store) Put(p *hrpc.Mutate) (*hrpc.Result, error) { return s.mutate(p) }

// Delete writes delete markers into one row.
func (s *Store) Delete(d *hrpc.Mutate) (*hrpc.Result, error) { return s.mutate(d) }

// Append appends to values of one row and returns the new values.
func (s *Store) Append(a *hrpc.Mutate) (*hrpc.Result, error) { return s.mutate(a) }

// Increment adds to one 8-byte big-endian counter and returns its new value. Several columns are an error, but they are
// incremented first.
func (s *Store) Increment(i *hrpc.Mutate) (int64, error) {
	r, err := s.mutate(i)
	if err != nil {
		return 0, err
	}
	if len(r.Cells) != 1 {
		return 0, fmt.Errorf("increment returned %d cells, but we expected exactly one", len(r.Cells))
	}
	return int64(binary.BigEndian.Uint64(r.Cells[0].Value)), nil
}

func (s *Store) mutate(m *hrpc.Mutate) (*hrpc.Result, error) {
	msg, err := s.SendRPC(m)
	if err != nil {
		return nil, err
	}
	return hrpc.ToLocalResult(msg.(*pb.MutateResponse).Result), nil
}

// CheckAndPut writes if a column has the expected value; an empty expected value means no cell. It reports whether it
// wrote.
func (s *Store) CheckAndPut(p *hrpc.Mutate, family, qualifier string, expected []byte) (bool, error) {
	cas, err := hrpc.NewCheckAndPut(p, family, qualifier, expected)
	if err != nil {
		return false, err
	}
	msg, err := s.SendRPC(cas)
	if err != nil {
		return false, err
	}
	return msg.(*pb.MutateResponse).GetProcessed(), nil
}

// Scan returns a scanner with the behaviour of gohbase's: it sends no sequence number and does not reopen a scanner
// that a server has lost.
func (s *Store) Scan(scan *hrpc.Scan) hrpc.Scanner {
	return &clientScanner{store: s, rpc: scan, start: scan.StartRow(), route: scan.Key()}
}

// SendBatch sends Gets and mutations of one table, in one call for each region. The results are in the order of the
// batch; allOK is false if one has an error.
func (s *Store) SendBatch(ctx context.Context, batch []hrpc.Call) (res []hrpc.RPCResult, allOK bool) {
	res = make([]hrpc.RPCResult, len(batch))
	if !checkBatch(batch, res) {
		return res, false
	}
	left := make([]int, len(batch))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		if left = s.sendOnceBatch(ctx, batch, left, res); ctx.Err() != nil {
			for _, i := range left {
				res[i].Error = ctx.Err()
			}
			break
		}
	}
	for i := range res {
		if res[i].Error != nil {
			return res, false
		}
	}
	return res, true
}

// checkBatch refuses batches that gohbase does not send.
func checkBatch(batch []hrpc.Call, res []hrpc.RPCResult) bool {
	ok := true
	seen := make(map[hrpc.Call]int, len(batch))
	for i, rpc := range batch {
		res[i].Error = gohbase.NotExecutedError
		if j, dup := seen[rpc]; dup {
			res[i].Error, ok = fmt.Errorf("duplicate call in batch at index %d", j), false
			continue
		}
		seen[rpc] = i
		if !bytes.Equal(rpc.Table(), batch[0].Table()) {
			res[i].Error, ok = fmt.Errorf("multiple tables in batch request: %q and %q", batch[0].Table(), rpc.Table()), false
		} else if b, is := rpc.(hrpc.Batchable); !is || b.SkipBatch() {
			res[i].Error, ok = errors.New("non-batchable call passed to SendBatch"), false
		}
	}
	return ok
}

// sendOnceBatch sends the remaining calls of a batch, and returns those to send again.
func (s *Store) sendOnceBatch(ctx context.Context, batch []hrpc.Call, left []int, res []hrpc.RPCResult) (again []int) {
	byRegion := map[*region][]int{}
	var order []*region
	for _, i := range left {
		_, g, err := s.locate(ctx, string(batch[i].Table()), batch[i].Key())
		if err != nil {
			res[i].Error = err
			continue
		}
		batch[i].SetRegion(g.info)
		if byRegion[g] == nil {
			order = append(order, g)
		}
		byRegion[g] = append(byRegion[g], i)
	}
	for _, g := range order {
		again = append(again, s.sendRegion(ctx, g, batch, byRegion[g], res)...)
	}
	return again
}

// sendRegion sends calls of one region as one Multi.
func (s *Store) sendRegion(ctx context.Context, g *region, batch []hrpc.Call, which []int, res []hrpc.RPCResult) (again []int) {
	ra := &pb.RegionAction{Region: &pb.RegionSpecifier{Type: pb.RegionSpecifier_REGION_NAME.Enum(), Value: g.name}}
	for n, i := range which {
		a := &pb.Action{Index: proto.Uint32(uint32(n) + 1)}
		switch m := batch[i].ToProto().(type) {
		case *pb.GetRequest:
			a.Get = m.Get
		case *pb.MutateRequest:
			a.Mutation = m.Mutation
		}
		ra.Action = append(ra.Action, a)
	}
	call := &multiCall{Call: batch[which[0]], ctx: ctx, req: &pb.MultiRequest{RegionAction: []*pb.RegionAction{ra}}}
	msg, err := s.SendRPC(call)
	if err != nil {
		for _, i := range which {
			res[i] = hrpc.RPCResult{Error: err}
		}
		return nil
	}
	for _, rar := range msg.(*pb.MultiResponse).RegionActionResult {
		if rar.Exception != nil {
			err := pairError(rar.Exception)
			if isClass(err, classNotServing) || isClass(err, classMoved) { // the region is no longer there
				return which
			}
			for _, i := range which {
				res[i] = hrpc.RPCResult{Error: err}
			}
			return nil
		}
		for _, roe := range rar.ResultOrException {
			i := which[roe.GetIndex()-1]
			res[i] = hrpc.RPCResult{}
			if roe.Exception != nil {
				if err := pairError(roe.Exception); isClass(err, classWrongRegion) || isClass(err, classInsane) || isClass(err, classTooBusy) {
					again = append(again, i)
				} else {
					res[i].Error = err
				}
				continue
			}
			res[i].Msg = batch[i].NewResponse()
			switch m := res[i].Msg.(type) {
			case *pb.GetResponse:
				m.Result = roe.Result
			case *pb.MutateResponse:
				m.Result = roe.Result
			}
		}
	}
	return again
}

// multiCall is a Multi in place of the calls it carries; their region is the first one's.
type multiCall struct {
	hrpc.Call
	ctx context.Context
	req *pb.MultiRequest
}

func (m *multiCall) Name() string               { return "Multi" }
func (m *multiCall) Context() context.Context   { return m.ctx }
func (m *multiCall) ToProto() proto.Message     { return m.req }
func (m *multiCall) NewResponse() proto.Message { return &pb.MultiResponse{} }

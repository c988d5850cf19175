package store

import (
	"context"
	"errors"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// mutateRequest serves a single mutation, with a condition or without.
func (s *Store) mutateRequest(ctx context.Context, t *table, g *region, req *pb.MutateRequest, b *block) (*pb.MutateResponse, error) {
	m := req.GetMutation()
	defer s.locks.lockAll([][]byte{m.GetRow()})()
	w := s.newWriter()
	defer func() { w.close() }()
	if c := req.GetCondition(); c != nil {
		if !g.contains(m.GetRow()) {
			return nil, throw(classWrongRegion, "Requested row out of range for %s on HRegion %s, startKey='%s', getEndKey()='%s', row='%s'",
				"doCheckAndRowMutate", g.name, g.start, g.stop, m.GetRow())
		}
		if _, err := w.check(t, g, m); err != nil {
			return nil, err
		}
		holds, err := w.holds(ctx, t, g, c)
		if err != nil {
			return nil, err
		}
		if !holds {
			return &pb.MutateResponse{Processed: proto.Bool(false)}, nil
		}
	}
	r, err := w.mutate(ctx, t, g, m, b)
	if err != nil {
		return nil, err
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	return &pb.MutateResponse{Result: r, Processed: proto.Bool(true)}, nil
}

// multi serves a batch of Gets and mutations, region by region. What fails for one
// action or region is told in its place; the rows of Gets are in b, in the order of
// the results.
func (s *Store) multi(ctx context.Context, req *pb.MultiRequest, b *block) (*pb.MultiResponse, error) {
	resp := &pb.MultiResponse{Processed: proto.Bool(true)}
	for _, ra := range req.GetRegionAction() {
		r, err := s.regionActions(ctx, ra, b)
		if err != nil {
			return nil, err
		}
		resp.RegionActionResult = append(resp.RegionActionResult, r)
	}
	return resp, nil
}

func (s *Store) regionActions(ctx context.Context, ra *pb.RegionAction, b *block) (*pb.RegionActionResult, error) {
	out := &pb.RegionActionResult{}
	t, g, ok := s.catalog.regionByName(ra.GetRegion().GetValue())
	if !ok {
		out.Exception = exceptionPair(throw(classNotServing, "%s is not online on %s", ra.GetRegion().GetValue(), serverAddr))
		return out, nil
	}
	var rows [][]byte
	for _, a := range ra.GetAction() {
		if a.Mutation != nil {
			rows = append(rows, a.Mutation.GetRow())
		}
	}
	defer s.locks.lockAll(rows)()
	w := s.newWriter()
	defer func() { w.close() }()
	if ra.GetAtomic() {
		for _, a := range ra.GetAction() {
			if _, err := w.check(t, g, a.GetMutation()); err != nil {
				out.Exception = exceptionPair(err)
				return out, nil
			}
		}
	}
	for i, a := range ra.GetAction() {
		roe := &pb.ResultOrException{Index: proto.Uint32(uint32(i))}
		if a.Index != nil {
			roe.Index = a.Index
		}
		var r *pb.Result
		var err error
		switch {
		case a.Get != nil:
			r, err = s.get(ctx, t, g, a.Get, b)
		case a.Mutation != nil:
			r, err = w.mutate(ctx, t, g, a.Mutation, b)
		default:
			err = throw(classDoNotRetry, "Unsupported action")
		}
		if err != nil {
			if !isException(err) || isClass(err, classIO) {
				return nil, err // the server fails on the request as a whole
			}
			roe.Exception = exceptionPair(err)
		} else if roe.Result = r; r == nil {
			roe.Result = &pb.Result{AssociatedCellCount: proto.Int32(0)}
		}
		out.ResultOrException = append(out.ResultOrException, roe)
	}
	return out, w.flush()
}

func isException(err error) bool {
	var e *exception
	return errors.As(err, &e)
}

// exceptionPair is an exception as it stands inside of an answer.
func exceptionPair(err error) *pb.NameBytesPair {
	e := &exception{class: classIO, msg: err.Error()}
	errors.As(err, &e)
	return &pb.NameBytesPair{Name: proto.String(e.class), Value: []byte(e.trace())}
}

// pairError is the error that a client makes of such an exception.
func pairError(p *pb.NameBytesPair) error {
	e := &exception{class: p.GetName()}
	if trace := string(p.GetValue()); len(trace) > len(e.class)+2 {
		e.msg = trace[len(e.class)+2:]
	}
	return e
}

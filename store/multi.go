package store

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// mutateRequest serves a single mutation, with a condition or without.
func (s *Store) mutateRequest(ctx context.Context, t *table, g *region, req *pb.MutateRequest, b *block) (*pb.MutateResponse, error) {
	m := req.GetMutation()
	defer s.locks.lockAll([][]byte{m.GetRow()})()
	w := s.newWriter()
	defer func() { w.close() }()
	cells, err := convert(g, m)
	holds := true
	if c := req.GetCondition(); c != nil {
		if isRuntime(err) {
			err = throw(classDoNotRetry, "%s", err.(*exception).msg) // the server reads a condition together with its mutation
		}
		if err == nil {
			holds, err = w.holds(ctx, t, g, c, m.GetRow())
		}
	}
	if err != nil {
		return nil, err
	}
	if !holds {
		return &pb.MutateResponse{Processed: proto.Bool(false)}, nil
	}
	var r *pb.Result
	if err = admit(t, g, m, cells, req.Condition != nil || !plain(m)); err == nil {
		r, err = w.apply(ctx, t, g, m, cells, b)
	}
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		return nil, err
	}
	return &pb.MutateResponse{Result: r, Processed: proto.Bool(true)}, nil
}

// multi serves a batch of Gets and mutations, region by region. The failure of one action or region becomes its result;
// the rows of Gets are in b, in the order of the results.
func (s *Store) multi(ctx context.Context, req *pb.MultiRequest, b *block, inject *injection) (*pb.MultiResponse, error) {
	resp := &pb.MultiResponse{Processed: proto.Bool(true)}
	for _, ra := range req.GetRegionAction() {
		r, holds, err := s.regionActions(ctx, ra, req.Condition, b, inject)
		if err != nil {
			return nil, err
		}
		resp.RegionActionResult = append(resp.RegionActionResult, r)
		if req.Condition != nil { // it applies to the actions of the first region, and the request has no others
			resp.Processed = &holds
			break
		}
	}
	return resp, nil
}

// regionActions serves the part of one region. An error fails the request as a whole, but earlier actions stay applied.
func (s *Store) regionActions(ctx context.Context, ra *pb.RegionAction, c *pb.Condition, b *block, inject *injection) (*pb.RegionActionResult, bool, error) {
	out := &pb.RegionActionResult{}
	t, g, err := s.served(ra.GetRegion(), inject)
	if err == nil {
		err = inject.throttled(g)
	}
	if err != nil {
		out.Exception = exceptionPair(err)
		return out, false, nil
	}
	alone, err := regionCondition(ra)
	if err != nil {
		out.Exception = exceptionPair(err)
		return out, false, nil
	}
	var rows [][]byte
	for _, a := range ra.GetAction() {
		if a.Mutation != nil {
			rows = append(rows, a.Mutation.GetRow())
		}
	}
	g.load.writes.Add(int64(len(rows)))
	g.load.reads.Add(int64(len(ra.GetAction()) - len(rows)))
	defer s.locks.lockAll(rows)()
	w := s.newWriter()
	defer func() { w.close() }()
	m := &actions{w: w, t: t, g: g, list: ra.GetAction(), out: out, b: b, busy: inject.busy(g)}
	holds := true
	if c == nil {
		c = alone
	}
	if c != nil || ra.GetAtomic() {
		if holds, err = m.atomic(ctx, c); err != nil {
			w.batch.Reset()
		}
		if err == nil && alone != nil {
			m.tell(holds)
		}
	} else {
		err = m.each(ctx)
	}
	if failed := w.flush(); failed != nil {
		return nil, false, failed
	}
	switch {
	case err == nil:
	case isRuntime(err) || !isException(err):
		return nil, false, err
	default:
		out.Exception = exceptionPair(err)
	}
	return out, holds, nil
}

// actions are the actions of a Multi on one region.
type actions struct {
	w    *writer
	t    *table
	g    *region
	list []*pb.Action
	out  *pb.RegionActionResult
	b    *block
	busy error // refuses all of them
}

// atomic applies either all mutations or, for an error or a failed condition, none.
func (m *actions) atomic(ctx context.Context, c *pb.Condition) (holds bool, err error) {
	cells := make([][]cell, len(m.list))
	for i, a := range m.list {
		if cells[i], err = convert(m.g, a.GetMutation()); err != nil {
			return false, err
		}
	}
	if m.busy != nil {
		return false, m.busy
	}
	if c != nil && len(m.list) > 0 {
		if holds, err = m.w.holds(ctx, m.t, m.g, c, m.list[0].GetMutation().GetRow()); err != nil || !holds {
			return false, err
		}
	}
	for i, a := range m.list {
		if err := admit(m.t, m.g, a.GetMutation(), cells[i], true); err != nil {
			return false, err
		}
	}
	m.w.atomic = true
	before := *m.b
	for i, a := range m.list {
		r, err := m.w.apply(ctx, m.t, m.g, a.GetMutation(), cells[i], m.b)
		if err == nil {
			err = m.done(i, r, nil)
		}
		if err != nil { // drop the rows of earlier Gets, which would count as rows of other regions
			m.out.ResultOrException, *m.b = nil, before
			return false, err
		}
	}
	return true, nil
}

// tell reports, as servers do since 2.4, whether the condition of the region's part held: then the results of its
// actions are empty.
func (m *actions) tell(held bool) {
	var processed uint64
	if held {
		processed = 1
	}
	m.out.ResultOrException = nil
	for i := range m.list {
		m.out.ResultOrException = append(m.out.ResultOrException, &pb.ResultOrException{Index: proto.Uint32(uint32(i))})
	}
	m.out.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, fieldProcessed, protowire.VarintType), processed))
}

// each serves the actions one by one, but collects Puts and Deletes: it applies these together at the end, or before
// any other mutation.
func (m *actions) each(ctx context.Context) error {
	var waiting []int
	for i, a := range m.list {
		var r *pb.Result
		err := m.busy
		switch {
		case a.Mutation != nil && plain(a.Mutation):
			waiting = append(waiting, i)
			continue
		case a.Mutation != nil:
			if err := m.together(ctx, waiting); err != nil {
				return err
			}
			waiting = nil
			var cells []cell
			if err == nil {
				cells, err = convert(m.g, a.Mutation)
			}
			if err == nil {
				err = admit(m.t, m.g, a.Mutation, cells, true)
			}
			if err == nil {
				r, err = m.w.apply(ctx, m.t, m.g, a.Mutation, cells, m.b)
			}
		case a.Get == nil:
			err = throw(classDoNotRetry, "Unsupported action")
		case err == nil:
			r, err = m.w.s.get(ctx, m.t, m.g, a.Get, m.b)
		}
		if err := m.done(i, r, err); err != nil {
			return err
		}
	}
	return m.together(ctx, waiting)
}

// together applies Puts and Deletes in the order of their rows. One that cannot be read, or is too large, fails the
// others too.
func (m *actions) together(ctx context.Context, at []int) error {
	if len(at) == 0 {
		return nil
	}
	cells := make([][]cell, len(m.list))
	var refused error
	for _, i := range at {
		if cells[i], refused = convert(m.g, m.list[i].Mutation); refused != nil {
			break
		}
	}
	if refused == nil {
		refused = m.busy
	}
	if refused == nil {
		slices.SortStableFunc(at, func(i, j int) int { return bytes.Compare(m.list[i].Mutation.GetRow(), m.list[j].Mutation.GetRow()) })
	}
	for _, i := range at {
		err, mutation := refused, m.list[i].Mutation
		if err == nil {
			err = admit(m.t, m.g, mutation, cells[i], false)
		}
		if err == nil {
			_, err = m.w.apply(ctx, m.t, m.g, mutation, cells[i], m.b)
		}
		if err := m.done(i, nil, err); err != nil {
			return err
		}
	}
	return nil
}

// done records the result of an action. It returns an error that belongs to the whole request, not to the action.
func (m *actions) done(i int, r *pb.Result, err error) error {
	if err != nil && (isRuntime(err) || !isException(err)) {
		return err
	}
	roe := &pb.ResultOrException{Index: m.list[i].Index}
	if roe.Index == nil {
		roe.Index = proto.Uint32(uint32(i))
	}
	if err != nil {
		roe.Exception = exceptionPair(err)
	} else if roe.Result = r; r == nil {
		roe.Result = &pb.Result{AssociatedCellCount: proto.Int32(0)}
	}
	m.out.ResultOrException = append(m.out.ResultOrException, roe)
	return nil
}

func isException(err error) bool {
	var e *exception
	return errors.As(err, &e)
}

// exceptionPair is the form of an exception inside an answer.
func exceptionPair(err error) *pb.NameBytesPair {
	e := &exception{class: classIO, msg: err.Error()}
	errors.As(err, &e)
	return &pb.NameBytesPair{Name: proto.String(e.class), Value: []byte(e.trace())}
}

// pairError is the error that a client makes of such an exception.
func pairError(p *pb.NameBytesPair) error {
	_, msg, _ := strings.Cut(string(p.GetValue()), ": ")
	return &exception{class: p.GetName(), msg: msg}
}

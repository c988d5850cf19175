package store

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// mutateRequest serves a single mutation, with a condition or without.
func (s *Store) mutateRequest(ctx context.Context, t *table, g *region, req *pb.MutateRequest, b *block) (*pb.MutateResponse, error) {
	m := req.GetMutation()
	defer s.locks.lockAll([][]byte{m.GetRow()})()
	w := s.newWriter(t)
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
	increment := m.GetMutateType() == pb.MutationProto_INCREMENT
	err = admit(t, g, m, cells, req.Condition != nil || increment)
	switch {
	case err != nil:
	case increment:
		r, err = w.increment(ctx, t, g, cells, b)
	default:
		err = w.apply(t, m, cells)
	}
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		return nil, err
	}
	return &pb.MutateResponse{Result: r, Processed: proto.Bool(true)}, nil
}

// multi serves a batch of Gets, Puts and Deletes, region by region. The failure of one action or region becomes its
// result; the rows of Gets are in b, in the order of the results.
func (s *Store) multi(ctx context.Context, req *pb.MultiRequest, b *block, inject *injection) (*pb.MultiResponse, error) {
	resp := &pb.MultiResponse{Processed: proto.Bool(true)}
	for _, ra := range req.GetRegionAction() {
		r, err := s.regionActions(ctx, ra, b, inject)
		if err != nil {
			return nil, err
		}
		resp.RegionActionResult = append(resp.RegionActionResult, r)
	}
	return resp, nil
}

// regionActions serves the part of one region. An error fails the request as a whole, but earlier actions stay applied.
func (s *Store) regionActions(ctx context.Context, ra *pb.RegionAction, b *block, inject *injection) (*pb.RegionActionResult, error) {
	out := &pb.RegionActionResult{}
	t, g, err := s.served(ra.GetRegion(), inject)
	if err == nil {
		err = inject.throttled(g)
	}
	var c *pb.Condition
	if err == nil {
		c, err = regionCondition(ra)
	}
	if err != nil {
		out.Exception = exceptionPair(err)
		return out, nil
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
	w := s.newWriter(t)
	defer func() { w.close() }()
	m := &actions{w: w, t: t, g: g, list: ra.GetAction(), out: out, b: b, busy: inject.busy(g)}
	if c != nil {
		if err = m.conditional(ctx, c); err != nil {
			w.batch.Reset()
		}
	} else {
		err = m.each(ctx)
	}
	if failed := w.flush(); failed != nil {
		return nil, failed
	}
	switch {
	case err == nil:
	case isRuntime(err) || !isException(err):
		return nil, err
	default:
		out.Exception = exceptionPair(err)
	}
	return out, nil
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
	last lastFilter
}

// conditional applies the only action, a mutation, if its row meets the condition. It reports, as servers do since 2.4,
// whether it did.
func (m *actions) conditional(ctx context.Context, c *pb.Condition) error {
	if len(m.list) != 1 {
		return throw(classUnsupported, "a condition of %d actions", len(m.list))
	}
	mutation := m.list[0].GetMutation()
	cells, err := convert(m.g, mutation)
	if isRuntime(err) {
		return throw(classDoNotRetry, "%s", err.(*exception).msg) // as in mutateRequest
	}
	if err == nil {
		err = m.busy
	}
	if err != nil {
		return err
	}
	holds, err := m.w.holds(ctx, m.t, m.g, c, mutation.GetRow())
	var processed uint64
	if err == nil && holds {
		processed = 1
		if err = admit(m.t, m.g, mutation, cells, true); err == nil {
			err = m.w.apply(m.t, mutation, cells)
		}
	}
	if err != nil {
		return err
	}
	m.out.ResultOrException = []*pb.ResultOrException{{Index: proto.Uint32(0)}}
	m.out.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, fieldProcessed, protowire.VarintType), processed))
	return nil
}

// each serves the Gets, and then the Puts and Deletes together.
func (m *actions) each(ctx context.Context) error {
	var mutations []int
	for i, a := range m.list {
		var r *pb.Result
		err := m.busy
		switch {
		case a.Mutation != nil:
			mutations = append(mutations, i)
			continue
		case a.Get == nil:
			err = throw(classDoNotRetry, "Unsupported action")
		case err == nil:
			r, err = m.w.s.get(ctx, m.t, m.g, a.Get, m.b, &m.last)
		}
		if err := m.done(i, r, err); err != nil {
			return err
		}
	}
	return m.together(mutations)
}

// together applies Puts and Deletes in the order of their rows. If one of them is malformed or too large, all fail.
func (m *actions) together(at []int) error {
	cells := make([][]cell, len(m.list))
	refused := m.busy
	for _, i := range at {
		var err error
		if cells[i], err = convert(m.g, m.list[i].Mutation); err != nil {
			refused = err
			break
		}
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
			err = m.w.apply(m.t, mutation, cells[i])
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

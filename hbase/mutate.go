package hbase

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// A batch to one region holds at most so many mutations and bytes.
const (
	maxBatchMutations = 1000
	maxBatchBytes     = 2 << 20
	batchesAtOnce     = 4
)

func (m *Mutation) check() error {
	if err := checkKey(m.Key); err != nil {
		return err
	}
	if m.Timestamp <= 0 {
		return errors.New("a mutation needs a timestamp above 0")
	}
	if m.Kind == Put && len(m.Cells) == 0 {
		return errors.New("a row without cells cannot be stored")
	}
	if m.Kind != Put && len(m.Removed) > 0 {
		return errors.New("only a Put removes columns beside")
	}
	for _, c := range slices.Concat(m.Cells, m.Removed) {
		if len(c.Family) == 0 || len(c.Family) > 127 {
			return fmt.Errorf("a family's name has 1 to 127 bytes, not %d", len(c.Family))
		}
		if len(m.Key)+len(c.Family)+len(c.Qualifier)+len(c.Value)+cellOverhead > MaxCellSize {
			return fmt.Errorf("cell %s:%s is larger than %d MiB", c.Family, c.Qualifier, MaxCellSize>>20)
		}
	}
	return nil
}

// proto is the message of a mutation, its cells grouped by family.
func (m *Mutation) proto() *pb.MutationProto {
	p := &pb.MutationProto{Row: m.Key, MutateType: pb.MutationProto_PUT.Enum(), Timestamp: proto.Uint64(uint64(m.Timestamp))}
	if m.Kind != Put {
		p.MutateType = pb.MutationProto_DELETE.Enum()
	}
	if m.Kind == DeleteRow {
		return p
	}
	for _, c := range m.Cells {
		q := m.add(p, &c)
		if m.Kind == DeleteColumns {
			q.DeleteType = pb.MutationProto_DELETE_MULTIPLE_VERSIONS.Enum()
		} else if q.Value = c.Value; q.Value == nil {
			q.Value = []byte{}
		}
	}
	for _, c := range m.Removed { // servers take delete markers within a Put, too
		q := m.add(p, &c)
		q.Value, q.DeleteType = []byte{}, pb.MutationProto_DELETE_MULTIPLE_VERSIONS.Enum()
	}
	return p
}

// add gives p a place for cell c.
func (m *Mutation) add(p *pb.MutationProto, c *Cell) *pb.MutationProto_ColumnValue_QualifierValue {
	i := slices.IndexFunc(p.ColumnValue, func(x *pb.MutationProto_ColumnValue) bool { return bytes.Equal(x.Family, c.Family) })
	if i < 0 {
		i = len(p.ColumnValue)
		p.ColumnValue = append(p.ColumnValue, &pb.MutationProto_ColumnValue{Family: c.Family})
	}
	ts := cmp.Or(c.Timestamp, m.Timestamp)
	q := &pb.MutationProto_ColumnValue_QualifierValue{Qualifier: c.Qualifier, Timestamp: proto.Uint64(uint64(ts))}
	p.ColumnValue[i].QualifierValue = append(p.ColumnValue[i].QualifierValue, q)
	return q
}

func (m *Mutation) size() int {
	n := len(m.Key) + 32
	for _, c := range m.Cells {
		n += len(c.Qualifier) + len(c.Value) + 32
	}
	for _, c := range m.Removed {
		n += len(c.Qualifier) + 32
	}
	return n
}

func (c *client) Mutate(ctx context.Context, table string, ms []Mutation) error {
	if len(ms) == 0 {
		return nil
	}
	keys := make([][]byte, len(ms))
	report := &BatchError{Failed: map[int]error{}, Keys: keys}
	var left []int
	for i := range ms {
		keys[i] = ms[i].Key
		if err := ms[i].check(); err != nil {
			report.Failed[i] = err
			report.Cause = err
			continue
		}
		left = append(left, i)
	}
	if len(report.Failed) > 0 { // nothing of a batch with a bad member is sent: it would fail the others
		for _, i := range left {
			report.Failed[i] = errors.New("not sent: another mutation of the batch is invalid")
		}
		return report
	}
	slices.SortStableFunc(left, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	var b backoff
	var last error
	unsure := map[int]bool{}
	for round := 0; len(left) > 0; round++ {
		if round > 0 {
			c.stats.retries.Add(1)
			err := b.wait(ctx)
			if err != nil && !errors.Is(last, context.DeadlineExceeded) {
				err = fmt.Errorf("%w, while it was tried again after: %v", err, last)
			}
			if err == nil && (round == maxMultiRounds || errors.Is(last, context.DeadlineExceeded)) {
				err = last
			}
			if err != nil {
				report.Unknown, report.Cause = append(report.Unknown, left...), explain(err, "write", table)
				return report
			}
		}
		moved := round > 0 && !busy(last)
		groups, err := c.byRegion(ctx, table, keys, left, moved)
		if err != nil {
			report.Unknown, report.Cause = append(report.Unknown, left...), err
			return report
		}
		if moved {
			c.relocate(ctx, table, keys, groups)
		}
		left, last = c.mutateGroups(ctx, table, ms, groups, report, unsure)
	}
	if len(report.Failed)+len(report.Unknown) > 0 {
		return report
	}
	return nil
}

// mutateGroups sends the groups in batches, a few at once; it gives what to send again. unsure are those
// that an earlier call may have applied without an answer.
func (c *client) mutateGroups(ctx context.Context, table string, ms []Mutation, groups [][]int, report *BatchError, unsure map[int]bool) (again []int, last error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, batchesAtOnce)
	for _, g := range groups {
		for len(g) > 0 {
			n, size := 0, 0
			for n < len(g) && n < maxBatchMutations && (n == 0 || size < maxBatchBytes) {
				size += ms[g[n]].size()
				n++
			}
			batch := g[:n]
			g = g[n:]
			slots <- struct{}{}
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer func() { <-slots }()
				failed, left, twice, cause := c.mutateBatch(ctx, table, ms, batch)
				mu.Lock()
				defer mu.Unlock()
				for i, err := range failed {
					if (twice || unsure[i]) && (errors.Is(err, ErrUnreachable) || !isOneOf(err, alwaysRefused)) {
						report.Unknown = append(report.Unknown, i)
					} else {
						report.Failed[i] = err
					}
					report.Cause = err
				}
				for _, i := range left {
					unsure[i] = unsure[i] || twice || classify(cause) != retry
				}
				again = append(again, left...)
				if cause != nil {
					last = cause
				}
			}()
		}
	}
	wg.Wait()
	slices.SortStableFunc(again, func(a, b int) int { return bytes.Compare(ms[a].Key, ms[b].Key) })
	return again, last
}

// mutateBatch sends one Multi. Every mutation has its timestamp, so that one
// whose answer was lost may be sent again. twice: it was, perhaps after the first was applied.
func (c *client) mutateBatch(ctx context.Context, table string, ms []Mutation, at []int) (failed map[int]error, again []int, twice bool, cause error) {
	msg, sent, err := c.try(ctx, callAttempt, func(ctx context.Context) (hrpc.Call, error) {
		t, err := hrpc.NewGet(ctx, []byte(table), ms[at[0]].Key, hrpc.SkipBatch(), anyTime)
		if err != nil {
			return nil, err
		}
		m := &multiCall{Get: t, actions: make([]*pb.Action, len(at))}
		for i, k := range at {
			m.actions[i] = &pb.Action{Index: proto.Uint32(uint32(i)), Mutation: ms[k].proto()}
		}
		return m, nil
	})
	if m, ok := sent.(*multiCall); ok { // over a server that is away an answer may have been lost before
		twice = m.sent.Load() > 1 || m.sent.Load() > 0 && errors.Is(err, ErrUnreachable)
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || repeatable(err) {
			return nil, at, twice, err
		}
		failed = map[int]error{}
		for _, i := range at {
			failed[i] = explain(err, "write", table)
		}
		return failed, nil, twice, nil
	}
	failed = map[int]error{}
	answered := make([]bool, len(at))
	for _, region := range msg.(*pb.MultiResponse).RegionActionResult {
		if region.Exception != nil {
			cause = exceptionError(region.Exception)
		}
		for _, r := range region.ResultOrException {
			i := int(r.GetIndex())
			if i >= len(at) {
				continue
			}
			if r.Exception == nil {
				answered[i] = true
				continue
			}
			if err := exceptionError(r.Exception); classify(err) == retry {
				cause = err
			} else {
				answered[i] = true
				failed[at[i]] = explain(err, "write", table)
			}
		}
	}
	for i, ok := range answered {
		switch {
		case ok:
		case cause != nil && classify(cause) != retry:
			failed[at[i]] = explain(cause, "write", table)
		default:
			again = append(again, at[i])
		}
	}
	if cause == nil && len(again) > 0 {
		cause = errors.New("the answer lacks some mutations")
	}
	return failed, again, twice, cause
}

func (c *client) Increment(ctx context.Context, table string, key []byte, family, qualifier string, n int64) (int64, error) {
	// One attempt: sent twice, it might count twice.
	msg, _, err := c.try(ctx, callAttempt, func(ctx context.Context) (hrpc.Call, error) {
		inc, err := hrpc.NewIncSingle(ctx, []byte(table), key, family, qualifier, n, hrpc.SkipBatch())
		return wholeCall{inc}, err
	})
	if err != nil {
		return 0, explain(err, "increment", table)
	}
	cells := msg.(*pb.MutateResponse).GetResult().GetCell()
	if len(cells) != 1 || len(cells[0].Value) != 8 {
		return 0, fmt.Errorf("increment %s: the answer is not one number", table)
	}
	return int64(binary.BigEndian.Uint64(cells[0].Value)), nil
}

// wholeCall is a mutation that is sent in one write. gohbase would send its cells behind it in another, and a call that is sent at the
// same time might come between the two.
type wholeCall struct{ *hrpc.Mutate }

// CellBlocksEnabled keeps the cells inside the message.
func (wholeCall) CellBlocksEnabled() bool { return false }

func (c *client) PutIf(ctx context.Context, table string, was []byte, m Mutation) (bool, error) {
	if err := m.check(); err != nil {
		return false, err
	}
	if m.Kind != Put {
		return false, errors.New("PutIf takes a Put")
	}
	msg, _, err := c.send(ctx, callAttempt, func(ctx context.Context) (hrpc.Call, error) {
		put, err := hrpc.NewPut(ctx, []byte(table), m.Key, nil, hrpc.SkipBatch())
		if err != nil {
			return nil, err
		}
		first := m.Cells[0]
		cas, err := hrpc.NewCheckAndPut(put, string(first.Family), string(first.Qualifier), was)
		return &checkedPut{cas, m.proto()}, err
	})
	if err != nil {
		return false, explain(err, "write", table)
	}
	return msg.(*pb.MutateResponse).GetProcessed(), nil
}

// checkedPut is a conditional Put of any cells.
type checkedPut struct {
	*hrpc.CheckAndPut
	mutation *pb.MutationProto
}

func (p *checkedPut) ToProto() proto.Message {
	req := p.CheckAndPut.ToProto().(*pb.MutateRequest)
	req.Mutation = p.mutation
	return req
}

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

	"github.com/hql-db/hql/internal/wire"
)

// Limits of a batch to one region.
const (
	maxBatchMutations = 1000
	// maxBatchConditions bounds the conditional mutations of a batch: a server applies them one after the other, each
	// with its own write to the log.
	maxBatchConditions = 100
	maxBatchBytes      = 2 << 20
	batchesAtOnce      = 4
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
		return errors.New("only a Put can have Removed columns")
	}
	for _, c := range slices.Concat(m.Cells, m.Removed) {
		if len(c.Family) == 0 || len(c.Family) > 127 {
			return fmt.Errorf("a family's name must have 1 to 127 bytes, this one has %d", len(c.Family))
		}
		if len(m.Key)+len(c.Family)+len(c.Qualifier)+len(c.Value)+cellOverhead > MaxCellSize {
			return fmt.Errorf("cell %s:%s is larger than %d MiB", c.Family, c.Qualifier, MaxCellSize>>20)
		}
	}
	return nil
}

// proto returns the message of a mutation, with its cells grouped by family.
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
		switch m.Kind {
		case DeleteColumns:
			q.DeleteType = pb.MutationProto_DELETE_MULTIPLE_VERSIONS.Enum()
		case DeleteFamilies:
			q.DeleteType = pb.MutationProto_DELETE_FAMILY.Enum()
		default:
			if q.Value = c.Value; q.Value == nil {
				q.Value = []byte{}
			}
		}
	}
	for _, c := range m.Removed { // servers accept delete markers within a Put
		q := m.add(p, &c)
		q.Value, q.DeleteType = []byte{}, pb.MutationProto_DELETE_MULTIPLE_VERSIONS.Enum()
	}
	return p
}

// add adds cell c to p.
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
	return n + conditionSize(m.If)
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
	if len(report.Failed) > 0 { // send nothing of a batch with an invalid mutation: the servers would refuse the others too
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
				err = fmt.Errorf("%w (it was being repeated after: %v)", err, last)
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
	if len(report.Failed)+len(report.Unknown)+len(report.Unmet) > 0 {
		return report
	}
	return nil
}

// mutateGroups sends the groups in batches, a few at once, and returns the indexes of the mutations to send again, with
// the last cause. It records in report which mutations failed. unsure holds the indexes of mutations that an earlier,
// unanswered call may have applied.
func (c *client) mutateGroups(ctx context.Context, table string, ms []Mutation, groups [][]int, report *BatchError, unsure map[int]bool) (again []int, last error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, batchesAtOnce)
	for _, g := range groups {
		for len(g) > 0 {
			n, size, conditions := 0, 0, 0
			for n < len(g) && n < maxBatchMutations && conditions < maxBatchConditions && (n == 0 || size < maxBatchBytes) {
				if size += ms[g[n]].size(); ms[g[n]].If != nil {
					conditions++
				}
				n++
			}
			batch := g[:n]
			g = g[n:]
			slots <- struct{}{}
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer func() { <-slots }()
				a := c.mutateBatch(ctx, table, ms, batch)
				mu.Lock()
				defer mu.Unlock()
				for _, i := range a.unmet {
					if a.twice || unsure[i] {
						report.Unknown, report.Cause = append(report.Unknown, i), errDoubtful
					} else {
						report.Unmet = append(report.Unmet, i)
					}
				}
				for i, err := range a.failed {
					if (a.twice || unsure[i]) && (errors.Is(err, ErrUnreachable) || !isOneOf(err, alwaysRefused)) {
						report.Unknown = append(report.Unknown, i)
					} else {
						report.Failed[i] = err
					}
					report.Cause = err
				}
				for _, i := range a.again {
					unsure[i] = unsure[i] || a.twice || classify(a.cause) != retry
				}
				again = append(again, a.again...)
				if a.cause != nil {
					last = a.cause
				}
			}()
		}
	}
	wg.Wait()
	slices.SortStableFunc(again, func(a, b int) int { return bytes.Compare(ms[a].Key, ms[b].Key) })
	return again, last
}

// batchAnswer is the outcome of the mutations of one Multi.
type batchAnswer struct {
	failed map[int]error
	unmet  []int // their If did not accept the row
	again  []int // to be sent again
	twice  bool  // the Multi was sent twice, perhaps after the first one was applied
	cause  error // why again is sent again
}

// mutateBatch sends one Multi. Every mutation has its timestamp, so a mutation whose answer was lost may be sent again.
func (c *client) mutateBatch(ctx context.Context, table string, ms []Mutation, at []int) batchAnswer {
	a := batchAnswer{failed: map[int]error{}}
	msg, sent, err := c.try(ctx, func(ctx context.Context) (hrpc.Call, error) {
		t, err := hrpc.NewGet(ctx, []byte(table), ms[at[0]].Key, hrpc.SkipBatch(), anyTime)
		if err != nil {
			return nil, err
		}
		m := &multiCall{Get: t}
		return m, m.add(ms, at)
	})
	m, ok := sent.(*multiCall)
	if ok { // if a server was unreachable, an earlier answer may have been lost
		a.twice = m.sent.Load() > 1 || m.sent.Load() > 0 && errors.Is(err, ErrUnreachable)
	}
	switch {
	case err == nil:
		a.read(table, at, m.parts, msg.(*pb.MultiResponse).RegionActionResult)
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || repeatable(err):
		a.again, a.cause = at, err
	default:
		for _, i := range at {
			a.failed[i] = explain(err, "write", table)
		}
	}
	return a
}

// read records the answer to a Multi made of parts. The server numbers the actions by their positions in at.
func (a *batchAnswer) read(table string, at []int, parts []multiPart, results []*pb.RegionActionResult) {
	answered := make([]bool, len(at))
	for n, region := range results {
		var refused error
		if region.Exception != nil {
			refused = exceptionError(region.Exception)
		}
		if n < len(parts) && parts[n].condition != nil {
			i := int(parts[n].actions[0].GetIndex())
			processed, known := wire.Unknown(region, processedField) // whether the only action was applied
			switch {
			case refused != nil && classify(refused) == retry:
				a.cause = refused
			case refused != nil:
				a.failed[at[i]], answered[i] = explain(refused, "write", table), true
			case known && processed.Varint != 0:
				answered[i] = true
			case known:
				a.unmet, answered[i] = append(a.unmet, at[i]), true
			}
			continue
		}
		if refused != nil {
			a.cause = refused
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
				a.cause = err
			} else {
				answered[i] = true
				a.failed[at[i]] = explain(err, "write", table)
			}
		}
	}
	for i, ok := range answered {
		switch {
		case ok:
		case a.cause != nil && classify(a.cause) != retry:
			a.failed[at[i]] = explain(a.cause, "write", table)
		default:
			a.again = append(a.again, at[i])
		}
	}
	if a.cause == nil && len(a.again) > 0 {
		a.cause = errors.New("the answer lacks some mutations")
	}
}

func (c *client) Increment(ctx context.Context, table string, key []byte, family, qualifier string, n int64) (int64, error) {
	// One attempt: sent twice, it might count twice.
	msg, _, err := c.try(ctx, func(ctx context.Context) (hrpc.Call, error) {
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

// wholeCall is a mutation that is sent in one write. gohbase would send its cells in a second write, and another call
// might come between the two.
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
	msg, _, err := c.send(ctx, func(ctx context.Context) (hrpc.Call, error) {
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

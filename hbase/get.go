package hbase

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// multiCall is one Multi RPC to a region: Gets or mutations. template determines the region and the context.
type multiCall struct {
	*hrpc.Get
	parts []multiPart
	block []byte
	sent  atomic.Int32 // how often it was sent: gohbase repeats it when a connection breaks or a region has moved
}

func (m *multiCall) Name() string               { return "Multi" }
func (m *multiCall) Description() string        { return "Multi" }
func (m *multiCall) SkipBatch() bool            { return true } // it is a batch
func (m *multiCall) NewResponse() proto.Message { return &pb.MultiResponse{} }

func (m *multiCall) ToProto() proto.Message {
	m.sent.Add(1)
	req := &pb.MultiRequest{RegionAction: make([]*pb.RegionAction, len(m.parts))}
	for i, region := 0, regionOf(m); i < len(m.parts); i++ {
		req.RegionAction[i] = m.parts[i].proto(region)
	}
	return req
}

func (m *multiCall) DeserializeCellBlocks(_ proto.Message, b []byte) (uint32, error) {
	m.block = b
	return uint32(len(b)), nil
}

// CellBlocksEnabled tells a server in the same process that it may send cells as a block.
func (m *multiCall) CellBlocksEnabled() bool { return true }

// SerializeCellBlocks: values are sent inside the message.
func (m *multiCall) SerializeCellBlocks(cbs [][]byte) (proto.Message, [][]byte, uint32) {
	return m.ToProto(), cbs, 0
}

// getChunk is how many Gets go in one RPC.
const getChunk = 200

// getsAtOnce is how many RPCs a Get without Slots has in flight.
const getsAtOnce = 4

// maxMultiRounds bounds how often actions that a region refused are sent again.
const maxMultiRounds = 20

func (c *client) Get(ctx context.Context, table string, keys [][]byte, o *ReadOptions) ([]Row, error) {
	out := make([]Row, len(keys))
	wanted, err := o.wanted()
	if err != nil {
		return nil, err
	}
	var slots chan struct{}
	if o != nil && o.Slots != nil {
		slots = o.Slots
	} else {
		slots = make(chan struct{}, getsAtOnce)
	}
	if len(keys) > 0 {
		if err := c.permitted(ctx, actionRead, table, wanted.Column, keys[0]); err != nil {
			return nil, explain(err, "get", table)
		}
	}
	if len(keys) == 1 {
		if err := take(ctx, slots); err != nil {
			return nil, err
		}
		defer func() { <-slots }()
		out[0], err = c.getOne(ctx, table, keys[0], wanted, o)
		return out, err
	}
	left := make([]int, 0, len(keys))
	for i, k := range keys {
		if err := checkKey(k); err != nil {
			return nil, err
		}
		left = append(left, i)
	}
	slices.SortFunc(left, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	var b backoff
	var last error
	for round := 0; len(left) > 0; round++ {
		if round == maxMultiRounds {
			return nil, explain(fmt.Errorf("%d rows were refused %d times: %w", len(left), round, last), "get", table)
		}
		if round > 0 {
			c.stats.retries.Add(1)
			if err := b.wait(ctx); err != nil {
				return nil, explain(fmt.Errorf("%w (last answer: %v)", err, last), "get", table)
			}
		}
		moved := round > 0 && !busy(last)
		groups, err := c.byRegion(ctx, table, keys, left, moved)
		if err != nil {
			return nil, err
		}
		if moved {
			c.relocate(ctx, table, keys, groups)
		}
		get := func(ctx context.Context, at []int) ([]int, error, error) {
			return c.multiGet(ctx, table, keys, at, wanted, o, out)
		}
		var cause error
		if left, cause, err = inChunks(ctx, groups, slots, get); err != nil {
			return nil, err
		}
		if cause != nil {
			last = cause
		}
		slices.SortFunc(left, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	}
	return out, nil
}

// take acquires a slot.
func take(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inChunks sends groups in chunks, as many at a time as slots allows. It returns the indexes to send again, unordered,
// with the cause of one of them. The first error cancels the other chunks and is returned instead.
func inChunks(ctx context.Context, groups [][]int, slots chan struct{}, get func(ctx context.Context, at []int) (again []int, cause, err error)) (again []int, cause, failed error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, g := range groups {
		for chunk := range slices.Chunk(g, getChunk) {
			if err := take(ctx, slots); err != nil {
				wg.Wait()
				return nil, nil, cmp.Or(failed, err)
			}
			wg.Go(func() {
				defer func() { <-slots }()
				left, why, err := get(ctx, chunk)
				mu.Lock()
				defer mu.Unlock()
				if err != nil && failed == nil {
					failed = err
					cancel()
				}
				if why != nil {
					cause = why
				}
				again = append(again, left...)
			})
		}
	}
	wg.Wait()
	return again, cause, failed
}

// relocate makes gohbase look up the regions of groups again. gohbase does that only after a call that fails as a
// whole, not after a refusal inside the answer of a Multi.
func (c *client) relocate(ctx context.Context, table string, keys [][]byte, groups [][]int) {
	for _, g := range groups {
		_, _, _ = c.try(ctx, func(ctx context.Context) (hrpc.Call, error) {
			get, err := hrpc.NewGet(ctx, []byte(table), keys[g[0]], hrpc.SkipBatch(), anyTime)
			if err == nil {
				get.ExistsOnly()
			}
			return get, err
		})
	}
}

// answered tells the RegionWatcher in o, if any, that the region of a call has answered.
func (o *ReadOptions) answered(call hrpc.Call) {
	if o == nil || o.Region == nil {
		return
	}
	if reg := call.Region(); reg != nil {
		o.Region.Answered(reg.Name())
	}
}

// getOne reads one row.
func (c *client) getOne(ctx context.Context, table string, key []byte, wanted *pb.Get, o *ReadOptions) (Row, error) {
	if err := checkKey(key); err != nil {
		return Row{}, err
	}
	msg, sent, err := c.send(ctx, func(ctx context.Context) (hrpc.Call, error) {
		get, err := hrpc.NewGet(ctx, []byte(table), key)
		return &getCall{Get: get, wanted: wanted}, err
	})
	if err != nil {
		return Row{}, explain(err, "get", table)
	}
	o.answered(sent)
	cells, err := sent.(*getCall).read(msg)
	if err != nil || len(cells) == 0 {
		return Row{}, err
	}
	c.stats.rows.Add(1)
	c.stats.cells.Add(int64(len(cells)))
	c.stats.bytes.Add(sizeOf(key, cells))
	return Row{Key: key, Cells: cells}, nil
}

// multiGet reads the rows with keys[i], for each i in at, into out[i]. All these keys are in one region. again holds
// the indexes without an answer, and cause an error that explains them.
func (c *client) multiGet(ctx context.Context, table string, keys [][]byte, at []int, wanted *pb.Get, o *ReadOptions, out []Row) (again []int, cause, err error) {
	msg, call, err := c.send(ctx, func(ctx context.Context) (hrpc.Call, error) {
		return newMultiGet(ctx, table, keys, at, wanted)
	})
	if err != nil {
		return nil, nil, explain(err, "get", table)
	}
	sent := call.(*multiCall)
	o.answered(sent)
	answered := make([]bool, len(at))
	block := sent.block
	for _, region := range msg.(*pb.MultiResponse).RegionActionResult {
		if e := region.Exception; e != nil {
			cause = exceptionError(e)
		}
		for _, r := range region.ResultOrException {
			i := int(r.GetIndex())
			if r.Exception != nil {
				cause = exceptionError(r.Exception)
				continue
			}
			if r.Result == nil || i >= len(at) {
				continue
			}
			answered[i] = true
			row, cells, rest, err := gotMultiRow(keys[at[i]], r.Result, block, o != nil && o.Encoded)
			if err != nil {
				return nil, nil, err
			}
			block = rest
			if row.Key != nil {
				c.stats.rows.Add(1)
				c.stats.cells.Add(int64(cells))
			}
			out[at[i]] = row
		}
	}
	c.stats.bytes.Add(int64(len(sent.block)))
	for i, ok := range answered {
		if !ok {
			again = append(again, at[i])
		}
	}
	if len(again) > 0 && cause != nil && classify(cause) == fatal {
		return nil, nil, explain(cause, "get", table)
	}
	return again, cause, nil
}

// newMultiGet makes the call that gets keys[i] for each i in at. These keys are all in one region.
func newMultiGet(ctx context.Context, table string, keys [][]byte, at []int, wanted *pb.Get) (hrpc.Call, error) {
	t, err := hrpc.NewGet(ctx, []byte(table), keys[at[0]])
	if err != nil {
		return nil, err
	}
	m := &multiCall{Get: t, parts: []multiPart{{actions: make([]*pb.Action, len(at))}}}
	actions, gets, indexes := make([]pb.Action, len(at)), make([]pb.Get, len(at)), make([]uint32, len(at))
	for i, k := range at {
		a := &actions[i]
		indexes[i] = uint32(i)
		a.Index, a.Get = &indexes[i], &gets[i]
		fillGet(a.Get, wanted, keys[k])
		m.parts[0].actions[i] = a
	}
	return m, nil
}

// gotMultiRow returns the row of one result of a Multi and its number of cells. The cells are inside the result or at
// the start of block; rest is the remainder of block. A row without cells has a nil key.
func gotMultiRow(key []byte, r *pb.Result, block []byte, encoded bool) (row Row, cells int, rest []byte, err error) {
	cells, rest = int(r.GetAssociatedCellCount()), block
	for range cells {
		if row.Key, rest, err = checkKeyValue(rest); err != nil {
			return Row{}, 0, nil, err
		}
		if !bytes.Equal(row.Key, key) {
			return Row{}, 0, nil, mixedRows(key, row.Key)
		}
	}
	n := len(block) - len(rest)
	if beside := block[:n:n]; encoded {
		row.Encoded = beside
	} else if cells > 0 {
		row.Cells = decodeCells(make([]Cell, 0, cells), beside)
	}
	if inside := r.Cell; len(inside) > 0 {
		for _, c := range inside {
			if !bytes.Equal(c.Row, key) {
				return Row{}, 0, nil, mixedRows(key, c.Row)
			}
		}
		cells = len(inside)
		row = Row{Key: key, Cells: appendCells(make([]Cell, 0, cells), inside)}
	}
	return row, cells, rest, nil
}

// fillGet makes g a Get of the row key that reads what wanted describes. g and wanted share memory.
func fillGet(g, wanted *pb.Get, key []byte) {
	g.Row, g.Column, g.Filter, g.TimeRange = key, wanted.Column, wanted.Filter, wanted.TimeRange
	g.MaxVersions, g.StoreLimit = wanted.MaxVersions, wanted.StoreLimit
}

// regionOf returns the region specifier of a call whose region is known.
func regionOf(call hrpc.Call) *pb.RegionSpecifier {
	return &pb.RegionSpecifier{Type: pb.RegionSpecifier_REGION_NAME.Enum(), Value: call.Region().Name()}
}

// exceptionError returns an exception from inside an answer in the form in which gohbase returns the exception of a
// whole call.
func exceptionError(e *pb.NameBytesPair) error {
	return fmt.Errorf("HBase Java exception %s:\n%s", e.GetName(), e.GetValue())
}

// MaxKeyLength and MaxCellSize are HBase's limits in bytes (a row's length is a signed
// 16-bit number; hbase.server.keyvalue.maxsize is 10 MiB by default).
const (
	MaxKeyLength = 32767
	MaxCellSize  = 10 << 20 // key, family, qualifier, value and cellOverhead
)

// cellOverhead is the size that a server adds to a cell's parts: lengths, timestamp and type.
const cellOverhead = 24

func checkKey(key []byte) error {
	if len(key) == 0 || len(key) > MaxKeyLength {
		return fmt.Errorf("a rowkey must have 1 to %d bytes, this one has %d", MaxKeyLength, len(key))
	}
	return nil
}

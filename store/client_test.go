package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// This file gives a Store the methods of gohbase's clients, so that tests make the same calls to a Store and to a real HBase.

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

// Append is refused, as all that hql does not send.
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

// DeserializeCellBlocks moves the cells into the results.
func (m *multiCall) DeserializeCellBlocks(msg proto.Message, buf []byte) (uint32, error) {
	inlineAll(msg, &block{buf: buf})
	return uint32(len(buf)), nil
}

// inlineAll moves the rows of a block into an answer's results.
func inlineAll(msg proto.Message, b *block) {
	buf := b.buf
	take := func(n int) []*pb.Cell {
		cells := protoCells(buf, n)
		for range n {
			var c cell
			buf = buf[decodeCell(buf, &c):]
		}
		return cells
	}
	one := func(r *pb.Result) {
		if n := int(r.GetAssociatedCellCount()); r != nil && n > 0 {
			r.Cell, r.AssociatedCellCount = take(n), nil
		}
	}
	switch m := msg.(type) {
	case *pb.ScanResponse:
		for i, n := range m.CellsPerResult {
			m.Results = append(m.Results, &pb.Result{Cell: take(int(n)), Partial: proto.Bool(m.PartialFlagPerResult[i])})
		}
		m.CellsPerResult, m.PartialFlagPerResult = nil, nil
	case *pb.MutateResponse:
		one(m.Result)
	case *pb.MultiResponse:
		for _, rar := range m.RegionActionResult {
			for _, roe := range rar.ResultOrException {
				one(roe.Result)
			}
		}
	}
}

// pairError is the error that a client makes of such an exception.
func pairError(p *pb.NameBytesPair) error {
	_, msg, _ := strings.Cut(string(p.GetValue()), ": ")
	return &exception{class: p.GetName(), msg: msg}
}

// clientScanner is the scanner that Store.Scan returns: gohbase's scanner as its callers know it. It is not for
// concurrent use.
type clientScanner struct {
	store  *Store
	rpc    *hrpc.Scan
	start  []byte // start row of the scan in the next region
	route  []byte
	id     uint64
	open   bool // in the current region
	closed bool
	rows   []*pb.Result
}

// Next returns the next row, or a part of one if the scan allows partial results, and io.EOF after the last.
func (c *clientScanner) Next() (*hrpc.Result, error) {
	if err := c.rpc.Context().Err(); err != nil {
		c.Close()
		return nil, err
	}
	var row *pb.Result
	for {
		part, err := c.peek()
		if err != nil {
			if row == nil {
				return nil, err
			}
			if err == io.EOF {
				row.Partial = proto.Bool(false)
				err = nil
			}
			return hrpc.ToLocalResult(row), err
		}
		if row != nil && !bytes.Equal(row.Cell[0].Row, part.Cell[0].Row) {
			row.Partial = proto.Bool(false)
			return hrpc.ToLocalResult(row), nil
		}
		c.rows = c.rows[1:]
		if row == nil {
			row = part
		} else {
			row.Cell = append(row.Cell, part.Cell...)
			row.Partial = part.Partial
		}
		if c.rpc.AllowPartialResults() || !row.GetPartial() {
			return hrpc.ToLocalResult(row), nil
		}
	}
}

// peek returns the next result without taking it.
func (c *clientScanner) peek() (*pb.Result, error) {
	for len(c.rows) == 0 {
		if c.closed {
			return nil, io.EOF
		}
		if err := c.fetch(); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c.rows[0], nil
}

// fetch sends one request and moves on to the next region at the end of one.
func (c *clientScanner) fetch() error {
	opts := c.rpc.Options()
	stop := c.rpc.StopRow()
	if c.open {
		opts = []func(hrpc.Call) error{hrpc.ScannerID(c.id), hrpc.NumberOfRows(c.rpc.NumberOfRows())}
		stop = nil
	}
	rpc, err := hrpc.NewScanRange(c.rpc.Context(), c.rpc.Table(), c.start, stop, opts...)
	if err != nil {
		return err
	}
	msg, err := c.store.SendRPC(rpc)
	if err != nil {
		return err
	}
	resp := msg.(*pb.ScanResponse)
	c.rows = resp.Results
	if !c.open && resp.ScannerId != nil {
		c.open, c.id = true, resp.GetScannerId()
	}
	if !resp.GetMoreResultsInRegion() {
		c.open = false
		c.toNextRegion(rpc.Region())
	}
	if resp.MoreResults != nil && !resp.GetMoreResults() {
		c.closed = true
	}
	if c.closed {
		c.closeRemote()
	}
	return nil
}

// reversedPadding follows the key before a region's start: gohbase uses so many 0xff bytes to approximate the highest
// key below it.
const reversedPadding = "\xff\xff\xff\xff\xff\xff\xff\xff"

func (c *clientScanner) toNextRegion(g hrpc.RegionInfo) {
	stop := c.rpc.StopRow()
	if !c.rpc.Reversed() {
		c.start = g.StopKey()
		c.closed = len(c.start) == 0 || len(stop) > 0 && bytes.Compare(stop, c.start) <= 0
		return
	}
	k := g.StartKey()
	c.closed = len(k) == 0 || len(stop) > 0 && bytes.Compare(stop, k) >= 0
	if c.closed {
		return
	}
	k = bytes.Clone(k)
	last := len(k) - 1
	if k[last] == 0 {
		c.start = k[:last]
		return
	}
	k[last]--
	c.start = append(k, reversedPadding...)
}

// Close ends the scan; rows already fetched can still be taken. It may be called twice.
func (c *clientScanner) Close() error {
	c.closed = true
	c.closeRemote()
	return nil
}

// closeRemote closes the scanner of the current region.
func (c *clientScanner) closeRemote() {
	if !c.open {
		return
	}
	c.open = false
	rpc, err := hrpc.NewScanRange(context.Background(), c.rpc.Table(), c.start, nil,
		hrpc.ScannerID(c.id), hrpc.CloseScanner(), hrpc.NumberOfRows(0))
	if err != nil {
		return
	}
	// A scanner that could not be closed ends with its lease.
	_, _ = c.store.SendRPC(rpc)
}

// Admin is a Store as gohbase.AdminClient. Its calls return when the work is done.
type Admin struct{ store *Store }

var (
	_ gohbase.Client      = (*Store)(nil)
	_ gohbase.AdminClient = (*Admin)(nil)
	_ gohbase.RPCClient   = (*Admin)(nil)
)

// Admin returns the administration of the store.
func (s *Store) Admin() *Admin { return &Admin{s} }

// SendRPC is Store.SendRPC.
func (a *Admin) SendRPC(rpc hrpc.Call) (proto.Message, error) { return a.store.SendRPC(rpc) }

func (a *Admin) send(rpc hrpc.Call) error {
	_, err := a.store.SendRPC(rpc)
	return err
}

// CreateTable creates a table with its families, all their attributes, and its split keys.
func (a *Admin) CreateTable(t *hrpc.CreateTable) error { return a.send(t) }

// DeleteTable deletes a disabled table.
func (a *Admin) DeleteTable(t *hrpc.DeleteTable) error { return a.send(t) }

// EnableTable enables a disabled table.
func (a *Admin) EnableTable(t *hrpc.EnableTable) error { return a.send(t) }

// DisableTable disables a table: calls to it wait until it is enabled or deleted.
func (a *Admin) DisableTable(t *hrpc.DisableTable) error { return a.send(t) }

// ClusterStatus describes a cluster of one server.
func (a *Admin) ClusterStatus() (*pb.ClusterStatus, error) {
	msg, err := a.store.SendRPC(hrpc.NewClusterStatus())
	if err != nil {
		return nil, err
	}
	return msg.(*pb.GetClusterStatusResponse).GetClusterStatus(), nil
}

// ListTableNames lists tables.
func (a *Admin) ListTableNames(t *hrpc.ListTableNames) ([]*pb.TableName, error) {
	msg, err := a.store.SendRPC(t)
	if err != nil {
		return nil, err
	}
	return msg.(*pb.GetTableNamesResponse).GetTableNames(), nil
}

// Snapshots, the balancer and moves of regions are not hql's.
func (a *Admin) SetBalancer(*hrpc.SetBalancer) (bool, error) { return false, errUnsupported }
func (a *Admin) MoveRegion(*hrpc.MoveRegion) error           { return errUnsupported }
func (a *Admin) CreateSnapshot(*hrpc.Snapshot) error         { return errUnsupported }
func (a *Admin) DeleteSnapshot(*hrpc.Snapshot) error         { return errUnsupported }
func (a *Admin) RestoreSnapshot(*hrpc.Snapshot) error        { return errUnsupported }
func (a *Admin) ListSnapshots(*hrpc.ListSnapshots) ([]*pb.SnapshotDescription, error) {
	return nil, errUnsupported
}

var errUnsupported = throw(classUnsupported, "not a call of hql's")

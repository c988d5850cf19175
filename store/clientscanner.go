package store

import (
	"bytes"
	"context"
	"io"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

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

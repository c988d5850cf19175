package scripttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/store"
)

// NewStore opens an embedded store in memory, and a client of it.
func NewStore(t testing.TB) (*store.Store, hbase.Client) {
	t.Helper()
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, hbase.New(s, s)
}

// DialHBase returns a client of a real HBase. It skips like hbasetest.Quorum.
func DialHBase(t testing.TB) hbase.Client {
	t.Helper()
	c, err := hbase.Dial(context.Background(), hbase.Config{Quorum: hbasetest.Quorum(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Hosts returns a function for Script.Fill, which writes the i-th row. The rows are distributed evenly over n hosts.
func Hosts(n int) func(i int) string {
	return func(i int) string { return fmt.Sprintf("('h%04d', %d, %d)", i%n, 1_000_000+i/n, i) }
}

// Hook is the function that a test client calls at its next call. The engine calls a client from several goroutines.
type Hook struct {
	mu sync.Mutex
	F  func()
}

// Set replaces what is done and returns it.
func (h *Hook) Set(f func()) (before func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, h.F = h.F, f
	return before
}

// Forestalled is a client that calls First before its first conditional Put.
type Forestalled struct {
	hbase.Client
	First Hook
}

func (c *Forestalled) PutIf(ctx context.Context, table string, was []byte, m hbase.Mutation) (bool, error) {
	if first := c.First.Set(nil); first != nil {
		first()
	}
	return c.Client.PutIf(ctx, table, was, m)
}

// Counted counts the scans and the Gets of one table.
type Counted struct {
	hbase.Client
	Table       string
	Scans, Gets atomic.Int64
}

func (c *Counted) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	if table == c.Table {
		c.Gets.Add(int64(len(keys)))
	}
	return c.Client.Get(ctx, table, keys, o)
}

func (c *Counted) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	if r.Table == c.Table {
		c.Scans.Add(1)
	}
	return c.Client.Scan(ctx, r, o)
}

// Unanswered is a client some of whose calls fail.
type Unanswered struct {
	hbase.Client
	Fail func(call, table string) error
}

// UnansweredAt returns a client whose call *at fails with "no answer". The text in *at is the name of the call, a space and
// the table, such as "get t"; the test may change it.
func UnansweredAt(c hbase.Client, at *string) *Unanswered {
	return &Unanswered{Client: c, Fail: func(call, table string) error {
		if *at == call+" "+table {
			return errors.New("no answer")
		}
		return nil
	}}
}

func (c *Unanswered) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	if err := c.Fail("get", table); err != nil {
		return nil, err
	}
	return c.Client.Get(ctx, table, keys, o)
}

func (c *Unanswered) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	if err := c.Fail("scan", r.Table); err != nil {
		return nil, err
	}
	return c.Client.Scan(ctx, r, o)
}

func (c *Unanswered) PutIf(ctx context.Context, table string, was []byte, m hbase.Mutation) (bool, error) {
	if err := c.Fail("put if absent", table); err != nil {
		return false, err
	}
	return c.Client.PutIf(ctx, table, was, m)
}

func (c *Unanswered) Regions(ctx context.Context, table string) ([]hbase.Region, error) {
	if err := c.Fail("regions", table); err != nil {
		return nil, err
	}
	return c.Client.Regions(ctx, table)
}

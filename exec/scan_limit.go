package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/planner/plan"
)

// ScanLimit is the limit of a statement's reads: bytes of cells, and rows, that leave the region servers. Rows that
// their filters drop do not count. 0: no limit.
type ScanLimit struct{ Bytes, Rows int64 }

// or returns l with its zero limits taken from m.
func (l ScanLimit) or(m ScanLimit) ScanLimit {
	return ScanLimit{cmp.Or(l.Bytes, m.Bytes), cmp.Or(l.Rows, m.Rows)}
}

// ErrScanLimit marks, for errors.Is, a statement that reads more than its ScanLimit.
var ErrScanLimit = errors.New("scan limit exceeded")

// ScanLimitError is the error of a statement that reads more than its limit allows.
type ScanLimitError struct {
	Setting string // max_scan_rows, max_scan_bytes, or full_scan if LIMIT or statistics allowed a full scan
	Read    int64  // so far, or by the estimate
	Before  bool   // an estimate was too large; nothing was read
	Limit   int64
	Advice  string // the condition that makes the statement read less; "" if none is known
	// For full_scan: the table, and a text that says how the scan exceeds the limit that allowed it.
	Table, Grown string
}

// Error returns the reads, the limit, and how to read less.
func (e *ScanLimitError) Error() string {
	if e.Setting == fullScan {
		return e.Grown + "; ANALYZE " + e.Table + " counts them again; or allow a full scan: ALLOW FULL SCAN at the end of the statement, SET full_scan = 'allow', or --full-scan allow"
	}
	read, limit := words.Count(e.Read, "row"), strconv.FormatInt(e.Limit, 10)
	if e.Setting == maxScanBytes {
		read, limit = words.Count(e.Read, "byte"), expr.FormatSize(e.Limit)
	}
	so := " so far"
	if e.Before {
		so = ", by its statistics"
	}
	s := fmt.Sprintf("this reads more than %s allows, %s: %s%s", e.Setting, limit, read, so)
	if e.Advice != "" {
		s += "; to read less, " + e.Advice
	}
	return s + fmt.Sprintf("; or allow more: SET %s, or --%s", e.Setting, strings.ReplaceAll(e.Setting, "_", "-"))
}

// Is makes errors.Is(err, ErrScanLimit) true.
func (e *ScanLimitError) Is(target error) bool { return target == ErrScanLimit }

// ParseScanLimit parses a number of bytes, such as 10GB. "none" is 0.
func ParseScanLimit(text string) (int64, error) {
	if strings.EqualFold(text, "none") {
		return 0, nil
	}
	return expr.ParseSize(text)
}

// The names of the settings.
const (
	maxScanRows  = "max_scan_rows"
	maxScanBytes = "max_scan_bytes"
	fullScan     = "full_scan"
)

// scanBudget counts a statement's reads.
type scanBudget struct {
	limit       ScanLimit
	rows, bytes atomic.Int64
	plan        atomic.Pointer[plan.Plan] // for advice
}

// limited returns a client whose reads fail with a *ScanLimitError beyond the limits of b. Each worker sees the error at
// its next batch.
func limited(c hbase.Client, b *scanBudget) hbase.Client {
	if c == nil || b.limit == (ScanLimit{}) {
		return c
	}
	return limitedClient{c, b}
}

// check fails if more was read than the limit allows.
func (b *scanBudget) check() error {
	e := &ScanLimitError{}
	switch rows, bytes := b.rows.Load(), b.bytes.Load(); {
	case b.limit.Rows > 0 && rows > b.limit.Rows:
		e.Setting, e.Read, e.Limit = maxScanRows, rows, b.limit.Rows
	case b.limit.Bytes > 0 && bytes > b.limit.Bytes:
		e.Setting, e.Read, e.Limit = maxScanBytes, bytes, b.limit.Bytes
	default:
		return nil
	}
	if p := b.plan.Load(); p != nil {
		e.Advice = cheaper(p)
	}
	return e
}

// took counts rows that were read, and fails beyond the limit.
func (b *scanBudget) took(rows []hbase.Row) error {
	n, size := int64(0), int64(0)
	for i := range rows {
		r := &rows[i]
		if r.Key == nil {
			continue // a Get that found no row
		}
		n++
		size += int64(len(r.Encoded))
		for c := range r.Cells {
			size += int64(hbase.CellSize(r.Key, &r.Cells[c]))
		}
	}
	b.rows.Add(n)
	b.bytes.Add(size)
	return b.check()
}

// refuse fails if the estimate e exceeds the rest of the limit. A nil e passes.
func (b *scanBudget) refuse(e *plan.Estimate) error {
	if e == nil {
		return nil
	}
	would := &scanBudget{limit: b.limit}
	would.rows.Store(b.rows.Load() + int64(e.Rows))
	would.bytes.Store(b.bytes.Load() + int64(e.Bytes))
	would.plan.Store(b.plan.Load())
	err := would.check()
	if over, ok := err.(*ScanLimitError); ok {
		over.Before = true
	}
	return err
}

type limitedClient struct {
	hbase.Client
	budget *scanBudget
}

// Get implements hbase.Client: it counts the rows found.
func (c limitedClient) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	if err := c.budget.check(); err != nil {
		return nil, err
	}
	rows, err := c.Client.Get(ctx, table, keys, o)
	if err == nil {
		err = c.budget.took(rows)
	}
	return rows, err
}

// Scan implements hbase.Client: its scanner counts the rows.
func (c limitedClient) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	s, err := c.Client.Scan(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return &limitedScanner{s, c.budget}, nil
}

type limitedScanner struct {
	hbase.Scanner
	budget *scanBudget
}

// Next implements hbase.Scanner: it counts the rows.
func (s *limitedScanner) Next(ctx context.Context) ([]hbase.Row, error) {
	if err := s.budget.check(); err != nil {
		return nil, err
	}
	rows, err := s.Scanner.Next(ctx)
	if err == nil {
		err = s.budget.took(rows)
	}
	return rows, err
}

// cheaper returns the condition that would make p read less; "" if there is none.
func cheaper(p *plan.Plan) string {
	for _, s := range p.Reads() {
		if a := s.Advice(); a != "" {
			return a
		}
	}
	for _, s := range p.Reads() {
		if s.Access != plan.RangeScan {
			continue
		}
		for _, part := range s.Key {
			if part.Use == plan.Unused || part.Use == plan.Ranged {
				return fmt.Sprintf("narrow %s, a part of the key of %s", part.Part.Source, s.Table.Name)
			}
		}
	}
	return ""
}

package scan_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/store"
)

// source is a store that makes up the rows of its table "big" as they are scanned: any number of them,
// id AS INT64 from 0 and one cell, in no memory but that of the answers.
type source struct {
	*store.Store
	rows     uint64
	value    []byte
	mu       sync.Mutex
	regions  []hrpc.RegionInfo
	scanners map[uint64]*sourceScan
	last     uint64
	sent     int64 // bytes of all answers
}

type sourceScan struct{ next, stop, bytes uint64 }

func newSource(t *testing.T, rows, regions, width int) (*source, *World) {
	s, err := store.Open(store.Options{Servers: regions})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	src := &source{Store: s, rows: uint64(rows), value: make([]byte, width), scanners: map[uint64]*sourceScan{}}
	w := NewWorld(t, hbase.New(src, s), Config{FullScan: AllowFullScan})
	sql := "CREATE TABLE big (id BIGINT, v STRING FROM f:v) ROW KEY (id AS UINT64) SPLIT AT ("
	for i := 1; i < regions; i++ {
		sql += fmt.Sprintf("X'%016x',", rows/regions*i)
	}
	w.Do(sql[:len(sql)-1] + ")")
	return src, w
}

// region gives the region of a call, which the store knows.
func (s *source) region(c hrpc.Call) (hrpc.RegionInfo, error) {
	for _, r := range s.regions {
		if string(r.StartKey()) <= string(c.Key()) && (len(r.StopKey()) == 0 || string(c.Key()) < string(r.StopKey())) {
			return r, nil
		}
	}
	get, err := hrpc.NewGet(c.Context(), c.Table(), append(c.Key()[:len(c.Key()):len(c.Key())], 0))
	if err != nil {
		return nil, err
	}
	if _, err := s.Store.SendRPC(get); err != nil {
		return nil, err
	}
	s.regions = append(s.regions, get.Region())
	return get.Region(), nil
}

func (s *source) SendRPC(c hrpc.Call) (proto.Message, error) {
	if c.Name() != "Scan" || string(c.Table()) != "big" {
		return s.Store.SendRPC(c)
	}
	s.mu.Lock()
	reg, err := s.region(c)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	c.SetRegion(reg)
	req := c.ToProto().(*pb.ScanRequest)
	id := req.GetScannerId()
	if req.ScannerId == nil {
		s.last++
		id = s.last
		key := func(k []byte, without uint64) uint64 { // the first id at or after k
			if len(k) == 0 {
				return without
			}
			n := binary.BigEndian.Uint64(append(k[:min(8, len(k)):min(8, len(k))], make([]byte, 8)...))
			if len(k) > 8 {
				n++
			}
			return n
		}
		s.scanners[id] = &sourceScan{next: max(key(req.Scan.StartRow, 0), key(reg.StartKey(), 0)), bytes: req.Scan.GetMaxResultSize(),
			stop: min(key(req.Scan.StopRow, math.MaxUint64), key(reg.StopKey(), math.MaxUint64), s.rows)}
	}
	scan := s.scanners[id]
	if req.ScannerId != nil && req.GetCloseScanner() {
		delete(s.scanners, id)
	}
	s.mu.Unlock()
	if scan == nil {
		return nil, gohbase.ErrClientClosed // nobody should go on with a closed scanner
	}
	resp := &pb.ScanResponse{ScannerId: &id, MoreResults: proto.Bool(true)}
	block := make([]byte, 0, scan.bytes+1024)
	for n := uint32(0); scan.next < scan.stop && uint64(len(block)) < scan.bytes && n < req.GetNumberOfRows(); n++ {
		block = appendCell(block, scan.next, s.value)
		resp.CellsPerResult = append(resp.CellsPerResult, 1)
		resp.PartialFlagPerResult = append(resp.PartialFlagPerResult, false)
		scan.next++
	}
	resp.MoreResultsInRegion = proto.Bool(scan.next < scan.stop)
	s.mu.Lock()
	if s.sent += int64(len(block)); !resp.GetMoreResultsInRegion() {
		delete(s.scanners, id)
	}
	s.mu.Unlock()
	_, err = c.(interface {
		DeserializeCellBlocks(proto.Message, []byte) (uint32, error)
	}).DeserializeCellBlocks(resp, block)
	return resp, err
}

// appendCell appends the cell f:v of a row as it is on the wire.
func appendCell(b []byte, id uint64, value []byte) []byte {
	const key = 2 + 8 + 1 + 1 + 1 + 8 + 1
	b = binary.BigEndian.AppendUint32(b, uint32(8+key+len(value)))
	b = binary.BigEndian.AppendUint32(b, key)
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	b = binary.BigEndian.AppendUint16(b, 8)
	b = binary.BigEndian.AppendUint64(b, id)
	b = append(b, 1, 'f', 'v')
	b = binary.BigEndian.AppendUint64(b, 1)
	return append(append(b, 4), value...)
}

// The memory bound of a scan of any length: the answers of its scanners, their decoded rows and garbage.
const heldOfScan = 96 << 20

// Bytes of a value, and of a whole cell, of the tables that are made up.
const (
	valueOfSource = 1000
	cellOfSource  = valueOfSource + 34
)

// The rows of a table go through in constant memory: what is held is a part of what is read even in the short form.
func TestMemoryOfLargeScan(t *testing.T) {
	race.Skip(t)
	n := 200_000
	if Large() {
		n = 10_000_000
	}
	_, w := newSource(t, n, 20, valueOfSource)
	for _, q := range []struct {
		sql  string
		rows int
	}{
		{"SELECT id, v FROM big", n},
		{"SELECT id, v FROM big ORDER BY id", n},
		{fmt.Sprintf("SELECT id, v FROM big WHERE id >= %d", n/2), n - n/2},
		{"SELECT id % 10, count(*), max(v) FROM big GROUP BY id % 10", 10},
		{"SELECT id FROM big WHERE v <> '' ORDER BY v, id DESC LIMIT 10", 10},
	} {
		var rows int
		began := time.Now()
		most := peak(func() { rows, _ = w.Read(q.sql) })
		t.Logf("%s: %d rows, %d MiB, %v", q.sql, rows, most>>20, time.Since(began).Round(time.Millisecond))
		if rows != q.rows {
			t.Errorf("%s: %d rows, want %d", q.sql, rows, q.rows)
		}
		if most > heldOfScan {
			t.Errorf("%s: %d MiB", q.sql, most>>20)
		}
	}
}

// While nobody takes rows a scan reads ahead a little, then waits; nothing is lost.
func TestMemoryOfSlowConsumer(t *testing.T) {
	race.Skip(t)
	const n = 200_000
	for _, sql := range []string{"SELECT id, v FROM big", "SELECT id, v FROM big ORDER BY id"} {
		src, w := newSource(t, n, 20, valueOfSource)
		var rows int
		most := peak(func() {
			r, err := w.Run(t.Context(), MustParse(t, sql), Args{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			sent := func() int64 {
				src.mu.Lock()
				defer src.mu.Unlock()
				return src.sent
			}
			for i := 0; ; i++ {
				batch, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				rows += len(batch)
				if i > 0 && i%200 != 0 || i > 400 {
					continue
				}
				before := int64(-1) // wait until it stands still
				waitFor(t, func() bool {
					time.Sleep(50 * time.Millisecond)
					now := sent()
					still := now == before
					before = now
					return still
				})
				if ahead := before - int64(rows)*cellOfSource; ahead > 32<<20 {
					t.Errorf("%s: %d MiB read ahead of row %d", sql, ahead>>20, rows)
				}
			}
		})
		t.Logf("%s: %d rows, %d MiB", sql, rows, most>>20)
		if rows != n || most > heldOfScan {
			t.Errorf("%s: %d rows, %d MiB", sql, rows, most>>20)
		}
	}
}

// Values that functions make count, whoever holds them: a batch, a row, an argument, a group, a sort, a file that is read back.
func TestMemoryOfLongValues(t *testing.T) {
	race.Skip(t)
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan, MemoryLimit: 8 << 20, SpillDir: t.TempDir()})
	const long = "REPEAT(n::text || 'x', 500000)"
	times50 := func(x string) string { return x + strings.Repeat(", "+x, 49) }
	nested := "'a'"
	for range 20 {
		nested = "(CASE WHEN " + long + " = " + nested + " THEN 'a' ELSE 'b' END)"
	}
	for sql, fits := range map[string]bool{
		"SELECT " + long + " FROM s": true,
		"SELECT max(length(x)) FROM (SELECT " + long + " AS x FROM s OFFSET 1) AS t":                   true,
		"SELECT max(length(x)) FROM s, LATERAL (SELECT " + long + " AS x OFFSET 0) AS t":               true,
		"SELECT max(length(x)) FROM (VALUES " + times50("(REPEAT(NOW()::text, 50000))") + ") AS v (x)": true,
		"SELECT " + times50(long) + " FROM s":                                                          false,
		"SELECT length(concat(" + times50(long) + ")) FROM s":                                          false,
		"SELECT cardinality(ARRAY[" + times50(long) + "]) FROM s":                                      false,
		"SELECT " + nested + " FROM s":                                                                 false,
		"SELECT count(*) FROM s GROUP BY ROLLUP (" + long + ")":                                        true,
		"SELECT count(*) FROM (SELECT DISTINCT " + long + " FROM s) AS t":                              true,
		"SELECT n FROM s ORDER BY " + long:                                                             true,
		"SELECT n FROM s ORDER BY " + long + " LIMIT 100":                                              true,
		"SELECT n FROM s ORDER BY CASE WHEN n > 35 THEN n::text ELSE '0' || " + long + " END LIMIT 20": true,
		"SELECT max(" + long + ") FROM s":                                                              true,
		"SELECT length(max(" + long + ")) FROM s GROUP BY n":                                           true,
		"SELECT length(any_value(" + long + ")) FROM s GROUP BY n":                                     true,
		"SELECT length(max_by(" + long + ", n)) FROM s GROUP BY n":                                     true,
		"SELECT json_agg(REPEAT(CHR(1), 300000)) FROM s WHERE n < 20":                                  false,
		"SELECT cardinality(string_to_array(REPEAT(n::text || ',', 1000000), ',')) FROM s":             false,
		"SELECT cardinality(regexp_split_to_array(REPEAT(n::text || ',', 1000000), ',')) FROM s":       false,
		"SELECT cardinality(('{1' || REPEAT(',' || n::text, 1000000) || '}')::int[]) FROM s":           false,
		"SELECT json_array_length(('[1' || REPEAT(',' || n::text, 1000000) || ']')::json) FROM s":      false,
		"SELECT count(*) FROM s, unnest(string_to_array(REPEAT(n::text || ',', 10000), ',')) AS u (x)": true,
	} {
		sql = "WITH s (n) AS (SELECT n FROM GENERATE_SERIES(1, 40) AS g (n)) " + sql
		var err error
		most := peak(func() {
			_, _, err = w.Drain(sql)
		})
		if fits && err != nil || !fits && !errors.Is(err, ErrMemoryLimit) {
			t.Errorf("%s: %v", sql, err)
		}
		if most > 80<<20 {
			t.Errorf("%s: %d MiB", sql, most>>20)
		}
	}
}

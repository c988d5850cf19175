package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(poison.Tests(m)) }

// both runs f on the embedded store and on a real HBase: the same code, the same answers.
func both(t *testing.T, f func(t *testing.T, c Client)) {
	t.Run("embedded", func(t *testing.T) {
		s, err := store.Open(store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		f(t, New(s, s))
	})
	t.Run("hbase", func(t *testing.T) {
		c, err := Dial(context.Background(), Config{Quorum: hbasetest.Quorum(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		f(t, c)
	})
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func put(key string, ts int64, cells ...string) Mutation {
	m := Mutation{Key: []byte(key), Timestamp: ts}
	for _, c := range cells {
		col, val, _ := strings.Cut(c, "=")
		fam, qual, _ := strings.Cut(col, ":")
		m.Cells = append(m.Cells, Cell{Family: []byte(fam), Qualifier: []byte(qual), Value: []byte(val)})
	}
	return m
}

// table makes a table of its own for a test.
func table(t *testing.T, c Client, families []Family, splits ...string) string {
	t.Helper()
	name := fmt.Sprintf("t%x", rand.Uint64())
	var keys [][]byte
	for _, s := range splits {
		keys = append(keys, []byte(s))
	}
	if err := c.CreateTable(within(t), name, families, keys); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.DropTable(ctx, name, nil); err != nil {
			t.Error(err)
		}
	})
	return name
}

func scan(t *testing.T, c Client, r ScanRange, o *ReadOptions) []string {
	t.Helper()
	ctx := within(t)
	sc, err := c.Scan(ctx, r, o)
	if err != nil {
		t.Fatal(err)
	}
	defer sc.Close()
	var out []string
	for {
		rows, err := sc.Next(ctx)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			out = append(out, show(row))
		}
	}
}

func show(r Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", r.Key)
	for _, c := range r.Cells {
		fmt.Fprintf(&b, " %s:%q@%d=%q", c.Family, c.Qualifier, c.Timestamp, c.Value)
	}
	return b.String()
}

func TestReadWrite(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		name := table(t, c, []Family{{Name: "f", Attributes: map[string]string{"VERSIONS": "3"}}, {Name: "g"}}, "k1", "k2")
		ctx := within(t)
		var ms []Mutation
		for i := range 30 {
			ms = append(ms, put(fmt.Sprintf("k%02d", i), 5, fmt.Sprintf("f:a=%d", i), fmt.Sprintf("g:b=%d", i%3)))
		}
		if err := c.Mutate(ctx, name, ms); err != nil {
			t.Fatal(err)
		}
		for _, r := range []ScanRange{{}, {BatchRows: 3}, {Start: []byte("k05"), Stop: []byte("k25")}, {Start: []byte("k05"), Stop: []byte("k25"), Limit: 12}, {Limit: 11, BatchRows: 4}, {BatchBytes: 1}} {
			for _, rev := range []bool{false, true} {
				r.Table, r.Reversed = name, rev
				lo, hi := 0, 30
				if len(r.Start) > 0 {
					lo, hi = 5, 25
				}
				var want []string
				for i := lo; i < hi; i++ {
					want = append(want, fmt.Sprintf(`"k%02d" f:"a"@5="%d" g:"b"@5="%d"`, i, i, i%3))
				}
				if rev {
					slices.Reverse(want)
				}
				if r.Limit > 0 {
					want = want[:r.Limit]
				}
				if got := scan(t, c, r, nil); !slices.Equal(got, want) {
					t.Errorf("%+v: %d rows %v", r, len(got), got)
				}
			}
		}
		if got := scan(t, c, ScanRange{Table: name, Start: []byte("k05"), Stop: []byte("k05")}, nil); got != nil {
			t.Errorf("an empty range has rows: %v", got)
		}
		rows, err := c.Get(ctx, name, [][]byte{[]byte("k29"), []byte("none"), []byte("k00"), []byte("k15")}, &ReadOptions{Columns: []filter.Column{{Family: "g", Qualifier: "b"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := show(rows[0]) + show(rows[2]) + show(rows[3]); rows[1].Key != nil || got != `"k29" g:"b"@5="2""k00" g:"b"@5="0""k15" g:"b"@5="0"` {
			t.Errorf("got %s", got)
		}
		one, err := c.Get(ctx, name, [][]byte{[]byte("k07")}, nil)
		if err != nil || show(one[0]) != `"k07" f:"a"@5="7" g:"b"@5="1"` {
			t.Errorf("got %v, %v", one, err)
		}
		del := put("k07", 6, "f:a=")
		del.Kind = DeleteColumns
		if err := c.Mutate(ctx, name, []Mutation{del, {Kind: DeleteRow, Key: []byte("k08"), Timestamp: 6}}); err != nil {
			t.Fatal(err)
		}
		got := scan(t, c, ScanRange{Table: name, Start: []byte("k07"), Stop: []byte("k10")}, nil)
		if len(got) != 2 || got[0] != `"k07" g:"b"@5="1"` {
			t.Errorf("after deletes: %v", got)
		}
	})
}

func TestFilters(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		name := table(t, c, []Family{{Name: "f"}}, "k5")
		ctx := within(t)
		var ms []Mutation
		for i := range 10 {
			m := put(fmt.Sprintf("k%d", i), 1, fmt.Sprintf("f:n=v%d", i), "f:z=end")
			if i%2 == 0 {
				m.Cells = append(m.Cells, Cell{Family: []byte("f"), Qualifier: []byte("even"), Value: []byte{0xc3, 0xa9, '.', byte(i)}})
			}
			ms = append(ms, m)
		}
		if err := c.Mutate(ctx, name, ms); err != nil {
			t.Fatal(err)
		}
		cell := func(q string, op filter.Op, v string) filter.Filter {
			return filter.Cell{Family: "f", Qualifier: q, Op: op, Value: []byte(v)}
		}
		for _, x := range []struct {
			f    filter.Filter
			want string // the digits of the keys
		}{
			{cell("n", filter.Equal, "v3"), "3"},
			{cell("n", filter.NotEqual, "v3"), "012456789"},
			{cell("n", filter.Less, "v3"), "012"},
			{cell("n", filter.LessOrEqual, "v3"), "0123"},
			{cell("n", filter.Greater, "v7"), "89"},
			{cell("n", filter.GreaterOrEqual, "v7"), "789"},
			{cell("n", filter.Prefix, "v"), "0123456789"},
			{cell("even", filter.Prefix, "\xc3\xa9."), "02468"},
			{filter.Cell{Family: "f", Qualifier: "even", Value: []byte("x"), KeepMissing: true}, "13579"},
			{filter.CellNull{Family: "f", Qualifier: "even"}, "13579"},
			{filter.CellNull{Family: "f", Qualifier: "even", Not: true}, "02468"},
			{filter.And{cell("n", filter.Greater, "v2"), filter.CellNull{Family: "f", Qualifier: "even", Not: true}}, "468"},
			{filter.Or{cell("n", filter.Equal, "v2"), cell("n", filter.Equal, "v9")}, "29"},
			{filter.And{filter.Or{cell("n", filter.Less, "v2"), cell("n", filter.Greater, "v7")}, cell("z", filter.Equal, "end")}, "0189"},
			{filter.Regex{Family: "f", Qualifier: "n", Pattern: `\Av.*4\z`}, "4"},
			{filter.Regex{Family: "f", Qualifier: "even", Pattern: "\\AÃ©\\..*\\z"}, "02468"},
			{filter.KeyRanges{{Start: []byte("k1"), Stop: []byte("k3")}, {Start: []byte("k8")}}, "1289"},
			{filter.Fuzzy{{Key: []byte("?7"), Mask: []byte{1, 0}}}, "7"},
			{filter.Fuzzy{{Key: []byte("?7"), Mask: []byte{1, 0}}, {Key: []byte("?4"), Mask: []byte{1, 0}}}, "47"},
			{filter.And{filter.KeyRanges{{Start: []byte("k1"), Stop: []byte("k3")}, {Start: []byte("k8")}}, filter.Fuzzy{{Key: []byte("k2?"), Mask: []byte{0, 0, 1}}}}, "2"},
			{filter.And{cell("n", filter.Less, "v3"), filter.FirstCell{}, filter.KeyOnly{}}, "012"},
			{filter.Columns{{Family: "f", Qualifier: "z"}}, "0123456789"},
			{filter.ColumnRange{Family: "f", Min: []byte("a"), Max: []byte("f")}, "02468"},
		} {
			for _, rev := range []bool{false, true} {
				if rev && hops(x.f) {
					continue // refused: see Scan
				}
				var got []byte
				for _, r := range scan(t, c, ScanRange{Table: name, Reversed: rev}, &ReadOptions{Filter: x.f}) {
					got = append(got, r[2])
				}
				want := []byte(x.want)
				if rev {
					slices.Reverse(want)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s reversed=%v: %s, want %s", x.f, rev, got, want)
				}
			}
		}
	})
}

func TestAdmin(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		name := table(t, c, []Family{{Name: "f", Attributes: map[string]string{"VERSIONS": "7", "BLOOMFILTER": "ROWCOL", "TTL": "1000"}}}, "b", "m")
		ctx := within(t)
		fams, err := c.Families(ctx, name)
		if err != nil || len(fams) != 1 || fams[0].Attributes["VERSIONS"] != "7" || fams[0].Attributes["BLOOMFILTER"] != "ROWCOL" || fams[0].Attributes["TTL"] != "1000" {
			t.Errorf("families %v, %v", fams, err)
		}
		rs, err := c.Regions(ctx, name)
		if err != nil || len(rs) != 3 || string(rs[1].Start) != "b" || string(rs[1].Stop) != "m" {
			t.Errorf("regions %v, %v", rs, err)
		}
		ts, err := c.Tables(ctx, name[:5])
		if err != nil || !slices.Contains(ts, name) {
			t.Errorf("tables %v, %v", ts, err)
		}
		if _, err := c.Families(ctx, "no_such_table"); !errors.Is(err, ErrNoTable) {
			t.Errorf("families of nothing: %v", err)
		}
		if _, err := c.Get(ctx, "no_such_table", [][]byte{[]byte("x")}, nil); !errors.Is(err, ErrNoTable) {
			t.Errorf("get from nothing: %v", err)
		}
		if rows, err := ReadAll(ctx, c, ScanRange{Table: "no_such_table"}, nil); !errors.Is(err, ErrNoTable) {
			t.Errorf("all rows of nothing: %v, %v", rows, err)
		}
		n, err := c.Increment(ctx, name, []byte("k"), "f", "n", 5)
		if err != nil || n != 5 {
			t.Errorf("increment %d, %v", n, err)
		}
		for _, want := range []bool{true, false} {
			ok, err := c.PutIf(ctx, name, nil, put("p", time.Now().UnixMilli(), "f:a=x"))
			if err != nil || ok != want {
				t.Errorf("put if absent: %v, %v", ok, err)
			}
		}
	})
}

// A scan that is closed before its end has not ended.
func TestClosedScan(t *testing.T) {
	_, c := storeWithTable(t)
	if err := c.Mutate(t.Context(), "t", []Mutation{put("a", 1, "f:q=v"), put("b", 1, "f:q=v")}); err != nil {
		t.Fatal(err)
	}
	s, err := c.Scan(t.Context(), ScanRange{Table: "t", BatchRows: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := s.Next(t.Context()); err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if rows, err := s.Next(t.Context()); err != errScanClosed {
		t.Error(rows, err)
	}
}

// A scan that has failed goes on to fail.
func TestFailedScan(t *testing.T) {
	_, c := storeWithTable(t)
	s, err := c.Scan(t.Context(), ScanRange{Table: "missing"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		if rows, err := s.Next(t.Context()); !errors.Is(err, ErrNoTable) {
			t.Error(rows, err)
		}
	}
}

func TestInvalidMutations(t *testing.T) {
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := New(s, s)
	name := table(t, c, []Family{{Name: "f"}})
	for _, m := range []Mutation{put("", 1, "f:a=1"), put(strings.Repeat("x", MaxKeyLength+1), 1, "f:a=1"), put("k", 0, "f:a=1"), put("k", 1),
		{Key: []byte("k"), Timestamp: 1, Cells: []Cell{{Family: []byte("f"), Value: make([]byte, MaxCellSize+1)}}}} {
		err := c.Mutate(within(t), name, []Mutation{put("good", 1, "f:a=1"), m})
		var be *BatchError
		if !errors.As(err, &be) || len(be.Failed) != 2 {
			t.Errorf("%.40q: %v", m.Key, err)
		}
	}
	if got := scan(t, c, ScanRange{Table: name}, nil); got != nil {
		t.Errorf("rows of a refused batch were written: %v", got)
	}
}

// splitAt splits the region of a table that holds key, and waits until the halves serve.
func splitAt(t *testing.T, c Client, name, key string) {
	t.Helper()
	if s, ok := c.(*client).servers.current().(*store.Store); ok {
		if err := s.Split(name, []byte(key)); err != nil {
			t.Fatal(err)
		}
		return
	}
	ctx := within(t)
	rs, err := c.Regions(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rs {
		if string(r.Start) > key || len(r.Stop) > 0 && string(r.Stop) <= key {
			continue
		}
		id, err := strconv.ParseUint(strings.Split(r.Name[strings.LastIndexByte(r.Name, ',')+1:], ".")[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		info, err := proto.Marshal(&pb.RegionInfo{RegionId: &id, TableName: tableName(name), StartKey: r.Start, EndKey: r.Stop})
		if err != nil {
			t.Fatal(err)
		}
		// SplitTableRegionRequest has the same fields on the wire: a RegionInfo and the key.
		req := &pb.BytesBytesPair{First: info, Second: []byte(key)}
		msg, err := c.(*client).callMaster(ctx, "SplitRegion", req, &pb.DisableTableResponse{})
		if err == nil {
			err = c.(*client).procedure(ctx, msg.(*pb.DisableTableResponse).GetProcId(), "split", name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Rows that are in another region since a split are looked up again, whatever kind of call they go in.
func TestWritesAfterSplit(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		name := table(t, c, []Family{{Name: "f"}})
		ctx := within(t)
		write := func(ts int64) {
			t.Helper()
			var ms []Mutation
			for i := range 10 {
				ms = append(ms, put(fmt.Sprintf("k%d", i), ts, "f:a=1"))
			}
			if err := c.Mutate(ctx, name, ms); err != nil {
				t.Error(err)
			}
		}
		write(1)
		splitAt(t, c, name, "k5")
		if _, err := c.Get(ctx, name, [][]byte{[]byte("k1")}, nil); err != nil { // the first half is known now, the second is not
			t.Fatal(err)
		}
		write(2)
		if ok, err := c.PutIf(ctx, name, nil, put("k4", 3, "f:b=1")); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		if got := scan(t, c, ScanRange{Table: name}, &ReadOptions{MinTime: 2, MaxTime: 3}); len(got) != 10 {
			t.Errorf("%d of 10 rows: %v", len(got), got)
		}
	})
}

// A Put on condition that a column holds a value is written in its place alone.
func TestPutInPlaceOf(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		name := table(t, c, []Family{{Name: "f"}})
		ctx := within(t)
		for i, x := range []struct {
			was, now string
			want     bool
		}{{"a", "b", false}, {"", "a", true}, {"", "b", false}, {"aa", "b", false}, {"a", "b", true}, {"a", "c", false}} {
			var was []byte
			if x.was != "" {
				was = []byte(x.was)
			}
			if ok, err := c.PutIf(ctx, name, was, put("k", int64(i+1), "f:a="+x.now)); ok != x.want || err != nil {
				t.Errorf("%v: %v, %v", x, ok, err)
			}
		}
		if got := scan(t, c, ScanRange{Table: name}, &ReadOptions{}); len(got) != 1 || got[0] != `"k" f:"a"@5="b"` {
			t.Errorf("%v", got)
		}
	})
}

// A server's error for a row of another region depends on the call.
func TestForeignRow(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		name := table(t, c, []Family{{Name: "f"}}, "m")
		ctx := within(t)
		z := put("z", 1, "f:a=1")
		first, err := hrpc.NewGet(ctx, []byte(name), []byte("a"), hrpc.SkipBatch())
		if err != nil {
			t.Fatal(err)
		}
		rpc := c.(*client).servers.rpc
		msg, err := rpc.SendRPC(&multiCall{Get: first, parts: []multiPart{{actions: []*pb.Action{{Index: proto.Uint32(0), Mutation: z.proto()}}}}})
		if err != nil {
			t.Fatal(err)
		}
		refused := exceptionError(msg.(*pb.MultiResponse).RegionActionResult[0].ResultOrException[0].GetException())
		if !foreign(refused) || classify(refused) != retry {
			t.Errorf("in a batch: %v", refused)
		}
		for checked, class := range map[bool]string{false: "FailedSanityCheckException", true: "WrongRegionException"} {
			put, err := hrpc.NewPut(ctx, []byte(name), []byte("a"), nil, hrpc.SkipBatch())
			if err != nil {
				t.Fatal(err)
			}
			cas, err := hrpc.NewCheckAndPut(put, "f", "a", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := rpc.SendRPC(&misledPut{cas, z.proto(), checked}); err == nil || !isOneOf(err, []string{class}) || classify(err) != retry {
				t.Errorf("alone, checked %v: %v", checked, err)
			}
		}
	})
}

// misledPut is a Put, conditional or not, of another row than its region's.
type misledPut struct {
	*hrpc.CheckAndPut
	mutation *pb.MutationProto
	checked  bool
}

func (p *misledPut) ToProto() proto.Message {
	r := p.CheckAndPut.ToProto().(*pb.MutateRequest)
	r.Mutation, r.Condition.Row = p.mutation, p.mutation.Row
	if !p.checked {
		r.Condition = nil
	}
	return r
}

// A Put writes and removes columns in one step.
func TestPutRemoves(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		name := table(t, c, []Family{{Name: "f"}, {Name: "g"}})
		ctx := within(t)
		m := put("k", 5, "f:a=2")
		m.Removed = put("", 0, "f:b=", "g:c=").Cells
		if err := c.Mutate(ctx, name, []Mutation{put("k", 4, "f:a=1", "f:b=1", "g:c=1", "g:d=1")}); err != nil {
			t.Fatal(err)
		}
		if err := c.Mutate(ctx, name, []Mutation{m, m}); err != nil {
			t.Fatal(err)
		}
		if got := scan(t, c, ScanRange{Table: name}, nil); len(got) != 1 || got[0] != `"k" f:"a"@5="2" g:"d"@4="1"` {
			t.Errorf("%v", got)
		}
		if ok, err := c.PutIf(ctx, name, nil, m); ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		m.Key = []byte("l")
		if ok, err := c.PutIf(ctx, name, nil, m); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		if got := scan(t, c, ScanRange{Table: name, Start: []byte("l")}, nil); len(got) != 1 || got[0] != `"l" f:"a"@5="2"` {
			t.Errorf("%v", got)
		}
	})
}

func TestUnreachable(t *testing.T) {
	start := time.Now()
	_, err := Dial(context.Background(), Config{Quorum: "127.0.0.1:1", ConnectTimeout: 2 * time.Second})
	if !errors.Is(err, ErrUnreachable) || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// A table that is to stay, as is seen once it is disabled, is there with its rows, and a drop finds another one enabled that has come since.
func TestDropOfAnother(t *testing.T) {
	both(t, func(t *testing.T, of Client) {
		ctx := within(t)
		table := table(t, of, []Family{{Name: "f"}}, "m")
		fill := func() {
			if err := of.Mutate(ctx, table, []Mutation{put("a", 1, "f:a=1"), put("z", 1, "f:a=2")}); err != nil {
				t.Fatal(err)
			}
		}
		fill()
		stays := errors.New("stays")
		if err := of.DropTable(ctx, table, func(context.Context) error { return stays }); !errors.Is(err, stays) {
			t.Fatal(err)
		}
		if got := scan(t, of, ScanRange{Table: table}, nil); len(got) != 2 {
			t.Errorf("left %q", got)
		}
		asked := 0
		err := of.DropTable(ctx, table, func(context.Context) error {
			if asked++; asked > 1 {
				return stays
			}
			if err := of.DropTable(ctx, table, nil); err != nil {
				return err
			}
			if err := of.CreateTable(ctx, table, []Family{{Name: "f"}}, nil); err != nil {
				return err
			}
			fill()
			return nil
		})
		if !errors.Is(err, stays) || asked != 2 {
			t.Errorf("asked %d times: %v", asked, err)
		}
		if got := scan(t, of, ScanRange{Table: table}, nil); len(got) != 2 {
			t.Errorf("left of the other %q", got)
		}
	})
}

// gohbase waits for a disabled table to be enabled. Calls end without it, and say why.
func TestDisabledTable(t *testing.T) {
	both(t, func(t *testing.T, of Client) {
		ctx, table := within(t), fmt.Sprintf("disabled%d", os.Getpid())
		if err := of.CreateTable(ctx, table, []Family{{Name: "f"}}, nil); err != nil {
			t.Fatal(err)
		}
		defer of.DropTable(ctx, table, nil)
		if err := of.Mutate(ctx, table, []Mutation{put("k", 1, "f:a=1")}); err != nil {
			t.Fatal(err)
		}
		c := of.(*client)
		msg, err := c.callMaster(ctx, "DisableTable", &pb.DisableTableRequest{TableName: tableName(table)}, &pb.DisableTableResponse{})
		if err == nil {
			err = c.procedure(ctx, msg.(*pb.DisableTableResponse).GetProcId(), "disable", table)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.attempt = time.Hour
		ctx = context.Background() // no deadline of the caller's
		for name, call := range map[string]func() error{
			"get": func() error {
				_, err := c.Get(ctx, table, [][]byte{[]byte("k")}, nil)
				return err
			},
			"scan": func() error {
				sc, err := c.Scan(ctx, ScanRange{Table: table}, nil)
				if err != nil {
					return err
				}
				defer sc.Close()
				_, err = sc.Next(ctx)
				return err
			},
			"mutate":        func() error { return c.Mutate(ctx, table, []Mutation{put("k", 2, "f:a=2")}) },
			"put if absent": func() error { _, err := c.PutIf(ctx, table, nil, put("k", 2, "f:b=2")); return err },
			"increment":     func() error { _, err := c.Increment(ctx, table, []byte("k"), "f", "n", 1); return err },
		} {
			t.Run(name, func(t *testing.T) {
				if err := call(); err == nil || !strings.Contains(err.Error(), "table "+table+" is disabled") {
					t.Errorf("got %v", err)
				}
			})
		}
		c.attempt = 0
		if err := c.enable(ctx, table); err != nil {
			t.Fatal(err)
		}
		if rows, err := c.Get(within(t), table, [][]byte{[]byte("k")}, nil); err != nil || len(rows[0].Cells) == 0 {
			t.Errorf("enabled again: %v, %v", rows, err)
		}
	})
}

// leaving is a client whose answer comes after its caller has gone.
type leaving struct {
	gohbase.RPCClient
	leave  func()
	answer chan struct{}
	call   hrpc.Call
}

func (l *leaving) SendRPC(call hrpc.Call) (proto.Message, error) {
	l.call = call
	l.leave()
	<-l.answer
	return &pb.GetResponse{}, call.Context().Err()
}

// leftAttempt is an attempt at a call whose caller leaves; seen is closed when its answer comes later, if that is wanted.
func leftAttempt(t *testing.T, ctx context.Context, wanted bool) (a *attempt, get hrpc.Call, seen chan struct{}) {
	t.Helper()
	a, seen = newAttempt(ctx, noLimit), make(chan struct{})
	if wanted {
		a.abandoned = func(proto.Message) { close(seen) }
	}
	get, err := hrpc.NewGetStr(a, "t", "k")
	if err != nil {
		t.Fatal(err)
	}
	return a, get, seen
}

// A call whose answer must be seen is sent though its caller has gone, for the scanner that it goes on with to be closed; others are not.
func TestCallOfCallerWhoHasGone(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		rpc := &leaving{leave: leave, answer: make(chan struct{})}
		close(rpc.answer)
		a, get, seen := leftAttempt(t, ctx, wanted)
		_, err := a.send(rpc, get, watch{})
		if wanted && err != nil { // else it was answered before the end was seen
			<-seen
		}
		if <-a.Done(); rpc.call == nil == wanted {
			t.Errorf("sent: %t, want %t", rpc.call != nil, wanted)
		}
	}
}

// A call whose answer must be seen goes on when its caller has gone, until it is answered; others end with their callers.
func TestCallAfterTheCallerLeft(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		ctx, leave := context.WithCancel(t.Context())
		rpc := &leaving{leave: leave, answer: make(chan struct{})}
		a, get, seen := leftAttempt(t, ctx, wanted)
		if _, err := a.send(rpc, get, watch{}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if going := a.Err() == nil; going != wanted {
			t.Errorf("the call whose caller has gone: %v", a.Err())
		}
		close(rpc.answer)
		if wanted {
			<-seen
		}
		<-a.Done()
	}
}

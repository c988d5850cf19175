package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	gohbaseregion "github.com/tsuna/gohbase/region"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// rawScan is a scan whose message a test edits; it counts as a caller that reads blocks.
type rawScan struct {
	*hrpc.Scan
	key  string
	edit func(*pb.ScanRequest)
}

func (r *rawScan) Key() []byte { return []byte(r.key) }
func (r *rawScan) ToProto() proto.Message {
	m := r.Scan.ToProto().(*pb.ScanRequest)
	if r.edit != nil {
		r.edit(m)
	}
	return m
}

func varintField(field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), v)
}

func (w *world) send(key, start, stop string, edit func(*pb.ScanRequest), o ...func(hrpc.Call) error) (*pb.ScanResponse, error) {
	s := must(hrpc.NewScanRangeStr(context.Background(), "t", start, stop, o...))
	msg, err := w.SendRPC(&rawScan{s, key, edit})
	if err != nil {
		return nil, err
	}
	return msg.(*pb.ScanResponse), nil
}

// answer writes a response: rows with the number of their cells, then its flags.
func answer(r *pb.ScanResponse, err error) string {
	if err != nil {
		class, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "HBase Java exception "), ":")
		return class[strings.LastIndexByte(class, '.')+1:]
	}
	var b strings.Builder
	for _, res := range r.Results {
		fmt.Fprintf(&b, "%s/%d", res.Cell[0].Row, len(res.Cell))
		if res.GetPartial() {
			b.WriteString("+")
		}
		b.WriteString(" ")
	}
	flag := func(name string, v *bool) {
		if v != nil {
			fmt.Fprintf(&b, "%s=%v ", name, *v)
		}
	}
	flag("region", r.MoreResultsInRegion)
	flag("more", r.MoreResults)
	if r.GetHeartbeatMessage() {
		b.WriteString("heartbeat ")
	}
	return strings.TrimSpace(b.String())
}

func (w *world) fill() {
	for r := 'a'; r <= 'e'; r++ {
		w.put(string(r), 1, "f:1=", "f:2=", "g:1=")
	}
}

func TestScanProtocol(t *testing.T) {
	w := newWorld(t, "d")
	w.fill()
	n := hrpc.NumberOfRows
	r, err := w.send("a", "a", "", nil, n(2))
	w.want("open", answer(r, err), "a/3 b/3 region=true more=true")
	id := r.GetScannerId()
	r, err = w.send("a", "a", "", nil, hrpc.ScannerID(id), n(2))
	w.want("next", answer(r, err), "c/3 region=false more=true")
	if got := w.OpenScanners(); got != 0 {
		t.Errorf("%d scanners open at the end of the region", got)
	}
	r, err = w.send("a", "a", "", nil, hrpc.ScannerID(id), n(2))
	w.want("after the end", answer(r, err), "")
	r, err = w.send("a", "a", "", nil, hrpc.ScannerID(id), hrpc.CloseScanner(), n(0))
	w.want("close after the end", answer(r, err), "")
	r, err = w.send("a", "a", "", nil, hrpc.ScannerID(99), n(2))
	w.want("never opened", answer(r, err), "UnknownScannerException")
	r, err = w.send("a", "a", "", nil, n(0))
	w.want("open only", answer(r, err), "region=true more=true")
	r, err = w.send("a", "a", "", nil, n(10), hrpc.CloseScanner())
	w.want("close with the first", answer(r, err), "a/3 b/3 c/3 region=false more=true")
	r, err = w.send("a", "a", "", nil, n(3))
	w.want("exactly the region", answer(r, err), "a/3 b/3 c/3 region=false more=true")
	r, err = w.send("e", "a", "", nil, n(9))
	w.want("start before the region", answer(r, err), "d/3 e/3 region=false more=true")
	if got := w.OpenScanners(); got != 1 {
		t.Errorf("%d scanners open", got)
	}
}

func TestScanSequence(t *testing.T) {
	w := newWorld(t)
	w.fill()
	seq := func(n uint64) func(*pb.ScanRequest) {
		return func(m *pb.ScanRequest) { m.NextCallSeq = proto.Uint64(n) }
	}
	one := hrpc.NumberOfRows(1)
	r, err := w.send("a", "", "", seq(0), one)
	w.want("open", answer(r, err), "a/3 region=true more=true")
	id := hrpc.ScannerID(r.GetScannerId())
	r, err = w.send("a", "", "", seq(1), id, one)
	w.want("next", answer(r, err), "b/3 region=true more=true")
	r, err = w.send("a", "", "", seq(1), id, one)
	w.want("sent again", answer(r, err), "OutOfOrderScannerNextException")
	r, err = w.send("a", "", "", seq(2), id, hrpc.NumberOfRows(9))
	w.want("still there", answer(r, err), "c/3 d/3 e/3 region=false more=true")
	r, err = w.send("a", "", "", seq(2), id, one)
	w.want("last sent again", answer(r, err), "OutOfOrderScannerNextException")
}

func TestScanLimits(t *testing.T) {
	w := newWorld(t, "c")
	w.fill()
	unknown := func(request, scan []byte) func(*pb.ScanRequest) {
		return func(m *pb.ScanRequest) {
			m.ProtoReflect().SetUnknown(request)
			if m.Scan != nil {
				m.Scan.ProtoReflect().SetUnknown(scan)
			}
		}
	}
	limit := func(n uint64) func(*pb.ScanRequest) { return unknown(varintField(fieldLimitOfRows, n), nil) }
	r, err := w.send("a", "", "", limit(1))
	w.want("limit", answer(r, err), "a/3 region=true more=false")
	r, err = w.send("a", "", "", limit(2))
	w.want("limit at the region's end", answer(r, err), "a/3 b/3 region=false more=false")
	r, err = w.send("a", "", "", limit(3))
	w.want("limit behind the region's end", answer(r, err), "a/3 b/3 region=false more=true")
	if got := w.OpenScanners(); got != 0 {
		t.Errorf("%d scanners open", got)
	}
	r, err = w.send("a", "a", "a", unknown(nil, varintField(fieldScanIncludeStop, 0)))
	w.want("empty range", answer(r, err), "region=false more=true")
	r, err = w.send("a", "a", "b", unknown(nil, varintField(fieldScanIncludeStop, 1)))
	w.want("with stop", answer(r, err), "a/3 b/3 region=false more=true")
	r, err = w.send("a", "a", "b", unknown(nil, append(varintField(fieldScanIncludeStop, 1), varintField(fieldScanIncludeStart, 0)...)))
	w.want("without start", answer(r, err), "b/3 region=false more=true")
	r, err = w.send("e", "e", "d", unknown(nil, varintField(fieldScanIncludeStart, 0)), hrpc.Reversed())
	w.want("reversed without start", answer(r, err), "region=false more=true")
	r, err = w.send("e", "", "c", nil, hrpc.Reversed())
	w.want("reversed without a start row", answer(r, err), "e/3 d/3 region=false more=true")
}

func TestPartialRows(t *testing.T) {
	w := newWorld(t)
	w.fill()
	size := hrpc.MaxResultSize
	r, err := w.send("a", "", "", nil, size(1))
	w.want("first cell", answer(r, err), "a/1+ region=true more=true")
	id := hrpc.ScannerID(r.GetScannerId())
	r, err = w.send("a", "", "", nil, id)
	w.want("second cell", answer(r, err), "a/1+ region=true more=true")
	r, err = w.send("a", "", "", nil, id)
	w.want("last cell", answer(r, err), "a/1 region=true more=true")
	r, err = w.send("a", "", "", nil, id)
	w.want("next row", answer(r, err), "b/1+ region=true more=true")
	w.want("joined", w.rows("", "", size(1)), "a b c d e")
	w.want("joined, whole", w.scan("a", "b", size(1)), "a f:1@1= f:2@1= g:1@1=\n")
	w.want("parts", w.scan("a", "b", size(1), hrpc.AllowPartialResults()), "a f:1@1= ...\na f:2@1= ...\na g:1@1=\n")
	whole := func(m *pb.ScanRequest) { m.ClientHandlesPartials = nil }
	r, err = w.send("a", "", "", whole, size(1))
	w.want("a client that cannot join", answer(r, err), "a/3 region=true more=true")
	// What follows the part may all be filtered out: then the row was complete.
	w.del("c", []string{"f:2", "g:1"})
	r, err = w.send("c", "c", "", func(m *pb.ScanRequest) {
		m.ProtoReflect().SetUnknown(varintField(fieldLimitOfRows, 1))
	}, size(1))
	w.want("part", answer(r, err), "c/1+ region=true more=true")
	r, err = w.send("c", "c", "", func(m *pb.ScanRequest) {
		m.ProtoReflect().SetUnknown(varintField(fieldLimitOfRows, 1))
	}, hrpc.ScannerID(r.GetScannerId()))
	w.want("was all", answer(r, err), "region=true more=false")
}

func TestLease(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r, err := w.send("a", "", "", nil, hrpc.NumberOfRows(1))
	w.want("open", answer(r, err), "a/3 region=true more=true")
	id := hrpc.ScannerID(r.GetScannerId())
	w.clock.advance(59 * time.Second)
	r, err = w.send("a", "", "", func(m *pb.ScanRequest) { m.Renew = proto.Bool(true) }, id)
	w.want("renewed", answer(r, err), "")
	w.clock.advance(59 * time.Second)
	r, err = w.send("a", "", "", nil, id, hrpc.NumberOfRows(1))
	w.want("alive", answer(r, err), "b/3 region=true more=true")
	w.clock.advance(61 * time.Second)
	r, err = w.send("a", "", "", nil, id, hrpc.NumberOfRows(1))
	w.want("expired", answer(r, err), "UnknownScannerException")
	if got := w.OpenScanners(); got != 0 {
		t.Errorf("%d scanners open", got)
	}
}

// A scanner of a region that split, merged or moved is lost; other regions' are not.
func TestReshape(t *testing.T) {
	w := newWorld(t, "c")
	w.fill()
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"split", func() error { return w.Split("t", []byte("b2")) }},
		{"merge", func() error { return w.Merge("t", []byte("a")) }},
		{"move", func() error { return w.Move("t", []byte("a")) }},
	} {
		r, err := w.send("a", "", "", nil, hrpc.NumberOfRows(1))
		w.want(c.name+": open", answer(r, err), "a/3 region=true more=true")
		far, err := w.send("d", "d", "", nil, hrpc.NumberOfRows(1))
		w.want(c.name+": open elsewhere", answer(far, err), "d/3 region=true more=true")
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		r, err = w.send("a", "", "", nil, hrpc.ScannerID(r.GetScannerId()))
		w.want(c.name+": next", answer(r, err), "UnknownScannerException")
		far, err = w.send("d", "d", "", nil, hrpc.ScannerID(far.GetScannerId()))
		w.want(c.name+": next elsewhere", answer(far, err), "e/3 region=false more=true")
		w.want(c.name+": rows", w.rows("", ""), "a b c d e")
	}
}

// Where a region starts already nothing is split, nothing is behind the last region, and a table that is missing has none.
func TestReshapeNothing(t *testing.T) {
	w := newWorld(t, "c")
	table, _ := w.catalog.lookup("t")
	for _, key := range []string{"", "c"} {
		if err := w.Split("t", []byte(key)); err != nil {
			t.Errorf("split at %q: %v", key, err)
		}
	}
	if err := w.Merge("t", []byte("d")); err != nil {
		t.Errorf("merge: %v", err)
	}
	if now, _ := w.catalog.lookup("t"); now != table {
		t.Errorf("%d regions, not %d", len(now.regions), len(table.regions))
	}
	for _, err := range []error{w.Split("no", []byte("c")), w.Merge("no", nil), w.Move("no", nil)} {
		if err != gohbase.TableNotFound {
			t.Errorf("of no table: %v", err)
		}
	}
}

// A scanner sees the rows as they were when it was opened, whole over families.
func TestSnapshot(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r, err := w.send("a", "", "", nil, hrpc.NumberOfRows(1))
	w.want("open", answer(r, err), "a/3 region=true more=true")
	w.put("b", 2, "f:9=", "g:9=")
	w.del("c", nil)
	r, err = w.send("a", "", "", nil, hrpc.ScannerID(r.GetScannerId()))
	w.want("next", answer(r, err), "b/3 c/3 d/3 e/3 region=false more=true")
}

// All cells of an answer share one array.
func TestAliasedCells(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r, err := w.send("a", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := r.Results[0].Cell[0], r.Results[1].Cell[0]
	if cap(a.Row) < len(a.Row)+1 || !bytes.Equal(a.Row[:len(a.Row)+1][len(a.Row):], []byte{1}) {
		t.Error("a row key does not alias the block")
	}
	if string(b.Row) != "b" {
		t.Errorf("row %q", b.Row)
	}
}

// A read that was given up is told as that, others fail so that the client opens the scanner again.
func TestGivenUpIsNoFault(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cut := errors.New("cut")
	if err := scanError(ctx, cut); !isClass(err, classScannerReset) {
		t.Errorf("a fault: %v", err)
	}
	if err := scanError(ctx, throw(classDoNotRetry, "no")); !isClass(err, classDoNotRetry) {
		t.Errorf("what no other scanner can do: %v", err)
	}
	cancel()
	if err := scanError(ctx, cut); err != context.Canceled {
		t.Errorf("given up: %v", err)
	}
	w := newWorld(t)
	var cells []string
	for i := range 5000 { // a few are given whole
		cells = append(cells, fmt.Sprintf("f:%d=", i))
	}
	w.put("a", 0, cells...)
	tbl, _ := w.catalog.lookup("t")
	if _, err := w.Store.get(ctx, tbl, tbl.regions[0], &pb.Get{Row: []byte("a")}, &block{}, nil); err != context.Canceled {
		t.Errorf("a Get that was given up: %v", err)
	}
}

// A scan whose context has ended says so, and leaves no scanner open.
func TestEndedScan(t *testing.T) {
	w := newWorld(t)
	w.fill()
	ctx, cancel := context.WithCancel(context.Background())
	sc := w.Scan(must(hrpc.NewScanStr(ctx, "t", hrpc.NumberOfRows(1))))
	if _, err := sc.Next(); err != nil {
		t.Fatal(err)
	}
	if got := w.OpenScanners(); got != 1 {
		t.Errorf("%d scanners open before the end", got)
	}
	cancel()
	if r, err := sc.Next(); r != nil || err != context.Canceled {
		t.Errorf("%v, %v", r, err)
	}
	if got := w.OpenScanners(); got != 0 {
		t.Errorf("%d scanners open", got)
	}
}

// hbase:meta lists regions and states as clients read them.
func TestMeta(t *testing.T) {
	w := newWorld(t, "c", "c,d", "p\x00")
	w.create("t2", map[string]map[string]string{"f": nil})
	if err := w.Split("t", []byte("x")); err != nil {
		t.Fatal(err)
	}
	list := func(o ...func(hrpc.Call) error) string {
		s := must(hrpc.NewScanRangeStr(context.Background(), "hbase:meta", "t,,", "t ,,",
			append(opts{hrpc.Families(map[string][]string{"info": {"regioninfo", "server"}})}, o...)...))
		var out []string
		for _, r := range w.results(s) {
			ri, addr, err := gohbaseregion.ParseRegionInfo(r)
			if err != nil {
				t.Fatal(err)
			}
			if addr != serverAddr || string(ri.Table()) != "t" {
				t.Errorf("region %v at %q", ri, addr)
			}
			out = append(out, fmt.Sprintf("[%q,%q)", ri.StartKey(), ri.StopKey()))
		}
		return strings.Join(out, " ")
	}
	w.want("regions", list(), `["","c") ["c","c,d") ["c,d","p\x00") ["p\x00","x") ["x","")`)
	states := func() string {
		s := must(hrpc.NewScanStr(context.Background(), "hbase:meta", hrpc.Families(map[string][]string{"table": {"state"}})))
		var out []string
		for _, r := range w.results(s) {
			out = append(out, fmt.Sprintf("%s=%x", r.Cells[0].Row, r.Cells[0].Value))
		}
		return strings.Join(out, " ")
	}
	w.want("states", states(), "t=0800 t2=0800")
	if err := w.Admin().DisableTable(hrpc.NewDisableTable(context.Background(), []byte("t"))); err != nil {
		t.Fatal(err)
	}
	w.want("disabled", states(), "t=0801 t2=0800")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := w.Store.Get(must(hrpc.NewGetStr(ctx, "t", "a"))); err != context.DeadlineExceeded {
		t.Errorf("disabled table: %v", err)
	}
	if err := w.Admin().DeleteTable(hrpc.NewDeleteTable(context.Background(), []byte("t"))); err != nil {
		t.Fatal(err)
	}
	w.want("deleted", states()+list(), "t2=0800")
}

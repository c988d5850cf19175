package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tsuna/gohbase/hrpc"
	"google.golang.org/protobuf/proto"
)

// testClock is a clock that tests turn by hand.
type testClock struct{ t time.Time }

func (c *testClock) now() time.Time          { return c.t }
func (c *testClock) advance(d time.Duration) { c.t = c.t.Add(d) }

type opts = []func(hrpc.Call) error

// world is a store in memory with one table t, families f and g, and a clock.
type world struct {
	*Store
	t     *testing.T
	clock *testClock
}

func newWorld(t *testing.T, splits ...string) *world {
	t.Helper()
	clock := &testClock{time.UnixMilli(1_000_000)}
	s, err := Open(Options{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w := &world{s, t, clock}
	w.create("t", map[string]map[string]string{"f": {"VERSIONS": "5"}, "g": {"VERSIONS": "5"}}, splits...)
	return w
}

func (w *world) create(name string, families map[string]map[string]string, splits ...string) {
	w.t.Helper()
	var keys [][]byte
	for _, s := range splits {
		keys = append(keys, []byte(s))
	}
	err := w.Admin().CreateTable(hrpc.NewCreateTable(context.Background(), []byte(name), families, hrpc.SplitKeys(keys)))
	if err != nil {
		w.t.Fatal(err)
	}
}

// put writes cells "family:qualifier=value" into a row at a time (0: now).
func (w *world) put(row string, ts uint64, cells ...string) {
	w.t.Helper()
	values := map[string]map[string][]byte{}
	for _, c := range cells {
		col, v, _ := strings.Cut(c, "=")
		f, q, _ := strings.Cut(col, ":")
		if values[f] == nil {
			values[f] = map[string][]byte{}
		}
		values[f][q] = []byte(v)
	}
	var o opts
	if ts > 0 {
		o = append(o, hrpc.TimestampUint64(ts))
	}
	p, err := hrpc.NewPutStr(context.Background(), "t", row, values, o...)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Put(p); err != nil {
		w.t.Fatal(err)
	}
}

// del deletes columns ("f:q"), families ("f") or, without any, the row.
func (w *world) del(row string, columns []string, o ...func(hrpc.Call) error) {
	w.t.Helper()
	var values map[string]map[string][]byte
	for _, c := range columns {
		if values == nil {
			values = map[string]map[string][]byte{}
		}
		f, q, isColumn := strings.Cut(c, ":")
		if !isColumn {
			values[f] = nil
			continue
		}
		if values[f] == nil {
			values[f] = map[string][]byte{}
		}
		values[f][q] = nil
	}
	d, err := hrpc.NewDelStr(context.Background(), "t", row, values, o...)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Delete(d); err != nil {
		w.t.Fatal(err)
	}
}

// format writes a row as "row f:q@ts=value ...".
func format(r *hrpc.Result) string {
	var b strings.Builder
	for i, c := range r.Cells {
		if i == 0 {
			b.Write(c.Row)
		}
		fmt.Fprintf(&b, " %s:%s@%d=%s", c.Family, c.Qualifier, *c.Timestamp, c.Value)
	}
	if r.Partial {
		b.WriteString(" ...")
	}
	return b.String()
}

func (w *world) get(row string, o ...func(hrpc.Call) error) string {
	w.t.Helper()
	g, err := hrpc.NewGetStr(context.Background(), "t", row, o...)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := w.Get(g)
	if err != nil {
		w.t.Fatal(err)
	}
	return format(r)
}

// scan gives the rows of a scan, one a line, or its error.
func (w *world) scan(start, stop string, o ...func(hrpc.Call) error) string {
	w.t.Helper()
	s, err := hrpc.NewScanRangeStr(context.Background(), "t", start, stop, o...)
	if err != nil {
		w.t.Fatal(err)
	}
	sc := w.Scan(s)
	defer sc.Close()
	var b strings.Builder
	for {
		r, err := sc.Next()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			fmt.Fprintf(&b, "error: %s\n", err)
			return b.String()
		}
		b.WriteString(format(r) + "\n")
	}
}

// results gives what a scan gives.
func (w *world) results(s *hrpc.Scan) (out []*hrpc.Result) {
	w.t.Helper()
	sc := w.Scan(s)
	defer sc.Close()
	for {
		r, err := sc.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, r)
	}
}

// rows gives only the keys of a scan, separated by blanks.
func (w *world) rows(start, stop string, o ...func(hrpc.Call) error) string {
	w.t.Helper()
	var out []string
	for line := range strings.Lines(w.scan(start, stop, o...)) {
		if strings.HasPrefix(line, "error") {
			return line
		}
		row, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		out = append(out, row)
	}
	return strings.Join(out, " ")
}

func (w *world) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func families(spec string) func(hrpc.Call) error {
	m := map[string][]string{}
	for _, c := range strings.Fields(spec) {
		f, q, ok := strings.Cut(c, ":")
		if !ok {
			m[f] = nil
			continue
		}
		m[f] = append(m[f], q)
	}
	return hrpc.Families(m)
}

func TestPutGetScan(t *testing.T) {
	w := newWorld(t, "h", "p")
	for _, r := range []string{"a", "h", "m", "p", "z"} {
		w.put(r, 10, "f:x=1"+r, "g:y=2"+r)
	}
	w.want("get", w.get("m"), "m f:x@10=1m g:y@10=2m")
	w.want("absent", w.get("n"), "")
	w.want("rows", w.rows("", ""), "a h m p z")
	w.want("range", w.rows("h", "p"), "h m")
	w.want("reversed", w.rows("z", "", hrpc.Reversed()), "z p m h a")
	w.want("family", w.get("a", families("g")), "a g:y@10=2a")
	w.want("column", w.get("a", families("f:x g:q")), "a f:x@10=1a")
	w.want("one row", w.rows("m", "m"), "m")
	if _, err := w.Store.Get(must(hrpc.NewGetStr(context.Background(), "nope", "a"))); err == nil || err.Error() != "table not found" {
		t.Errorf("missing table: %v", err)
	}
	_, err := w.Store.Get(must(hrpc.NewGetStr(context.Background(), "t", "a", families("nope"))))
	if err == nil || !strings.HasPrefix(err.Error(), "HBase Java exception "+classNoFamily+":\n") {
		t.Errorf("missing family: %v", err)
	}
	var e *exception
	if !errors.As(err, &e) {
		t.Error("not an exception")
	}
}

// brokenReader takes read bytes of the cells of its answer.
type brokenReader struct {
	*hrpc.Scan
	read uint32
	err  error
}

func (r brokenReader) DeserializeCellBlocks(proto.Message, []byte) (uint32, error) {
	return r.read, r.err
}

// An answer whose cells were not read, or not all, is none.
func TestCellsNotRead(t *testing.T) {
	w := newWorld(t)
	w.put("a", 1, "f:x=1")
	scan := must(hrpc.NewScanStr(context.Background(), "t", hrpc.CloseScanner()))
	cut := errors.New("cut")
	if m, err := w.SendRPC(brokenReader{scan, 0, cut}); m != nil || err != cut {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := w.SendRPC(brokenReader{scan, 1, nil}); m != nil || err == nil {
		t.Errorf("one byte read: %v, %v", m, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsuna/gohbase/hrpc"
)

func TestVersions(t *testing.T) {
	w := newWorld(t)
	for ts := uint64(1); ts <= 7; ts++ {
		w.put("a", ts*10, "f:x="+string(rune('0'+ts)))
	}
	w.put("a", 15, "f:y=5")
	all := hrpc.MaxVersions(100)
	w.want("newest", w.get("a"), "a f:x@70=7 f:y@15=5")
	w.want("two", w.get("a", hrpc.MaxVersions(2)), "a f:x@70=7 f:x@60=6 f:y@15=5")
	w.want("family's limit", w.get("a", all, families("f:x")), "a f:x@70=7 f:x@60=6 f:x@50=5 f:x@40=4 f:x@30=3")
	w.want("time range", w.get("a", hrpc.TimeRangeUint64(10, 40)), "a f:x@30=3 f:y@15=5")
	w.want("time range, versions", w.get("a", all, hrpc.TimeRangeUint64(20, 40)), "a f:x@30=3 f:x@20=2")
	w.want("scan", w.scan("", "", hrpc.TimeRangeUint64(0, 21), families("f:y f:x")), "a f:x@20=2 f:y@15=5\n")
	w.put("a", 70, "f:x=new")
	w.want("same time overwrites", w.get("a", families("f:x")), "a f:x@70=new")
	w.put("b", 0, "f:x=now")
	w.want("server's time", w.get("b"), "b f:x@1000000=now")
}

func TestDeletes(t *testing.T) {
	fill := func(w *world) {
		for _, ts := range []uint64{10, 20, 30} {
			w.put("a", ts, "f:x=x", "f:y=y", "g:z=z")
		}
	}
	all := hrpc.MaxVersions(100)
	newest := "a f:x@30=x f:y@30=y g:z@30=z"
	for _, c := range []struct {
		name string
		del  func(w *world)
		o    []func(hrpc.Call) error
		want string
	}{
		{"row", func(w *world) { w.del("a", nil) }, nil, ""},
		{"row up to a time", func(w *world) { w.del("a", nil, hrpc.TimestampUint64(20)) }, opts{all}, newest},
		{"family", func(w *world) { w.del("a", []string{"f"}) }, nil, "a g:z@30=z"},
		{"family up to a time", func(w *world) { w.del("a", []string{"f"}, hrpc.TimestampUint64(20)) },
			opts{all, families("f")}, "a f:x@30=x f:y@30=y"},
		{"column", func(w *world) { w.del("a", []string{"f:x"}) }, nil, "a f:y@30=y g:z@30=z"},
		{"column up to a time", func(w *world) { w.del("a", []string{"f:x"}, hrpc.TimestampUint64(25)) },
			opts{all, families("f:x")}, "a f:x@30=x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			fill(w)
			c.del(w)
			w.want("get", w.get("a", c.o...), c.want)
			scan := c.want
			if scan != "" {
				scan += "\n"
			}
			w.want("scan", w.scan("", "", c.o...), scan)
			w.want("reversed", w.scan("z", "", append(opts{hrpc.Reversed()}, c.o...)...), scan)
		})
	}
}

// A delete hides what is put later with an older or equal timestamp, and a time range
// that ends before the delete still sees what it deleted unless the marker lies after it.
func TestDeleteMarkersStay(t *testing.T) {
	w := newWorld(t)
	w.del("a", []string{"f:x"}, hrpc.TimestampUint64(20))
	w.put("a", 20, "f:x=old")
	w.put("a", 10, "f:x=older")
	w.want("hidden", w.get("a"), "")
	w.want("in the past", w.get("a", hrpc.TimeRangeUint64(0, 15)), "")
	w.put("a", 21, "f:x=new")
	w.want("newer", w.get("a"), "a f:x@21=new")
	// The marker of a family sorts among the versions of the empty qualifier.
	w.put("b", 30, "f:=e", "f:q=q")
	w.put("b", 10, "f:=e", "f:q=q")
	w.del("b", []string{"f"}, hrpc.TimestampUint64(20))
	w.want("empty qualifier", w.get("b", hrpc.MaxVersions(9)), "b f:@30=e f:q@30=q")
	w.want("explicit column", w.get("b", families("f:q"), hrpc.MaxVersions(9)), "b f:q@30=q")
	w.put("c", 10, "f:q=q")
	w.del("c", []string{"f"}, hrpc.TimestampUint64(20))
	w.put("c", 30, "f:=e")
	w.want("marker behind a newer empty qualifier", w.get("c", families("f:q")), "")
}

func TestKeepDeletedCells(t *testing.T) {
	w := newWorld(t)
	w.create("k", map[string]map[string]string{"f": {"KEEP_DELETED_CELLS": "TRUE"}})
	ctx := context.Background()
	put := must(hrpc.NewPutStr(ctx, "k", "a", map[string]map[string][]byte{"f": {"x": []byte("1")}}, hrpc.TimestampUint64(10)))
	must(w.Put(put))
	must(w.Delete(must(hrpc.NewDelStr(ctx, "k", "a", nil, hrpc.TimestampUint64(20)))))
	r := must(w.Store.Get(must(hrpc.NewGetStr(ctx, "k", "a", hrpc.TimeRangeUint64(0, 15)))))
	w.want("before the delete", format(r), "a f:x@10=1")
	r = must(w.Store.Get(must(hrpc.NewGetStr(ctx, "k", "a"))))
	w.want("now", format(r), "")
}

func TestTTL(t *testing.T) {
	w := newWorld(t)
	w.create("e", map[string]map[string]string{"f": {"TTL": "10", "VERSIONS": "3"}, "g": {"TTL": "2147483647"}})
	ctx := context.Background()
	v := map[string]map[string][]byte{"f": {"x": []byte("1")}, "g": {"y": []byte("2")}}
	must(w.Put(must(hrpc.NewPutStr(ctx, "e", "a", v))))
	get := func() string { return format(must(w.Store.Get(must(hrpc.NewGetStr(ctx, "e", "a"))))) }
	w.want("fresh", get(), "a f:x@1000000=1 g:y@1000000=2")
	w.clock.advance(10 * time.Second)
	w.want("at its age", get(), "a f:x@1000000=1 g:y@1000000=2")
	w.clock.advance(time.Millisecond)
	w.want("expired", get(), "a g:y@1000000=2")
}

func TestIncrementAndCheck(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	inc := func(n int64) (int64, error) {
		return w.Increment(must(hrpc.NewIncStrSingle(ctx, "t", "a", "f", "n", n)))
	}
	for i, want := range []int64{5, 3, 10} {
		if got, err := inc([]int64{5, -2, 7}[i]); err != nil || got != want {
			t.Errorf("increment %d: %d, %v", i, got, err)
		}
	}
	w.put("a", 5, "f:s=ab")
	if _, err := w.Increment(must(hrpc.NewIncStrSingle(ctx, "t", "a", "f", "s", 1))); !isClass(err, classDoNotRetry) {
		t.Errorf("increment of text: %v", err)
	}
	cas := func(expected, value string) bool {
		p := must(hrpc.NewPutStr(ctx, "t", "c", map[string]map[string][]byte{"f": {"x": []byte(value)}}))
		ok, err := w.CheckAndPut(p, "f", "x", []byte(expected))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	for i, c := range []struct {
		expected, value string
		want            bool
	}{{"no", "1", false}, {"", "1", true}, {"", "2", false}, {"1", "", true}, {"", "3", true}, {"3", "4", true}} {
		if got := cas(c.expected, c.value); got != c.want {
			t.Errorf("check %d: %v", i, got)
		}
	}
}

// Calls that hql does not send are refused, and change nothing.
func TestUnsupportedMutations(t *testing.T) {
	w := newWorld(t)
	w.put("a", 5, "f:s=ab")
	before := w.get("a")
	ctx := context.Background()
	value := map[string]map[string][]byte{"f": {"s": []byte("cd")}}
	column := map[string]map[string][]byte{"f": {"s": nil}}
	increment := must(hrpc.NewIncStrSingle(ctx, "t", "a", "f", "n", 1))
	res, _ := w.SendBatch(ctx, []hrpc.Call{increment})
	_, appended := w.Append(must(hrpc.NewAppStr(ctx, "t", "a", value)))
	_, deleted := w.Delete(must(hrpc.NewDelStr(ctx, "t", "a", column, hrpc.DeleteOneVersion())))
	for what, err := range map[string]error{"append": appended, "delete of a version": deleted, "increment in a batch": res[0].Error} {
		if !isClass(err, classUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.want("the row", w.get("a"), before)
}

// A batch tells of each call on its own.
func TestSendBatch(t *testing.T) {
	w := newWorld(t, "m")
	ctx := context.Background()
	value := map[string]map[string][]byte{"f": {"x": []byte("1")}}
	batch := []hrpc.Call{
		must(hrpc.NewPutStr(ctx, "t", "a", value, hrpc.TimestampUint64(1))),
		must(hrpc.NewPutStr(ctx, "t", "z", value, hrpc.TimestampUint64(1))),
		must(hrpc.NewPutStr(ctx, "t", "b", map[string]map[string][]byte{"no": {"x": nil}})),
	}
	res, ok := w.SendBatch(ctx, batch)
	if ok || res[0].Error != nil || res[1].Error != nil || !isClass(res[2].Error, classNoFamily) {
		t.Errorf("batch: %v %v", ok, res)
	}
	w.want("rows", w.rows("", ""), "a z")
	res, ok = w.SendBatch(ctx, []hrpc.Call{must(hrpc.NewGetStr(ctx, "t", "z")), must(hrpc.NewGetStr(ctx, "t", "a"))})
	if !ok {
		t.Fatal(res)
	}
}

// Row keys and qualifiers are any bytes, and order as bytes.
func TestBinaryKeys(t *testing.T) {
	w := newWorld(t, "\x00\x01")
	rows := []string{"\x00", "\x00\x00", "\x00\x00\xff", "\x00\x01", "\x00\x01\x00", "\x01", "a\x00b", "a\x01", "\xff\xff"}
	want := ""
	for i, r := range rows {
		w.put(r, 1, "f:\x00"+r+"=v", "f:\x01=")
		if i > 0 {
			want += " "
		}
		want += r
	}
	w.want("rows", w.rows("", ""), want)
	if err := w.Split("t", []byte("\x00\x01\x00")); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(rows)
	w.want("rows backwards", w.rows("\xff\xff", "", hrpc.Reversed()), strings.Join(rows, " "))
	for _, r := range rows {
		if got := w.get(r, families("f:\x00"+r)); got != r+" f:\x00"+r+"@1=v" {
			t.Errorf("row %q: %q", r, got)
		}
	}
}

func TestLimitsOfRequests(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	put := func(row string, value []byte) error {
		_, err := w.Put(must(hrpc.NewPutStr(ctx, "t", row, map[string]map[string][]byte{"f": {"x": value}})))
		return err
	}
	if err := put("", nil); !isClass(err, classIO) {
		t.Errorf("empty row: %v", err)
	}
	if err := put(string(make([]byte, 32767)), nil); err != nil {
		t.Errorf("longest row: %v", err)
	}
	if err := put(string(make([]byte, 32768)), nil); !isClass(err, classIO) {
		t.Errorf("row too long: %v", err)
	}
	for _, ends := range [][2][]byte{{make([]byte, 32768), nil}, {nil, make([]byte, 32768)}} {
		if _, err := w.Scan(must(hrpc.NewScanRange(ctx, []byte("t"), ends[0], ends[1]))).Next(); !isClass(err, classIO) {
			t.Errorf("end of a scan too long: %v", err)
		}
	}
	if err := put("a", make([]byte, maxCellSize)); !isClass(err, classDoNotRetry) {
		t.Errorf("cell too large: %v", err)
	}
	families := map[string]map[string]string{}
	for i := range maxFamilies {
		families[fmt.Sprint("f", i)] = nil
	}
	if err := w.Admin().CreateTable(hrpc.NewCreateTable(ctx, []byte("most"), families)); err != nil {
		t.Errorf("%d families: %v", maxFamilies, err)
	}
	families["more"] = nil
	if err := w.Admin().CreateTable(hrpc.NewCreateTable(ctx, []byte("wide"), families)); !isClass(err, classDoNotRetry) {
		t.Errorf("too many families: %v", err)
	}
}

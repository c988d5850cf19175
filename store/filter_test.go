package store

import (
	"context"
	"strings"
	"testing"

	hfilter "github.com/tsuna/gohbase/filter"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// Shorthands for gohbase's constructors.
func bin(v string) hfilter.Comparator {
	return hfilter.NewBinaryComparator(hfilter.NewByteArrayComparable([]byte(v)))
}

func cmp(op hfilter.CompareType, c hfilter.Comparator) *hfilter.CompareFilter {
	return hfilter.NewCompareFilter(op, c)
}

func scvf(col string, op hfilter.CompareType, c hfilter.Comparator, ifMissing, latest bool) *hfilter.SingleColumnValueFilter {
	f, q, _ := strings.Cut(col, ":")
	return hfilter.NewSingleColumnValueFilter([]byte(f), []byte(q), op, c, ifMissing, latest)
}

func all(fs ...hfilter.Filter) hfilter.Filter { return hfilter.NewList(hfilter.MustPassAll, fs...) }
func one(fs ...hfilter.Filter) hfilter.Filter { return hfilter.NewList(hfilter.MustPassOne, fs...) }

func ranges(spec ...string) hfilter.Filter {
	var rs []*hfilter.RowRange
	for _, s := range spec {
		start, stop, _ := strings.Cut(s[1:len(s)-1], ",")
		rs = append(rs, hfilter.NewRowRange([]byte(start), []byte(stop), s[0] == '[', s[len(s)-1] == ']'))
	}
	return hfilter.NewMultiRowRangeFilter(rs)
}

func fuzzy(spec ...string) hfilter.Filter {
	var ps []*hfilter.BytesBytesPair
	for _, s := range spec {
		mask := make([]byte, len(s))
		for i := range mask {
			if s[i] == '?' {
				mask[i] = 1
			}
		}
		ps = append(ps, hfilter.NewBytesBytesPair([]byte(s), mask))
	}
	return hfilter.NewFuzzyRowFilter(ps)
}

// filterWorld has rows a1..a3, b1..b3, c1 with columns f:n (the row's digit), f:s
// (the row), f:o only in b rows, and an older version of f:n in a1.
func filterWorld(t *testing.T, splits ...string) *world {
	w := newWorld(t, splits...)
	for _, r := range []string{"a1", "a2", "a3", "b1", "b2", "b3", "c1"} {
		w.put(r, 10, "f:n="+r[1:], "f:s="+r, "g:z=zz")
		if r[0] == 'b' {
			w.put(r, 10, "f:o=O"+r)
		}
	}
	w.put("a1", 5, "f:n=9")
	return w
}

func TestRowFilters(t *testing.T) {
	less, greaterEq, eq, ne := hfilter.Less, hfilter.GreaterOrEqual, hfilter.Equal, hfilter.NotEqual
	re := func(p string) hfilter.Comparator {
		return hfilter.NewRegexStringComparator(p, 32, "ISO-8859-1", "JAVA")
	}
	pre := func(p string) hfilter.Comparator {
		return hfilter.NewBinaryPrefixComparator(hfilter.NewByteArrayComparable([]byte(p)))
	}
	null := hfilter.NewNullComparator()
	n2 := scvf("f:n", eq, bin("2"), true, true)
	s2 := scvf("f:s", eq, bin("a2"), true, true) // not the first column of a row
	for _, c := range []struct {
		name string
		f    hfilter.Filter
		want string
	}{
		{"row =", hfilter.NewRowFilter(cmp(eq, bin("a2"))), "a2"},
		{"row <", hfilter.NewRowFilter(cmp(less, bin("a3"))), "a1 a2"},
		{"row >=", hfilter.NewRowFilter(cmp(greaterEq, bin("b3"))), "b3 c1"},
		{"row prefix", hfilter.NewRowFilter(cmp(eq, pre("b"))), "b1 b2 b3"},
		{"row regex", hfilter.NewRowFilter(cmp(eq, re(`\A[ac].*1\z`))), "a1 c1"},
		{"ranges", ranges("[a2,b1)", "[b3,c1)"), "a2 a3 b3"},
		{"ranges, ends", ranges("(a2,b1]", "[c1,)"), "a3 b1 c1"},
		{"ranges, nothing", ranges("[aa,ab)", "[d,e)"), ""},
		{"ranges, open start", ranges("[,a2)"), "a1"},
		{"fuzzy", fuzzy("?2"), "a2 b2"},
		{"fuzzy, several", fuzzy("?3", "c?"), "a3 b3 c1"},
		{"fuzzy, prefix", fuzzy("b"), "a1 a2 a3 b1 b2 b3 c1"}, // a mask of only 0 counts as processed
		{"fuzzy, none", fuzzy("?9"), ""},
		{"column =", n2, "a2 b2"},
		{"column <>", scvf("f:n", ne, bin("2"), true, true), "a1 a3 b1 b3 c1"},
		{"column missing", scvf("f:o", eq, bin("Ob1"), true, true), "b1"},
		{"column missing kept", scvf("f:o", eq, bin("Ob1"), false, true), "a1 a2 a3 b1 c1"},
		{"is null", scvf("f:o", eq, null, false, true), "a1 a2 a3 c1"},
		{"is not null", scvf("f:o", ne, null, true, true), "b1 b2 b3"},
		{"newest version only", scvf("f:n", eq, bin("9"), true, true), ""},
		{"any version", scvf("f:n", eq, bin("9"), true, false), "a1"},
		{"and", all(n2, hfilter.NewRowFilter(cmp(eq, pre("b")))), "b2"},
		{"or", one(n2, hfilter.NewRowFilter(cmp(eq, pre("b")))), "a2 b1 b2 b3"},
		{"or of ranges", one(ranges("[a1,a2)"), ranges("[b1,b2)")), "a1 b1"},
		{"nested", one(all(n2, hfilter.NewRowFilter(cmp(eq, pre("a")))), hfilter.NewRowFilter(cmp(eq, bin("c1")))), "a2 c1"},
		{"and of seeks", all(ranges("[a2,b3)"), fuzzy("?2")), "a2 b2"},
		{"or of seeks", one(ranges("[a1,a2)"), fuzzy("?3")), "a1 a3 b3"},
		{"or of seeks, the nearest last", one(ranges("[c1,c2)"), ranges("[b1,b2)"), fuzzy("?2")), "a2 b1 b2 c1"},
		{"column before a range of columns", all(n2, hfilter.NewColumnRangeFilter([]byte("s"), nil, true, false)), "a2 b2"},
		{"range of columns before a column loses it", all(hfilter.NewColumnRangeFilter([]byte("s"), nil, true, false), n2), ""},
		{"first key before a column loses it", all(hfilter.NewFirstKeyOnlyFilter(), scvf("f:s", eq, bin("a2"), true, true)), ""},
		{"range or column passes all", one(ranges("[a1,a2)"), s2), "a1 a2 a3 b1 b2 b3 c1"},
		{"range or first column", one(ranges("[a1,a2)"), n2), "a1 a2 b2"},
		{"empty and", all(), "a1 a2 a3 b1 b2 b3 c1"},
		{"skip", hfilter.NewSkipFilter(hfilter.NewQualifierFilter(cmp(ne, bin("o")))), "a1 a2 a3 c1"},
		{"random, never", hfilter.NewRandomRowFilter(-1), ""},
		{"random, always", hfilter.NewRandomRowFilter(2), "a1 a2 a3 b1 b2 b3 c1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := filterWorld(t)
			w.want("forward", w.rows("", "", hrpc.Filters(c.f)), c.want)
			w.want("cell by cell", w.rows("", "", hrpc.Filters(c.f), hrpc.NumberOfRows(1)), c.want)
		})
	}
}

// Filters work the same way backwards; where they stop or count, from the other end.
func TestReversedFilters(t *testing.T) {
	onDemandOff := func(m *pb.ScanRequest) { m.Scan.LoadColumnFamiliesOnDemand = proto.Bool(false) }
	for _, c := range []struct {
		name string
		f    hfilter.Filter
		want string
	}{
		{"row", hfilter.NewRowFilter(cmp(hfilter.Less, bin("a3"))), "a2 a1"},
		{"column", scvf("f:n", hfilter.Equal, bin("2"), true, true), "b2 a2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := filterWorld(t)
			r, err := w.send("z", "z", "", onDemandOff, hrpc.Reversed(), hrpc.Filters(c.f))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range r.Results {
				got = append(got, string(row.Cell[0].Row))
			}
			w.want("rows", strings.Join(got, " "), c.want)
		})
	}
	w := filterWorld(t)
	w.want("families on demand", strings.SplitN(w.rows("z", "", hrpc.Reversed(), hrpc.Filters(scvf("f:n", hfilter.Equal, bin("2"), true, true))), "\n", 2)[0],
		"error: HBase Java exception "+classDoNotRetry+":")
}

// hinted is a filter that would go on at a row.
type hinted struct {
	filterBase
	to   string // "" for one that does not know
	done bool
}

func (f hinted) allRemaining() bool { return f.done }
func (f hinted) nextHint(*cell) *cell {
	if f.to == "" {
		return nil
	}
	return &cell{row: []byte(f.to)}
}

// A list that requires all goes on where the member that wants to go farthest does.
func TestFarthestHint(t *testing.T) {
	members := []filter{hinted{}, hinted{to: "b"}, hinted{to: "d"}, hinted{to: "c"}, hinted{to: "a", done: true}, hinted{to: "e", done: true}}
	for reversed, want := range map[bool]string{false: "d", true: "b"} {
		l := newFilterAnd(nil, reversed)
		l.hints = members
		if got := l.nextHint(&cell{}); got == nil || string(got.row) != want {
			t.Errorf("reversed %v: %v, want %s", reversed, got, want)
		}
	}
	defer func() {
		if p := recover(); p != errNoHint {
			t.Errorf("no hint after another one: %v, want HBase's failure", p)
		}
	}()
	l := newFilterAnd(nil, false)
	l.hints = []filter{hinted{to: "b"}, hinted{}}
	l.nextHint(&cell{})
}

// What is no message of its kind makes no comparator.
func TestBrokenComparators(t *testing.T) {
	for _, name := range []string{"BinaryComparator", "BinaryPrefixComparator", "NullComparator", "RegexStringComparator"} {
		full := filterPackage + name
		if _, err := newComparator(&pb.Comparator{Name: &full, SerializedComparator: []byte("\xff")}); err == nil {
			t.Errorf("a %s was made", name)
		}
	}
}

// These filters choose cells, not rows.
func TestCellFilters(t *testing.T) {
	eq := hfilter.Equal
	for _, c := range []struct {
		name string
		f    hfilter.Filter
		want string
	}{
		{"qualifier", hfilter.NewQualifierFilter(cmp(eq, bin("o"))), "f:o@10=Ob1"},
		{"family", hfilter.NewFamilyFilter(cmp(eq, bin("g"))), "g:z@10=zz"},
		{"column range", hfilter.NewColumnRangeFilter([]byte("n"), []byte("s"), false, true), "f:o@10=Ob1 f:s@10=b1"},
		{"column range, open", hfilter.NewColumnRangeFilter(nil, []byte("o"), true, true), "f:n@10=1 f:o@10=Ob1"},
		{"first key", hfilter.NewFirstKeyOnlyFilter(), "f:n@10=1"},
		{"key only", all(hfilter.NewFirstKeyOnlyFilter(), hfilter.NewKeyOnlyFilter(false)), "f:n@10="},
		{"or", one(hfilter.NewColumnRangeFilter([]byte("n"), []byte("o"), true, false), hfilter.NewColumnRangeFilter([]byte("z"), nil, true, false)), "f:n@10=1 g:z@10=zz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := filterWorld(t)
			w.want("cells", w.scan("b1", "b1", hrpc.Filters(c.f)), "b1 "+c.want+"\n")
			w.want("get", w.get("b1", hrpc.Filters(c.f)), "b1 "+c.want)
			w.want("parts", strings.ReplaceAll(w.scan("b1", "b1", hrpc.Filters(c.f), hrpc.MaxResultSize(1)), "\n", ""), "b1 "+c.want)
		})
	}
}

// Filters see versions that are not returned.
func TestFiltersSeeVersions(t *testing.T) {
	w := filterWorld(t)
	w.want("timestamp", w.get("a1", hrpc.Filters(hfilter.NewTimestampsFilter([]int64{5}))), "a1 f:n@5=9")
	w.want("not more than asked for", w.get("a1", hrpc.Filters(hfilter.NewColumnRangeFilter([]byte("n"), []byte("o"), true, false))), "a1 f:n@10=1")
	w.want("all asked for", w.get("a1", hrpc.Filters(hfilter.NewColumnRangeFilter([]byte("n"), []byte("o"), true, false)), hrpc.MaxVersions(9)), "a1 f:n@10=1 f:n@5=9")
}

// Regions each have their own filter: what is done in one starts anew in the next.
func TestFiltersPerRegion(t *testing.T) {
	w := filterWorld(t, "b", "c")
	w.want("ranges", w.rows("", "", hrpc.Filters(ranges("[a3,b2)", "[c0,c9)"))), "a3 b1 c1")
}

func TestBadFilters(t *testing.T) {
	w := filterWorld(t)
	for name, f := range map[string]hfilter.Filter{
		"inverted range":     ranges("[b,a)"),
		"empty range":        ranges("[b,b)"),
		"no ranges":          hfilter.NewMultiRowRangeFilter(nil),
		"fuzzy lengths":      hfilter.NewFuzzyRowFilter([]*hfilter.BytesBytesPair{hfilter.NewBytesBytesPair([]byte("ab"), []byte{0})}),
		"no fuzzy":           hfilter.NewFuzzyRowFilter(nil),
		"look-ahead":         hfilter.NewRowFilter(cmp(hfilter.Equal, hfilter.NewRegexStringComparator("(?=a)", 0, "UTF-8", "JAVA"))),
		"no engine":          hfilter.NewRowFilter(cmp(hfilter.Equal, hfilter.NewRegexStringComparator("a", 0, "UTF-8", ""))),
		"charset":            hfilter.NewRowFilter(cmp(hfilter.Equal, hfilter.NewRegexStringComparator("a", 0, "EBCDIC", "JAVA"))),
		"column no-op":       scvf("f:n", hfilter.NoOp, bin("1"), true, true),
		"no-op":              hfilter.NewRowFilter(cmp(hfilter.NoOp, bin("a"))),
		"ranges unsorted":    ranges("[b1,b3)", "[a1,a2)"),
		"ranges overlap":     ranges("[a1,b3)", "[b2,c1)"),
		"an open range":      ranges("[a1,)", "[b2,c1)"),
		"what hql sends not": hfilter.NewPageFilter(1),
		"not a filter":       all(hfilter.NewCompareFilter(hfilter.Equal, bin("a"))),
		"broken in a list":   all(hfilter.NewFirstKeyOnlyFilter(), ranges("[b,a)")),
	} {
		got := w.rows("", "", hrpc.Filters(f))
		if !strings.HasPrefix(got, "error: HBase Java exception "+classDoNotRetry) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Filters stand in one another up to a depth, however they do.
func TestNestedFilters(t *testing.T) {
	w := filterWorld(t)
	for name, around := range map[string]func(hfilter.Filter) hfilter.Filter{
		"list": func(f hfilter.Filter) hfilter.Filter { return all(f) },
		"skip": func(f hfilter.Filter) hfilter.Filter { return hfilter.NewSkipFilter(f) },
	} {
		var f hfilter.Filter = hfilter.NewQualifierFilter(cmp(hfilter.NotEqual, bin("none")))
		for range maxFilterDepth {
			f = around(f)
		}
		w.want(name, w.rows("", "", hrpc.Filters(f)), "a1 a2 a3 b1 b2 b3 c1")
		if got := w.rows("", "", hrpc.Filters(around(f))); !strings.HasPrefix(got, "error: HBase Java exception "+classDoNotRetry) {
			t.Errorf("%s, too deep: %q", name, got)
		}
	}
}

// Filters that need only some families leave the others unread for rows they refuse.
func TestFamiliesOnDemand(t *testing.T) {
	w := filterWorld(t)
	w.put("b2", 10, "f:a=first", "g:a=")
	got := w.scan("", "", hrpc.Filters(scvf("g:a", hfilter.Equal, bin(""), true, true)))
	w.want("joined in order", got, "b2 f:a@10=first f:n@10=2 f:o@10=Ob2 f:s@10=b2 g:a@10= g:z@10=zz\n")
}

func FuzzFilter(f *testing.F) {
	add := func(in hfilter.Filter) {
		m := must(in.ConstructPBFilter())
		f.Add(m.GetName(), m.GetSerializedFilter())
	}
	add(all(scvf("f:n", hfilter.Equal, bin("2"), true, true), hfilter.NewFirstKeyOnlyFilter()))
	add(one(ranges("[a2,b1)"), fuzzy("?2"), hfilter.NewColumnRangeFilter([]byte("s"), nil, true, false)))
	add(hfilter.NewSkipFilter(hfilter.NewColumnRangeFilter(nil, []byte("s"), true, true)))
	add(hfilter.NewRowFilter(cmp(hfilter.Equal, hfilter.NewRegexStringComparator(`\Aa\.[\x00-\x61]*\z`, 32, "UTF-8", "JAVA"))))
	add(hfilter.NewTimestampsFilter([]int64{1, 2}))
	s, err := Open(Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	fam := map[string]map[string]string{"f": {"VERSIONS": "3"}, "g": nil}
	if err := s.Admin().CreateTable(hrpc.NewCreateTable(ctx, []byte("t"), fam)); err != nil {
		f.Fatal(err)
	}
	for _, r := range []string{"a1", "a2", "b1", "\x00", "\xff\xff"} {
		v := map[string]map[string][]byte{"f": {"n": []byte(r), "": nil, "s": []byte("9")}, "g": {"n": []byte("x")}}
		must(s.Put(must(hrpc.NewPutStr(ctx, "t", r, v))))
	}
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		w := &world{Store: s, t: t}
		for _, o := range []opts{nil, {hrpc.Reversed()}, {hrpc.MaxResultSize(1)}} {
			edit := func(m *pb.ScanRequest) {
				if m.Scan != nil {
					m.Scan.Filter = &pb.Filter{Name: &name, SerializedFilter: b}
				}
			}
			r, err := w.send("", "", "", edit, o...)
			if err == nil && r.GetMoreResultsInRegion() && r.GetMoreResults() {
				_, _ = w.send("", "", "", nil, hrpc.ScannerID(r.GetScannerId()), hrpc.CloseScanner())
			}
		}
	})
}

package hbase

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/store"
)

// reads draws what a statement may ask a server for.
type reads struct{ *rand.Rand }

func (g reads) pick(texts ...string) string { return texts[g.IntN(len(texts))] }

func (g reads) key() string {
	b := make([]byte, 1+g.IntN(3))
	for i := range b {
		b[i] = "\x00ab\xff"[g.IntN(4)]
	}
	return string(b)
}

func (g reads) qualifier() string { return g.pick("", "a", "ab", "b", "c") }
func (g reads) family() string    { return g.pick("f", "f", "g") }

func (g reads) value() string {
	return g.pick("", "a", "ab", "abc", "b", "\xc3\xa9", "\x00", "\xff\xff", "\x00\x00\x00\x05")
}

// condition keeps rows by one column or by several.
func (g reads) condition(depth int) filter.Filter {
	fam, qual := g.family(), g.qualifier()
	switch n := g.IntN(7); {
	case n == 0:
		return filter.CellNull{Family: fam, Qualifier: qual, Not: g.IntN(2) == 0}
	case n == 1:
		return filter.Regex{Family: fam, Qualifier: qual, Pattern: g.pick(`\Aa.*\z`, `\A.*b\z`, `\A.\z`, `\Aab.*\z`, `\A\z`), UTF8: g.IntN(2) == 0}
	case n < 4 && depth > 0:
		list := []filter.Filter{g.condition(depth - 1), g.condition(depth - 1)}
		if n == 2 {
			return filter.And(list)
		}
		return filter.Or(list)
	}
	return filter.Cell{Family: fam, Qualifier: qual, Op: filter.Op(g.IntN(int(filter.Prefix) + 1)), Value: []byte(g.value()), KeepMissing: g.IntN(2) == 0}
}

// jump passes over keys.
func (g reads) jump() filter.Filter {
	if g.IntN(2) == 0 {
		var keys filter.Fuzzy
		for range 1 + g.IntN(2) {
			k := []byte(g.key())
			mask := make([]byte, len(k))
			for i := range mask {
				mask[i] = byte(g.IntN(2))
			}
			mask[g.IntN(len(mask))] = 1
			keys = append(keys, filter.FuzzyKey{Key: k, Mask: mask})
		}
		return keys
	}
	borders := []string{g.key(), g.key(), g.key(), g.key()}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	var ranges filter.KeyRanges
	for i := 0; i+1 < len(borders); i += 2 {
		ranges = append(ranges, filter.KeyRange{Start: []byte(borders[i]), Stop: []byte(borders[i+1])})
	}
	if len(borders)%2 == 1 {
		ranges = append(ranges, filter.KeyRange{Start: []byte(borders[len(borders)-1])})
	}
	return ranges
}

// shape leaves cells away.
func (g reads) shape() filter.Filter {
	switch g.IntN(4) {
	case 0:
		return filter.FirstCell{}
	case 1:
		return filter.KeyOnly{}
	case 2:
		return filter.ColumnRange{Family: "f", Min: []byte(g.pick("", "a", "ab")), Max: []byte(g.pick("ab", "b", "c"))}
	}
	return filter.Columns{{Family: "f", Qualifier: g.qualifier()}, {Family: g.family(), Qualifier: g.qualifier()}}
}

func (g reads) read(table string) (ScanRange, *ReadOptions) {
	r := ScanRange{Table: table, Reversed: g.IntN(3) == 0, Limit: g.IntN(3) * g.IntN(6), BatchRows: g.IntN(4), BatchBytes: g.IntN(2) * (1 + g.IntN(100)), Brief: g.IntN(4) == 0, Ahead: g.IntN(2) == 0}
	if g.IntN(2) == 0 {
		r.Start = []byte(g.key())
	}
	if g.IntN(2) == 0 {
		r.Stop = []byte(g.key())
	}
	o := &ReadOptions{Versions: g.IntN(4)}
	if g.IntN(5) == 0 {
		o.MinTime = int64(1 + g.IntN(4))
		o.MaxTime = o.MinTime + int64(1+g.IntN(3))
	}
	switch g.IntN(4) {
	case 0:
		o.Families = []string{g.family()}
	case 1:
		o.Columns = []filter.Column{{Family: g.family(), Qualifier: g.qualifier()}, {Family: "f", Qualifier: g.qualifier()}}
	}
	var all filter.And
	if !r.Reversed && g.IntN(3) == 0 {
		all = append(all, g.jump())
	}
	if g.IntN(4) == 0 {
		all = append(all, filter.KeyRegex{Pattern: g.pick(`\A.*?\x00(?:[\x61-\xff]|\x00)`, `\A.{1}(?:\x61|[\x80-\xff])`, `\A.{2}(?:\z|[\x00-\x62])`, `\A\xff`)})
	}
	if g.IntN(3) > 0 {
		all = append(all, g.condition(2))
	}
	if g.IntN(3) == 0 {
		all = append(all, g.shape())
	}
	switch len(all) {
	case 0:
	case 1:
		o.Filter = all[0]
	default:
		o.Filter = all
	}
	return r, o
}

// Rows, cells and their bytes are the same of a real HBase and of the embedded store, of any version and whatever filter hql sends.
func TestRandomFilters(t *testing.T) {
	dial, err := Dial(context.Background(), Config{Quorum: hbasetest.Quorum(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dial.Close() })
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	both := []Client{dial, New(s, s)}
	seeds.Each(t, 1, func(t *testing.T, seed uint64, figures seeds.Figures) {
		g := reads{rand.New(rand.NewPCG(seed, 0))}
		names := make([]string, len(both))
		for i, c := range both {
			names[i] = table(t, c, []Family{{Name: "f", Attributes: map[string]string{"VERSIONS": "3"}}, {Name: "g"}}, "a", "b")
		}
		var ms []Mutation
		for range 100 {
			m := Mutation{Key: []byte(g.key()), Timestamp: int64(1 + g.IntN(6))}
			for range 1 + g.IntN(3) {
				m.Cells = append(m.Cells, Cell{Family: []byte(g.family()), Qualifier: []byte(g.qualifier()), Value: []byte(g.value())})
			}
			if !slices.ContainsFunc(ms, func(o Mutation) bool { return string(o.Key) == string(m.Key) && o.Timestamp == m.Timestamp }) {
				ms = append(ms, m) // of two cells at one time the order would decide
			}
		}
		for i, c := range both {
			if err := c.Mutate(within(t), names[i], ms); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			r, o := g.read("")
			var got [2][]string
			for i, c := range both {
				r.Table = names[i]
				got[i] = scan(t, c, r, o)
				r.Table = ""
			}
			figures["scans"]++
			figures["rows"] += len(got[0])
			if !slices.Equal(got[0], got[1]) {
				figures["wrong scans"]++
				t.Errorf("%+v %s: HBase %v, the store %v", r, describe(o), got[0], got[1])
			}
		}
	})
}

func describe(o *ReadOptions) string {
	text := fmt.Sprintf("families %v, columns %v, versions %d, times %d to %d", o.Families, o.Columns, o.Versions, o.MinTime, o.MaxTime)
	if o.Filter != nil {
		text += ", " + o.Filter.String()
	}
	return text
}

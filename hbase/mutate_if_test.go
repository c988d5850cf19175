package hbase

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/filter"
)

// unmet sends ms and gives which of them found their rows otherwise.
func unmet(t *testing.T, c Client, table string, ms ...Mutation) []int {
	t.Helper()
	err := c.Mutate(within(t), table, ms)
	var batch *BatchError
	if errors.As(err, &batch) && len(batch.Failed)+len(batch.Unknown) == 0 {
		slices.Sort(batch.Unmet)
		return batch.Unmet
	}
	if err != nil {
		t.Error(err)
	}
	return nil
}

// A conditional mutation is applied to a row that its filter keeps, with all of its cells, or not at all.
func TestMutateIf(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		name := table(t, c, []Family{{Name: "f"}, {Name: "g"}})
		is := func(family, q, v string) filter.Filter {
			return filter.Cell{Family: family, Qualifier: q, Value: []byte(v)}
		}
		null := func(family, q string, not bool) filter.Filter {
			return filter.CellNull{Family: family, Qualifier: q, Not: not}
		}
		at := func(family, q string, times ...int64) filter.Filter {
			return filter.Written{Family: family, Qualifier: q, Times: times}
		}
		all := func(family string, times ...int64) filter.Filter {
			return filter.Written{Family: family, All: true, Times: times}
		}
		var ms []Mutation
		var want []int
		rows := 0
		check := func(holds bool, f filter.Filter) {
			key := fmt.Sprintf("k%02d", rows)
			for _, old := range []Mutation{put(key, 1, "f:a=0", "f:b=x", "g:a=0", "g:z=9"), put(key, 4, "f:a=1", "g:a=2"), put(key, 5, "f:a=1")} {
				if err := c.Mutate(within(t), name, []Mutation{old}); err != nil {
					t.Fatal(err)
				}
			}
			m := put(key, 9, "f:new=n", "g:new=n")
			m.Removed, m.If = []Cell{{Family: []byte("f"), Qualifier: []byte("b")}}, f
			if ms = append(ms, m); !holds {
				want = append(want, rows)
			}
			rows++
		}
		check(true, is("f", "a", "1"))
		check(false, is("f", "a", "0")) // an older version
		check(false, is("f", "c", "0"))
		check(true, null("f", "c", false))
		check(true, null("f", "a", true))
		check(false, null("f", "a", false))
		check(true, at("f", "a", 5))
		check(false, at("f", "a", 1)) // older versions
		check(false, at("f", "a", 4))
		check(true, at("f", "none", 4))
		check(true, at("g", "a", 4)) // the first family has a column with the same qualifier
		check(false, at("g", "a", 5))
		check(true, at("g", "z", 1, 7))
		check(true, all("f", 1, 5))
		check(false, all("f", 5))
		check(true, all("g", 1, 4))
		check(false, all("g", 1))
		check(true, filter.And{is("f", "a", "1"), at("f", "a", 5), is("g", "a", "2"), at("g", "a", 4), null("g", "q", false), null("f", "0", false)})
		check(false, filter.And{is("f", "a", "1"), at("f", "a", 5), is("g", "a", "2"), at("g", "a", 1), null("g", "q", false)})
		check(false, filter.And{is("f", "a", "1"), is("g", "a", "2"), null("g", "z", false)})
		ms = append(ms, put("plain", 9, "f:new=n"), func() Mutation {
			m := put("absent", 9, "f:new=n")
			m.If = null("f", "a", false)
			return m
		}())
		if got := unmet(t, c, name, ms...); !slices.Equal(got, append(want, rows+1)) {
			t.Errorf("%v, not %v", got, append(want, rows+1))
		}
		for i := range rows {
			got := scan(t, c, ScanRange{Table: name, Start: ms[i].Key, Stop: append(slices.Clone(ms[i].Key), 0)}, &ReadOptions{})
			row := strings.Join(got, "")
			changed := strings.Contains(row, `f:"new"@9="n"`) && strings.Contains(row, `g:"new"@9="n"`) && !strings.Contains(row, `f:"b"`)
			if changed == slices.Contains(want, i) || !changed && strings.Contains(row, "@9") {
				t.Errorf("row %d, %v: %v", i, ms[i].If, got)
			}
		}
		gone := Mutation{Kind: DeleteRow, Key: ms[0].Key, Timestamp: 20, If: is("f", "a", "0")}
		other := gone
		other.If = is("f", "a", "1")
		if got := unmet(t, c, name, gone); !slices.Equal(got, []int{0}) {
			t.Errorf("a row that is another was deleted: %v", got)
		}
		if got := unmet(t, c, name, other); got != nil {
			t.Errorf("%v", got)
		}
		if got := scan(t, c, ScanRange{Table: name, Start: ms[0].Key, Stop: append(slices.Clone(ms[0].Key), 0)}, &ReadOptions{}); len(got) != 0 {
			t.Errorf("%v", got)
		}
	})
}

package hbase

import (
	"fmt"
	"math"
	"slices"

	gf "github.com/tsuna/gohbase/filter"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/filter"
)

// anyTime is the time range of all cells. Each read of rows sets it: otherwise gohbase sends a range without bounds,
// which HBase 3 takes for an empty range.
var anyTime = hrpc.TimeRangeUint64(0, math.MaxInt64)

// maxTime is the end of the time range that selects cells of any time.
var maxTime uint64 = math.MaxInt64

// wanted returns the columns, times and filter of a read as a Get without a row. Calls share it: it must not be
// changed.
func (o *ReadOptions) wanted() (*pb.Get, error) {
	w := &struct {
		get     pb.Get
		times   pb.TimeRange
		columns [1]*pb.Column
		column  pb.Column
	}{}
	get, times := &w.get, &w.times
	get.TimeRange, times.To = times, &maxTime // like anyTime
	if o == nil {
		return get, nil
	}
	w.columns[0] = &w.column
	get.Column = o.columns(w.columns[:])
	if o.MaxTime > 0 {
		from, to := uint64(o.MinTime), uint64(o.MaxTime)
		if from >= to {
			return nil, fmt.Errorf("the time range [%d, %d) is empty: MinTime must be below MaxTime", o.MinTime, o.MaxTime)
		}
		times.From, times.To = &from, &to
	}
	if o.Versions > 1 {
		get.MaxVersions = proto.Uint32(uint32(min(o.Versions, math.MaxInt32)))
	}
	if o.Cells > 0 {
		get.StoreLimit = proto.Uint32(uint32(o.Cells))
	}
	if o.Filter != nil {
		only := "" // the one family that is read
		if len(o.Columns) == 0 && len(o.Families) == 1 {
			only = o.Families[0]
		}
		f, err := translate(o.Filter, only)
		if err != nil {
			return nil, err
		}
		if get.Filter, err = f.ConstructPBFilter(); err != nil {
			return nil, err
		}
	}
	return get, nil
}

// columns returns the columns of a request: each family once, with the qualifiers to read, or with none to read the
// whole family. It may reuse the elements of free.
func (o *ReadOptions) columns(free []*pb.Column) []*pb.Column {
	if len(o.Families)+len(o.Columns) == 0 {
		return nil
	}
	out := free[:0]
	add := func(family string) *pb.Column {
		c := &pb.Column{}
		if len(out) < len(free) {
			c = free[len(out)]
		}
		c.Family = []byte(family)
		out = append(out, c)
		return c
	}
	of := func(family string) *pb.Column {
		for _, c := range out {
			if string(c.Family) == family {
				return c
			}
		}
		return nil
	}
	for _, f := range o.Families {
		if of(f) == nil {
			add(f)
		}
	}
	whole := len(out)
	for _, col := range o.Columns {
		c := of(col.Family)
		if c == nil {
			c = add(col.Family)
			c.Qualifier = make([][]byte, 0, len(o.Columns))
		} else if slices.Contains(out[:whole], c) {
			continue
		}
		c.Qualifier = append(c.Qualifier, []byte(col.Qualifier))
	}
	return out
}

var compareTypes = map[filter.Op]gf.CompareType{filter.Equal: gf.Equal, filter.NotEqual: gf.NotEqual, filter.Less: gf.Less,
	filter.LessOrEqual: gf.LessOrEqual, filter.Greater: gf.Greater, filter.GreaterOrEqual: gf.GreaterOrEqual, filter.Prefix: gf.Equal}

// shapes reports whether f drops single cells of a row and never whole rows. Such filters come last in a list.
func shapes(f filter.Filter) bool {
	switch f.(type) {
	case filter.ColumnRange, filter.FirstCell, filter.KeyOnly, filter.Columns:
		return true
	}
	return false
}

// isFuzzy reports whether f is a FuzzyRowFilter. It must come first under AND: behind its last key it has no next hint,
// and HBase throws a NullPointerException if another filter has given a hint before.
func isFuzzy(f filter.Filter) bool {
	_, is := f.(filter.Fuzzy)
	return is
}

// seeks reports whether f jumps to a key. HBase evaluates such a filter wrongly when it is combined with others under
// OR.
func seeks(f filter.Filter) bool {
	switch f.(type) {
	case filter.KeyRanges, filter.Fuzzy, filter.ColumnRange:
		return true
	}
	return false
}

// translate converts f into HBase's filter. only is the family that is read; "" if the read may have several families.
func translate(f filter.Filter, only string) (gf.Filter, error) {
	switch f := f.(type) {
	case filter.And:
		var fuzzy, rows, last []gf.Filter
		for _, m := range f {
			t, err := translate(m, only)
			if err != nil {
				return nil, err
			}
			switch {
			case isFuzzy(m):
				if fuzzy = append(fuzzy, t); len(fuzzy) > 1 {
					return nil, fmt.Errorf("filter %s: HBase evaluates only one FuzzyRowFilter under AND", f)
				}
			case shapes(m):
				last = append(last, t)
			default:
				rows = append(rows, t)
			}
		}
		return list(gf.MustPassAll, slices.Concat(fuzzy, rows, last))
	case filter.Or:
		var all []gf.Filter
		for _, m := range f {
			if seeks(m) || shapes(m) {
				return nil, fmt.Errorf("filter %s: HBase evaluates it wrongly under OR", m)
			}
			t, err := translate(m, only)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return list(gf.MustPassOne, all)
	case filter.Cell:
		var cmp gf.Comparator = gf.NewBinaryComparator(gf.NewByteArrayComparable(f.Value))
		if f.Op == filter.Prefix {
			cmp = gf.NewBinaryPrefixComparator(gf.NewByteArrayComparable(f.Value))
		}
		return cell(f.Family, f.Qualifier, compareTypes[f.Op], cmp, !f.KeepMissing), nil
	case filter.CellNull:
		if f.Not {
			return cell(f.Family, f.Qualifier, gf.NotEqual, gf.NewNullComparator(), true), nil
		}
		return cell(f.Family, f.Qualifier, gf.Equal, gf.NewNullComparator(), false), nil
	case filter.Written:
		return written(f), nil
	case filter.Regex:
		charset := "ISO-8859-1"
		if f.UTF8 {
			charset = "UTF-8"
		}
		return cell(f.Family, f.Qualifier, gf.Equal, gf.NewRegexStringComparator(f.Pattern, javaDotAll, charset, "JAVA"), true), nil
	case filter.KeyRegex:
		return gf.NewRowFilter(gf.NewCompareFilter(gf.Equal, gf.NewRegexStringComparator(f.Pattern, javaDotAll, "ISO-8859-1", "JAVA"))), nil
	case filter.KeyRanges:
		ranges := make([]*gf.RowRange, len(f))
		for i, r := range f {
			start, withStart := lower(r.Start, true)
			stop, withStop := upper(r.Stop, false)
			ranges[i] = gf.NewRowRange(start, stop, withStart, withStop)
		}
		return gf.NewMultiRowRangeFilter(ranges), nil
	case filter.Fuzzy:
		pairs := make([]*gf.BytesBytesPair, len(f))
		for i, k := range f {
			pairs[i] = gf.NewBytesBytesPair(k.Key, k.Mask)
		}
		return gf.NewFuzzyRowFilter(pairs), nil
	case filter.Sample:
		return gf.NewRandomRowFilter(float32(f.Share)), nil
	case filter.ColumnRange:
		return gf.NewColumnRangeFilter(f.Min, f.Max, true, false), nil
	case filter.FirstCell:
		return gf.NewFirstKeyOnlyFilter(), nil
	case filter.KeyOnly:
		return gf.NewKeyOnlyFilter(false), nil
	case filter.Columns:
		one := []gf.Filter{gf.NewFirstKeyOnlyFilter()}
		for _, c := range f {
			column := gf.Filter(gf.NewQualifierFilter(gf.NewCompareFilter(gf.Equal, gf.NewBinaryComparator(gf.NewByteArrayComparable([]byte(c.Qualifier))))))
			if c.Family != only {
				column = gf.NewList(gf.MustPassAll, gf.NewFamilyFilter(gf.NewCompareFilter(gf.Equal,
					gf.NewBinaryComparator(gf.NewByteArrayComparable([]byte(c.Family))))), column)
			}
			one = append(one, column)
		}
		return list(gf.MustPassOne, one)
	}
	return nil, fmt.Errorf("no HBase filter for %T", f)
}

// javaDotAll is java.util.regex.Pattern.DOTALL.
const javaDotAll = 32

func cell(family, qualifier string, op gf.CompareType, cmp gf.Comparator, dropMissing bool) gf.Filter {
	return gf.NewSingleColumnValueFilter([]byte(family), []byte(qualifier), op, cmp, dropMissing, true)
}

// written returns a filter that drops a row with a cell that f excludes. It checks only the newest version of each
// cell: after an included version it skips the older ones.
func written(f filter.Written) gf.Filter {
	other := func(name string) *gf.CompareFilter {
		return gf.NewCompareFilter(gf.NotEqual, gf.NewBinaryComparator(gf.NewByteArrayComparable([]byte(name))))
	}
	kept := []gf.Filter{gf.NewFamilyFilter(other(f.Family))}
	if !f.All {
		kept = append(kept, gf.NewQualifierFilter(other(f.Qualifier)))
	}
	return gf.NewSkipFilter(gf.NewList(gf.MustPassOne, append(kept, gf.NewTimestampsFilter(f.Times))...))
}

func list(op gf.ListOperator, fs []gf.Filter) (gf.Filter, error) {
	if len(fs) == 0 {
		return nil, fmt.Errorf("an empty filter list")
	}
	if len(fs) == 1 {
		return fs[0], nil
	}
	return gf.NewList(op, fs...), nil
}

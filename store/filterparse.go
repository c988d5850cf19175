package store

import (
	"fmt"
	"strings"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

const (
	filterPackage = "org.apache.hadoop.hbase.filter."
	// maxFilterDepth bounds the nesting of filters: deeper ones are refused.
	maxFilterDepth = 256
)

// filterParser turns filter messages into filters.
type filterParser struct {
	reversed bool
}

// wrapped reads the member of a filter that has one. The member does not learn that the scan is reversed: only lists
// pass that on.
func (p filterParser) wrapped(f *pb.Filter, depth int) (filter, error) {
	p.reversed = false
	return p.parse(f, depth+1)
}

// parse reads one filter; errors have no class and name the filter.
func (p filterParser) parse(f *pb.Filter, depth int) (filter, error) {
	name, ok := strings.CutPrefix(f.GetName(), filterPackage)
	if !ok || depth > maxFilterDepth {
		return nil, fmt.Errorf("java.lang.ClassNotFoundException: %s", f.GetName())
	}
	out, err := p.parseNamed(name, f.GetSerializedFilter(), depth)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// decode reads a filter's own message into m and passes it to build.
func decode[M proto.Message](b []byte, m M, build func(M) (filter, error)) (filter, error) {
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, err
	}
	return build(m)
}

func (p filterParser) parseNamed(name string, b []byte, depth int) (filter, error) {
	switch name {
	case "FilterList":
		return decode(b, &pb.FilterList{}, func(m *pb.FilterList) (filter, error) { return p.list(m, depth) })
	case "SkipFilter":
		return decode(b, &pb.SkipFilter{}, func(m *pb.SkipFilter) (filter, error) {
			in, err := p.wrapped(m.GetFilter(), depth)
			return &skipFilter{in: in}, err
		})
	case "WhileMatchFilter":
		return decode(b, &pb.WhileMatchFilter{}, func(m *pb.WhileMatchFilter) (filter, error) {
			in, err := p.wrapped(m.GetFilter(), depth)
			return &whileMatchFilter{in: in}, err
		})
	case "FilterWrapper":
		return decode(b, &pb.FilterWrapper{}, func(m *pb.FilterWrapper) (filter, error) { return p.wrapped(m.GetFilter(), depth) })
	case "SingleColumnValueFilter":
		return decode(b, &pb.SingleColumnValueFilter{}, func(m *pb.SingleColumnValueFilter) (filter, error) {
			return newSingleColumnValue(m, false)
		})
	case "SingleColumnValueExcludeFilter":
		return decode(b, &pb.SingleColumnValueExcludeFilter{}, func(m *pb.SingleColumnValueExcludeFilter) (filter, error) {
			return newSingleColumnValue(m.GetSingleColumnValueFilter(), true)
		})
	case "DependentColumnFilter":
		return decode(b, &pb.DependentColumnFilter{}, newDependentColumn)
	}
	if f, ok, err := p.parseRow(name, b); ok || err != nil {
		return f, err
	}
	if f, ok, err := parseColumn(name, b); ok || err != nil {
		return f, err
	}
	return nil, fmt.Errorf("java.lang.ClassNotFoundException: %s%s", filterPackage, name)
}

// parseRow reads the filters that decide by the row's key, or count rows.
func (p filterParser) parseRow(name string, b []byte) (f filter, ok bool, err error) {
	switch name {
	case "RowFilter":
		f, err = decode(b, &pb.RowFilter{}, func(m *pb.RowFilter) (filter, error) {
			t, err := newTest(m.GetCompareFilter())
			return &rowFilter{test: t}, err
		})
	case "PrefixFilter":
		f, err = decode(b, &pb.PrefixFilter{}, func(m *pb.PrefixFilter) (filter, error) {
			return &prefixFilter{prefix: m.Prefix, refused: true, reversed: p.reversed}, nil
		})
	case "InclusiveStopFilter":
		f, err = decode(b, &pb.InclusiveStopFilter{}, func(m *pb.InclusiveStopFilter) (filter, error) {
			return &inclusiveStopFilter{stop: m.StopRowKey, reversed: p.reversed}, nil
		})
	case "PageFilter":
		f, err = decode(b, &pb.PageFilter{}, func(m *pb.PageFilter) (filter, error) {
			if m.GetPageSize() < 0 {
				return nil, fmt.Errorf("must be positive %d", m.GetPageSize())
			}
			return &pageFilter{size: m.GetPageSize()}, nil
		})
	case "RandomRowFilter":
		f, err = decode(b, &pb.RandomRowFilter{}, func(m *pb.RandomRowFilter) (filter, error) {
			return &randomRowFilter{chance: m.GetChance()}, nil
		})
	case "FuzzyRowFilter":
		f, err = decode(b, &pb.FuzzyRowFilter{}, func(m *pb.FuzzyRowFilter) (filter, error) { return newFuzzyRow(m, p.reversed) })
	case "MultiRowRangeFilter":
		f, err = decode(b, &pb.MultiRowRangeFilter{}, func(m *pb.MultiRowRangeFilter) (filter, error) {
			return newMultiRowRange(m, p.reversed)
		})
	default:
		return nil, false, nil
	}
	return f, true, err
}

// parseColumn reads the filters that look at single cells.
func parseColumn(name string, b []byte) (f filter, ok bool, err error) {
	switch name {
	case "ValueFilter":
		f, err = decode(b, &pb.ValueFilter{}, func(m *pb.ValueFilter) (filter, error) {
			t, err := newTest(m.GetCompareFilter())
			return &valueFilter{test: t}, err
		})
	case "QualifierFilter":
		f, err = decode(b, &pb.QualifierFilter{}, func(m *pb.QualifierFilter) (filter, error) {
			t, err := newTest(m.GetCompareFilter())
			return &qualifierFilter{test: t}, err
		})
	case "FamilyFilter":
		f, err = decode(b, &pb.FamilyFilter{}, func(m *pb.FamilyFilter) (filter, error) {
			t, err := newTest(m.GetCompareFilter())
			return &familyFilter{test: t}, err
		})
	case "ColumnPrefixFilter":
		f, err = decode(b, &pb.ColumnPrefixFilter{}, func(m *pb.ColumnPrefixFilter) (filter, error) {
			return &columnPrefixFilter{prefix: m.GetPrefix()}, nil
		})
	case "MultipleColumnPrefixFilter":
		f, err = decode(b, &pb.MultipleColumnPrefixFilter{}, newMultipleColumnPrefix)
	case "ColumnRangeFilter":
		f, err = decode(b, &pb.ColumnRangeFilter{}, func(m *pb.ColumnRangeFilter) (filter, error) {
			return &columnRangeFilter{min: m.MinColumn, max: m.MaxColumn,
				minInclusive: m.GetMinColumnInclusive(), maxInclusive: m.GetMaxColumnInclusive()}, nil
		})
	case "ColumnPaginationFilter":
		f, err = decode(b, &pb.ColumnPaginationFilter{}, newColumnPagination)
	case "ColumnCountGetFilter":
		f, err = decode(b, &pb.ColumnCountGetFilter{}, func(m *pb.ColumnCountGetFilter) (filter, error) {
			if m.GetLimit() < 0 {
				return nil, fmt.Errorf("limit be positive %d", m.GetLimit())
			}
			return &columnCountFilter{limit: int(m.GetLimit())}, nil
		})
	case "TimestampsFilter":
		f, err = decode(b, &pb.TimestampsFilter{}, newTimestamps)
	case "KeyOnlyFilter":
		f, err = decode(b, &pb.KeyOnlyFilter{}, func(m *pb.KeyOnlyFilter) (filter, error) {
			return &keyOnlyFilter{lenAsValue: m.GetLenAsVal()}, nil
		})
	case "FirstKeyOnlyFilter":
		f, err = decode(b, &pb.FirstKeyOnlyFilter{}, func(*pb.FirstKeyOnlyFilter) (filter, error) { return &firstKeyOnlyFilter{}, nil })
	case "FirstKeyValueMatchingQualifiersFilter":
		f, err = decode(b, &pb.FirstKeyValueMatchingQualifiersFilter{}, func(m *pb.FirstKeyValueMatchingQualifiersFilter) (filter, error) {
			return &firstMatchingFilter{qualifiers: m.GetQualifiers()}, nil
		})
	default:
		return nil, false, nil
	}
	return f, true, err
}

// list reads the members of a list and joins them.
func (p filterParser) list(m *pb.FilterList, depth int) (filter, error) {
	members := make([]filter, 0, len(m.GetFilters()))
	for _, f := range m.GetFilters() {
		in, err := p.parse(f, depth+1)
		if err != nil {
			return nil, err
		}
		members = append(members, in)
	}
	if m.GetOperator() == pb.FilterList_MUST_PASS_ONE {
		return newFilterOr(members, p.reversed), nil
	}
	return newFilterAnd(members, p.reversed), nil
}

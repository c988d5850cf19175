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

// parse reads one filter. Its errors name the filter and are not exceptions: they have no Java class.
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

// decode reads the message of a filter or a comparator into m and passes it to build.
func decode[M proto.Message, T any](b []byte, m M, build func(M) (T, error)) (out T, err error) {
	if err := proto.Unmarshal(b, m); err != nil {
		return out, err
	}
	return build(m)
}

// parseNamed knows the filters that hql sends.
func (p filterParser) parseNamed(name string, b []byte, depth int) (filter, error) {
	switch name {
	case "FilterList":
		return decode(b, &pb.FilterList{}, func(m *pb.FilterList) (filter, error) { return p.list(m, depth) })
	case "SkipFilter":
		return decode(b, &pb.SkipFilter{}, func(m *pb.SkipFilter) (filter, error) {
			p.reversed = false // only lists pass it on
			in, err := p.parse(m.GetFilter(), depth+1)
			return &skipFilter{in: in}, err
		})
	case "SingleColumnValueFilter":
		return decode(b, &pb.SingleColumnValueFilter{}, newSingleColumnValue)
	case "RowFilter":
		return decode(b, &pb.RowFilter{}, func(m *pb.RowFilter) (filter, error) {
			t, err := newTest(m.GetCompareFilter())
			return &rowFilter{test: t}, err
		})
	case "QualifierFilter":
		return decode(b, &pb.QualifierFilter{}, func(m *pb.QualifierFilter) (filter, error) {
			t, err := newTest(m.GetCompareFilter())
			return &qualifierFilter{test: t}, err
		})
	case "FamilyFilter":
		return decode(b, &pb.FamilyFilter{}, func(m *pb.FamilyFilter) (filter, error) {
			t, err := newTest(m.GetCompareFilter())
			return &familyFilter{test: t}, err
		})
	case "RandomRowFilter":
		return decode(b, &pb.RandomRowFilter{}, func(m *pb.RandomRowFilter) (filter, error) {
			return &randomRowFilter{chance: m.GetChance()}, nil
		})
	case "FuzzyRowFilter":
		return decode(b, &pb.FuzzyRowFilter{}, p.fuzzyRow)
	case "MultiRowRangeFilter":
		return decode(b, &pb.MultiRowRangeFilter{}, p.multiRowRange)
	case "ColumnRangeFilter":
		return decode(b, &pb.ColumnRangeFilter{}, func(m *pb.ColumnRangeFilter) (filter, error) {
			return &columnRangeFilter{min: m.MinColumn, max: m.MaxColumn,
				minInclusive: m.GetMinColumnInclusive(), maxInclusive: m.GetMaxColumnInclusive()}, nil
		})
	case "TimestampsFilter":
		return decode(b, &pb.TimestampsFilter{}, newTimestamps)
	case "KeyOnlyFilter":
		return decode(b, &pb.KeyOnlyFilter{}, func(*pb.KeyOnlyFilter) (filter, error) { return keyOnlyFilter{}, nil })
	case "FirstKeyOnlyFilter":
		return decode(b, &pb.FirstKeyOnlyFilter{}, func(*pb.FirstKeyOnlyFilter) (filter, error) { return &firstKeyOnlyFilter{}, nil })
	}
	return nil, fmt.Errorf("java.lang.ClassNotFoundException: %s%s", filterPackage, name)
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

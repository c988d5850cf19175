package access

import (
	"bytes"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// keySpan is a Span during planning. It has two kinds of facts. Facts that its keys prove are true for every row in it, so
// predicates that follow from them need no check. Facts from the query (sets, fuzzy, hop) are true for the wanted rows,
// which may be only some of the rows in the span.
//
//	ROW KEY (a AS ORDERED INT32, b AS TEXT), a = 1 AND b LIKE '%x'
//	[/1 - /1]    proven {a: [1 - 1]}    sets {a: [1 - 1]}    the LIKE is not proven: each row is checked
type keySpan struct {
	plan.Span
	// proven has, by column, a set that contains the column's value in every row of the span.
	proven facts
	// bound is the number of leading key parts that the span binds or restricts to a range.
	bound int
	// begun is the number of key parts that begin within Start or at its end.
	begun int
	// fixed is the number of bytes of Start that come from constant parts, with which all keys of the span begin.
	fixed int
	// sets has, by column, the values that the column can have in the wanted rows.
	sets facts
	// fuzzy are patterns, one of which matches the key of each wanted row; nil: none are known.
	fuzzy []fuzzyPattern
	hop   *tailHop // nil: there is none
}

// openAtAnEnd reports whether the wanted values of a column of p have no lower or no upper bound.
//
//	ts > 7           true
//	ts IN (1, 7)     false
func (s keySpan) openAtAnEnd(p *catalog.Part) bool {
	return slices.ContainsFunc(p.Columns, func(col int) bool {
		set := s.sets.of(col)
		return len(set) > 0 && (set[0].Lo.IsNull() || set[len(set)-1].Hi.IsNull())
	})
}

// isNoKey reports whether s is a key that no row can have: HBase refuses empty keys and too long ones.
func (s keySpan) isNoKey() bool {
	return s.Key && (len(s.Start) == 0 || len(s.Start) > catalog.MaxKeyLength)
}

// sharesRest reports whether all keys of t begin with the bytes from which p is computed.
func sharesRest(p *catalog.Part, t keySpan) bool {
	n, ok := p.RestLength()
	return ok && len(t.Start) >= n && t.AllBegin(t.Start[:n])
}

// emit adds the span of the keys that begin with the bytes of br, followed by bytes in r. If r is nil, the span has all
// keys that begin with br's bytes; if r is a point, the key is complete.
func (w *spanBuilder) emit(br path, r *catalog.ByteRange) {
	s := keySpan{Span: plan.Span{Table: br.table}, proven: br.proven, bound: br.bound, begun: br.begun, sets: br.sets, fixed: len(br.prefix)}
	if br.openTail && (r == nil || !r.Point) {
		s.proven = br.provenBeforeTail
	}
	switch {
	case r == nil:
		s.Start, s.Stop = br.prefix[:len(br.prefix)-br.loose], types.PrefixEnd(br.prefix)
		s.fuzzy, s.hop = w.fuzzy(br), w.hop(br)
	case r.Point:
		s.Start, s.Key = br.prefix[:len(br.prefix)-br.loose], true
	default:
		s.fuzzy, s.hop = w.fuzzy(br), w.hop(br)
		s.Start = w.join(br.prefix, r.Lo)
		if r.Hi == nil {
			s.Stop = types.PrefixEnd(br.prefix)
		} else {
			s.Stop = w.join(br.prefix, r.Hi)
			if len(s.Stop) == 0 {
				return // nothing sorts before the empty string
			}
		}
		if len(s.Stop) > 0 && bytes.Compare(s.Start, s.Stop) >= 0 {
			return
		}
	}
	w.add(s)
}

func (w *spanBuilder) add(s keySpan) {
	if *w.out = append(*w.out, s); len(*w.out)%256 == 0 {
		w.env.tick()
	}
}

// collect returns the spans of a walk from part i on, instead of adding them to those of w.
func (w *spanBuilder) collect(br path, i int) (spans []keySpan, useful bool) {
	was := w.out
	w.out = &spans
	useful = w.key(br, i)
	w.out = was
	return spans, useful
}

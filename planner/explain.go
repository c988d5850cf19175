package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// Parts tells what the plan does with each part of the key.
func (s *Scan) Parts() []PartState {
	w := s.walker
	var out []PartState
	for i, p := range w.layout.Key.Parts {
		st := PartState{Part: p.Source}
		switch {
		case p.Literal != nil:
			st.State = "literal"
		case w.uses[i] == unused:
			st.State = "unused"
			switch {
			case i == w.stopPart:
				st.Why = w.stopWhy
			case i > 0 && w.uses[i-1] == ranged, i > 1 && w.layout.Key.Parts[i-1].Literal != nil && w.uses[i-2] == ranged:
				st.Why = "the prefix ends with the range before it"
			}
		default:
			st.State = w.uses[i].String()
			st.Detail = describe(w.detail[i])
			if w.varied[i] {
				st.Detail += ", and others"
			}
		}
		if s.Access.wide() && p.Literal == nil {
			st.State, st.Detail = "unused", ""
			if s.Access == SkipScan {
				s.hopped(&st, i)
			}
		}
		out = append(out, st)
	}
	return out
}

// describe prints the values of a set, the first few of them.
func describe(s types.Set) string {
	const most = 3
	if len(s) == 0 {
		return ""
	}
	var parts []string
	for i, iv := range s {
		if i == most {
			parts = append(parts, fmt.Sprintf("... (%d in all)", len(s)))
			break
		}
		if iv.IsPoint() {
			parts = append(parts, iv.Lo.SQL())
		} else {
			parts = append(parts, iv.String())
		}
	}
	return strings.Join(parts, ", ")
}

// why tells why a walk cannot go through p.
func (w *walker) why(p *catalog.Part, br *branch) string {
	t := func(col int) string { return w.table.Columns[col].Name }
	if len(p.Columns) == 0 {
		return "its values cannot be computed or listed"
	}
	var free []string
	for _, col := range p.Columns {
		if br.sets.setOf(col).IsAll() {
			free = append(free, t(col))
		}
	}
	switch {
	case len(free) > 0:
		return "nothing binds " + strings.Join(free, ", ")
	case p.ManyScales():
		return "equal numbers of other scales have other bytes"
	default:
		return "a range of " + t(p.Columns[0]) + " is not a range of this part"
	}
}

// whyNotKey tells why predicate e is not decided by the key.
func (w *walker) whyNotKey(e expr.Expr, t *catalog.Table) string {
	cols := expr.Columns(e)
	for _, col := range cols {
		if col >= len(t.Columns) {
			return ""
		}
		if !t.Columns[col].KeyPart {
			if !slices.Contains(w.layout.KeyColumns(), col) {
				return fmt.Sprintf("%s is not in the key", t.Columns[col].Name)
			}
			if !w.layout.Holds(col) {
				return fmt.Sprintf("the key holds only a hash of %s", t.Columns[col].Name)
			}
		}
	}
	if len(cols) > 1 {
		return "it is about several columns at once"
	}
	if !termOf(e, columns{table: t}).ok {
		return "it is not a range or a prefix of one key column"
	}
	for i, p := range w.layout.Key.Parts {
		if i < w.stopPart && w.uses[i] == unused && slices.Contains(p.Columns, cols[0]) {
			return "the key's prefix ends with the range before it"
		}
	}
	if w.stopPart < len(w.layout.Key.Parts) {
		return fmt.Sprintf("the key is used up to %s", w.layout.Key.Parts[w.stopPart].Source)
	}
	return "the key narrows it, but not to exactly these rows"
}

// Advice tells what a query that misses the prefix could add to hit it; "" when it hits it, or nothing helps.
func (s *Scan) Advice() string {
	if !s.Access.wide() {
		return ""
	}
	var best string
	for _, l := range s.Table.Layouts {
		var need []string
		for _, p := range l.Key.Parts {
			if p.Literal != nil {
				continue
			}
			if len(p.Columns) == 0 || p.ManyScales() {
				if s.walker.enumerable(p) {
					continue // salts are enumerated
				}
				break // no condition gets past it
			}
			for _, c := range p.Columns {
				name := s.Table.Columns[c].Name
				if p.Monotone() != 0 && p.Injective() && p.Order() != catalog.Unordered {
					name += " = ... (or a range of it)"
				} else if s.walker.enumerable(p) {
					continue
				} else {
					name += " = ..."
				}
				if !slices.Contains(need, name) {
					need = append(need, name)
				}
			}
			if len(need) > 0 {
				break
			}
		}
		if len(need) == 0 {
			continue
		}
		text := "add " + strings.Join(need, " AND ")
		if len(s.Table.Layouts) > 1 {
			text += " (layout " + l.Name + ")"
		}
		if best != "" {
			best += ", or "
		}
		best += text
	}
	return best
}

// enumerable tells that p has few values, whatever its columns have.
func (w *walker) enumerable(p *catalog.Part) bool {
	dom, ok := p.Domain()
	if ok {
		_, ok = dom.Values(w.opt.MaxEnumerate)
	}
	return ok
}

// Scans lists the table accesses of a plan, in the order they are written.
func Scans(n Node) []*Scan {
	if s, ok := n.(*Scan); ok {
		return []*Scan{s}
	}
	var out []*Scan
	for _, in := range n.Inputs() {
		out = append(out, Scans(in)...)
	}
	return out
}

// Tables lists the tables that a plan reads, those of its sub-queries among them.
func (p *Plan) Tables() []*catalog.Table {
	var out []*catalog.Table
	for _, s := range Scans(p.Root) {
		out = append(out, s.Table)
	}
	for _, s := range p.Subplans {
		out = append(out, s.Sample.Tables()...)
	}
	return out
}

// HitsPrefix tells whether no access of the plan misses the rowkey prefix.
func (p *Plan) HitsPrefix() bool {
	for _, s := range Scans(p.Root) {
		if s.Access == FullScan {
			return false
		}
	}
	return !slices.ContainsFunc(p.Subplans, func(s *Subplan) bool { return !s.Sample.HitsPrefix() })
}

// Counts gives the Gets and scans that are planned.
func (s *Scan) Counts() (gets, scans int) {
	for _, sp := range s.Spans {
		if sp.Key {
			gets++
		}
	}
	return gets, len(s.Spans) - gets
}

// Stored lists the HBase tables of s.
func (s *Scan) Stored() []string {
	out := []string{}
	for _, sp := range s.Spans {
		if len(out) == 0 || out[len(out)-1] != sp.Table {
			out = append(out, sp.Table)
		}
	}
	if s.ListTables {
		return []string{s.TablePrefix + "*"}
	}
	return out
}

// Escape prints bytes as EXPLAIN does: printable ASCII as it is, the backslash and the rest as \xNN.
func Escape(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		if c < 0x20 || c > 0x7e || c == '\\' {
			fmt.Fprintf(&s, `\x%02X`, c)
		} else {
			s.WriteByte(c)
		}
	}
	return s.String()
}

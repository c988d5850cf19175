package hql

import (
	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/planner/plan"
)

// Plan describes how a query would run. String returns the text of EXPLAIN, MarshalJSON that of EXPLAIN (FORMAT JSON).
type Plan struct {
	// Access is the kind of access to the first table: "get", "scan", "skip scan", "full scan" or "empty".
	Access string
	// Warnings are the warnings about the key ranges, by table; nil if there are none.
	Warnings []string
	plan     *plan.Plan
}

// Ranges returns the number of disjoint key ranges that would be read in all tables; a single key counts as one.
func (p *Plan) Ranges() int {
	n := 0
	for _, s := range p.plan.Reads() {
		n += len(s.Spans)
	}
	return n
}

// Layouts returns the layout by which each table would be read, in the plan's order: "table" for its rowkey, "table.index"
// for an index or copy.
func (p *Plan) Layouts() []string {
	var out []string
	for _, s := range p.plan.Reads() {
		name := s.Table.Name
		if s.Layout != s.Table.Layouts[0] {
			name += "." + s.Layout.Name
		}
		out = append(out, name)
	}
	return out
}

func newPlan(p *plan.Plan) *Plan {
	out := &Plan{Access: plan.Empty.String(), plan: p}
	scans := p.Reads()
	if len(scans) > 0 {
		out.Access = scans[0].Access.String()
	}
	for _, s := range scans {
		out.Warnings = append(out.Warnings, s.Warnings...)
	}
	return out
}

// HitsPrefix reports whether conditions on the rowkey bound the read of every table. Then the query never fails with
// ErrFullScan, and the number of rows that it reads does not grow with the rest of the table.
func (p *Plan) HitsPrefix() bool { return p.plan.HitsPrefix() }

// FullScan reports whether HitsPrefix is false.
func (p *Plan) FullScan() bool { return !p.plan.HitsPrefix() }

// String returns the text of EXPLAIN.
func (p *Plan) String() string { return explain.String(p.plan) }

// MarshalJSON returns the object that EXPLAIN (FORMAT JSON) prints.
func (p *Plan) MarshalJSON() ([]byte, error) { return explain.JSON(p.plan, nil) }

// Raw returns the internal plan.
func (p *Plan) Raw() *plan.Plan { return p.plan }

package hql

import (
	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/planner/plan"
)

// Plan says how a query would be run. String is EXPLAIN for a person, MarshalJSON EXPLAIN (FORMAT JSON).
type Plan struct {
	// Access is how the first table is read: "get", "scan", "skip scan", "full scan" or "empty".
	Access string
	// Warnings are the warnings about the key ranges, by table; nil if there are none.
	Warnings []string
	plan     *plan.Plan
}

// Ranges is the number of disjoint key ranges that would be read in all tables, a key counting as one.
func (p *Plan) Ranges() int {
	n := 0
	for _, s := range p.plan.Reads() {
		n += len(s.Spans)
	}
	return n
}

// Layouts names how each table would be read, in the plan's order: "table" by its
// rowkey, "table.index" by an index or copy.
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

// String draws the plan.
func (p *Plan) String() string { return explain.String(p.plan) }

// MarshalJSON is the object that EXPLAIN (FORMAT JSON) prints.
func (p *Plan) MarshalJSON() ([]byte, error) { return explain.JSON(p.plan, nil) }

// Raw is the plan as data.
func (p *Plan) Raw() *plan.Plan { return p.plan }

package hql

import "github.com/hql-db/hql/planner"

// Plan tells how a query would be run. String is EXPLAIN for a person, MarshalJSON EXPLAIN (FORMAT JSON).
type Plan struct {
	// Access is how the first table is read: "get", "scan", "skip scan", "full scan" or "empty".
	Access   string
	Warnings []string
	plan     *planner.Plan
}

func newPlan(p *planner.Plan) *Plan {
	out := &Plan{Access: planner.Empty.String(), Warnings: p.Warnings, plan: p}
	if scans := planner.Scans(p.Root); len(scans) > 0 {
		out.Access = scans[0].Access.String()
	}
	return out
}

// HitsPrefix tells that no table is read whole.
func (p *Plan) HitsPrefix() bool { return p.plan.HitsPrefix() }

// FullScan tells that some table is read whole.
func (p *Plan) FullScan() bool { return !p.plan.HitsPrefix() }

// String draws the plan.
func (p *Plan) String() string { return p.plan.String() }

// MarshalJSON is the object that EXPLAIN (FORMAT JSON) prints.
func (p *Plan) MarshalJSON() ([]byte, error) { return p.plan.MarshalJSON() }

// Raw is the plan as data.
func (p *Plan) Raw() *planner.Plan { return p.plan }

package plan

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
)

// mobReference matches the cell of a MOB family that holds a reference instead of a large value. It has the value's
// length, the MD5 of the region's start key, a day and a UUID; the last three name the MOB file.
const mobReference = `\A.{4}[0-9a-f]{32}[0-9]{8}[0-9a-f]{32}`

// WithMob returns s for families whose cells may hold references instead of large values. The servers' filters would
// compare the references, so the changed filter keeps all rows with a reference in a cell that it compares, and the client
// checks these rows. WithMob returns s itself if no family is affected.
func (s *Scan) WithMob(mob func(family string) bool) *Scan {
	f, changed := keepReferences(s.Filter, mob)
	if !changed {
		return s
	}
	out := *s
	out.Filter, out.Needed = f, slices.Clone(s.Needed)
	var checked []expr.Expr
	for _, fate := range s.Fates {
		if fate.By == ByKey {
			continue
		}
		checked = append(checked, fate.Expr)
		for _, col := range expr.Columns(fate.Expr) {
			out.Needed[col] = true
		}
	}
	out.Residual = expr.Conjunction(checked)
	return &out
}

// keepReferences returns a filter that keeps the rows that f keeps, and those with a reference in a cell that f compares.
func keepReferences(f filter.Filter, mob func(family string) bool) (filter.Filter, bool) {
	family, qualifier := "", ""
	switch f := f.(type) {
	case filter.And:
		out, changed := keepAllReferences(f, mob)
		return filter.And(out), changed
	case filter.Or:
		out, changed := keepAllReferences(f, mob)
		return filter.Or(out), changed
	case filter.Cell:
		family, qualifier = f.Family, f.Qualifier
	case filter.Regex:
		family, qualifier = f.Family, f.Qualifier
	default:
		return f, false
	}
	if !mob(family) {
		return f, false
	}
	return filter.Or{f, filter.Regex{Family: family, Qualifier: qualifier, Pattern: mobReference}}, true
}

func keepAllReferences(fs []filter.Filter, mob func(family string) bool) (out []filter.Filter, changed bool) {
	for _, f := range fs {
		g, c := keepReferences(f, mob)
		out, changed = append(out, g), changed || c
	}
	return out, changed
}

package exec

import (
	"context"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// check runs CHECK TABLE: it compares the derived layouts with the primary one, and reports entries that differ. With
// REPAIR it corrects them.
func (r *run) check(ctx context.Context, s *parser.CheckTable) (*Rows, error) {
	t, err := r.tableNamed(s.Name, s.NamePos)
	if err != nil {
		return nil, err
	}
	if s.Repair {
		if err := write.Writable(t, s.NamePos); err != nil && !t.Def.Materialized {
			return nil, err
		}
	}
	columns := append(textColumns("layout", "problem"), plan.OutputColumn{Name: "count", Type: types.BigInt})
	var rows [][]types.Value
	w := r.newWriter(t)
	if s.Repair {
		if err := r.fill(ctx, t); err != nil {
			return nil, err
		}
	}
	for i := 1; i < len(t.Layouts); i++ {
		found, err := w.CheckLayout(ctx, i, s.Repair)
		if err != nil {
			return nil, err
		}
		name := types.NewString(t.Layouts[i].Name)
		rows = append(rows, []types.Value{name, types.NewString("rows without an entry"), types.NewInt(found.Missing)},
			[]types.Value{name, types.NewString("entries without their row"), types.NewInt(found.Stale)})
		if t.Layouts[i].Kind != catalog.Index { // a copy
			rows = append(rows, []types.Value{name, types.NewString("entries unlike their row"), types.NewInt(found.Unlike)})
		}
	}
	return r.table(columns, rows), r.checkUnchanged(ctx, t)
}

package planner

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// Views keeps the queries of the views that one statement names. Each time the statement is planned, a view has the same
// syntax tree, which identifies the answers of its sub-queries. Views is safe for concurrent use; its zero value is ready.
type Views struct {
	mu    sync.Mutex
	trees map[any]*parser.Select // by *catalog.View; by text, those of list
}

// kept returns the tree for key, which build makes the first time. A nil *Views keeps nothing.
func (vs *Views) kept(key any, build func() *parser.Select) *parser.Select {
	if vs == nil {
		return build()
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.trees == nil {
		vs.trees = map[any]*parser.Select{}
	}
	if vs.trees[key] == nil {
		vs.trees[key] = build()
	}
	return vs.trees[key]
}

// query returns the query of v with all positions at t, the first reference to v.
func (vs *Views) query(v *catalog.View, t *parser.TableName) *parser.Select {
	return vs.kept(v, func() *parser.Select { return v.Def.Query.At(t.Pos) })
}

// list returns the pointer that identifies a query made by the planner. It is the same for equal texts in every plan of
// a statement.
func (vs *Views) list(text string) *parser.Select {
	return vs.kept(text, func() *parser.Select { return &parser.Select{} })
}

// viewSource returns the source for t, a reference to the view v. It is a query in FROM that does not see the statement's
// own names.
func (q *query) viewSource(v *catalog.View, t *parser.TableName, alias string) (*source, error) {
	if t.SystemTime != nil {
		return nil, parser.Errorf(t.SystemTime.Pos, "FOR SYSTEM_TIME is allowed only after tables: %s is a view", v.Name)
	}
	if slices.Contains(q.reading, strings.ToLower(v.Name)) {
		return nil, parser.Errorf(t.Pos, "view %s reads itself", v.Name)
	}
	src, err := q.views.view(q, v, t).source(q)
	var pe *parser.Error
	if errors.As(err, &pe) && len(q.reading) == 0 {
		e := *pe
		e.Msg = "view " + v.Name + ": " + e.Msg
		return nil, &e
	}
	if err == nil {
		src.name, src.cols = alias, slices.Clone(src.cols)
		for i := range src.cols {
			src.cols[i].Origin = plan.Origin{Relation: v.Name, Column: i + 1}
		}
		for i, c := range src.view {
			if c, ok := c.of.(*expr.Column); ok {
				src.cols[c.Index].Origin.Column = i + 1
			}
		}
	}
	return src, err
}

package planner

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
)

// Views keeps the queries of the views that one statement names, so that each time it is planned they are the same trees: the answers of
// their sub-queries are known by these. It is safe for several goroutines; the zero Views is ready.
type Views struct {
	mu    sync.Mutex
	trees map[viewUse]*parser.Select
}

// viewUse is a place of a statement that names a view.
type viewUse struct {
	view *catalog.View
	at   *parser.TableName
}

// query is v's, all of it at t. A nil *Views keeps nothing.
func (vs *Views) query(v *catalog.View, t *parser.TableName) *parser.Select {
	if vs == nil {
		return v.Def.Query.At(t.Pos)
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	use := viewUse{v, t}
	s, ok := vs.trees[use]
	if !ok {
		if vs.trees == nil {
			vs.trees = map[viewUse]*parser.Select{}
		}
		s = v.Def.Query.At(t.Pos)
		vs.trees[use] = s
	}
	return s
}

// viewSource reads the view v, which t names: as a query in FROM that knows nothing of the statement's own names.
func (q *query) viewSource(v *catalog.View, t *parser.TableName, alias string) (*source, error) {
	if t.SystemTime != nil {
		return nil, parser.Errorf(t.SystemTime.Pos, "FOR SYSTEM_TIME stands behind tables: %s is a view", v.Name)
	}
	name := strings.ToLower(v.Name)
	if slices.Contains(q.views, name) {
		return nil, parser.Errorf(t.Pos, "view %s reads itself", v.Name)
	}
	s := q.env.Views.query(v, t)
	in := &query{env: q.env, depth: q.depth, plan: q.plan, few: q.few, pull: q.pull, layout: q.layout, pieces: q.pieces, views: append(slices.Clip(q.views), name)}
	src, err := in.derived(s, alias, v.Def.Columns, v.Name, t.Pos)
	var pe *parser.Error
	if errors.As(err, &pe) && len(q.views) == 0 {
		e := *pe
		e.Msg = "view " + v.Name + ": " + e.Msg
		return nil, &e
	}
	return src, err
}

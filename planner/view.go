package planner

import (
	"errors"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
)

// viewSource reads the view v, which t names: as a query in FROM that knows nothing of the statement's own names.
func (q *query) viewSource(v *catalog.View, t *parser.TableName, alias string) (*source, error) {
	if t.SystemTime != nil {
		return nil, parser.Errorf(t.SystemTime.Pos, "FOR SYSTEM_TIME stands behind tables: %s is a view", v.Name)
	}
	name := strings.ToLower(v.Name)
	if slices.Contains(q.views, name) {
		return nil, parser.Errorf(t.Pos, "view %s reads itself", v.Name)
	}
	s, err := v.Def.Query.At(t.Pos)
	if err != nil {
		return nil, err
	}
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

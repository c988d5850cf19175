package access

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/internal/worlds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Each advice is true: a query that follows it, by values of any row, hits the rowkey prefix. It does not ask for what the query says already.
func TestAdvice(t *testing.T) {
	seeds.Each(t, race.Fewer(25), func(t *testing.T, seed uint64, fig seeds.Figures) {
		r := rand.New(rand.NewPCG(seed, 0))
		drawn := worlds.New(r, "t", worlds.Options{NoLookup: true})
		value := func(c *catalog.Column) types.Value { return drawn.Value(r, c) }
		draw := worlds.Predicates{Rand: r, Table: drawn.Def, Value: value}
		for range 20 {
			where := draw.Draw(2)
			s, err := adviceOf(drawn.Def, where, "")
			if err != nil || s.Access.HitsPrefix() || s.CapHit {
				continue
			}
			for _, way := range strings.Split(s.Advice(), ", or ") {
				if way == "" {
					fig["without advice"]++
					continue
				}
				fig["advices"]++
				layout := ""
				if m := layoutOf.FindStringSubmatch(way); m != nil {
					layout = m[1]
				}
				for _, ranged := range []bool{false, true} {
					with := follow(drawn.Def, way, ranged, value)
					if with == "" || ranged && isEndless(drawn.Def, with) {
						continue
					}
					got, err := adviceOf(drawn.Def, "("+where+") AND "+with, layout)
					if err == nil && !got.Access.HitsPrefix() && !got.CapHit {
						t.Errorf("%s\n%s: %s\n%s is a %s: %s", drawn.DDL(), where, way, with, got.Access, got.Advice())
					}
				}
			}
		}
	})
}

var (
	layoutOf = regexp.MustCompile(`\(layout (\w+)\)$`)
	termIn   = regexp.MustCompile(`(\w+) (= \.\.\.( \(or a range of it\))?|IS NOT NULL)`)
)

// follow is what an advice asks to add, with values of the columns; "" where one of them is NULL, or no range was offered and one is wanted.
func follow(t *catalog.Table, way string, ranged bool, value func(*catalog.Column) types.Value) string {
	var terms []string
	offered := false
	for _, m := range termIn.FindAllStringSubmatch(way, -1) {
		c, _ := t.Column(m[1])
		if m[2] == "IS NOT NULL" {
			terms = append(terms, m[0])
			continue
		}
		v, w := value(c), value(c)
		if v.IsNull() || v.Text() == "" && (c.Type.IsText() || c.Type == types.Bytes) || w.IsNull() {
			return "" // an empty text can be the start of every key
		}
		if name := parser.QuoteName(c.Name); ranged && m[3] != "" {
			terms, offered = append(terms, name+" BETWEEN "+v.SQL()+" AND "+w.SQL()), true
		} else {
			terms = append(terms, name+" = "+v.SQL())
		}
	}
	if ranged && !offered {
		return ""
	}
	return strings.Join(terms, " AND ")
}

// isEndless reports whether one of the conditions in with leaves no value of its column out: a TINYINT BETWEEN -128 AND 127.
func isEndless(t *catalog.Table, with string) bool {
	cond, err := compileWhere(t, with, nil)
	if err != nil {
		return false
	}
	sets := map[int]types.Set{}
	for _, e := range expr.Conjuncts(cond) {
		if col, set, _, _ := solve.Sarg(e); set != nil {
			if of, known := sets[col]; known {
				set = set.Intersect(of)
			}
			sets[col] = set
		}
	}
	for _, set := range sets {
		if set.IsAll() {
			return true
		}
	}
	return false
}

func adviceOf(t *catalog.Table, where, layout string) (*plan.Scan, error) {
	cond, err := compileWhere(t, where, nil)
	if err != nil {
		return nil, err
	}
	req := &Request{Table: t, Conjuncts: expr.Conjuncts(cond), Needed: make([]bool, len(t.Columns)+2), Layout: layout}
	return (&Env{}).Scan(req)
}

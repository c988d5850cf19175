package design

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/estimate"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// Statement is one statement of the workload.
type Statement struct {
	N      int     `json:"n"` // from 1
	Text   string  `json:"text"`
	Weight float64 `json:"weight"`
	Error  string  `json:"error,omitempty"` // why it cannot be planned

	ast    parser.Statement
	writes string // the table that it writes; "" for none
	reads  []string
	needs  []need
}

// weightComment matches the comment that gives a statement its weight.
var weightComment = regexp.MustCompile(`(?i)^(?:--|/\*)\s*weight:\s*([0-9]+(?:\.[0-9]*)?)`)

// statements parses a workload. A weight belongs to the statement that follows it, or that ends on its line.
func statements(src string) ([]Statement, error) {
	parsed, err := parser.Parse(src)
	if err != nil {
		return nil, err
	}
	if len(parsed) == 0 {
		return nil, fmt.Errorf("there is no statement")
	}
	out := make([]Statement, len(parsed))
	for i, s := range parsed {
		if e, ok := s.(*parser.Explain); ok {
			s = e.Statement
		}
		out[i] = Statement{N: i + 1, Text: strings.Join(strings.Fields(s.String()), " "), Weight: 1, ast: s}
	}
	at, begun, ended := 0, false, 0
	for _, t := range parser.Tokens(src) {
		pos := int(t.Pos)
		switch m := weightComment.FindStringSubmatch(t.Text); {
		case t.Kind == parser.CommentToken && m != nil:
			of := at
			if !begun && at > 0 && !strings.Contains(src[ended:pos], "\n") {
				of--
			}
			if of < len(out) {
				out[of].Weight, _ = strconv.ParseFloat(m[1], 64)
			}
		case t.Kind == parser.CommentToken:
		case t.Kind == parser.OperatorToken && t.Text == ";":
			if ended = pos; begun {
				at, begun = at+1, false
			}
		default:
			begun = true
		}
	}
	return out, nil
}

// read sets what a statement reads and writes with today's tables.
func (d *designer) read(s *Statement) {
	p, err := d.plan(d.catalog, s.ast, d.find)
	if err != nil {
		s.Error = err.Error()
		return
	}
	if s.writes = parser.Written(s.ast); s.writes != "" {
		t, ok := d.catalog.Table(s.writes)
		if !ok {
			s.Error = fmt.Sprintf("unknown table %q", s.writes)
			return
		}
		s.writes = t.Name
	}
	if p != nil {
		for _, sc := range p.Reads() {
			s.reads = append(s.reads, sc.Table.Name)
		}
	}
	s.needs = d.needs(s.ast)
}

// find returns the statistics of a table, or nil.
func (d *designer) find(t *catalog.Table) *stats.Table {
	if d.Statistics == nil {
		return nil
	}
	return d.Statistics(t)
}

// plan plans a statement over the tables of c; known returns the statistics of a table. It returns nil if the statement
// reads no table.
func (d *designer) plan(c *catalog.Catalog, ast parser.Statement, known func(*catalog.Table) *stats.Table) (*plan.Plan, error) {
	args, named := d.samples(ast)
	env := &planner.Env{Catalog: c, Funcs: d.catalog.Funcs(), Args: args, Named: named, Loc: time.UTC, Now: d.Now.UnixMilli(), Statistics: known,
		Lookups: func(k plan.LookupKey) (types.Value, bool) { // any number suffices, as long as there is one
			if strings.EqualFold(k.Table, expr.UIDTable) {
				return types.NewBytes("\x00\x00\x01"), true
			}
			return types.NewInt(1), true
		}}
	where := func(name, alias string, pos parser.Pos, cond parser.Expr) (*plan.Plan, error) {
		t, ok := c.Table(name)
		if !ok {
			return nil, parser.Errorf(pos, "unknown table %q", name)
		}
		p, _, err := env.Where(t, alias, cond, nil)
		return p, err
	}
	switch s := ast.(type) {
	case *parser.Select:
		return env.Select(s)
	case *parser.Insert:
		if s.Query != nil {
			return d.plan(c, s.Query, known)
		}
	case *parser.CreateTable:
		if s.Query != nil {
			return d.plan(c, s.Query, known)
		}
	case *parser.Update:
		if s.Joins() {
			return d.plan(c, s.Joined(), known)
		}
		return where(s.Table, s.Alias, s.TablePos, s.Where)
	case *parser.Delete:
		if s.Joins() {
			return d.plan(c, s.Joined(), known)
		}
		return where(s.Table, s.Alias, s.TablePos, s.Where)
	}
	return nil, nil
}

// samples returns values for the parameters of a statement. If there is a sample, a parameter gets a value of the
// column with which it is compared; two parameters that bound a range enclose about a twentieth of the rows.
func (d *designer) samples(ast parser.Statement) ([]types.Value, map[string]types.Value) {
	var args []types.Value
	named, known := map[string]types.Value{}, map[*parser.Param]bool{}
	set := func(p *parser.Param, v types.Value) {
		known[p] = true
		if p.Name != "" {
			named[p.Name] = v
			return
		}
		for len(args) < p.Index {
			args = append(args, types.NewInt(1))
		}
		args[p.Index-1] = v
	}
	compared := func(sc *scope, column parser.Expr, upper bool, others ...parser.Expr) {
		cast, isCast := column.(*parser.Cast)
		if isCast {
			column = cast.X
		}
		t, c := sc.column(column)
		if c == nil {
			return
		}
		typ := c.Type
		if isCast {
			typ, _ = types.ParseType(cast.Type)
		}
		for _, o := range others {
			expr.EachOperand(o, typ, func(p *parser.Param, of types.Type) {
				switch {
				case of == types.Duration:
					set(p, anHour)
				case of != typ: // days that are added to a DATE
					set(p, types.NewInt(1))
				default:
					v := d.sample(t, c, upper && o == parser.Expr(p))
					if isCast {
						v, _ = types.Cast(v, typ, time.UTC)
					}
					set(p, v)
				}
			})
		}
	}
	visit := func(sc *scope, e parser.Expr) {
		parser.Walk(e, func(e parser.Expr) bool {
			switch e := e.(type) {
			case *parser.Binary:
				compared(sc, e.X, strings.HasPrefix(e.Op, "<"), e.Y)
				compared(sc, e.Y, strings.HasPrefix(e.Op, ">"), e.X)
			case *parser.Between:
				compared(sc, e.X, false, e.Lo)
				compared(sc, e.X, true, e.Hi)
			case *parser.In:
				compared(sc, e.X, false, e.List...)
			case *parser.Like:
				compared(sc, e.X, false, e.Pattern)
			}
			return true
		})
	}
	d.visit(ast, func(sc *scope, core *parser.SelectCore, conds []parser.Expr) {
		for _, e := range append(conds, core.Having) {
			visit(sc, e)
		}
	})
	if table, where := written(ast); where != nil {
		if t, ok := d.catalog.Table(table); ok {
			visit(&scope{[]string{table}, []*catalog.Table{t}}, where)
		}
	}
	parser.Inspect(ast, func(n parser.Node) bool {
		if p, ok := n.(*parser.Param); ok && !known[p] {
			if _, done := named[p.Name]; !done && (p.Name != "" || p.Index > len(args)) {
				set(p, types.NewInt(1))
			}
		}
		return true
	})
	return args, named
}

// anHour is the value of a parameter that is added to a moment.
var anHour, _ = types.NewDuration(0, 0, 3_600_000)

// written returns the table of an UPDATE or DELETE, and its condition.
func written(ast parser.Statement) (table string, where parser.Expr) {
	switch s := ast.(type) {
	case *parser.Update:
		return s.Table, s.Where
	case *parser.Delete:
		return s.Table, s.Where
	}
	return "", nil
}

// sample returns a value of a column for a parameter: the value at the position d.at in the sorted sample. With upper,
// for the upper end of a range, it returns a later one.
func (d *designer) sample(t *catalog.Table, c *catalog.Column, upper bool) types.Value {
	if known := d.find(t); known != nil && c.Index < len(known.Sample) {
		if rows, _ := known.SampleOrder(c.Index, c.Type); len(rows) > 0 {
			at := int(d.at * float64(len(rows)))
			if upper {
				at = min(len(rows)-1, at+max(1, len(rows)/20))
			}
			return known.Sample[c.Index][rows[at]]
		}
	}
	switch {
	case c.Type.IsText():
		return types.NewString("a")
	case c.Type == types.Bytes:
		return types.NewBytes("a")
	case c.Type == types.Timestamp:
		return types.NewTimestamp(1_767_225_600_000)
	case c.Type == types.Date:
		return types.NewDate(20_454)
	case c.Type == types.Double || c.Type == types.Float:
		return types.NewFloatOf(c.Type, 1)
	case c.Type == types.Decimal:
		v, _ := types.Cast(types.NewInt(1), types.Decimal, nil)
		return v
	}
	return types.NewIntOf(c.Type, 1)
}

// price is the cost of a statement by the planner's rules and, if statistics cover the statement, by estimate.
type price struct {
	rules  float64
	known  *plan.Estimate // nil: not known
	misses []string       // conditions to add to the accesses that miss the prefix
}

// priceOf returns the price of a plan; of is the name of the table that is designed.
func priceOf(p *plan.Plan, of string, known estimate.Statistics) price {
	out, scans, all := price{known: estimate.Of(p, known)}, plan.Estimate{}, true
	for _, s := range p.Reads() {
		if e := s.Estimate; e != nil {
			scans = plan.Estimate{Rows: scans.Rows + e.Rows, Bytes: scans.Bytes + e.Bytes, RPCs: scans.RPCs + e.RPCs, Cost: scans.Cost + e.Cost}
		} else {
			all = false
		}
		if len(s.Candidates) > 0 {
			out.rules += s.Candidates[0].Cost
		}
		if s.Table.Name != of {
			continue
		}
		if s.Access != plan.Empty && !s.Access.HitsPrefix() {
			out.misses = append(out.misses, s.Advice())
		}
	}
	if out.known == nil && all { // each table's part is known, though not how often a join asks for it
		out.known = &scans
	}
	return out
}

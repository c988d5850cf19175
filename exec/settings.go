package exec

import (
	"strings"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// settings are what SET changes, for the whole engine.
type settings struct {
	fullScan FullScanPolicy
	loc      *time.Location
}

// setting is one entry of SHOW ALL.
type setting struct {
	name, doc string
	show      func(s settings) string
	set       func(s *settings, value string) error
	reset     func(s *settings, initial settings)
}

func settingList() []setting {
	return []setting{
		{"full_scan", "what happens to a statement that misses the rowkey prefix: allow, warn or deny",
			func(s settings) string { return s.fullScan.String() },
			func(s *settings, v string) (err error) {
				s.fullScan, err = ParseFullScanPolicy(strings.ToLower(v))
				return err
			},
			func(s *settings, initial settings) { s.fullScan = initial.fullScan }},
		{"timezone", "the zone of timestamps in text and of the day of a TIMESTAMP",
			func(s settings) string { return s.loc.String() },
			func(s *settings, v string) error {
				loc, err := types.Zone(v)
				if err == nil {
					s.loc = loc
				}
				return err
			},
			func(s *settings, initial settings) { s.loc = initial.loc }},
	}
}

func findSetting(name string, pos parser.Pos) (setting, error) {
	name = strings.ToLower(name)
	if name == "time_zone" || name == "time zone" {
		name = "timezone"
	}
	var names []string
	for _, s := range settingList() {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	return setting{}, parser.Errorf(pos, "unknown setting %q", name).WithHint("settings: %s", strings.Join(names, ", "))
}

func (r *run) set(s *parser.Set) (*Rows, error) {
	f, err := findSetting(s.Name, s.Pos)
	if err != nil {
		return nil, err
	}
	var text string
	if ref, ok := s.Value.(*parser.ColumnRef); ok { // SET full_scan = deny
		text = ref.Name
	} else {
		v, err := r.constant(s.Value)
		if err != nil {
			return nil, err
		}
		text = v.String()
	}
	r.engine.mu.Lock()
	defer r.engine.mu.Unlock()
	if strings.EqualFold(text, "DEFAULT") {
		f.reset(&r.engine.settings, r.engine.initial())
		return r.done(-1), nil
	}
	if err := f.set(&r.engine.settings, text); err != nil {
		return nil, parser.Errorf(s.Value.Position(), "%v", err)
	}
	return r.done(-1), nil
}

// scope compiles expressions over no table.
func (r *run) scope() *expr.Scope {
	return &expr.Scope{Funcs: r.env.Funcs, Loc: r.settings.loc, Now: r.opt.Now, Param: r.param}
}

// param gives the value of a parameter.
func (r *run) param(p *parser.Param) (types.Value, error) {
	if p.Name != "" {
		if v, ok := r.env.Named[p.Name]; ok {
			return v, nil
		}
		return types.Value{}, parser.Errorf(p.Pos, "no argument for @%s", p.Name)
	}
	if p.Index < 1 || p.Index > len(r.env.Args) {
		return types.Value{}, parser.Errorf(p.Pos, "no argument for parameter %d", p.Index)
	}
	return r.env.Args[p.Index-1], nil
}

// constant computes an expression without columns.
func (r *run) constant(x parser.Expr) (types.Value, error) {
	e, err := expr.Compile(x, r.scope())
	if err != nil {
		return types.Value{}, err
	}
	env := r.exprEnv()
	return e.Eval(&env)
}

package exec

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/types"
)

// settings are the settings that SET changes.
type settings struct {
	fullScan FullScanPolicy
	// fullScanRows is the number of rows that a LIMIT may read without the rowkey and without permission.
	fullScanRows int64
	loc          *time.Location
	memory       int64 // bytes
	scanLimit    ScanLimit
	timeline     bool
	// How much ANALYZE reads at most.
	analyzeRows int64
	analyzeTime time.Duration
}

// Session is the settings of the statements that run in it. It is safe for concurrent use.
type Session struct {
	// Client is the connection of the session's PostgreSQL client, or nil. It is set before the first statement.
	Client *pgcatalog.Client

	mu       sync.Mutex
	settings settings
}

// NewSession begins a session with the engine's settings.
func (e *Engine) NewSession() *Session { return &Session{settings: e.initial()} }

// initial returns the settings of a new session, to which SET ... TO DEFAULT returns.
func (e *Engine) initial() settings {
	return settings{fullScan: e.cfg.FullScan, fullScanRows: defaultFullScanRows, loc: e.cfg.Loc, memory: cmp.Or(e.cfg.MemoryLimit, operator.DefaultMemoryLimit),
		scanLimit: e.cfg.ScanLimit, timeline: e.cfg.Timeline, analyzeRows: 200_000, analyzeTime: time.Minute}
}

func (s *Session) now() settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Setting returns the value of a setting as SHOW shows it.
func (s *Session) Setting(name string) (string, error) {
	x, err := findSetting(strings.ToLower(name), parser.NoPos)
	if err != nil {
		return "", err
	}
	return x.show(s.now()), nil
}

// setting is one entry of SHOW ALL.
type setting struct {
	name, doc string
	show      func(s settings) string
	set       func(s *settings, value string) error
	reset     func(s *settings, initial settings)
}

// settingList is one table, an entry each, in the order of SHOW ALL.
func settingList() []setting {
	return []setting{
		{"analyze_rows", "the rows that ANALYZE reads at most",
			func(s settings) string { return strconv.FormatInt(s.analyzeRows, 10) },
			func(s *settings, v string) error {
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil || n < 1 {
					return fmt.Errorf("analyze_rows is a number of rows, not %q", v)
				}
				s.analyzeRows = n
				return nil
			},
			func(s *settings, initial settings) { s.analyzeRows = initial.analyzeRows }},
		{"analyze_time", "the time that ANALYZE reads at most, such as '30s'",
			func(s settings) string { return s.analyzeTime.String() },
			func(s *settings, v string) error {
				d, err := time.ParseDuration(v)
				if err != nil || d <= 0 {
					return fmt.Errorf("analyze_time is a time such as '30s' or '5m', not %q", v)
				}
				s.analyzeTime = d
				return nil
			},
			func(s *settings, initial settings) { s.analyzeTime = initial.analyzeTime }},
		{"consistency", "strong, or timeline: queries may read rows of region replicas, which may be stale",
			func(s settings) string {
				if s.timeline {
					return "timeline"
				}
				return "strong"
			},
			func(s *settings, v string) (err error) {
				s.timeline, err = ParseConsistency(v)
				return err
			},
			func(s *settings, initial settings) { s.timeline = initial.timeline }},
		{fullScan, "what happens to a statement that misses the rowkey prefix: allow, warn or deny",
			func(s settings) string { return s.fullScan.String() },
			func(s *settings, v string) (err error) {
				s.fullScan, err = ParseFullScanPolicy(strings.ToLower(v))
				return err
			},
			func(s *settings, initial settings) { s.fullScan = initial.fullScan }},
		{"full_scan_rows", "the rows that LIMIT may read in key order where full scans are denied",
			func(s settings) string { return strconv.FormatInt(s.fullScanRows, 10) },
			func(s *settings, v string) error {
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil || n < 0 {
					return fmt.Errorf("full_scan_rows is a number of rows, not %q", v)
				}
				s.fullScanRows = n
				return nil
			},
			func(s *settings, initial settings) { s.fullScanRows = initial.fullScanRows }},
		{maxScanBytes, "the bytes that a statement may read from the region servers, such as '10GB', or 'none'",
			func(s settings) string {
				if s.scanLimit.Bytes == 0 {
					return "none"
				}
				return expr.FormatSize(s.scanLimit.Bytes)
			},
			func(s *settings, v string) (err error) {
				s.scanLimit.Bytes, err = ParseScanLimit(v)
				return err
			},
			func(s *settings, initial settings) { s.scanLimit.Bytes = initial.scanLimit.Bytes }},
		{maxScanRows, "the rows that a statement may read from the region servers, or 'none'",
			func(s settings) string {
				if s.scanLimit.Rows == 0 {
					return "none"
				}
				return strconv.FormatInt(s.scanLimit.Rows, 10)
			},
			func(s *settings, v string) (err error) {
				if strings.EqualFold(v, "none") {
					s.scanLimit.Rows = 0
					return nil
				}
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil || n < 1 {
					return fmt.Errorf("max_scan_rows is a number of rows or 'none', not %q", v)
				}
				s.scanLimit.Rows = n
				return nil
			},
			func(s *settings, initial settings) { s.scanLimit.Rows = initial.scanLimit.Rows }},
		{"memory_limit", "the bytes that the sorts, groups and joins of a statement hold, such as '64MB'",
			func(s settings) string { return expr.FormatSize(s.memory) },
			func(s *settings, v string) (err error) {
				s.memory, err = expr.ParseSize(v)
				return err
			},
			func(s *settings, initial settings) { s.memory = initial.memory }},
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

// ParseConsistency reads strong or timeline.
func ParseConsistency(text string) (timeline bool, err error) {
	switch strings.ToLower(text) {
	case "strong":
		return false, nil
	case "timeline":
		return true, nil
	}
	return false, fmt.Errorf("consistency is strong or timeline, not %q", text)
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
	switch name {
	case "databases", "schemas", "namespaces", "catalogs", "views":
		return setting{}, parser.Errorf(pos, "there are no %s here", name).WithHint("SHOW TABLES lists the tables; one of a namespace is STORED IN 'namespace:table'")
	case "columns", "fields", "indexes", "index", "keys", "partitions":
		return setting{}, parser.Errorf(pos, "SHOW %s is not supported", strings.ToUpper(name)).WithHint("DESCRIBE table shows its columns and keys, SHOW SPLITS table its regions")
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
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	if strings.EqualFold(text, "DEFAULT") {
		f.reset(&r.session.settings, r.engine.initial())
		return r.done(-1), nil
	}
	next := r.session.settings
	if err := f.set(&next, text); err != nil { // and what was set stays
		return nil, parser.Errorf(s.Value.Position(), "%v", err)
	}
	r.session.settings = next
	return r.done(-1), nil
}

// scope compiles expressions over no table.
func (r *run) scope() *expr.Scope {
	return &expr.Scope{Funcs: r.env.Funcs, Function: r.env.Function, Loc: r.settings.loc, Now: r.Opt.Now, Param: r.param, Parameters: r.env.Parameters}
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
	env := r.ExprEnv()
	return e.Eval(&env)
}

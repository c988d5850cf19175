package exec

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/types"
)

// settings are the settings that SET changes.
type settings struct {
	fullScan FullScanPolicy
	// fullScanRows is the number of rows that a statement with LIMIT may read without a condition on the rowkey and
	// without permission for full scans.
	fullScanRows int64
	loc          *time.Location
	memory       int64 // bytes
	scanLimit    ScanLimit
	// Limits for the reads of ANALYZE.
	analyzeRows int64
	analyzeTime time.Duration
	timeout     time.Duration     // 0: none
	kept        map[string]string // the values that were set of PostgreSQL's settings and of those with a dot; a map is never changed
}

// Session holds settings and prepared statements for the statements that run in it. It is safe for concurrent use.
type Session struct {
	// Client is the connection of the session's PostgreSQL client, or nil. It is set before the first statement.
	Client *pgcatalog.Client

	mu       sync.Mutex
	settings settings
	initial  settings // the values that RESET and SET ... TO DEFAULT restore
	prepared map[string]*prepared

	drawn     drawn
	temporary string // begins the names of the session's temporary tables
}

// Session returns the session for statements without one of their own.
func (e *Engine) Session() *Session { return e.session }

// NewSession returns a session with the engine's settings.
func (e *Engine) NewSession() *Session {
	initial := settings{fullScan: e.cfg.FullScan, fullScanRows: defaultFullScanRows, loc: e.cfg.Loc, memory: cmp.Or(e.cfg.MemoryLimit, operator.DefaultMemoryLimit),
		scanLimit: e.cfg.ScanLimit, analyzeRows: 200_000, analyzeTime: time.Minute}
	return &Session{settings: initial, initial: initial}
}

func (s *Session) now() settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Setting returns the value of a setting as SHOW prints it.
func (s *Session) Setting(name string) (string, error) {
	now := s.now()
	x, err := now.find(name, parser.NoPos)
	if err != nil {
		return "", err
	}
	return x.show(now), nil
}

// Settings lists all settings by name: name, value and description.
func (s *Session) Settings() [][3]string {
	now := s.now()
	list := slices.Collect(maps.Values(settingsByName()))
	for name := range now.kept {
		if strings.Contains(name, ".") && settingsByName()[name].show == nil {
			list = append(list, keptSetting(name, "", "", anyText))
		}
	}
	slices.SortFunc(list, func(a, b setting) int { return strings.Compare(a.name, b.name) })
	var out [][3]string
	for _, x := range list {
		out = append(out, [3]string{cmp.Or(x.spelled, x.name), x.show(now), x.doc})
	}
	return out
}

// Begin sets a setting's initial value, which RESET restores.
func (s *Session) Begin(name, value string) error {
	if err := s.change(name, parser.NoPos, func(x setting, now *settings) error { return x.set(now, value) }); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x, err := s.settings.find(name, parser.NoPos); err == nil {
		x.reset(&s.initial, s.settings)
	}
	return nil
}

// Set runs SET name = value.
func (s *Session) Set(name, value string) error { return s.set(name, parser.NoPos, value) }

func (s *Session) set(name string, pos parser.Pos, value string) error {
	return s.change(name, pos, func(x setting, now *settings) error {
		if x.fixed {
			return fmt.Errorf("parameter %q cannot be changed", x.name)
		}
		return x.set(now, value)
	})
}

// Saved holds the settings of a session at one time.
type Saved struct{ settings settings }

// Save returns the current settings.
func (s *Session) Save() Saved { return Saved{s.now()} }

// Restore restores the saved value of one setting, or of all if name is "ALL".
func (s *Session) Restore(name string, to Saved) error { return s.restore(name, parser.NoPos, to) }

func (s *Session) restore(name string, pos parser.Pos, to Saved) error {
	if strings.EqualFold(name, "ALL") {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.settings = to.settings
		return nil
	}
	return s.change(name, pos, func(x setting, now *settings) error {
		x.reset(now, to.settings)
		return nil
	})
}

// Reset runs RESET name, or RESET ALL.
func (s *Session) Reset(name string) error { return s.reset(name, parser.NoPos) }

func (s *Session) reset(name string, pos parser.Pos) error {
	s.mu.Lock()
	initial := s.initial
	s.mu.Unlock()
	return s.restore(name, pos, Saved{initial})
}

// change changes one setting, or none if f returns an error.
func (s *Session) change(name string, pos parser.Pos, f func(x setting, now *settings) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.settings.find(name, pos)
	if err != nil {
		if x = keptSetting(name, "", "", anyText); !strings.Contains(name, ".") {
			return err
		}
	}
	next := s.settings
	if err := f(x, &next); err != nil { // an error of f changes nothing
		return err
	}
	s.settings = next
	return nil
}

// Location returns the session's time zone.
func (s *Session) Location() *time.Location { return s.now().loc }

// Memory returns the number of bytes that a statement of the session may hold.
func (s *Session) Memory() int64 { return s.now().memory }

// Timeout returns the longest time that a statement of the session may take; 0: no limit.
func (s *Session) Timeout() time.Duration { return s.now().timeout }

// setting is one entry of SHOW ALL.
type setting struct {
	name, doc string
	spelled   string // the name in PostgreSQL's spelling; "" if it is name
	fixed     bool   // SET cannot change it
	show      func(s settings) string
	set       func(s *settings, value string) error
	reset     func(s *settings, initial settings)
}

// settingsByName returns all settings by name.
var settingsByName = sync.OnceValue(func() map[string]setting {
	out := map[string]setting{}
	for _, x := range slices.Concat(settingList(), postgresSettings()) {
		out[x.name] = x
	}
	return out
})

// settingList returns hql's own settings, in the order of SHOW ALL.
func settingList() []setting {
	rows := func(n int64) string { return strconv.FormatInt(n, 10) }
	list := []setting{
		settingOf("analyze_rows", "the rows that ANALYZE reads at most",
			func(s *settings) *int64 { return &s.analyzeRows }, rows,
			func(v string) (int64, error) { return parseRows(v, 1, "analyze_rows is a number of rows") }),
		settingOf("analyze_time", "the time that ANALYZE reads at most, such as '30s'",
			func(s *settings) *time.Duration { return &s.analyzeTime }, time.Duration.String,
			func(v string) (time.Duration, error) {
				d, err := time.ParseDuration(v)
				if err != nil || d <= 0 {
					return 0, fmt.Errorf("analyze_time is a time such as '30s' or '5m', not %q", v)
				}
				return d, nil
			}),
		settingOf(fullScan, "what happens to a statement that misses the rowkey prefix: allow, warn or deny",
			func(s *settings) *FullScanPolicy { return &s.fullScan }, FullScanPolicy.String,
			func(v string) (FullScanPolicy, error) { return ParseFullScanPolicy(strings.ToLower(v)) }),
		settingOf("full_scan_rows", "the rows that LIMIT may read in key order where full scans are denied",
			func(s *settings) *int64 { return &s.fullScanRows }, rows,
			func(v string) (int64, error) { return parseRows(v, 0, "full_scan_rows is a number of rows") }),
		settingOf(maxScanBytes, "the bytes that a statement may read from the region servers, such as '10GB', or 'none'",
			func(s *settings) *int64 { return &s.scanLimit.Bytes }, orNone(expr.FormatSize), ParseScanLimit),
		settingOf(maxScanRows, "the rows that a statement may read from the region servers, or 'none'",
			func(s *settings) *int64 { return &s.scanLimit.Rows }, orNone(rows),
			func(v string) (int64, error) {
				if strings.EqualFold(v, "none") {
					return 0, nil
				}
				return parseRows(v, 1, "max_scan_rows is a number of rows or 'none'")
			}),
		settingOf("memory_limit", "the bytes that the sorts, groups and joins of a statement hold, such as '64MB'",
			func(s *settings) *int64 { return &s.memory }, expr.FormatSize, expr.ParseSize),
		settingOf("statement_timeout", "how long a statement may take, such as '30s' or '5min'; 0: no limit",
			func(s *settings) *time.Duration { return &s.timeout }, showTimeout,
			func(v string) (time.Duration, error) {
				d, err := ParseTimeout(v)
				if err != nil {
					err = fmt.Errorf("invalid value for parameter %q: %w", "statement_timeout", err)
				}
				return d, err
			}),
		settingOf("timezone", "the zone of timestamps in text and of the day of a TIMESTAMP",
			func(s *settings) **time.Location { return &s.loc }, (*time.Location).String, sessionZone),
	}
	list[len(list)-1].spelled = "TimeZone"
	return list
}

// settingOf returns a setting whose value is in the field of settings that the function field returns.
func settingOf[T any](name, doc string, field func(*settings) *T, show func(T) string, parse func(string) (T, error)) setting {
	return setting{name: name, doc: doc,
		show: func(s settings) string { return show(*field(&s)) },
		set: func(s *settings, v string) (err error) {
			*field(s), err = parse(v)
			return err
		},
		reset: func(s *settings, initial settings) { *field(s) = *field(&initial) }}
}

// orNone returns show with "none" for 0.
func orNone(show func(int64) string) func(int64) string {
	return func(n int64) string {
		if n == 0 {
			return "none"
		}
		return show(n)
	}
}

// parseRows parses a number of rows. The error begins with want.
// sessionZone reads a zone as SET does: a number is the hours that its clock is ahead of UTC, and hours with minutes have
// POSIX's sign. Other places, such as make_timestamptz, take neither.
func sessionZone(v string) (*time.Location, error) {
	if h, err := strconv.ParseFloat(v, 64); err == nil && math.Abs(h) < 24 {
		sign, min := "+-", int(math.Abs(h)*60)
		if h < 0 {
			sign = "-+"
		}
		at := fmt.Sprintf("%02d:%02d", min/60, min%60)
		v = fmt.Sprintf("<%c%s>%c%s", sign[0], at, sign[1], at)
	} else if sign := strings.TrimRight(v, ":0123456789"); strings.Contains(v, ":") && (sign == "" || sign == "-" || sign == "+") {
		v = fmt.Sprintf("<%s>%s%s", v, cmp.Or(sign, "+"), v[len(sign):])
	}
	return types.Zone(v)
}

func parseRows(v string, least int64, want string) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < least {
		return 0, fmt.Errorf("%s, not %q", want, v)
	}
	return n, nil
}

// find finds a setting. A name with a dot is found only after it was set.
func (s settings) find(name string, pos parser.Pos) (setting, error) {
	name = strings.ToLower(name)
	if name == "time_zone" || name == "time zone" {
		name = "timezone"
	}
	if x, ok := settingsByName()[name]; ok {
		return x, nil
	}
	if x, ok := settingsByName()[strings.TrimSuffix(strings.ReplaceAll(name, " ", "_"), "_level")]; ok { // SHOW TRANSACTION ISOLATION LEVEL
		return x, nil
	}
	if _, ok := s.kept[name]; ok {
		return keptSetting(name, "", "", anyText), nil
	}
	switch name {
	case "databases", "schemas", "namespaces", "catalogs", "views":
		return setting{}, parser.Errorf(pos, "SHOW %s is not supported", strings.ToUpper(name)).WithHint("SHOW TABLES lists the tables; one of a namespace is STORED IN 'namespace:table'")
	case "columns", "fields", "indexes", "index", "keys", "partitions":
		return setting{}, parser.Errorf(pos, "SHOW %s is not supported", strings.ToUpper(name)).WithHint("DESCRIBE table shows its columns and keys, SHOW SPLITS table its regions")
	}
	names := words.Join(settingList(), ", ", func(x setting) string { return x.name })
	return setting{}, parser.Errorf(pos, "unknown setting %q", name).WithHint("settings: %s", names)
}

func anyText(v string) (string, error) { return v, nil }

// set runs SET, RESET and DISCARD.
func (r *run) set(ctx context.Context, s *parser.Set) (*Rows, error) {
	session := r.session
	switch {
	case s.Verb == "DISCARD":
		switch strings.ToUpper(s.Name) {
		case "PLANS":
			return r.done(-1), nil
		case "SEQUENCES":
			session.drawn.forget()
			return r.done(-1), nil
		case "ALL":
			session.drawn.forget()
			session.Deallocate("")
			_ = session.reset("ALL", s.Pos)
		case "TEMP", "TEMPORARY":
		default:
			return nil, parser.Errorf(s.Pos, "DISCARD takes ALL, PLANS, SEQUENCES or TEMP, not %s", s.Name)
		}
		return r.done(-1), r.engine.DropTemporary(ctx, session)
	case s.Value == nil:
		return r.done(-1), session.reset(s.Name, s.Pos)
	case s.Local:
		r.Warn.Add(warning.Transaction, "SET LOCAL lasts until the end of a transaction: there are none")
		return r.done(-1), nil
	}
	v, err := r.constant(s.Value)
	if err != nil {
		return nil, err
	}
	if text := v.String(); !strings.EqualFold(text, "DEFAULT") {
		err = session.set(s.Name, s.Pos, text)
	} else {
		err = session.reset(s.Name, s.Pos)
	}
	if _, located := err.(*parser.Error); err != nil && !located {
		err = parser.Errorf(s.Value.Position(), "%v", err)
	}
	return r.done(-1), err
}

// scope returns a scope without tables.
func (r *run) scope() *expr.Scope {
	return &expr.Scope{Funcs: r.env.Funcs, Function: r.env.Function, Loc: r.settings.loc, Now: r.Opt.Now, Param: r.param, Parameters: r.env.Parameters}
}

// param returns the value of a parameter.
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

// constant evaluates an expression without columns.
func (r *run) constant(x parser.Expr) (types.Value, error) {
	e, err := expr.Compile(x, r.scope())
	if err != nil {
		return types.Value{}, err
	}
	env := r.ExprEnv()
	return e.Eval(&env)
}

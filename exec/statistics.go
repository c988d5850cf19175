package exec

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// Statistics are kept in the store for all users of a cluster. Table hql_stats has one row per table, under its
// lower-case name, with JSON in d:stats. ANALYZE counts as a change of definitions, so that other engines read the
// statistics again. Users who may not write to hql_stats keep statistics in files of their own. The newer statistics
// count.
const (
	statisticsTable     = catalog.StatisticsTable
	statisticsQualifier = "stats"
)

// StatisticsFiles keeps statistics for users who may not write to the store.
type StatisticsFiles interface {
	// Load returns the content saved under a name; nil without an error if there is none.
	Load(name string) ([]byte, error)
	Save(name string, b []byte) error
	// Remove deletes the content saved under a name, if any.
	Remove(name string) error
}

// statistics is an engine's cache of the statistics of tables.
type statistics struct {
	mu      sync.Mutex
	stored  map[string]*stats.Table  // of the store, by lower-case name; nil: the store has some that were not read yet
	filed   map[string]*stats.Table  // of the files; nil: the file has none
	edition int                      // incremented when stored changes: a read that began earlier is not kept
	reading map[string]chan struct{} // by name: closed when the read has ended
	later   map[string]time.Time     // by name: they could not be read; plans do without them until then
	why     map[string]error         // by name: the error of the last read
}

// ready returns the known statistics of t, and whether no more need to be read. If both the store and the files have
// statistics that fit t, the newer ones count. The caller holds mu.
func (s *statistics) ready(name string, t *catalog.Table, files bool) (known *stats.Table, ok bool) {
	stored, there := s.stored[name]
	if there && stored == nil {
		return nil, false
	}
	filed, asked := s.filed[name]
	for _, found := range []*stats.Table{stored, filed} {
		if found != nil && describes(found, t) && (known == nil || !found.At.Before(known.At)) {
			known = found
		}
	}
	return known, asked || !files
}

// Statistics returns the results of ANALYZE for t, or nil if there are none that fit t, or if ctx ended first. Concurrent
// callers share one read of the store.
func (e *Engine) Statistics(ctx context.Context, t *catalog.Table) *stats.Table {
	name := strings.ToLower(t.Name)
	s := &e.stats
	for ctx.Err() == nil {
		s.mu.Lock()
		known, ok := s.ready(name, t, e.cfg.Statistics != nil)
		if ok {
			s.mu.Unlock()
			return known
		}
		busy := s.reading[name]
		if busy == nil {
			busy = make(chan struct{})
			s.reading[name] = busy
			stored, there := s.stored[name]
			edition := s.edition
			s.mu.Unlock()
			err := e.readStatistics(ctx, t, name, there && stored == nil, edition)
			s.mu.Lock()
			delete(s.reading, name)
			close(busy)
			s.mu.Unlock()
			if err != nil {
				return nil
			}
			continue
		}
		s.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
		}
	}
	return nil
}

// readStatistics reads the statistics of t from the store, or else from the files.
func (e *Engine) readStatistics(ctx context.Context, t *catalog.Table, name string, stored bool, edition int) error {
	var b []byte
	var err, damaged error
	if stored {
		b, err = e.storedStatistics(ctx, t)
	} else {
		b, _ = e.cfg.Statistics.Load(name) // a file that cannot be read counts as none
	}
	var known *stats.Table
	if b != nil {
		known, damaged = parseStatistics(b)
	}
	failed := err != nil && (context.Cause(ctx) == nil || context.Cause(ctx) == errLate) // otherwise the caller has gone away
	why := cmp.Or(err, damaged)
	if failed || damaged != nil {
		e.warn(fmt.Sprintf("statistics of %s: %v", t.Name, why))
	}
	s := &e.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case failed || damaged != nil:
		s.why[name] = why
	case known != nil:
		delete(s.why, name)
	}
	switch {
	case err != nil:
		if failed {
			s.later[name] = time.Now().Add(statisticsAgain)
		}
		return err
	case s.edition != edition: // they were changed during the read
	case !stored:
		s.filed[name] = known
	case damaged != nil:
		s.stored[name] = &stats.Table{} // an empty value fits no table, so that the files are used
	case known == nil:
		delete(s.stored, name)
	default:
		s.stored[name] = known
	}
	return nil
}

// changed marks the statistics of a table as outdated. The caller holds mu.
func (s *statistics) changed(name string) {
	s.edition++
	delete(s.later, name)
	delete(s.why, name)
}

// describes reports whether s fits the current definition of t. Columns and keys may have changed, or the name may have
// belonged to another definition.
func describes(s *stats.Table, t *catalog.Table) bool {
	if !strings.EqualFold(s.Name, t.Name) || len(s.Columns) != len(t.Columns) || len(s.Keys) != len(t.Layouts) {
		return false
	}
	for i, c := range t.Columns {
		if s.Columns[i].Name != c.Name {
			return false
		}
	}
	for i, l := range t.Layouts {
		if k := &s.Keys[i]; k.Layout != l.Name || len(k.Prefixes) != len(l.Key.Parts) || k.Prefixes[len(k.Prefixes)-1].Parts != l.Key.Source() {
			return false
		} else if len(k.Stored) > 0 && !l.Stored.Fits(k.Stored[0].Table) {
			return false
		}
	}
	return true
}

func parseStatistics(b []byte) (*stats.Table, error) {
	s := &stats.Table{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("they are damaged: %w", err)
	}
	if s.Version != stats.Version {
		return nil, fmt.Errorf("they are of version %d, and this hql reads version %d", s.Version, stats.Version)
	}
	return s, nil
}

// saveStatistics saves the results of ANALYZE for t.
func (r *run) saveStatistics(ctx context.Context, t *catalog.Table, s *stats.Table) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	err = r.storeStatistics(ctx, t, b)
	known := &r.engine.stats
	name := strings.ToLower(t.Name)
	in, why := &known.stored, err
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return err
	default:
		if errors.Is(err, ErrReadOnly) {
			why = errors.New("the connection is read-only")
		}
		if r.engine.cfg.Statistics != nil {
			why = r.engine.cfg.Statistics.Save(name, b)
		}
		in = &known.filed
	}
	if why != nil {
		r.Warn.Add(warning.Statistics, fmt.Sprintf("the statistics of %s are kept until the connection ends: %v", t.Name, why))
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	(*in)[name] = s
	known.changed(name)
	return nil
}

// storeStatistics writes the statistics of t to the store.
func (r *run) storeStatistics(ctx context.Context, t *catalog.Table, b []byte) error {
	put := hbase.Mutation{Kind: hbase.Put, Key: catalogKey(t.Name), Timestamp: serverTime,
		Cells: []hbase.Cell{{Family: []byte(catalogFamily), Qualifier: []byte(statisticsQualifier), Value: b}}}
	err := r.Client.Mutate(ctx, statisticsTable, []hbase.Mutation{put})
	if errors.Is(err, hbase.ErrNoTable) {
		err = r.Client.CreateTable(ctx, statisticsTable, []hbase.Family{{Name: catalogFamily}}, nil)
		if err == nil || errors.Is(err, hbase.ErrTableExists) {
			err = r.Client.Mutate(ctx, statisticsTable, []hbase.Mutation{put})
		}
	}
	if err == nil {
		err = r.ensureCatalogTable(ctx)
	}
	if err == nil {
		err = r.countChange(ctx)
	}
	return err
}

// forgetStatistics deletes the statistics of a dropped table.
func (r *run) forgetStatistics(ctx context.Context, t *catalog.Table) error {
	known, name := &r.engine.stats, strings.ToLower(t.Name)
	known.mu.Lock()
	_, ours := known.stored[name]
	delete(known.stored, name)
	delete(known.filed, name)
	known.changed(name)
	known.mu.Unlock()
	if files := r.engine.cfg.Statistics; files != nil {
		if err := files.Remove(name); err != nil {
			r.engine.warn(fmt.Sprintf("statistics of %s, which was dropped: %v", t.Name, err))
		}
	}
	if !ours {
		return nil
	}
	err := r.Client.Mutate(ctx, statisticsTable, []hbase.Mutation{{Kind: hbase.DeleteRow, Key: catalogKey(t.Name), Timestamp: serverTime}})
	if errors.Is(err, hbase.ErrNoTable) {
		err = nil
	}
	return err
}

// statisticsWait is the time that planning one statement waits for statistics, over all of its tables. Afterwards the
// statement is planned without the missing statistics. If a table's statistics cannot be read, plans do without them
// for statisticsAgain.
const (
	statisticsWait  = time.Second
	statisticsAgain = 10 * time.Second
)

// errLate ends a read of statistics that takes longer than statisticsWait.
var errLate = errors.New("they take too long to read")

// seenStatistics caches the statistics that the plans of one statement have seen.
type seenStatistics struct {
	engine *Engine
	ctx    context.Context

	mu   sync.Mutex
	by   map[*catalog.Table]*stats.Table
	left time.Duration // time that the statement may still wait
}

func (k *seenStatistics) of(t *catalog.Table) *stats.Table {
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, ok := k.by[t]; ok {
		return known
	}
	e, name := k.engine, strings.ToLower(t.Name)
	e.stats.mu.Lock()
	known, ok := e.stats.ready(name, t, e.cfg.Statistics != nil)
	later := e.stats.later[name]
	e.stats.mu.Unlock()
	if !ok && k.left > 0 && !time.Now().Before(later) {
		begun := time.Now()
		waiting, cancel := context.WithTimeoutCause(k.ctx, k.left, errLate)
		known = e.Statistics(waiting, t)
		cancel()
		k.left -= time.Since(begun)
	}
	k.by[t] = known
	return known
}

// knowStatistics gives the planner and the checks before reads access to statistics.
func (r *run) knowStatistics(ctx context.Context) {
	r.seen.engine, r.seen.ctx, r.seen.left, r.seen.by = r.engine, ctx, statisticsWait, map[*catalog.Table]*stats.Table{}
	r.statistics, r.env.Statistics = r.seen.of, r.seen.of
}

// mayPlan sets the functions of the engine that the planner calls.
func (r *run) mayPlan(ctx context.Context) {
	r.env.Stop, r.env.Lookups, r.env.MayReadAll, r.env.Trusted = ctx.Err, r.Numbers.Get, r.mayReadAll, r.trusts
}

// statisticsTimeout bounds the time that SHOW STATISTICS waits for them.
const statisticsTimeout = 10 * time.Second

// storedStatistics reads the statistics of t from the store; nil if there are none.
func (e *Engine) storedStatistics(ctx context.Context, t *catalog.Table) ([]byte, error) {
	rows, err := e.client.Get(ctx, statisticsTable, [][]byte{catalogKey(t.Name)}, &hbase.ReadOptions{Families: []string{catalogFamily}})
	if errors.Is(err, hbase.ErrNoTable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, c := range rows[0].Cells {
		if string(c.Qualifier) == statisticsQualifier {
			return c.Value, nil
		}
	}
	return nil, nil
}

// listStatistics finds the tables that have statistics in the store.
func (e *Engine) listStatistics(ctx context.Context) error {
	found := map[string]*stats.Table{}
	keys := &hbase.ReadOptions{Families: []string{catalogFamily}, Filter: filter.And{filter.FirstCell{}, filter.KeyOnly{}}}
	for row, err := range hbase.Rows(ctx, e.client, hbase.ScanRange{Table: statisticsTable}, keys) {
		if errors.Is(err, hbase.ErrNoTable) || errors.Is(err, hbase.ErrDenied) {
			break
		}
		if err != nil {
			return err
		}
		found[string(row.Key)] = nil
	}
	e.stats.mu.Lock()
	defer e.stats.mu.Unlock()
	e.stats.stored = found
	e.stats.edition++
	return nil
}

// statisticsColumns returns the columns of SHOW STATISTICS and of ANALYZE.
func statisticsColumns() []plan.OutputColumn {
	return []plan.OutputColumn{{Name: "of", Type: types.String}, {Name: "name", Type: types.String}, {Name: "rows", Type: types.BigInt},
		{Name: "distinct", Type: types.BigInt}, {Name: "nulls", Type: types.Double}, {Name: "bytes", Type: types.Double}, {Name: "detail", Type: types.String}}
}

func (r *run) showStatistics(ctx context.Context, t *catalog.Table) (*Rows, error) {
	waiting, cancel := context.WithTimeout(ctx, statisticsTimeout)
	defer cancel()
	s := r.engine.Statistics(waiting, t)
	if s == nil {
		known := &r.engine.stats
		known.mu.Lock()
		defer known.mu.Unlock()
		if err := known.why[strings.ToLower(t.Name)]; err != nil {
			return nil, fmt.Errorf("statistics of %s: %w; ANALYZE %[1]s writes them again", t.Name, err)
		}
		return r.table(statisticsColumns(), nil), nil
	}
	return r.statisticsRows(t, s, r.outdated(ctx, t, s)), nil
}

// oldAge is the age from which on SHOW STATISTICS calls statistics old.
const oldAge = 30 * 24 * time.Hour

func (st *statement) age(s *stats.Table) time.Duration { return time.UnixMilli(st.Opt.Now).Sub(s.At) }

// outdated returns the reason why s may no longer describe t, or "" if none is known.
func (r *run) outdated(ctx context.Context, t *catalog.Table, s *stats.Table) string {
	now := int64(0)
	names, err := r.physical(ctx, t.Layouts[0])
	if err == nil {
		var loads map[string]hbase.RegionLoad
		loads, err = r.Client.RegionLoads(ctx, names...)
		for _, of := range loads {
			now += max(0, of.Bytes)
		}
	}
	const small = 8 << 20 // sizes are reported in megabytes
	then := s.Size
	if found := s.Rows * s.Bytes; then == 0 && found >= 1 && found < small { // a size below one megabyte is reported as 0
		then = int64(found)
	}
	switch {
	case err == nil && then > 0 && now+small > 2*(then+small):
		return "; OUTDATED: the table has grown much since"
	case err == nil && then > 0 && then+small > 2*(now+small):
		return "; OUTDATED: the table has become much smaller since"
	case r.age(s) > oldAge:
		return "; OLD"
	}
	return ""
}

// statisticsRows returns the rows of SHOW STATISTICS: one for the table, for each column, and for each leading part of
// each key. outdated is the reason why s may be outdated, or "".
func (r *run) statisticsRows(t *catalog.Table, s *stats.Table, outdated string) *Rows {
	whole := func(f float64) types.Value { return types.NewInt(int64(math.Round(min(f, 1e18)))) }
	tenth := func(f float64) types.Value { return types.NewDouble(math.Round(f*10) / 10) }
	share := func(f float64) types.Value { return types.NewDouble(math.Round(f*1e4) / 1e4) }
	how := "all of them read"
	if !s.Complete {
		how = "estimated from " + words.Count(s.Read, "row")
		switch {
		case s.Unscaled:
			how += " (the time was up before all were looked at, and nothing tells how many they are: nothing is estimated by them)"
		case s.Unread > 0:
			how += fmt.Sprintf(" (the time was up before %.0f%% were looked at)", 100*s.Unread)
		}
	}
	rows := [][]types.Value{{types.NewString("table"), types.NewString(t.Name), whole(s.Rows), {}, {}, tenth(s.Bytes),
		types.NewString(fmt.Sprintf("%s at %s, %s cells a row", how, types.NewTimestamp(s.At.UnixMilli()), strconv.FormatFloat(math.Round(s.Cells*10)/10, 'f', -1, 64)) + outdated)}}
	for _, c := range s.Columns {
		rows = append(rows, []types.Value{types.NewString("column"), types.NewString(c.Name), whole(s.Rows * (1 - c.Nulls)), whole(c.Distinct), share(c.Nulls),
			tenth(c.Bytes), types.NewString(columnDetail(&c))})
	}
	for _, k := range s.Keys {
		of := "key"
		if k.Layout != t.Layouts[0].Name {
			of += " of " + k.Layout
		}
		for _, p := range k.Prefixes {
			rows = append(rows, []types.Value{types.NewString(of), types.NewString(p.Parts), whole(k.Rows), whole(p.Distinct), {}, tenth(k.Bytes), types.NewString("")})
		}
	}
	return r.table(statisticsColumns(), rows)
}

// columnDetail formats the most frequent values and the range of the others.
func columnDetail(c *stats.Column) string {
	var out []string
	for i, f := range c.Frequent {
		if i == 3 {
			out = append(out, fmt.Sprintf("%d more", len(c.Frequent)-i))
			break
		}
		out = append(out, fmt.Sprintf("%s %s%%", clip(f.Value.SQL()), strconv.FormatFloat(100*f.Share, 'g', 3, 64)))
	}
	text := ""
	if len(out) > 0 {
		text = "frequent: " + strings.Join(out, ", ")
	}
	if n := len(c.Bounds); n > 1 {
		if text != "" {
			text += "; others "
		}
		text += fmt.Sprintf("from %s to %s", clip(c.Bounds[0].SQL()), clip(c.Bounds[n-1].SQL()))
	}
	return text
}

// clip shortens a long value to fit in a line.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

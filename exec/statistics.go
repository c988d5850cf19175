package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Statistics are kept in the store, so that every user of a cluster has the same: table hql_stats, a row a table under its
// lower-case name, JSON in d:stats. ANALYZE counts as a change of definitions: with them others read the statistics again. Who may
// not write there keeps them in files of his own, which come second.
const (
	statisticsTable     = catalog.StatisticsTable
	statisticsQualifier = "stats"
)

// StatisticsFiles keeps statistics for who may not write to the store.
type StatisticsFiles interface {
	// Load gives what was saved under a name; nil and no error: nothing.
	Load(name string) ([]byte, error)
	Save(name string, b []byte) error
}

// statistics are what an engine knows of tables.
type statistics struct {
	mu     sync.Mutex
	stored map[string]*stats.Table // of the store, by lower-case name; nil: it has some, which nobody has wanted yet
	filed  map[string]*stats.Table // that the store does not have; nil: it was looked for in vain
}

// statisticsOf gives the statistics of t; nil: there are none that fit it. Those of the store are read when they are wanted first.
func (e *Engine) statisticsOf(ctx context.Context, t *catalog.Table) *stats.Table {
	name := strings.ToLower(t.Name)
	s := &e.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	known, there := s.stored[name]
	if there && known == nil {
		var err error
		if known, err = e.storedStatistics(ctx, t); err != nil {
			e.warn(fmt.Sprintf("statistics of %s: %v", t.Name, err))
		}
		if ctx.Err() == nil {
			if s.stored[name] = known; known == nil {
				delete(s.stored, name)
			}
		}
	}
	if known != nil && describes(known, t) {
		return known
	}
	known, asked := s.filed[name]
	if !asked && e.cfg.Statistics != nil {
		if b, err := e.cfg.Statistics.Load(name); err == nil && b != nil {
			if known, err = parseStatistics(b); err != nil {
				e.warn(fmt.Sprintf("statistics of %s: %v", t.Name, err))
			}
		}
		if s.filed == nil {
			s.filed = map[string]*stats.Table{}
		}
		s.filed[name] = known
	}
	if known == nil || !describes(known, t) {
		return nil
	}
	return known
}

// describes reports whether s is about t as it is defined: its columns and keys may have been others.
func describes(s *stats.Table, t *catalog.Table) bool {
	if len(s.Columns) != len(t.Columns) || len(s.Keys) != len(t.Layouts) {
		return false
	}
	for i, c := range t.Columns {
		if s.Columns[i].Name != c.Name {
			return false
		}
	}
	for i, l := range t.Layouts {
		if k := &s.Keys[i]; k.Layout != l.Name || len(k.Prefixes) != len(l.Key.Parts) || k.Prefixes[len(k.Prefixes)-1].Parts != sources(l.Key) {
			return false
		}
	}
	return true
}

func parseStatistics(b []byte) (*stats.Table, error) {
	s := &stats.Table{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("they cannot be read: %w", err)
	}
	return s, nil
}

// saveStatistics keeps what ANALYZE found of t.
func (r *run) saveStatistics(ctx context.Context, t *catalog.Table, s *stats.Table) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	err = r.storeStatistics(ctx, t, b)
	known := &r.engine.stats
	name := strings.ToLower(t.Name)
	if err == nil {
		known.mu.Lock()
		defer known.mu.Unlock()
		if known.stored == nil {
			known.stored = map[string]*stats.Table{}
		}
		known.stored[name] = s
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	why := err
	if r.engine.cfg.Statistics == nil {
		if errors.Is(err, ErrReadOnly) {
			why = errors.New("the connection is read-only")
		}
		r.Warn.Add(warning.Statistics, fmt.Sprintf("the statistics of %s are kept until the connection ends: %v", t.Name, why))
	} else if err := r.engine.cfg.Statistics.Save(name, b); err != nil {
		return fmt.Errorf("keep the statistics of %s: %w", t.Name, err)
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.filed == nil {
		known.filed = map[string]*stats.Table{}
	}
	known.filed[name] = s
	delete(known.stored, name)
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

// forgetStatistics removes those of a table that was dropped.
func (r *run) forgetStatistics(ctx context.Context, t *catalog.Table) error {
	known := &r.engine.stats
	known.mu.Lock()
	_, ours := known.stored[strings.ToLower(t.Name)]
	delete(known.stored, strings.ToLower(t.Name))
	known.mu.Unlock()
	if !ours {
		return nil
	}
	err := r.Client.Mutate(ctx, statisticsTable, []hbase.Mutation{{Kind: hbase.DeleteRow, Key: catalogKey(t.Name), Timestamp: serverTime}})
	if errors.Is(err, hbase.ErrNoTable) {
		err = nil
	}
	return err
}

// statisticsUnder is statisticsOf for a plan, under ctx.
func (e *Engine) statisticsUnder(ctx context.Context) func(*catalog.Table) *stats.Table {
	return func(t *catalog.Table) *stats.Table { return e.statisticsOf(ctx, t) }
}

// statisticsTimeout bounds how long a plan waits for statistics.
const statisticsTimeout = 10 * time.Second

// storedStatistics reads the statistics of t that the store has; nil: it has none.
func (e *Engine) storedStatistics(ctx context.Context, t *catalog.Table) (*stats.Table, error) {
	ctx, cancel := context.WithTimeout(ctx, statisticsTimeout)
	defer cancel()
	rows, err := e.client.Get(ctx, statisticsTable, [][]byte{catalogKey(t.Name)}, &hbase.ReadOptions{Families: []string{catalogFamily}})
	if errors.Is(err, hbase.ErrNoTable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, c := range rows[0].Cells {
		if string(c.Qualifier) == statisticsQualifier {
			return parseStatistics(c.Value)
		}
	}
	return nil, nil
}

// listStatistics finds out of which tables the store has statistics.
func (e *Engine) listStatistics(ctx context.Context) error {
	found := map[string]*stats.Table{}
	sc, err := e.client.Scan(ctx, hbase.ScanRange{Table: statisticsTable},
		&hbase.ReadOptions{Families: []string{catalogFamily}, Filter: filter.And{filter.FirstCell{}, filter.KeyOnly{}}})
	if err == nil {
		defer sc.Close()
	}
	for err == nil {
		var rows []hbase.Row
		rows, err = sc.Next(ctx)
		for _, row := range rows {
			found[string(row.Key)] = nil
		}
	}
	if err != io.EOF && !errors.Is(err, hbase.ErrNoTable) {
		return err
	}
	e.stats.mu.Lock()
	defer e.stats.mu.Unlock()
	e.stats.stored = found
	return nil
}

// statisticsColumns are those of SHOW STATISTICS and of ANALYZE.
func statisticsColumns() []plan.OutputColumn {
	return []plan.OutputColumn{{Name: "of", Type: types.String}, {Name: "name", Type: types.String}, {Name: "rows", Type: types.BigInt},
		{Name: "distinct", Type: types.BigInt}, {Name: "nulls", Type: types.Double}, {Name: "bytes", Type: types.Double}, {Name: "detail", Type: types.String}}
}

// showStatistics runs SHOW STATISTICS.
func (r *run) showStatistics(ctx context.Context, t *catalog.Table) *Rows {
	s := r.engine.statisticsOf(ctx, t)
	if s == nil {
		return r.table(statisticsColumns(), nil)
	}
	return r.statisticsRows(t, s, r.outdated(ctx, t, s))
}

// oldAge is from when on statistics are shown as old.
const oldAge = 30 * 24 * time.Hour

// outdated says why s may no longer be true of t; "": nothing is known to speak against it.
func (r *run) outdated(ctx context.Context, t *catalog.Table, s *stats.Table) string {
	now := int64(0)
	names, err := r.physical(ctx, t.Layouts[0])
	for _, name := range names {
		sizes, e := r.Client.RegionSizes(ctx, name)
		err = errors.Join(err, e)
		for _, n := range sizes {
			now += n
		}
	}
	const small = 8 << 20 // sizes are told in megabytes
	switch then := s.Size; {
	case err == nil && then > 0 && now+small > 2*(then+small):
		return "; OUTDATED: the table has grown much since"
	case err == nil && then > 0 && then+small > 2*(now+small):
		return "; OUTDATED: the table has become much smaller since"
	case time.UnixMilli(r.Opt.Now).Sub(s.At) > oldAge:
		return "; OLD"
	}
	return ""
}

// statisticsRows prints statistics, which may be outdated: a row for the table, for each column, and for each leading part of each key.
func (r *run) statisticsRows(t *catalog.Table, s *stats.Table, outdated string) *Rows {
	whole := func(f float64) types.Value { return types.NewInt(int64(math.Round(f))) }
	tenth := func(f float64) types.Value { return types.NewDouble(math.Round(f*10) / 10) }
	share := func(f float64) types.Value { return types.NewDouble(math.Round(f*1e4) / 1e4) }
	how := "all of them read"
	if !s.Complete {
		how = "estimated from " + words.Count(s.Read, "row")
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

// columnDetail tells the most frequent values and the range of the others.
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

// clip cuts a long value for a line.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

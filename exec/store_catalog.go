package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/pause"
	"github.com/hql-db/hql/parser"
)

// The definitions of tables created in hql are kept in the store for all users of a cluster. Table hql_catalog has one
// row per table, under its lower-case name, with the statement in d:sql. Rows whose key begins with a NUL are counters:
// of the numbers that LOOKUP draws, and of the changes of definitions.
const (
	catalogTable     = catalog.SystemTable
	catalogFamily    = "d"
	catalogQualifier = "sql"
	counterPrefix    = "\x00counter/"
	counterQualifier = "n"
	changesKey       = "\x00changes"
)

// serverTime as the timestamp of a mutation lets the server set the time: the clocks of clients differ.
const serverTime = math.MaxInt64

// definitionsAge is the time for which an engine uses the definitions that it has read. Then the next statement checks
// with one Get whether they have changed, before it writes or returns a row. DROP TABLE waits as long, so that no later
// statement uses the definition. It is a variable for tests.
var definitionsAge = 250 * time.Millisecond

// definitions is an engine's copy of the store's catalog.
type definitions struct {
	slot    chan struct{} // held by the goroutine that reads them
	checked atomic.Int64  // when they were read or found unchanged, in nanoseconds since the engine was created
	began   time.Time
	changes int64                 // the counter of changes when they were read
	denied  atomic.Bool           // the user may not read them
	rows    map[string]definition // all definitions in the store, by lower-case name
	stored  map[string]definition // the definitions whose tables the engine's catalog has
	edition atomic.Int64          // incremented when the catalog changes because of them
}

// definition is the content of the store's catalog for one name.
type definition struct {
	sql string // "" if there is none
	at  int64  // timestamp of its cell; it increases, even when a removed name is defined again
}

// dropping is the prefix of the store's catalog entry for a table that is being dropped. After it come the unique
// identifier of the DROP TABLE and the statement that created the table. No version of hql finds a table under the name
// then, because the entry is not a statement.
const dropping = "DROP "

// statement returns the statement that created a table or view, and whether the table is being dropped.
func (d definition) statement() (sql string, half bool) {
	rest, half := strings.CutPrefix(d.sql, dropping)
	if !half {
		return d.sql, false
	}
	_, sql, _ = strings.Cut(rest, " ")
	return sql, true
}

// LoadCatalog adds the tables in the store's catalog that the engine's catalog does not know yet. A definition that
// cannot be read causes a warning, not an error, so that the others can be used.
func (e *Engine) LoadCatalog(ctx context.Context) (warnings []string, err error) {
	err = e.follow(ctx, true, func(w string) { warnings = append(warnings, w) })
	return warnings, err
}

// reload reads all changes that other connections have made in the store's catalog.
func (e *Engine) reload(ctx context.Context) error { return e.follow(ctx, true, e.warn) }

// refresh reads the changes like reload, if the definitions are older than definitionsAge.
func (e *Engine) refresh(ctx context.Context) error {
	if e.defs.fresh() || e.cfg.Alone && e.defs.checked.Load() > 0 {
		return nil
	}
	return e.follow(ctx, false, e.warn)
}

func (e *Engine) warn(text string) { e.cfg.Logger.Warn(text) }

// settle reads the changes that the statement has made, and waits until no other one uses the definitions before them.
func (r *run) settle(ctx context.Context) error {
	if err := r.engine.reload(ctx); err != nil {
		return err
	}
	return r.engine.awaitRefresh(ctx)
}

// awaitRefresh waits until no statement begins, or writes, with definitions that were read before the call.
func (e *Engine) awaitRefresh(ctx context.Context) error {
	if e.cfg.Alone {
		err := e.sending.Acquire(ctx, everySender) // wait for the rows that are being sent
		if err == nil {
			e.sending.Release(everySender)
		}
		return err
	}
	return pause.For(ctx, definitionsAge)
}

func (d *definitions) fresh() bool {
	at := d.checked.Load()
	return at > 0 && time.Since(d.began)-time.Duration(at) < definitionsAge
}

// follow updates the catalog from the store. Unless now is set, it does so only if the definitions are older than
// definitionsAge.
func (e *Engine) follow(ctx context.Context, now bool, warn func(string)) error {
	d := &e.defs
	if e.client == nil {
		return nil
	}
	select {
	case d.slot <- struct{}{}:
		defer func() { <-d.slot }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if !now && d.fresh() { // another statement has just read them
		return nil
	}
	at := time.Since(d.began)
	now = now || d.checked.Load() == 0
	var err error
	if !now {
		now, err = e.changed(ctx)
	}
	if err == nil && now {
		var rows map[string]definition
		var changes int64
		rows, changes, err = e.readDefinitions(ctx)
		none := errors.Is(err, hbase.ErrNoTable)
		if none {
			err = nil
		}
		defs := maps.Clone(rows)
		maps.DeleteFunc(defs, func(_ string, d definition) bool { _, half := d.statement(); return half })
		if err == nil && !none { // ANALYZE makes the catalog's table if there is none
			err = e.listStatistics(ctx)
		}
		if err == nil {
			e.takeOver(defs, warn)
			d.rows, d.changes = rows, changes
		}
	}
	if errors.Is(err, hbase.ErrDenied) { // definitions may come from elsewhere, and not every statement needs them
		if !d.denied.Swap(true) {
			warn(fmt.Sprintf("tables defined in the cluster are not known: %v", err))
		}
		err = nil
	} else if err == nil {
		d.denied.Store(false)
	}
	if err != nil {
		return fmt.Errorf("read the catalog: %w", err)
	}
	d.checked.Store(int64(at))
	return nil
}

// withDenied adds to an unknown-table error that the user may not read the store's definitions.
func (e *Engine) withDenied(err error) error {
	if !e.defs.denied.Load() || !errors.Is(err, catalog.ErrUnknownTable) {
		return err
	}
	var at *parser.Error
	if !errors.As(err, &at) || at.Hint != "" {
		return err
	}
	hinted := *at
	return hinted.WithHint("the user may not read " + catalogTable + ", which holds the cluster's definitions: grant the right to read it, or give definitions with --catalog FILE")
}

// changed reports whether the counter that every change of a definition increments has another value than when the
// definitions were read.
func (e *Engine) changed(ctx context.Context) (bool, error) {
	rows, err := e.client.Get(ctx, catalogTable, [][]byte{[]byte(changesKey)}, &hbase.ReadOptions{Families: []string{catalogFamily}})
	if errors.Is(err, hbase.ErrNoTable) {
		return e.defs.changes != 0, nil
	}
	return err == nil && counted(rows[0]) != e.defs.changes, err
}

// counted returns the value of a counter, 0 if it was never incremented.
func counted(r hbase.Row) int64 {
	if len(r.Cells) == 0 || len(r.Cells[0].Value) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(r.Cells[0].Value))
}

// readDefinitions returns the rows of the store's catalog by their keys, and the counter of changes. The counter's key
// sorts before all names: a change that the scan may have missed increments the counter after it was read. The map is
// empty with an error.
func (e *Engine) readDefinitions(ctx context.Context) (defs map[string]definition, changes int64, err error) {
	defs = map[string]definition{}
	for row, err := range hbase.Rows(ctx, e.client, hbase.ScanRange{Table: catalogTable}, &hbase.ReadOptions{Families: []string{catalogFamily}}) {
		if err != nil {
			return map[string]definition{}, 0, err
		}
		if string(row.Key) == changesKey {
			changes = counted(row)
		}
		for _, c := range row.Cells {
			if string(c.Qualifier) == catalogQualifier {
				defs[string(row.Key)] = definition{string(c.Value), c.Timestamp}
			}
		}
	}
	return defs, changes, nil
}

// errRedefined marks, for errors.Is, a table that was dropped or replaced since the statement began.
var errRedefined = errors.New("run it again")

// redefined reports whether err ended a statement because the table that it writes was replaced meanwhile.
func (e *Engine) redefined(stmt parser.Statement, err error) bool {
	_, _, none := e.catalog.TableOrView(parser.Written(stmt), parser.NoPos)
	return none == nil && errors.Is(err, errRedefined)
}

// definitionOf returns two definitions of name. known is the definition from the store that the engine's catalog uses,
// empty if the catalog uses none. row is the definition that the store had when it was last read.
func (e *Engine) definitionOf(ctx context.Context, name string) (known, row definition, err error) {
	select {
	case e.defs.slot <- struct{}{}:
		defer func() { <-e.defs.slot }()
		key := catalogKey(name)
		return e.defs.stored[string(key)], e.defs.rows[string(key)], nil
	case <-ctx.Done():
		return known, row, ctx.Err()
	}
}

// takeOver replaces the tables that the catalog has from the store by those of defs. It keeps tables that come from a
// file.
func (e *Engine) takeOver(defs map[string]definition, warn func(string)) {
	stored := e.defs.stored
	changed := false
	for name := range stored {
		if _, ok := defs[name]; !ok {
			e.catalog.Drop(name)
			delete(stored, name)
			changed = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(defs)) {
		was, ours := stored[key]
		if ours && was == defs[key] {
			continue
		}
		_, isTable := e.catalog.Table(key)
		_, isView := e.catalog.View(key)
		if (isTable || isView) && !ours {
			continue
		}
		if err := e.define(key, defs[key].sql); err != nil {
			e.catalog.Break(key, err)
			warn(err.Error())
		}
		stored[key] = defs[key]
		changed = true
	}
	if changed {
		e.lookups.Clear()
		e.defs.edition.Add(1)
	}
}

// define adds the definition in a row of the store's catalog to the engine's catalog.
func (e *Engine) define(key, sql string) error {
	s, err := parser.ParseStatement(sql)
	if v, ok := s.(*parser.CreateView); ok && err == nil && strings.ToLower(v.Name) == key {
		e.catalog.ReplaceView(&catalog.View{Name: v.Name, Def: v})
		return nil
	}
	t, err := e.readTable(key, sql)
	if err == nil {
		e.catalog.Replace(t)
	}
	return err
}

// readTable returns the table that a row of the store's catalog defines.
func (e *Engine) readTable(key, sql string) (*catalog.Table, error) {
	s, err := parser.ParseStatement(sql)
	def, ok := s.(*parser.CreateTable)
	if err == nil && !ok {
		err = errors.New("it holds another kind of statement")
	}
	if err == nil && strings.ToLower(def.Name) != key {
		err = fmt.Errorf("it defines table %s", def.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: row %q does not define table %s: %v", catalogTable, key, key, err)
	}
	t, err := e.catalog.Build(def)
	if err != nil {
		return nil, fmt.Errorf("%s: table %s: %v", catalogTable, def.Name, err)
	}
	return t, nil
}

// checkUnchanged fails if one of the tables was dropped or replaced since the statement began: its reads and writes could
// concern another table with the same name.
func (r *run) checkUnchanged(ctx context.Context, tables ...*catalog.Table) error {
	if err := r.engine.refresh(ctx); err != nil {
		return err
	}
	for _, t := range tables {
		if now, ok := r.engine.catalog.Table(t.Name); !ok || now != t {
			return fmt.Errorf("%s %s was dropped or redefined while the statement ran: %w", strings.ToLower(t.Def.Kind()), t.Name, errRedefined)
		}
	}
	return nil
}

func (r *run) ensureCatalogTable(ctx context.Context) error {
	_, err := r.Client.Regions(ctx, catalogTable) // not Families, which needs the permission to create tables
	if errors.Is(err, hbase.ErrNoTable) {
		err = r.Client.CreateTable(ctx, catalogTable, []hbase.Family{{Name: catalogFamily}}, nil)
		if errors.Is(err, hbase.ErrTableExists) { // another connection was faster
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("make the catalog table: %w", err)
	}
	return nil
}

// keptError is the error of a statement that failed after it saved its definition in the store.
type keptError struct{ error }

func (e keptError) Unwrap() error { return e.error }

// saveDefinition saves sql in the store as the definition of a table or view. was is the definition that sql replaces,
// empty for a new name. If the store has another definition of the name, that stays, and saveDefinition returns the
// error taken.
func (r *run) saveDefinition(ctx context.Context, name, was, sql string, taken error) error {
	if err := r.ensureCatalogTable(ctx); err != nil {
		return err
	}
	key := catalogKey(name)
	put := hbase.Mutation{Kind: hbase.Put, Key: key, Timestamp: serverTime,
		Cells: []hbase.Cell{{Family: []byte(catalogFamily), Qualifier: []byte(catalogQualifier), Value: []byte(sql)}}}
	for {
		var before []byte
		if was != "" {
			before = []byte(was)
		}
		done, err := r.Client.PutIf(ctx, catalogTable, before, put)
		if err != nil {
			return err
		}
		rows, err := r.Client.Get(ctx, catalogTable, [][]byte{key}, definitionCell)
		if err != nil && done {
			return keptError{err}
		}
		if err != nil {
			return err
		}
		there := rows[0].Key != nil
		switch {
		case there && (done || was != "" && string(rows[0].Cells[0].Value) == sql): // the answer to a successful write may have been lost
			if err := r.countChange(ctx); err != nil {
				return keptError{err}
			}
			return nil
		case there || !done:
			return taken
		}
		was = "" // a deletion in the same millisecond hides it
	}
}

// definitionCell reads a definition without other cells of its row, which a later version or another program may have
// written.
var definitionCell = &hbase.ReadOptions{Columns: []filter.Column{{Family: catalogFamily, Qualifier: catalogQualifier}}}

// forgetDefinition deletes the definition of a table or view from the store, together with the given counters. If the
// store no longer has the definition was, because another connection has redefined the name, nothing is deleted.
func (r *run) forgetDefinition(ctx context.Context, name, was string, counters ...[]byte) error {
	var rows []hbase.Row
	var err error
	if len(counters) > 0 { // read before the definition is compared
		rows, err = r.Client.Get(ctx, catalogTable, counters, &hbase.ReadOptions{Families: []string{catalogFamily}})
	}
	if err == nil && was != "" {
		var row []hbase.Row
		if row, err = r.Client.Get(ctx, catalogTable, [][]byte{catalogKey(name)}, definitionCell); err == nil && (row[0].Key == nil || string(row[0].Cells[0].Value) != was) {
			return nil
		}
		rows = append(rows, row...)
	}
	var gone []hbase.Mutation
	for _, row := range rows {
		if row.Key != nil {
			gone = append(gone, hbase.Mutation{Kind: hbase.DeleteRow, Key: row.Key, Timestamp: row.Cells[0].Timestamp})
		}
	}
	if err == nil && len(gone) > 0 {
		err = r.Client.Mutate(ctx, catalogTable, gone)
	}
	if errors.Is(err, hbase.ErrNoTable) || err == nil && was == "" {
		return nil
	}
	if err != nil {
		return err
	}
	return r.countChange(ctx)
}

func (r *run) countChange(ctx context.Context) error {
	_, err := r.Client.Increment(ctx, catalogTable, []byte(changesKey), catalogFamily, counterQualifier, 1)
	return err
}

func catalogKey(name string) []byte { return []byte(strings.ToLower(name)) }

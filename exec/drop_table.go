package exec

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/lookup"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
)

// drop drops one table. It removes the definition, waits until no connection uses the definition, and then drops the
// HBase tables. Otherwise a statement that computes the names of HBase tables would take a dropped HBase table for an
// empty one. The row of t in the store's catalog changes as follows:
//
//	CREATE TABLE t ...          t is a table
//	DROP 5XQ... CREATE TABLE t  t is no longer a table; after definitionsAge every connection knows this
//	(deleted)                   after the last HBase table of t was dropped
//
// After a crash, another DROP TABLE of the same name completes the drop. If two connections drop t at the same time,
// the one that wrote the row last continues, and the other fails.
type drop struct {
	*run
	table *catalog.Table
	at    parser.Pos
	was   definition // the definition that the store had
	mark  string     // the content of the catalog's row now
	begun bool       // a part of the table may have been dropped
	// hidden is set if a catalog file defines the table. The store may then have another definition of the same name,
	// which stays; kept is the table of that definition, or nil.
	hidden bool
	kept   *catalog.Table
}

var (
	errMeanwhile = errors.New("another connection has dropped or defined it meanwhile")
	errEnded     = errors.New("another connection has dropped it")
)

// dropTable runs DROP TABLE. HBase tables that another definition uses stay, and so do those that hql did not create.
// When it returns, no connection uses the definition any more.
func (r *run) dropTable(ctx context.Context, s *parser.Drop) (*Rows, error) {
	if err := r.engine.reload(ctx); err != nil {
		return nil, err
	}
	if _, err := r.dropKind(s); err != nil {
		return nil, err
	}
	known, row, err := r.engine.definitionOf(ctx, s.Name)
	if err != nil {
		return nil, err
	}
	d := &drop{run: r, at: s.NamePos, was: row}
	var sql string
	sql, d.begun = row.statement()
	t, err := r.tableNamed(s.Name, s.NamePos)
	switch {
	case err == nil && known.sql == "" && !d.begun:
		d.hidden, d.was = row.sql != "", definition{}
		if d.kept, err = r.engine.readTable(string(catalogKey(s.Name)), sql); err != nil {
			err = nil // a view, or a definition that this version cannot read
		}
	case err != nil && (d.begun || known.sql != ""):
		if t, err = r.engine.readTable(string(catalogKey(s.Name)), sql); err != nil {
			return r.dropUnreadable(ctx, s, row)
		}
	case err != nil && s.IfExists:
		return r.done(-1), nil
	}
	if err != nil {
		return nil, err
	}
	if _, readOnly := r.engine.client.(write.ReadOnlyClient); readOnly && !t.External {
		return nil, ErrReadOnly
	}
	if err := r.unread(ctx, strings.ToLower(t.Def.Kind()), t.Name, s.NamePos, s.Cascade); err != nil {
		return nil, err
	}
	for _, o := range r.engine.catalog.Tables() {
		for _, u := range o.Lookups() {
			if strings.EqualFold(u.Table, t.Name) {
				return nil, parser.Errorf(s.NamePos, "table %s is used by %s: %s", t.Name, o.Name, u.Source).WithHint("drop %s first", o.Name)
			}
		}
	}
	d.table = t
	owned := r.engine.catalog.Owned(t)
	switch err := d.all(ctx); {
	case errors.Is(err, errMeanwhile):
		return r.dropTable(ctx, s)
	case err == nil, errors.Is(err, errEnded):
		return r.done(-1), r.dropOwned(ctx, owned)
	default:
		return nil, d.failed(ctx, err)
	}
}

// dropUnreadable drops a table whose definition cannot be read. It drops only the definition, because the HBase tables
// are unknown.
func (r *run) dropUnreadable(ctx context.Context, s *parser.Drop, row definition) (*Rows, error) {
	if err := r.forgetDefinition(ctx, s.Name, row.sql); err != nil {
		return nil, err
	}
	r.Warn.Add(warning.TableKept, fmt.Sprintf("the definition of %s was dropped alone, as it cannot be read: HBase tables that were made for it stay", s.Name))
	return r.done(-1), r.settle(ctx)
}

// all drops the definition and the HBase tables, up to the first error.
func (d *drop) all(ctx context.Context) error {
	if err := d.hide(ctx); err != nil {
		return err
	}
	for _, l := range slices.Backward(d.table.Layouts) { // derived ones first
		if d.table.External {
			break
		}
		if err := d.dropPhysical(ctx, l); err != nil {
			return err
		}
	}
	if d.hidden { // from now on the name has the other definition
		return d.engine.reload(ctx)
	}
	d.begun = true
	err := d.forgetStatistics(ctx, d.table)
	if err == nil {
		err = d.forgetDefinition(ctx, d.table.Name, d.mark, counters(d.table)...)
	}
	if d.table.External && errors.Is(err, ErrReadOnly) {
		err = nil
	}
	return err
}

// hide removes the table from the catalogs of all connections.
func (d *drop) hide(ctx context.Context) error {
	e := d.engine
	if sql, _ := d.was.statement(); sql != "" {
		d.mark = dropping + rand.Text() + " " + sql
		err := d.saveDefinition(ctx, d.table.Name, d.was.sql, d.mark, errMeanwhile)
		if err == nil {
			err = e.reload(ctx)
		}
		if err != nil && !(d.table.External && errors.Is(err, ErrReadOnly)) {
			return err
		}
	}
	if now, ok := e.catalog.Table(d.table.Name); ok && now == d.table { // from a file
		e.catalog.Drop(d.table.Name)
	}
	e.lookups.Clear() // the table may be a look-up table, whose numbers are cached
	return e.awaitRefresh(ctx)
}

// failed returns the error that ended the drop. If nothing was dropped, it restores the table.
func (d *drop) failed(ctx context.Context, err error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
	defer stop()
	if d.mark == "" {
		if t, e := d.engine.catalog.Build(d.table.Def); e == nil { // a new value: statements that have seen the table dropped must not take it for the same
			d.engine.catalog.Replace(t)
		}
		return err
	}
	if !d.begun {
		e := d.saveDefinition(ctx, d.table.Name, d.mark, d.was.sql, nil)
		if e == nil {
			e = d.engine.reload(ctx)
		}
		if e == nil || errors.Is(e, ErrReadOnly) || errors.Is(e, hbase.ErrDenied) {
			return err
		}
		err = errors.Join(err, e)
	}
	return fmt.Errorf("%w (DROP TABLE %s again drops what is left)", err, parser.QuoteName(d.table.Name))
}

// goesOn returns an error if another connection has taken over or completed the drop.
func (d *drop) goesOn(ctx context.Context) error {
	if err := d.engine.reload(ctx); err != nil {
		return err
	}
	_, row, err := d.engine.definitionOf(ctx, d.table.Name)
	if err != nil || d.mark == "" || row.sql == d.mark {
		return err
	}
	if _, half := row.statement(); half {
		return parser.Errorf(d.at, "table %s is being dropped by another connection, too", d.table.Name)
	}
	return errEnded
}

// dropPhysical drops the HBase tables of one layout.
func (d *drop) dropPhysical(ctx context.Context, l *catalog.Layout) error {
	names, err := d.physical(ctx, l)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := d.goesOn(ctx); err != nil {
			return err
		}
		o := d.sharing(d.table, name)
		if o == nil && d.kept != nil && slices.ContainsFunc(d.kept.Layouts, func(l *catalog.Layout) bool { return l.Stored.Fits(name) }) {
			o = d.kept
		}
		if o != nil {
			d.Warn.Add(warning.TableKept, fmt.Sprintf("the HBase table %s stays: %s is stored in it too", name, o.Name))
			continue
		}
		ours, err := d.made(ctx, name)
		if err == nil && !ours {
			d.Warn.Add(warning.TableKept, fmt.Sprintf("the HBase table %s stays: it was not made by CREATE TABLE", name))
			continue
		}
		if err == nil {
			err = d.Client.DropTable(ctx, name, d.goesOn)
			d.begun = d.begun || !errors.Is(err, hbase.ErrDenied)
		}
		if err != nil && !errors.Is(err, hbase.ErrNoTable) {
			return err
		}
	}
	return nil
}

// counters returns the keys, in the store's catalog, of the counters from which numbers for columns of t are drawn.
func counters(t *catalog.Table) (keys [][]byte) {
	for _, c := range t.Columns {
		if c.Type.IsInteger() && !c.KeyPart {
			keys = append(keys, []byte(counterPrefix+lookup.Counter(t, c)))
		}
	}
	return keys
}

// unclaimed refuses to define a name under which the store's catalog has a row that hql cannot read.
func (r *run) unclaimed(ctx context.Context, name string, at parser.Pos) error {
	_, row, err := r.engine.definitionOf(ctx, name)
	if err != nil || row.sql == "" {
		return err
	}
	if _, half := row.statement(); half {
		return parser.Errorf(at, "table %q is being dropped", name).WithHint("DROP TABLE %s drops what is left of it", parser.QuoteName(name))
	}
	return parser.Errorf(at, "%q already exists: its definition in %s cannot be read", name, catalogTable).WithHint("DROP TABLE %s drops that definition", parser.QuoteName(name))
}

package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// filledLayouts are the indexes and copies that are known to have rows, or whose tables are known to have no row that
// belongs in them.
type filledLayouts struct{ known sync.Map } // *catalog.Layout to true

// ErrNotFilled marks, for errors.Is, an INDEX or a copy that was defined for a table with rows but never filled.
var ErrNotFilled = errors.New("the layout was never filled")

// belongRows is the number of rows of a table that lacks reads, to find one that belongs in an empty index.
const belongRows = 1000

// looks is the number of times that filled must find a layout empty and then a row that belongs in it. Once is not
// enough: between the two reads, another statement may write the first row with its entry.
const looks = 3

// filled refuses l, an index or copy that is empty although rows of t belong in it. Such a layout was defined when the
// rows existed, and nobody filled it. A query that reads l would miss these rows. After the first new row, l is no
// longer empty, and hql could not detect the missing rows. Once filled has found a row in l, it does not check l again.
func (st *statement) filled(ctx context.Context, t *catalog.Table, l *catalog.Layout) error {
	if l.Kind == catalog.Primary || l.Building {
		return nil
	}
	if t.IndexStates != "" {
		return st.active(ctx, t, l)
	}
	if _, ok := st.full.known.Load(l); ok {
		return nil
	}
	for range looks {
		some, err := st.hasRow(ctx, l)
		if err != nil {
			return err
		}
		rows, lacking := false, false
		if !some {
			if rows, lacking, err = st.lacks(ctx, t, l); err != nil {
				return err
			}
		}
		if some || rows && !lacking {
			st.full.known.Store(l, true)
		}
		if !lacking {
			return nil // if t has no rows, new rows are written to t and l
		}
	}
	return fmt.Errorf("%s of %s is empty, and %s has rows that belong in it (CHECK TABLE %s REPAIR fills it): %w", l.Name, t.Name, t.Name, t.Name, ErrNotFilled)
}

// active refuses l, an index that Phoenix maintains, unless its state is ACTIVE. Only an ACTIVE index has an entry for
// each row. Like Phoenix, hql checks the state before each statement.
func (st *statement) active(ctx context.Context, t *catalog.Table, l *catalog.Layout) error {
	schema, name := "", storedName(l)
	if i := strings.IndexAny(name, ".:"); i >= 0 {
		schema, name = name[:i], name[i+1:]
	}
	const family, state, active = "0", "INDEX_STATE", "a"
	key := []byte("\x00" + schema + "\x00" + name)
	rows, err := st.Client.Get(ctx, t.IndexStates, [][]byte{key}, &hbase.ReadOptions{Columns: []filter.Column{{Family: family, Qualifier: state}}})
	if err != nil {
		return fmt.Errorf("look whether the index %s is ACTIVE: %w", l.Name, err)
	}
	for _, c := range rows[0].Cells {
		if string(c.Value) == active {
			return nil
		}
	}
	return fmt.Errorf("index %s of %s is not ACTIVE any more, as %s says: import the definitions again, or read by the rowkey, SELECT /*+ LAYOUT(%s) */", l.Name, t.Name, t.IndexStates, t.Layouts[0].Name)
}

// hasRow reports whether any HBase table of l has a row.
func (st *statement) hasRow(ctx context.Context, l *catalog.Layout) (bool, error) {
	name, whole := l.Stored.Prefix()
	names := []string{name}
	if !whole {
		var err error
		if names, err = st.Tables(ctx, l, name); err != nil {
			return false, err
		}
	}
	for _, name := range names {
		sc, err := st.Client.Scan(ctx, hbase.ScanRange{Table: name, Limit: 1}, &hbase.ReadOptions{Filter: filter.And{filter.FirstCell{}, filter.KeyOnly{}}})
		var rows []hbase.Row
		if err == nil {
			rows, err = sc.Next(ctx)
			sc.Close()
		}
		switch {
		case len(rows) > 0:
			return true, nil
		case err != nil && err != io.EOF && !errors.Is(err, hbase.ErrNoTable):
			return false, fmt.Errorf("look for rows of %s: %w", l.Name, err)
		}
	}
	return false, nil
}

// lacks reports whether t has rows, and whether one of the first belongRows of them belongs in l.
func (st *statement) lacks(ctx context.Context, t *catalog.Table, l *catalog.Layout) (rows, lacking bool, err error) {
	s := scan.Whole(t, t.Layouts[0])
	s.Limit = plan.AtMost(belongRows)
	spans := s.Spans
	if s.ListTables {
		if spans, err = st.ListTables(ctx, s); err != nil {
			return false, false, err
		}
	}
	stats := newRecorder(st.Client).Open(s)
	op := st.Read(ctx, s, spans, stats)
	defer op.Close()
	for n := 0; n < belongRows; {
		batch, err := op.Next(ctx)
		if err == io.EOF {
			return n > 0, false, nil
		}
		if err != nil {
			return false, false, err
		}
		n += len(batch)
		if slices.ContainsFunc(batch, func(row []types.Value) bool { return !l.Lacks(row) }) {
			return true, true, nil
		}
	}
	return true, false, nil
}

// fill creates the missing HBase tables that REPAIR fills: those of the derived layouts of an EXTERNAL definition.
func (r *run) fill(ctx context.Context, t *catalog.Table) error {
	for _, l := range t.Layouts[1:] {
		if !l.Stored.IsLiteral() {
			continue
		}
		switch _, err := r.Client.Regions(ctx, storedName(l)); {
		case errors.Is(err, hbase.ErrNoTable):
			if _, err := r.createPhysical(ctx, t, storedName(l)); err != nil {
				return err
			}
		case err != nil:
			return err
		}
	}
	return nil
}

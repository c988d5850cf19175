package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

func (r *run) show(ctx context.Context, s *parser.Show) (*Rows, error) {
	switch s.Kind {
	case parser.ShowTables:
		return r.showTables(), nil
	case parser.ShowFunctions:
		return r.showFunctions(), nil
	case parser.ShowSettings:
		return r.showSettings(s)
	}
	t, v, err := r.engine.catalog.TableOrView(s.Name, s.NamePos)
	if v != nil {
		if s.Kind == parser.ShowCreateTable || s.Kind == parser.ShowColumns {
			return r.showView(s, v)
		}
		t, err = r.tableNamed(s.Name, s.NamePos)
	}
	if err != nil {
		return nil, err
	}
	switch s.Kind {
	case parser.ShowCreateTable:
		rows := r.table(textColumns("statement"), textRows([]string{t.SQL() + ";\n"}))
		rows.Document = true
		return rows, nil
	case parser.ShowStatistics:
		return r.showStatistics(ctx, t)
	case parser.ShowSplits:
		return r.showSplits(ctx, t)
	}
	return r.describe(t), nil
}

func textRows(rows ...[]string) [][]types.Value {
	out := make([][]types.Value, len(rows))
	for i, row := range rows {
		for _, s := range row {
			out[i] = append(out[i], types.NewString(s))
		}
	}
	return out
}

func (r *run) showTables() *Rows {
	var rows [][]string
	own := r.session.temporaryTables()
	theirs := func(name string) bool {
		return strings.HasPrefix(name, temporary) && (own == "" || !strings.HasPrefix(name, own))
	}
	for _, t := range r.engine.catalog.Tables() {
		if theirs(t.Name) {
			continue
		}
		kind := "table"
		if t.External {
			kind = "external"
		} else if t.Def.Materialized {
			kind = "materialized view"
		}
		layouts := words.Join(t.Layouts, " ", func(l *catalog.Layout) string { return "(" + l.Key.Source() + ")" })
		rows = append(rows, []string{strings.TrimPrefix(t.Name, own), kind, stored(t.Layouts[0]), layouts})
	}
	for kind, list := range map[string][]*catalog.View{"view": r.engine.catalog.Views(), "sequence": r.engine.catalog.Sequences()} {
		for _, v := range list {
			if !theirs(v.Name) {
				rows = append(rows, []string{strings.TrimPrefix(v.Name, own), kind, "", ""})
			}
		}
	}
	return r.table(textColumns("table", "kind", "stored in", "row key"), textRows(rows...))
}

func stored(l *catalog.Layout) string {
	if l.Stored.IsLiteral() {
		return storedName(l)
	}
	return "(" + l.Stored.Source() + ")"
}

func (r *run) showFunctions() *Rows {
	var rows [][]string
	for _, f := range r.env.Funcs.All() {
		if f.Group != "operator" {
			rows = append(rows, []string{f.Name, f.Group, f.Signature, f.Doc})
		}
	}
	return r.table(textColumns("function", "group", "signature", "description"), textRows(rows...))
}

func (r *run) showSettings(s *parser.Show) (*Rows, error) {
	if s.Name != "" {
		one, err := r.settings.find(s.Name, s.NamePos)
		if err != nil {
			return nil, err
		}
		return r.table(textColumns(cmp.Or(one.spelled, one.name)), textRows([]string{one.show(r.settings)})), nil
	}
	var rows [][]string
	if r.session.Client != nil { // it looks for PostgreSQL's
		for _, x := range r.session.Settings() {
			rows = append(rows, x[:])
		}
		return r.table(textColumns("name", "setting", "description"), textRows(rows...)), nil
	}
	for _, x := range settingList() {
		rows = append(rows, []string{x.name, x.show(r.settings), x.doc})
	}
	return r.table(textColumns("setting", "value", "description"), textRows(rows...)), nil
}

// describe returns, for each column, where its value is stored.
func (r *run) describe(t *catalog.Table) *Rows {
	var rows [][]string
	for _, c := range t.Columns {
		null := "yes"
		if c.NotNull || c.KeyPart && !c.NullKey {
			null = "no"
		}
		where, encoding := c.Family+":"+c.Qualifier, c.Encoding.String()
		switch {
		case c.Packed != nil:
			where = c.Family + ":[" + c.Packed.Source() + "]"
		case c.KeyPart:
			where, encoding = t.Layouts[0].PartOf(c.Index).Source, ""
			where = "key: " + where
		}
		rows = append(rows, []string{c.Name, c.Type.String(), null, where, encoding})
	}
	return r.table(textColumns("column", "type", "null", "stored in", "encoding"), textRows(rows...))
}

// showSplits lists the regions of t's HBase tables, or those with which a missing one would be created.
func (r *run) showSplits(ctx context.Context, t *catalog.Table) (*Rows, error) {
	columns := append(textColumns("table"), plan.OutputColumn{Name: "start", Type: types.Bytes},
		plan.OutputColumn{Name: "stop", Type: types.Bytes}, plan.OutputColumn{Name: "server", Type: types.String})
	var rows [][]types.Value
	for _, l := range t.Layouts {
		names, err := r.physical(ctx, l)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			regions, err := r.regionsOf(ctx, t, l, name)
			if err != nil {
				return nil, err
			}
			for _, g := range regions {
				rows = append(rows, []types.Value{types.NewString(name), types.NewBytes(string(g.Start)), types.NewBytes(string(g.Stop)), types.NewString(g.Server)})
			}
		}
	}
	return r.table(columns, rows), nil
}

// regionsOf returns the regions of the HBase table name of l, or those with which it would be created if it does not
// exist.
func (r *run) regionsOf(ctx context.Context, t *catalog.Table, l *catalog.Layout, name string) ([]hbase.Region, error) {
	regions, err := r.Client.Regions(ctx, name)
	if err == nil && len(regions) > 0 {
		return regions, nil
	}
	if err == nil || errors.Is(err, hbase.ErrNoTable) {
		return r.plannedRegions(ctx, t, l)
	}
	return nil, err
}

// noteRegions adds notes with the start keys of the regions of t, a table that was just created, and about its rowkeys.
func (r *run) noteRegions(ctx context.Context, t *catalog.Table) error {
	l := t.Layouts[0]
	if t.External {
		return nil
	}
	if l.Split == nil {
		r.noteKeys(t, [][]byte{nil})
		return nil
	}
	regions, err := r.regionsOf(ctx, t, l, storedName(l)) // a name made of parts does not name an HBase table yet
	if err != nil {
		return err
	}
	begin := make([]string, 0, maxNoted+2)
	starts := make([][]byte, len(regions))
	for i, g := range regions {
		switch {
		case i < maxNoted || i == len(regions)-1:
			begin = append(begin, l.Begins(g.Start))
		case i == maxNoted:
			begin = append(begin, "...")
		}
		starts[i] = g.Start
	}
	r.Warn.Add(warning.Regions, fmt.Sprintf("%s of %s, which begin at: %s", words.Count(int64(len(regions)), "region"), t.Name, strings.Join(begin, ", ")))
	r.noteKeys(t, starts)
	return nil
}

// noteKeys adds notes about the rowkeys of t, whose regions begin at starts.
func (r *run) noteKeys(t *catalog.Table, starts [][]byte) {
	for _, n := range t.KeyNotes(starts) {
		code := warning.KeyNote
		if n.Warning {
			code = warning.LongKey
		}
		r.Warn.Add(code, t.Name+": "+n.Text)
	}
}

// noteIndexes warns of other definitions of t's rows that lack an index or copy of t, or have one that t lacks: a
// statement that writes rows through one definition does not update the other's indexes.
func (r *run) noteIndexes(t *catalog.Table) {
	for _, o := range r.engine.catalog.Tables() {
		if strings.EqualFold(o.Name, t.Name) || !sameRows(t, o) {
			continue
		}
		for _, pair := range [][2]*catalog.Table{{t, o}, {o, t}} {
			has, lacks := pair[0], pair[1]
			for _, l := range has.Layouts[1:] {
				if !slices.ContainsFunc(lacks.Layouts[1:], func(m *catalog.Layout) bool { return stored(m) == stored(l) }) && lacks.ReadOnly == "" {
					r.Warn.Add(warning.Index, fmt.Sprintf("rows that are written through %s get no entry in %s %s of %s: define it for both, or write through %s alone",
						lacks.Name, l.Kind, l.Name, has.Name, has.Name))
				}
			}
		}
	}
}

// sameRows reports whether a and b may have rows in common: both primary layouts are in the same HBase table, and their
// keys do not begin with different literals.
func sameRows(a, b *catalog.Table) bool {
	x, y := a.Layouts[0], b.Layouts[0]
	if stored(x) != stored(y) {
		return false
	}
	p, q := x.Key.Parts[0].Literal, y.Key.Parts[0].Literal
	n := min(len(p), len(q))
	return string(p[:n]) == string(q[:n])
}

// maxNoted bounds the number of regions that a note lists before the last one.
const maxNoted = 8

// plannedRegions returns the regions with which l's HBase table would be created.
func (r *run) plannedRegions(ctx context.Context, t *catalog.Table, l *catalog.Layout) ([]hbase.Region, error) {
	keys, err := r.splitKeys(ctx, t, l)
	if err != nil {
		return nil, err
	}
	regions := make([]hbase.Region, len(keys)+1)
	for i, k := range keys {
		regions[i].Stop, regions[i+1].Start = k, k
	}
	return regions, nil
}

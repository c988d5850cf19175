package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/types"
)

// This file serves \sample, which prints rows as they are stored, and reads the sample of keys that \d draws.

// sampledRegions bounds the regions that a sample is taken from.
const sampledRegions = 10

// showSample runs \sample: it prints stored keys, each with the values that hql reads from it.
func (s *session) showSample(ctx context.Context, args []string) error {
	if len(args) == 0 || len(args) > 2 {
		return errors.New(`\sample needs a table, and may have a number of rows`)
	}
	t, err := s.table(ctx, args[0])
	if err != nil {
		return err
	}
	n := 10
	if len(args) == 2 {
		if n, err = strconv.Atoi(args[1]); err != nil || n < 1 || n > 10000 {
			return fmt.Errorf("\\sample takes 1 to 10000 rows, not %s", printable(args[1]))
		}
	}
	l := t.Layouts[0]
	table, rows, err := s.sample(ctx, l, n, true)
	if err != nil {
		return err
	}
	cols, ts := []string{"stored key"}, []types.Type{types.Bytes}
	var shown []*catalog.Column
	for _, c := range t.Columns {
		if c.KeyPart {
			shown = append(shown, c)
			cols, ts = append(cols, c.Name), append(ts, c.Type)
		}
	}
	var out [][]types.Value
	wrong := 0
	for _, r := range rows {
		vals := []types.Value{types.NewBytes(string(r.Key))}
		row, err := decodeKey(t, l, table, r)
		for _, c := range shown {
			v := types.Value{}
			if err == nil {
				v = row[c.Index]
			}
			vals = append(vals, v)
		}
		problem := types.Value{}
		if err != nil {
			problem = types.NewString(err.Error())
			wrong++
		}
		out = append(out, append(vals, problem))
	}
	cols, ts = append(cols, "does not fit"), append(ts, types.String)
	if wrong == 0 { // nothing to say in the last column
		cols, ts = cols[:len(cols)-1], ts[:len(ts)-1]
		for i := range out {
			out[i] = out[i][:len(cols)]
		}
	}
	return s.grid(cols, ts, out)
}

// sample reads up to n rows of the newest table of l, from the starts of regions that are spread over the table. With keys, it
// reads only the key and one cell of each row.
func (s *session) sample(ctx context.Context, l *catalog.Layout, n int, keys bool) (table string, rows []hbase.Row, err error) {
	names, err := s.physical(ctx, l)
	if err != nil {
		return "", nil, err
	}
	table = names[len(names)-1]
	c := s.db.Client()
	regions, err := c.Regions(ctx, table)
	if err != nil {
		return "", nil, err
	}
	opts := &hbase.ReadOptions{NoCacheBlocks: true}
	if keys {
		opts.Filter = filter.FirstCell{}
	}
	// Regions are read until there are n rows: first some regions at even distances, then all others.
	from := min(len(regions), n, sampledRegions)
	order := make([]hbase.Region, 0, len(regions))
	var others []hbase.Region
	for i, r := range regions {
		if len(order) < from && i == len(order)*len(regions)/from {
			order = append(order, r)
		} else {
			others = append(others, r)
		}
	}
	for i, r := range append(order, others...) {
		want := n - len(rows)
		if i < from {
			want = min(want, (n+from-1)/from)
		}
		if want <= 0 {
			break
		}
		got, err := hbase.ReadAll(ctx, c, hbase.ScanRange{Table: table, Start: r.Start, Stop: r.Stop, Limit: want}, opts)
		if err != nil {
			return "", nil, err
		}
		rows = append(rows, got...)
	}
	return table, rows, nil
}

// physical lists the tables that hold the rows of l.
func (s *session) physical(ctx context.Context, l *catalog.Layout) ([]string, error) {
	prefix, whole := l.Stored.Prefix()
	if whole {
		return []string{prefix}, nil
	}
	names, err := s.db.Client().Tables(ctx, prefix)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !l.Stored.Fits(n) })
	if len(names) == 0 {
		return nil, fmt.Errorf("no table is named like %s", l.Stored.Source())
	}
	return names, nil
}

// readKey returns the columns in a stored key as text.
func readKey(t *catalog.Table, l *catalog.Layout, table string, r hbase.Row) (string, error) {
	row, err := decodeKey(t, l, table, r)
	if err != nil {
		return "", err
	}
	var out []string
	for _, c := range t.Columns {
		if v := row[c.Index]; !v.IsNull() {
			out = append(out, c.Name+" = "+clip(v.String()))
		}
	}
	return strings.Join(out, ", "), nil
}

func decodeKey(t *catalog.Table, l *catalog.Layout, table string, r hbase.Row) ([]types.Value, error) {
	row := make([]types.Value, len(t.Columns)+2) // with the pseudo-columns
	var qualifier []byte
	if l.Packed != nil && len(r.Cells) > 0 {
		qualifier = r.Cells[0].Qualifier
	}
	return row, l.DecodeRow(table, r.Key, qualifier, row)
}

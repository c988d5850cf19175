package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/types"
)

// crosstabColumns is the largest number of values that \crosstabview turns into columns, as in psql.
const crosstabColumns = 1600

// crosstabHead is a value that \crosstabview turns into a column. The columns are sorted by order.
type crosstabHead struct {
	text  string
	order float64
}

// crosstab runs \crosstabview: it prints a row for each value of one column of the result, and a column for each value of
// another one. arg names the columns of the rows, columns and cells, and a column of numbers that sorts the columns.
func (s *session) crosstab(ctx context.Context, args []string) error {
	return s.results(ctx, func(_ context.Context, rows *hql.Rows) error {
		at, err := crosstabAt(rows.Columns(), args)
		if err != nil {
			return err
		}
		look := s.look()
		var sides []types.Value // the first column
		var heads []crosstabHead
		row, known := map[string]int{}, map[string]bool{}
		cells := map[[2]string]types.Value{}
		for rows.Next() {
			vals := rows.Raw()
			side, head := look.display(vals[at[0]]), look.display(vals[at[1]])
			if _, ok := cells[[2]string{side, head}]; ok {
				return fmt.Errorf("\\crosstabview found several values for row %q, column %q: GROUP BY both columns makes one of them", side, head)
			}
			cells[[2]string{side, head}] = vals[at[2]]
			if _, ok := row[side]; !ok {
				row[side] = len(sides)
				sides = append(sides, vals[at[0]])
			}
			if known[head] {
				continue
			}
			if known[head] = true; len(known) > crosstabColumns {
				return fmt.Errorf("\\crosstabview makes %d columns at most", crosstabColumns)
			}
			h := crosstabHead{text: head}
			if at[3] >= 0 {
				if h.order, err = strconv.ParseFloat(vals[at[3]].String(), 64); err != nil {
					return fmt.Errorf("\\crosstabview sorts columns by numbers, not by %s", printable(vals[at[3]].String()))
				}
			}
			heads = append(heads, h)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		slices.SortStableFunc(heads, func(a, b crosstabHead) int { return cmp.Compare(a.order, b.order) })
		names, ts := []string{rows.Columns()[at[0]]}, []types.Type{rows.ColumnTypes()[at[0]].Type}
		for _, h := range heads {
			names, ts = append(names, h.text), append(ts, rows.ColumnTypes()[at[2]].Type)
		}
		table := make([][]types.Value, len(sides))
		for side, i := range row {
			table[i] = []types.Value{sides[i]}
			for _, h := range heads {
				v, ok := cells[[2]string{side, h.text}]
				if !ok && s.format != "json" && s.format != "jsonl" && s.format != "arrow" {
					v = types.NewString("")
				}
				table[i] = append(table[i], v)
			}
		}
		s.setVariable("ROW_COUNT", strconv.Itoa(len(table)))
		return s.grid(names, ts, table)
	})
}

// crosstabAt finds the columns that args name, by their names or numbers from 1: those of the rows, columns and cells, and the
// one that sorts the columns, which is -1 if args do not name it.
func crosstabAt(names, args []string) (at [4]int, err error) {
	if len(args) > 4 {
		return at, errors.New(`\crosstabview takes at most four columns of the result`)
	}
	if len(names) < 3 {
		return at, errors.New(`\crosstabview needs a result of at least three columns`)
	}
	at = [4]int{0, 1, -1, -1}
	for i, a := range args {
		if n, err := strconv.Atoi(a); err == nil {
			at[i] = n - 1
		} else {
			at[i] = slices.Index(names, a)
		}
		if at[i] < 0 || at[i] >= len(names) {
			return at, fmt.Errorf("the result has no column %s", printable(a))
		}
	}
	switch {
	case at[0] == at[1]:
		return at, errors.New(`\crosstabview makes rows and columns of different columns of the result`)
	case len(args) < 3 && len(names) > 3:
		return at, errors.New(`\crosstabview takes the column of the cells as its third one if the result has more than three`)
	case len(args) < 3:
		at[2] = 3 - at[0] - at[1]
	}
	return at, nil
}

// Package forms reads testdata/forms: conditions on a key in every form, and the tables that they are asked of.
package forms

import (
	"fmt"
	"strconv"
	"strings"
)

// Table is a table with its rows.
type Table struct {
	Name     string
	Create   string // for hql
	Postgres string // the columns, for PostgreSQL
	Insert   string // its rows, for both
}

// Form is a condition.
type Form struct {
	Where    string
	Postgres string // the condition in PostgreSQL's SQL
	Without  string // why PostgreSQL has no such condition; "" if it has one
}

// ParseTable reads the four parts of a table: its definition, its columns for PostgreSQL, a row, and on each further
// line the values of a name in the row: texts, or numbers with a step.
//
//	CREATE TABLE t (k INT, a STRING) ROW KEY (k AS INT32, a AS TEXT)
//	k int, a text
//	({k}, 'a{n}')
//	k: -2 to 8 by 2
//	n: x y
func ParseTable(s string) (Table, error) {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) < 3 {
		return Table{}, fmt.Errorf("a table has a definition, columns and a row: %q", s)
	}
	t := Table{Name: strings.Fields(lines[0])[2], Create: lines[0], Postgres: lines[1]}
	rows := []string{lines[2]}
	for _, l := range lines[3:] {
		name, from, _ := strings.Cut(l, ": ")
		values := strings.Fields(from)
		if len(values) > 2 && values[1] == "to" {
			var err error
			if values, err = steps(values); err != nil {
				return Table{}, fmt.Errorf("%s: %w", l, err)
			}
		}
		var next []string
		for _, r := range rows {
			for _, v := range values {
				next = append(next, strings.ReplaceAll(r, "{"+name+"}", v))
			}
		}
		rows = next
	}
	t.Insert = "INSERT INTO " + t.Name + " VALUES " + strings.Join(rows, ", ")
	return t, nil
}

// steps returns the numbers of "1 to 9 by 2".
func steps(words []string) (out []string, err error) {
	from, err := strconv.Atoi(words[0])
	if err != nil {
		return nil, err
	}
	to, err := strconv.Atoi(words[2])
	if err != nil {
		return nil, err
	}
	by := 1
	if len(words) == 5 && words[3] == "by" {
		if by, err = strconv.Atoi(words[4]); err != nil || by < 1 {
			return nil, fmt.Errorf("a step of %s", words[4])
		}
	}
	for ; from <= to; from += by {
		out = append(out, strconv.Itoa(from))
	}
	return out, nil
}

// types replaces hql's type names by PostgreSQL's.
var types = strings.NewReplacer(" STRING)", " text)", "::STRING", "::text", " DOUBLE)", " float8)", "::DOUBLE", "::float8")

// Parse reads conditions, one on each line. Text after || between tabs is PostgreSQL's form, text after |- the reason
// why it has none.
func Parse(s string) (out []Form) {
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		where, pg, other := strings.Cut(l, "\t||\t")
		if !other {
			pg = types.Replace(where)
		}
		where, without, _ := strings.Cut(where, "\t|-\t")
		out = append(out, Form{where, pg, without})
	}
	return out
}

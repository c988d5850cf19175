package differential

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// same reports whether two answers are equal.
func same(c *call, a, b [][]string) bool {
	if len(a) != len(b) {
		return false
	}
	if oneOfEqual.MatchString(c.text) {
		a, b = unsigned(a), unsigned(b)
	}
	equal := func(a, b [][]string) bool {
		return slices.EqualFunc(a, b, func(a, b []string) bool {
			if c.approx {
				return slices.EqualFunc(a, b, nearly)
			}
			return slices.EqualFunc(a, b, equalOrRounded)
		})
	}
	if c.ordered && !ofSets.MatchString(c.text) && !equal(unsigned(a), unsigned(b)) { // rows with -0 and 0 may come in any order
		return false
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, slices.Compare)
	slices.SortFunc(b, slices.Compare)
	return equal(a, b)
}

// oneOfEqual finds queries that keep one of several equal rows, which may have -0 or 0.
var oneOfEqual = regexp.MustCompile(`\b(DISTINCT|GROUP BY|UNION|EXCEPT|INTERSECT|MIN|MAX|USING|NATURAL)\b`)

// ofSets finds groups of several sets: PostgreSQL up to 17 does not sort them by a column that is constant before it is grouped.
var ofSets = regexp.MustCompile(`\b(ROLLUP|CUBE|GROUPING SETS)\b`)

// unsigned returns rows without the signs of zeros.
func unsigned(rows [][]string) (out [][]string) {
	for _, row := range rows {
		row = slices.Clone(row)
		for i, v := range row {
			if v == "f-0" {
				row[i] = "f0"
			}
		}
		out = append(out, row)
	}
	return out
}

// outcome of a comparison.
type outcome int

const (
	agree outcome = iota
	bothFail
	excused // by a documented difference
	refused // by PostgreSQL alone, for what hql is more lenient in
	differ
)

// judge compares two answers.
func judge(c *call, h, p answer) outcome {
	var pe *pgconn.PgError
	errors.As(p.err, &pe)
	switch {
	case h.err != nil && p.err != nil:
		return bothFail
	case h.err != nil:
		if excuse(h.err, c) != "" {
			return excused
		}
		return differ
	case p.err != nil:
		if pe == nil {
			return differ
		}
		if strings.HasPrefix(pe.Code, "42") || strings.HasPrefix(pe.Code, "0A") {
			return refused
		}
		if strings.HasPrefix(pe.Code, "22") {
			return excused
		}
		return differ
	case !same(c, h.rows, p.rows):
		return differ
	}
	return agree
}

// tooLong reports whether PostgreSQL exceeded its statement_timeout, usually for a product of tables.
func tooLong(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == "57014"
}

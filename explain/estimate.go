package explain

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/planner/plan"
)

// qError returns the factor by which an estimate was too large or too small: the worse factor of rows and of bytes. It counts
// at least one row, and at least the bytes of one row. ok is false if there was no estimate.
func qError(e *plan.Estimate, f *Figures) (q float64, ok bool) {
	if e == nil || f == nil {
		return 0, false
	}
	factor := func(guess float64, is int64, least float64) float64 {
		guess, measured := max(guess, least), max(float64(is), least)
		return max(guess/measured, measured/guess)
	}
	row := 1.0
	if e.Rows > 0 {
		row = max(e.Bytes/e.Rows, 1)
	} else if f.RowsRead > 0 {
		row = max(float64(f.Bytes)/float64(f.RowsRead), 1)
	}
	read := f.Bytes
	for _, t := range f.Tables {
		for _, g := range t.Regions {
			if strings.HasPrefix(g.Table, "hbase:meta") { // the list of tables, of which no estimate is made
				read -= g.Bytes
			}
		}
	}
	q = max(factor(e.Rows, f.RowsRead, 1), factor(e.Bytes, read, row))
	return math.Round(q*100) / 100, true
}

// estimateText returns a line with the estimated reads of a plan; "" if there is no estimate.
func estimateText(e *plan.Estimate, f *Figures) string {
	if e == nil {
		return ""
	}
	s := fmt.Sprintf("estimated %s to be read, by statistics of %s", amounts(e), e.At.UTC().Format(time.RFC3339))
	if q, ok := qError(e, f); ok {
		s += fmt.Sprintf("; q-error %.2f", q)
	}
	return s
}

// amounts formats the figures of e.
func amounts(e *plan.Estimate) string {
	count := func(f float64, what string) string { return words.Count(int64(math.Round(f)), what) }
	return fmt.Sprintf("%s and %s in %s", count(e.Rows, "row"), count(e.Bytes, "byte"), count(e.RPCs, "RPC"))
}

// alternativeText returns a line about the plan that was not chosen, and why it was not.
func alternativeText(a *plan.Alternative) string {
	how := a.Access.String()
	if a.How != "" {
		how += " " + a.How
	}
	return fmt.Sprintf("%s, %s: %s; %s", a.Layout, how, amounts(&a.Estimate), a.Why)
}

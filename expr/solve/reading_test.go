package solve_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/types"
)

// Texts that are read as a value in an interval are among those that reading.texts returns.
func TestReading(t *testing.T) {
	type way struct {
		text string // over s
		typ  types.Type
		of   func(r *rand.Rand, at time.Time) string
	}
	written := func(formats ...string) func(*rand.Rand, time.Time) string {
		return func(r *rand.Rand, at time.Time) string { return at.Format(formats[r.IntN(len(formats))]) }
	}
	ways := []way{
		{"CAST(s AS DATE)", types.Date, written("2006-01-02", "2006-1-2", "20060102", "2006-002", "0060102", " 2006-1-02", "\t2006-01-2 ", "002006-01-02", "2006-01-02 15:04", "2006-01-02 BC", "-2006-01-02", "12006-01-02", "\u00a02006-01-02")},
		{"CAST(s AS TIMESTAMP)", types.Timestamp, written("2006-01-02", "2006-1-2T15:04:05", "20060102", "2006-002", "2006-01-02 15:04+15:59", "2006-01-02 15:04:05-15", "-2006-01-02")},
		{"CAST(s AS TIMESTAMP WITHOUT TIME ZONE)", types.LocalTimestamp, written("2006-01-02", "2006-1-2T15:04:05", "20060102 1504", "2006-01-02 15:04+15:59")},
		{"TO_DATE(s, 'YYYY-MM-DD')", types.Date, written("2006-01-02", "2006/1/2", "2006 01 02", "002006-01-02", " 2006-1-2", "2006.01.2 ", "2006–01–02")},
		{"TO_DATE(s, 'YYYYMMDD')", types.Date, written("20060102", "2006 1 2", "200601 2", "2006122", "26 1 2", " 20060102")},
		{"TO_TIMESTAMP(s, 'YYYYMMDDHH24')", types.Timestamp, written("2006010215", "200601025", "2006 1 215", "2006012 15")},
		{"TO_TIMESTAMP(s, 'YYYY-MM-DD HH24:MI:SS.MS')", types.Timestamp, written("2006-01-02 15:04:05.000", "2006-1-2 15:4:5.9", "2006/01/02  15.04.05.123")},
		{"CAST(s AS UUID)", types.UUID, func(r *rand.Rand, at time.Time) string {
			digits := fmt.Sprintf("%08x%024x", uint32(at.Unix()/1000), r.Uint64())
			form := []string{"%s-%s-%s-%s%s%s%s%s", "%s%s%s%s%s%s%s%s", "{%s-%s%s%s%s-%s%s%s}"}[r.IntN(3)]
			s := fmt.Sprintf(form, digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:24], digits[24:28], digits[28:30], digits[30:])
			if r.IntN(3) == 0 {
				s = strings.ToUpper(s)
			}
			return s
		}},
	}
	seeds.Each(t, race.Fewer(5), func(t *testing.T, seed uint64, fig seeds.Figures) {
		r := rand.New(rand.NewPCG(seed, 36))
		moment := func() time.Time {
			return time.Date([]int{2026, 2026, 1 + r.IntN(9998)}[r.IntN(3)], time.Month(1+r.IntN(12)), 1+r.IntN(31), r.IntN(24), r.IntN(60), r.IntN(60), 0, time.UTC)
		}
		for _, w := range ways {
			e, err := compileText(w.text, testScope(false))
			if err != nil {
				t.Fatal(err)
			}
			col, _ := solve.SoleColumn(e)
			read := func(s string) (types.Value, bool) {
				row := make([]types.Value, col+1)
				row[col] = types.NewString(s)
				v, err := e.Eval(&expr.Env{Row: row})
				return v, err == nil
			}
			for range 20 {
				var iv types.Interval
				from, ok1 := read(w.of(r, moment()))
				to, ok2 := read(w.of(r, moment()))
				if !ok1 || !ok2 {
					continue
				}
				if iv = types.Point(from); r.IntN(3) > 0 {
					if iv.Hi = to; iv.Lo.Type() != types.UUID && to.Int() < from.Int() || to.Type() == types.UUID && to.Text() < from.Text() {
						iv.Lo, iv.Hi = to, from
					}
				}
				switch r.IntN(6) {
				case 0:
					iv.Lo = types.Value{}
				case 1:
					iv.Hi = types.Value{}
				}
				_, pre, _, ok := solve.InverseOf(e, types.SetOf(iv), func(expr.Expr) expr.Window { return expr.Window{In: types.All} })
				if !ok {
					t.Fatalf("%s cannot be inverted", w.text)
				}
				if pre.IsAll() {
					fig["nothing"]++
				}
				for range 100 {
					s := w.of(r, moment())
					if v, ok := read(s); ok && iv.Contains(v) {
						if fig["texts in an interval"]++; !pre.Contains(types.NewString(s)) {
							t.Fatalf("%s of %q is %s, in %s, but the text is not in %s", w.text, s, v.SQL(), iv, pre)
						}
					}
				}
			}
		}
	})
}

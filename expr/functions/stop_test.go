package functions

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/parser"
)

// Matches that are searched one by one are those that are found together, and empty ones where the previous one ended.
func TestEachMatch(t *testing.T) {
	race.Skip(t)
	patterns := []string{"a", "", "a*", "b|", "^", "$", "(?m)^", "(?m)$", `\b`, `\B`, "é?", "(a|b)*?c|a", "a{2}", "[^a]*", `\bb(a)?|(c)`, `\Aa|(?m:^b)`, "(?i)A.?", "(a*)(b|$)", `\z|a`}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString([]string{"a", "b", "c", "é", "\n", "\xff", " "}[r.IntN(7)])
		}
		for _, p := range patterns {
			re := regexp.MustCompile(p)
			var got [][]int
			end := -1
			err := eachMatchBehind(&expr.Env{}, re, regexp.MustCompile(`\A(?s:.)(?s:.*?)(`+p+`)`), b.String(), -1, func(m []int) error {
				if m[0] < m[1] || m[0] != end {
					got = append(got, m)
				}
				end = m[1]
				return nil
			})
			if want := re.FindAllStringSubmatchIndex(b.String(), -1); err != nil || !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%q in %q: matches %v, want %v; %v", p, b.String(), got, want, err)
			}
		}
	}
}

// What takes long is neither computed while planning, nor goes on when it is to stop.
func TestLongEvaluationStops(t *testing.T) {
	why := errors.New("enough")
	for _, sql := range []string{
		"regexp_count(repeat('ab', 100000), '(a|b)*?c|a')",
		"regexp_replace(repeat('ab', 100000), '(a|b)*?c|(a)', '\\1x', 'g')",
		"regexp_substr(repeat('ab', 100000), '(a|b)*?c|a', 1, 90000)",
		"length(repeat('ab', 10000000))",
		"repeat('ab', 1000000) LIKE '%b'",
		"repeat('ab', 1000000) ~ 'c'",
		"regexp_replace(repeat('ab', 1000000), 'b', 'c', 'g')",
	} {
		x, err := parser.ParseExpr(sql)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		e, err := expr.Compile(x, &expr.Scope{Funcs: Builtins()})
		if err != nil {
			t.Fatal(err)
		}
		e = expr.Fold(e, time.UTC)
		if _, constant := e.(*expr.Const); constant {
			t.Errorf("%s is computed while planning", sql)
		}
		asked := 0
		_, err = e.Eval(&expr.Env{Stop: func() error {
			if asked++; asked > 1 {
				return why
			}
			return nil
		}})
		if asked > 1 && err != why || time.Since(begin) > 20*time.Second {
			t.Errorf("%s: %v after %v", sql, err, time.Since(begin))
		}
		if _, err := e.Eval(&expr.Env{Stop: func() error { return why }}); err != why {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

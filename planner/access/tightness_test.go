package access

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/internal/worlds"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// tightKeys are keys in which x stands behind what an equality binds, with values of x that lie close together: what is made
// of them falls into few runs of keys, if it does so at all.
var tightKeys = []struct {
	typ, key string
	value    func(i int) types.Value
}{
	{"BIGINT", "x AS ORDERED INT64", integer},
	{"BIGINT", "x AS INT64", integer},
	{"INT", "x + 100000 AS TEXT(6)", integer},
	{"INT", "2147483647 - x AS INT64", integer},
	{"BIGINT", "CRC32(x) % 4 AS UINT8, x AS INT64", integer},
	{"DOUBLE", "x AS ORDERED FLOAT64", func(i int) types.Value { return types.NewDouble(float64(i) / 4) }},
	{"STRING", "x AS TEXT, X'00'", text},
	{"STRING", "x AS TEXT, '|'", text},
	{"STRING", "x AS TEXT(6)", text},
	{"STRING", "REVERSE(x) AS TEXT, X'00'", text},
	{"STRING", "LEFT(MD5(x), 4), x AS TEXT, X'00'", text},
	{"TIMESTAMP", "x AS INT64", moment},
	{"TIMESTAMP", "9223372036854775807 - x AS INT64", moment},
	{"TIMESTAMP", "DATE(x) AS TEXT('yyyyMMdd'), x AS INT64", moment},
	{"DATE", "x AS TEXT('yyyyMMdd')", func(i int) types.Value { return types.NewDate(int64(18517 + 3*i)) }},
	{"BYTES", "x AS BYTES(2)", func(i int) types.Value { return types.NewBytes(string([]byte{byte(i / 16), byte(i * 16)})) }},
}

func integer(i int) types.Value { return types.NewInt(int64(i)) }

func text(i int) types.Value {
	const letters = "abA1.x"
	i += tightRows / 2
	b := make([]byte, 1+i%3)
	for n := range b {
		b[n] = letters[i%len(letters)]
		i /= len(letters)
	}
	return types.NewString(string(b))
}

// moment steps by five hours, through the summer and the autumn of 2020.
func moment(i int) types.Value { return types.NewTimestamp(1600000000000 + int64(i)*5*3600_000) }

const tightRows = 400

// leastTight is the share of predicates, in percent, that must be tight.
const leastTight = 93

// How many keys are read for those that match: tightness, by what the predicates are made of. It prints the distribution and the
// worst. A predicate whose rows lie scattered over the keys (x % 3 = 0) has no ranges, and does not count.
func TestTightness(t *testing.T) {
	race.Skip(t)
	type figure struct {
		kind, where, key string
		covered, match   int
	}
	var all []figure
	seeds.Each(t, 20, func(t *testing.T, seed uint64, fig seeds.Figures) {
		r := rand.New(rand.NewPCG(seed, 7))
		for _, k := range tightKeys {
			c := given.Tables(t, "CREATE TABLE t (h STRING, x "+k.typ+", v STRING) ROW KEY (h AS TEXT, X'00', "+k.key+")")
			table, _ := c.Table("t")
			g := &lawWorld{t: t, table: table}
			for i := range tightRows {
				g.add([]types.Value{types.NewString("h"), k.value(i - tightRows/2), {}}, &expr.Env{})
			}
			l := table.Layouts[0]
			slices.SortFunc(g.rows, func(a, b stored) int { return strings.Compare(string(a.at[l].key), string(b.at[l].key)) })
			x := *table
			x.Columns = table.Columns[1:2]
			draw := worlds.Predicates{Rand: r, Table: &x, Value: func(*catalog.Column) types.Value { return k.value(r.IntN(tightRows/4) - tightRows/8) }}
			for range 30 {
				where := draw.Draw(0)
				f := figure{kind: kindOf(where), where: where, key: k.key}
				cond, err := compileWhere(table, "h = 'h' AND ("+where+")", nil)
				if err != nil {
					t.Fatalf("%s: %v", where, err)
				}
				conjuncts := []expr.Expr{cond}
				if and, ok := cond.(*expr.And); ok {
					conjuncts = and.Terms
				}
				s, err := new(Env).Scan(&Request{Table: table, Conjuncts: conjuncts, Needed: make([]bool, len(table.Columns)+2), NoPushdown: true})
				if err != nil {
					t.Fatal(err)
				}
				runs, inside := 0, false
				for _, row := range g.rows {
					match := isTrue(t, cond, row.row, nil)
					if match {
						f.match++
						if !inside {
							runs++
						}
					}
					inside = match
					if slices.ContainsFunc(s.Spans, func(s plan.Span) bool { return inSpan(s, row.at[l].key) }) {
						f.covered++
					}
				}
				fig["predicates"]++
				if runs > 8 && runs > f.match/4 {
					fig["scattered"]++
					continue
				}
				all = append(all, f)
			}
		}
	})
	// Two keys more than match are the ends of a range, which no predicate of this kind can exclude.
	over := func(f figure) float64 { return float64(max(0, f.covered-f.match-2)) / float64(max(1, f.match)) }
	byKind := map[string][2]int{}
	tight := 0
	for _, f := range all {
		n := byKind[f.kind]
		n[1]++
		if over(f) <= 0.05 {
			n[0]++
			tight++
		}
		byKind[f.kind] = n
	}
	var kinds []string
	for k, n := range byKind {
		kinds = append(kinds, fmt.Sprintf("%4d of %4d  %s", n[0], n[1], k))
	}
	slices.Sort(kinds)
	t.Logf("tight: %d of %d predicates\n%s", tight, len(all), strings.Join(kinds, "\n"))
	slices.SortFunc(all, func(a, b figure) int { return cmp.Compare(over(b), over(a)) })
	quantile := func(p float64) float64 { return 1 + over(all[len(all)-1-int(p*float64(len(all)-1))]) }
	t.Logf("keys covered by keys that match: median %.2f, 90%% %.2f, 95%% %.2f, 99%% %.2f, worst %.2f", quantile(0.5), quantile(0.9), quantile(0.95), quantile(0.99), quantile(1))
	for i, seen := 0, map[string]bool{}; i < len(all) && len(seen) < 10 && over(all[i]) > 0.05; i++ {
		if f := all[i]; !seen[f.kind] {
			seen[f.kind] = true
			t.Logf("worst: %d keys for %d: %s WHERE %s", f.covered, f.match, f.key, f.where)
		}
	}
	if share := 100 * float64(tight) / float64(len(all)); share < leastTight {
		t.Errorf("%.1f %% of the predicates are tight, %d are wanted", share, leastTight)
	}
}

var kindWord = regexp.MustCompile(`[A-Z][A-Z_0-9]+|[%~*/+|<>=!-]+`)

// kindOf names a predicate by its operators and functions, without constants.
func kindOf(where string) string {
	where = regexp.MustCompile(`'[^']*'|-\d|\b(?:TIMESTAMP|DATE|NULL)\b`).ReplaceAllString(where, "")
	var words []string
	for _, w := range kindWord.FindAllString(where, -1) {
		if w != "AS" && !strings.ContainsAny(w, "=<>") && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if len(words) > 3 {
		words = words[:3]
	}
	return strings.Join(words, " ")
}

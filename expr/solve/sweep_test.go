package solve_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

var updateSweep = flag.Bool("update", false, "write testdata/sweep")

// sweptTypes are the columns of the sweep: with values, some of them next to one another, and expressions in addition to steps.
var sweptTypes = []struct {
	col   expr.Column
	forms []string
	value func(i int) types.Value // 0 to sweptValues-1
}{
	{keyColumns[0], []string{"%s & 12", "%s & -4", "%s & 10", "%s | 12", "%s | 3", "%s | -8", "%s >> 2", "%s << 2", "%s # 5", "~%s", "MOD(%s, {k})", "%[1]s - %[1]s %% 10", "LPAD(%s::TEXT, 6, '0')", "LEFT(%s::TEXT, 2)", "RIGHT(%s::TEXT, 1)", "CHR(65 + ABS(%s) %% 26)", "'s' || %s %% 4",
		"CRC32(%s) %% 4", "LEFT(MD5(%s::TEXT), 2)", "COALESCE(%s, 0)", "NULLIF(%s, 3)", "GREATEST(%s, 3)", "LEAST(%s, 3)", "CASE WHEN %[1]s > 0 THEN 1 ELSE 0 END", "WIDTH_BUCKET(%s, 0, 100, 10)", "9223372036854775807 - %s", "GCD(%s, 12)"},
		func(i int) types.Value { return types.NewInt(int64(i - 60)) }},
	{keyColumns[6], nil, func(i int) types.Value { return types.NewDouble(float64(i-60) / 4) }},
	{keyColumns[8], []string{"%s + 1", "%s - 1.5", "1 - %s"}, func(i int) types.Value {
		v, _ := types.ParseDecimal(fmt.Sprint(float64(i-60) / 4))
		return v
	}},
	{keyColumns[3], []string{"TO_CHAR(%s, 'YYYYMM')::INT", "9223372036854775807 - EPOCH_MS(%s)", "2147483647 - EPOCH_MS(%s) / 1000", "LEFT(MD5(TO_CHAR(%s, 'YYYYMMDD')), 2)", "AGE(%s, {m})", "TO_CHAR(%s, 'DD')"},
		func(i int) types.Value { return types.NewTimestamp(1_767_225_600_000 + int64(i-60)*7*3_600_000) }},
	{keyColumns[4], []string{"TO_CHAR(%s, 'YYYYMMDD')::INT", "99999999 - TO_CHAR(%s, 'YYYYMMDD')::INT"}, func(i int) types.Value { return types.NewDate(int64(20454 + (i-60)*5)) }},
	{keyColumns[9], nil, func(i int) types.Value { return types.NewIntOf(types.Time, int64(i)*700_000) }},
	{keyColumns[5], []string{"NOT %s", "COALESCE(%s, FALSE)"}, func(i int) types.Value { return types.NewBool(i%2 == 1) }},
	{keyColumns[2], []string{"LEFT(%s, 2)", "LEFT(%s, -1)", "RIGHT(%s, 1)", "SUBSTRING(%s, 1, 2)", "SUBSTRING(%s, 2)", "SUBSTRING(%s, 2, 1)", "LOWER(%s)", "UPPER(%s)", "INITCAP(%s)", "REVERSE(%s)", "REVERSE_DOMAIN(%s)", "TRIM(%s)", "LTRIM(%s, 'a')", "RTRIM(%s, 'a')", "LPAD(%s, 4, '0')",
		"RPAD(%s, 4, '0')", "%s || 'x'", "'x' || %s", "CONCAT('x', %s, 'y')", "CONCAT_WS('-', 'x', %s)", "SPLIT_PART(%s, '1', 1)", "SPLIT_PART(%s, '1', 2)", "SPLIT_PART(%s, '1', -1)", "REPLACE(%s, '1', '2')", "TRANSLATE(%s, '1', '2')", "REPEAT(%s, 2)", "LENGTH(%s)", "OCTET_LENGTH(%s)",
		"POSITION('a1' IN %s)", "ASCII(%s)", "SUBSTRING(%s FROM '^..')", "REGEXP_SUBSTR(%s, '^..')", "REGEXP_MATCH(%s, '^a') IS NOT NULL", "(STRING_TO_ARRAY(%s, '2'))[1]", "STARTS_WITH(%s, 'a1')", "%s ~ '^a1'", "%s ~ '1$'", "%s LIKE 'a1%%'", "%s LIKE '%%1'", "MD5(%s)", "LEFT(MD5(%s), 2)", "CRC32(%s) %% 4", "HEX(%s)", "COALESCE(%s, 'x')", "GREATEST(%s, 'a2')", "LEAST(%s, 'a2')", "NULLIF(%s, 'a2')", "CAST(%s AS BYTES)", "CAST(%s AS INT)", "CAST(SUBSTRING(%s, 2) AS INT)", "CAST(LEFT(%s, 3) AS BIGINT)"},
		func(i int) types.Value {
			return types.NewString([]string{"a", "b", "c", "", "+", "-", " ", "00"}[i%8] + fmt.Sprint(7*i/8) + []string{"", " "}[i/8%2])
		}},
	{keyColumns[13], []string{"LENGTH(%s)", "OCTET_LENGTH(%s)", "SUBSTRING(%s, 1, 1)", "SUBSTRING(%s, 2)", "HEX(%s)", "ENCODE(%s, 'hex')", "ENCODE(%s, 'base64')", "%s || X'00'", "X'00' || %s", "MD5(%s)", "CRC32(%s) %% 4", "GET_BYTE(%s, 0)", "CAST(%s AS STRING)", "COALESCE(%s, X'00')"},
		func(i int) types.Value { return types.NewBytes(string([]byte{byte(i / 16 * 9), byte(i * 37)})) }},
	{keyColumns[14], []string{"CAST(%s AS STRING)", "MD5(%s::STRING)", "LEFT(%s::STRING, 2)", "COALESCE(%s, %s)"},
		func(i int) types.Value {
			v, _ := types.Cast(types.NewString(fmt.Sprintf("%08x-0000-4000-8000-%012x", i*40000, i)), types.UUID, nil)
			return v
		}},
}

const sweptValues = 120

// sweptHoles are what the holes of forms become: those of functions that differ by them become each of theirs.
var sweptHoles = map[string][]string{"k": {"7"}, "n": {"1"}, "q": {"1.5"}, "f": {"0.5::DOUBLE"}, "p": {"2"}, "b": {"2"}, "m": {"TIMESTAMP '2026-01-01 00:00Z'"}, "d": {"DATE '2026-03-01'"}, "i": {"'8 hours'", "'1 month'"}, "w": {"'1 day'"}, "z": {"'Europe/Berlin'"},
	"u": holes["u"], "e": holes["e"], "c": {"'YYYY-MM-DD'", "'YYYYMMDD'", "'YYYY-MM'", "'YYYY'", "'HH24:MI'", "'DD.MM.YYYY'", "'IYYY-IW'", "'YYYY-DDD'", "'Day'"}}

func fill(form string) []string {
	at := strings.IndexByte(form, '{')
	if at < 0 {
		return []string{form}
	}
	end := at + strings.IndexByte(form[at:], '}')
	var out []string
	for _, v := range sweptHoles[form[at+1:end]] {
		out = append(out, fill(form[:at]+strings.ReplaceAll(v, "%", "%%")+form[end+1:])...)
	}
	return out
}

// sweptOps are the comparisons of the sweep: a form of the expression and two constants, the lesser first.
var sweptOps = []struct{ name, form string }{{"=", "%[1]s = %[2]s"}, {"<", "%[1]s < %[3]s"}, {">=", "%[2]s <= %[1]s"}, {"BETWEEN", "%[1]s BETWEEN %[2]s AND %[3]s"}, {"IN", "%[1]s IN (%[2]s, %[3]s)"}, {"<>", "%[1]s <> %[2]s"},
	{"LIKE", "%[1]s LIKE %[4]s"}, {"NULL", "%[1]s IS NULL"}}

// sweep is one expression over a column.
type sweep struct {
	t    *testing.T
	col  expr.Column
	text string
	e    expr.Expr
	vs   []types.Value // of the column
	of   []types.Value // what e makes of them, NULL where it fails
}

func evalAt(e expr.Expr, col expr.Column, v types.Value) (types.Value, error) {
	row := make([]types.Value, len(keyColumns))
	row[col.Index] = v
	return e.Eval(&expr.Env{Row: row})
}

// constants gives two results of e, the lesser first, as SQL.
func (s *sweep) constants() (lo, hi types.Value, ok bool) {
	for _, i := range []int{sweptValues * 5 / 8, sweptValues*5/8 + 9, sweptValues/2 + 1, sweptValues - 1} {
		switch v := s.of[i]; {
		case v.IsNull():
		case !ok:
			lo, hi, ok = v, v, true
		default:
			if c, err := types.Compare(v, lo); err == nil && c < 0 {
				lo = v
			}
			if c, err := types.Compare(v, hi); err == nil && c > 0 {
				hi = v
			}
		}
	}
	return lo, hi, ok
}

// says is what is known of condition e: tight, wide, or nothing; with a small letter only within a range of the column.
func (s *sweep) says(e expr.Expr) string {
	for _, window := range []types.Set{nil, types.SetOf(types.Interval{Lo: s.vs[0], Hi: s.vs[sweptValues-1]})} {
		solver, letters := new(solve.Solver), "TW"
		if s.col.Typ == types.String { // as where a part of the key is the text in reverse
			solver.Parts, solver.First = []expr.Expr{&expr.Call{Func: functions.Builtins().Lookup("REVERSE"), Args: []expr.Expr{&s.col}, Typ: types.String}}, len(keyColumns)
		}
		if window != nil {
			solver.Window, letters = func(int) types.Set { return window }, "tw"
		}
		c := solver.Solve(e)
		row := make([]types.Value, len(keyColumns)+len(solver.Parts))
		excluded := false
		for i := range len(s.vs) + 1 {
			if row[s.col.Index] = (types.Value{}); i < len(s.vs) {
				row[s.col.Index] = s.vs[i]
			}
			if window != nil && !window.Contains(row[s.col.Index]) {
				continue
			}
			for k, p := range solver.Parts {
				row[solver.First+k], _ = p.Eval(&expr.Env{Row: row})
			}
			v, err := e.Eval(&expr.Env{Row: row})
			is := err == nil && !v.IsNull() && v.Bool()
			can, sure := c.Can(row)
			excluded = excluded || !can && i < len(s.vs)
			if is && !can || err == nil && sure && !is {
				s.t.Errorf("%s for %s is %s, but %+v says possible: %v, certain: %v", e, row[s.col.Index].SQL(), v.SQL(), c, can, sure)
			}
		}
		switch {
		case c.IsTight():
			return letters[:1]
		case excluded && window != nil, window == nil && !s.all(&c):
			return letters[1:]
		}
	}
	return "-"
}

// all reports whether c says nothing of the values of the column.
func (s *sweep) all(c *solve.Constraint) bool {
	set, _, _ := c.Column(s.col.Index)
	return set.IsAll()
}

// asPart is what is known of e as a part of a key: how it follows the column, whether a range of the column is a range of it, how many steps
// it has there, and how many values in all.
func (s *sweep) asPart() string {
	var out []string
	dir, strict := solve.Monotone(s.e, s.col.Index, solve.Stored{})
	for i := range s.of[1:] {
		a, b := s.of[i], s.of[i+1]
		if c, err := types.Compare(b, a); dir != 0 && !a.IsNull() && !b.IsNull() && err == nil && s.sorted(i) && (c*dir < 0 || strict && c == 0) {
			s.t.Errorf("%s: %s for %s, %s for %s, but its direction is %d, strict %v", s.text, a.SQL(), s.vs[i].SQL(), b.SQL(), s.vs[i+1].SQL(), dir, strict)
		}
	}
	out = append(out, []string{"falls", "-", "rises"}[dir+1]+map[bool]string{true: " strictly"}[strict])
	in := types.SetOf(types.Interval{Lo: s.vs[sweptValues/2], Hi: s.vs[sweptValues*3/4]})
	image, ok := solve.Image(s.e, s.col.Index, in, solve.Stored{})
	for i, v := range s.vs {
		if ok && in.Contains(v) && !s.of[i].IsNull() && !image.Contains(s.of[i]) {
			s.t.Errorf("%s is %s for %s, which is not in its image %s", s.text, s.of[i].SQL(), v.SQL(), image)
		}
	}
	if ok && !image.IsAll() {
		out = append(out, "ranges")
	}
	if steps, ok := solve.Steps(s.e, s.col.Index, in, 64); ok {
		for _, step := range steps {
			for i, v := range s.vs {
				if c, err := types.Compare(step.Value, s.of[i]); step.Of.Contains(v) && !s.of[i].IsNull() && (err != nil || c != 0) {
					s.t.Errorf("%s is %s for %s, not %s as in its step", s.text, s.of[i].SQL(), v.SQL(), step.Value.SQL())
				}
			}
		}
		out = append(out, fmt.Sprintf("%d steps", len(steps)))
	}
	if all, ok := solve.Domain(s.e); ok {
		for i, v := range s.of {
			if !v.IsNull() && !all.Contains(v) {
				s.t.Errorf("%s is %s for %s, which is not in its domain %s", s.text, v.SQL(), s.vs[i].SQL(), all)
			}
		}
		if vs, few := all.Values(solve.MaxListed); few {
			out = append(out, fmt.Sprintf("%d values", len(vs)))
		} else if !all.IsAll() {
			out = append(out, "bounded")
		}
	}
	return strings.Join(out, ", ")
}

// sorted reports whether value i of the column is less than the next one.
func (s *sweep) sorted(i int) bool {
	c, err := types.Compare(s.vs[i], s.vs[i+1])
	return err == nil && c < 0
}

// conditions is what is known of e in each comparison.
func (s *sweep) conditions() (text string, nothing bool) {
	lo, hi, ok := s.constants()
	if !ok {
		return "no value", true
	}
	var out []string
	for _, op := range sweptOps {
		like := ""
		if lo.Type() == types.String {
			like = types.NewString(lo.Text()[:min(len(lo.Text()), 2)] + "%").SQL()
		} else if op.name == "LIKE" {
			continue
		}
		scope := testScope(false)
		e, err := compileText(fmt.Sprintf(op.form+"%.0[2]s%.0[3]s%.0[4]s%.0[1]s", "("+s.text+")", sqlOf(lo), sqlOf(hi), like), scope)
		if err != nil {
			out = append(out, op.name+" ?")
			continue
		}
		letter := s.says(e)
		nothing = nothing || letter == "-" && op.name != "<>" && op.name != "NULL"
		out = append(out, op.name+" "+letter)
	}
	return strings.Join(out, "  "), nothing
}

func sqlOf(v types.Value) string {
	if v.Type() == types.Timestamp {
		return strings.TrimSuffix(v.SQL(), "'") + "Z'"
	}
	return v.SQL()
}

// The table of functions, types and comparisons: testdata/sweep. Each claim is held against the values of a column.
func TestSweep(t *testing.T) {
	const file = "testdata/sweep"
	before, _ := os.ReadFile(file)
	because := map[string]string{}
	for line := range strings.Lines(string(before)) {
		if what, why, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  because "); ok {
			because[strings.TrimSpace(what[:min(len(what), sweptWidth)])] = why
		}
	}
	var b strings.Builder
	b.WriteString("# What is known of an expression over a column: of each comparison of it, and of it as a part of a key.\n" +
		"# T: exactly the values for which the comparison is true, W: these and more, -: nothing; t, w: within a range of the column alone.\n")
	for _, of := range sweptTypes {
		fmt.Fprintf(&b, "%s\n", of.col.Typ)
		var vs []types.Value
		for i := range sweptValues {
			vs = append(vs, of.value(i))
		}
		slices.SortStableFunc(vs, func(a, b types.Value) int { c, _ := types.Compare(a, b); return c })
		var texts []string
		for _, form := range append(slices.Clone(steps[of.col.Typ]), of.forms...) {
			for _, f := range fill(form) {
				texts = append(texts, fmt.Sprintf(f, of.col.Name))
			}
		}
		slices.SortStableFunc(texts, cmp.Compare[string])
		for _, text := range slices.Compact(texts) {
			e, err := compileText(text, testScope(false))
			if err != nil || len(expr.Columns(e)) == 0 {
				continue // of another type of interval, or constant
			}
			s := &sweep{t: t, col: of.col, text: text, e: e, vs: vs}
			for _, v := range vs {
				r, err := evalAt(e, of.col, v)
				if err != nil {
					r = types.Value{}
				}
				s.of = append(s.of, r)
			}
			conditions, nothing := s.conditions()
			line := fmt.Sprintf("  %-*s %s | %s", sweptWidth-3, text, conditions, s.asPart())
			if nothing {
				why := cmp.Or(unknownIn(e), because[text])
				if why == "" {
					t.Errorf("%s: nothing is known of a comparison, and testdata/sweep has no reason", text)
				}
				line += "  because " + why
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	if *updateSweep {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := string(before); b.String() != want {
		got, was := strings.Split(b.String(), "\n"), strings.Split(want, "\n")
		for i := range got {
			if i >= len(was) || got[i] != was[i] {
				t.Fatalf("%s, line %d: found\n%s\nrun go test -run TestSweep -update, and read the difference", file, i+1, got[i])
			}
		}
		t.Fatalf("%s has more lines", file)
	}
}

// sweptWidth is where the second column of testdata/sweep begins.
const sweptWidth = 52

// unknownIn is why nothing is known of a function in e.
func unknownIn(e expr.Expr) string {
	if c, ok := e.(*expr.Call); ok && c.Func.Unknown != "" {
		return c.Func.Unknown
	}
	for _, x := range expr.Children(e) {
		if why := unknownIn(x); why != "" {
			return why
		}
	}
	return ""
}

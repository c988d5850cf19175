package solve_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// A truthWorld draws conditions on one column, with constants and values that are near one another.
type truthWorld struct {
	*rand.Rand
	col    expr.Column
	cols   []expr.Column // of which col is drawn anew each time; nil: col stays
	params []types.Value
}

func (w *truthWorld) draw() {
	if w.cols != nil {
		w.col = w.cols[w.IntN(len(w.cols))]
	}
}

var characters = []string{"a", "a", "b", "B", "k", "K", "K", "s", "S", "ſ", "i", "I", "İ", "ı", "1", "|", ".", "%", "_", "^", "$", " ", " ", "é", "É", "ß", "€", "😀", "\U0010ffff", "\ufffd", "\x00", "\x01", "\x7f", "\n",
	"\xff", "\xc3", "\xa9", "\xe2\x82", "\xe2", "\xf0\x9f"}

func (w *truthWorld) text() string {
	var b strings.Builder
	for range w.IntN(4) {
		b.WriteString(characters[w.IntN(len(characters)-w.IntN(2)*20)])
	}
	return b.String()
}

func (w *truthWorld) pick(xs ...string) string { return xs[w.IntN(len(xs))] }

func (w *truthWorld) param(v types.Value) string {
	w.params = append(w.params, v)
	return "$" + strconv.Itoa(len(w.params))
}

// k is a constant text, often one that is near another.
func (w *truthWorld) k() string {
	if w.IntN(20) == 0 {
		return "NULL"
	}
	return w.param(types.NewString(w.near()))
}

// near is a text that is near a constant.
func (w *truthWorld) near() string {
	if len(w.params) == 0 || w.IntN(3) == 0 {
		return w.text()
	}
	s := w.params[w.IntN(len(w.params))].Text()
	switch w.IntN(12) {
	case 0:
		return s + w.text()
	case 1:
		return w.text() + s
	case 2:
		return s[:w.IntN(len(s)+1)]
	case 3:
		return s[w.IntN(len(s)+1):]
	case 4:
		return string(types.PrefixEnd([]byte(s)))
	case 5:
		return strings.ToUpper(s)
	case 6:
		return strings.ToLower(s)
	case 7:
		return strings.Map(func(r rune) rune {
			if w.IntN(2) == 0 {
				return unicode.SimpleFold(r)
			}
			return r
		}, s)
	case 8:
		return s + " "
	case 9:
		return s + s
	case 10:
		return expr.ReverseString(s)
	}
	return s
}

// value is a value of the column.
func (w *truthWorld) value() types.Value {
	switch {
	case w.IntN(10) == 0:
		return types.Value{}
	case w.col.Typ == types.String:
		return types.NewString(w.near())
	case w.col.Typ == types.Bytes:
		return types.NewBytes(w.near())
	}
	return w.other()
}

// other is a value that is no text.
func (w *truthWorld) other() types.Value {
	if w.col.Typ == types.Boolean {
		return types.NewBool(w.IntN(2) == 0)
	}
	return randomValue(w.Rand, w.col.Typ)
}

func (w *truthWorld) int() string { return fmt.Sprint(w.IntN(6) - 1) }

// texts is an expression that gives a text.
func (w *truthWorld) texts(depth int) string {
	x := func() string { return w.texts(depth - 1) }
	if w.draw(); depth <= 0 || w.IntN(3) == 0 {
		if w.col.Typ != types.String {
			return w.pick("CAST("+w.col.Name+" AS STRING)", "CONCAT("+w.col.Name+")")
		}
		return w.col.Name
	}
	if w.cols != nil && w.IntN(2) == 0 {
		return w.pick("("+x()+" || "+w.k()+" || "+x()+")", "("+x()+" || "+x()+")", "CONCAT("+x()+", "+w.k()+", "+x()+")", "CONCAT_WS("+w.k()+", "+x()+", "+x()+")", "CONCAT_WS('', "+x()+", "+w.k()+", "+x()+")")
	}
	switch w.IntN(21) {
	case 0, 1:
		return "LEFT(" + x() + ", " + w.int() + ")"
	case 2:
		return "SUBSTRING(" + x() + ", " + w.int() + ", " + fmt.Sprint(w.IntN(4)) + ")"
	case 3:
		return "SUBSTRING(" + x() + ", " + w.int() + ")"
	case 4:
		return "RIGHT(" + x() + ", " + w.int() + ")"
	case 5:
		return w.pick("LOWER(", "UPPER(", "INITCAP(") + x() + ")"
	case 6:
		return w.pick("REVERSE(", "REVERSE_DOMAIN(") + x() + ")"
	case 7:
		return w.pick("TRIM(", "LTRIM(", "RTRIM(") + x() + w.pick(")", ", "+w.k()+")")
	case 8:
		return w.pick("LPAD(", "RPAD(") + x() + ", " + w.int() + w.pick(")", ", "+w.k()+")")
	case 9:
		return "SPLIT_PART(" + x() + ", " + w.k() + ", " + w.pick("1", "1", "1", "2", "-1") + ")"
	case 10:
		return "(" + x() + " || " + w.k() + ")"
	case 11:
		return "(" + w.k() + " || " + x() + ")"
	case 12:
		return "CONCAT(" + w.k() + ", " + x() + ", " + w.k() + ")"
	case 13:
		return "CONCAT_WS(" + w.k() + ", " + x() + ", " + w.k() + ")"
	case 14:
		return "COALESCE(" + x() + ", " + w.pick(w.k(), x()) + ")"
	case 15:
		return w.pick("GREATEST(", "LEAST(") + x() + ", " + w.pick(w.k(), x()) + ")"
	case 16:
		return "NULLIF(" + x() + ", " + w.k() + ")"
	case 17:
		return "CASE WHEN " + w.cond(depth-1) + " THEN " + w.pick(x(), w.k()) + " WHEN " + w.cond(depth-1) + " THEN " + w.k() + w.pick("", " ELSE "+x()) + " END"
	case 18:
		return "CASE " + x() + " WHEN " + w.k() + " THEN " + w.k() + " WHEN " + w.k() + " THEN " + x() + " ELSE " + w.k() + " END"
	case 19:
		return w.pick("REPLACE("+x()+", "+w.k()+", "+w.k()+")", "TRANSLATE("+x()+", "+w.k()+", "+w.k()+")", "REPEAT("+x()+", 2)", "MD5("+x()+")", "REGEXP_SUBSTR("+x()+", 'a.')")
	}
	return w.pick("HEX("+x()+")", "ENCODE("+x()+"::BYTES, 'hex')", x()+"::STRING")
}

func (w *truthWorld) op() string { return w.pick(" = ", " = ", " <> ", " < ", " <= ", " > ", " >= ") }

// regexp is a regular expression.
func (w *truthWorld) regexp(depth int) string {
	if depth <= 0 || w.IntN(2) == 0 {
		return w.pick("a", "b", "k", "K", "s", "[.]", "[ab]", "[^a]", ".", "", "é", "ſ", "1", `\x{fffd}`, "[a-é]", `\b`)
	}
	x := func() string { return w.regexp(depth - 1) }
	switch w.IntN(9) {
	case 0:
		return "^" + x()
	case 1:
		return x() + "$"
	case 2:
		return "^" + x() + "$"
	case 3:
		return "(" + x() + "|" + x() + ")"
	case 4:
		return "(?:" + x() + ")" + w.pick("*", "+", "?", "{2}", "{0,2}")
	case 5:
		return x() + ".*" + w.pick("", "$", x())
	case 6:
		return "^(" + x() + "|" + x() + ")" + w.pick("", "$")
	}
	return x() + x()
}

// cond is a condition.
func (w *truthWorld) cond(depth int) string {
	c := func() string { return w.cond(depth - 1) }
	if depth > 0 && w.IntN(3) == 0 {
		switch w.IntN(9) {
		case 0:
			return "NOT (" + c() + ")"
		case 1:
			return "(" + c() + " AND " + c() + ")"
		case 2:
			return "(" + c() + " OR " + c() + ")"
		case 3:
			return "((" + c() + ") IS " + w.pick("", "NOT ") + w.pick("TRUE", "FALSE", "UNKNOWN") + ")"
		case 4:
			return "((" + c() + ")" + w.op() + w.pick("TRUE", "FALSE", "NULL") + ")"
		case 5:
			return "CASE WHEN " + c() + " THEN " + c() + " ELSE " + c() + " END"
		case 6:
			return "COALESCE(" + c() + ", " + c() + ")"
		case 7:
			return "(CAST(" + c() + " AS INT)" + w.op() + "1)"
		default:
			return "(CASE WHEN " + c() + " THEN 1 WHEN " + c() + " THEN 2 END" + w.op() + w.int() + ")"
		}
	}
	if w.draw(); w.col.Typ != types.String && w.IntN(3) > 0 {
		v := func() string { return w.param(w.other()) }
		x := w.col.Name
		switch w.IntN(6) {
		case 0:
			x = "COALESCE(" + x + ", " + v() + ")"
		case 1:
			x = w.pick("GREATEST(", "LEAST(") + x + ", " + v() + w.pick("", ", "+v()) + ")"
		case 2:
			x = "NULLIF(" + x + ", " + v() + ")"
		case 3:
			x = "CASE WHEN " + x + w.op() + v() + " THEN " + x + " ELSE " + v() + " END"
		}
		switch w.IntN(5) {
		case 0:
			return x + w.pick("", " NOT") + " BETWEEN " + v() + " AND " + v()
		case 1:
			return x + w.pick("", " NOT") + " IN (" + v() + ", " + v() + w.pick("", ", NULL") + ")"
		case 2:
			return x + w.pick(" IS NULL", " IS NOT NULL", " IS DISTINCT FROM "+v())
		}
		return x + w.op() + v()
	}
	x := w.texts(depth)
	switch w.IntN(14) {
	case 0:
		return x + w.pick("", " NOT") + " BETWEEN " + w.k() + " AND " + w.k()
	case 1:
		return x + w.pick("", " NOT") + " IN (" + w.k() + ", " + w.k() + ", " + w.k() + ")"
	case 2:
		return x + w.pick("", " NOT") + w.pick(" LIKE ", " ILIKE ") + w.param(types.NewString(strings.ReplaceAll(w.near(), `\`, "")+w.pick("%", "%", "", "_", "%a")))
	case 3:
		return x + w.pick(" IS NULL", " IS NOT NULL", " IS DISTINCT FROM "+w.k(), " IS NOT DISTINCT FROM "+w.k())
	case 4, 5:
		return x + w.pick(" ~ ", " ~* ", " !~ ", " !~* ") + w.param(types.NewString(w.regexp(4)))
	case 6:
		return x + w.pick("", " NOT") + " SIMILAR TO " + w.param(types.NewString(w.pick("a", "b|a", "(a|k)", "")+w.pick("%", "_", "")+w.pick("", "b")))
	case 7:
		return "STARTS_WITH(" + x + ", " + w.k() + ")"
	case 8:
		return "POSITION(" + w.k() + " IN " + x + ")" + w.op() + w.pick("0", "1", "1", "2")
	case 9:
		return w.pick("LENGTH(", "OCTET_LENGTH(", "ASCII(") + x + ")" + w.op() + w.pick("0", "1", "97", "98", "233", "65533")
	case 10:
		return "REGEXP_LIKE(" + x + ", " + w.param(types.NewString(w.regexp(3))) + w.pick("", ", 'i'", ", 'n'") + ")"
	}
	return x + w.op() + w.k()
}

// compile compiles a drawn condition; nil: it is none, or has no column.
func (w *truthWorld) compile(t *testing.T, text string) expr.Expr {
	tree, err := parser.ParseExpr(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	e, err := expr.Compile(tree, &expr.Scope{Funcs: functions.Builtins(), Column: testScope(false).Column, Param: func(p *parser.Param) (types.Value, error) { return w.params[p.Index-1], nil }})
	if err != nil {
		return nil
	}
	if e = expr.Fold(e, nil); len(expr.Columns(e)) == 0 {
		return nil
	}
	return e
}

// A condition is true in no row in which its Constraint cannot hold, and in each in which that holds for certain.
func TestSolve(t *testing.T) {
	seed, checks := seeds.Range(t, race.Fewer(8000))
	known, rows, trues, wide := 0, 0, 0, 0
	for n := range checks {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		w := &truthWorld{Rand: r, cols: []expr.Column{keyColumns[2], keyColumns[10], keyColumns[2], keyColumns[10], keyColumns[0], keyColumns[5]}}
		e := w.compile(t, w.cond(2+r.IntN(2)))
		if e == nil {
			continue
		}
		c := new(solve.Solver).Solve(e)
		if len(expr.Columns(e)) > 1 && c.Kind != solve.Unknown {
			known++
		}
		for range 40 {
			row := make([]types.Value, len(keyColumns))
			for _, c := range w.cols {
				w.col = c
				row[c.Index] = w.value()
			}
			y, err := e.Eval(&expr.Env{Row: row})
			if err != nil {
				continue
			}
			rows++
			is := !y.IsNull() && y.Bool()
			can, sure := c.Can(row)
			if is && !can || sure && !is {
				t.Fatalf("seed %d, %d: %s with %v is %s, but %+v says possible: %v, certain: %v\nfor %v", seed, n, e, w.params, y.SQL(), c, can, sure, row)
			}
			if is {
				trues++
			}
			if can && !is {
				wide++
			}
		}
	}
	t.Logf("%d conditions, something known of %d of several columns, true for %d of %d rows, %d more allowed", checks, known, trues, rows, wide)
}

// Where conditions are said to be TRUE, FALSE or NULL they are, as evaluation has it.
func TestTruth(t *testing.T) {
	seed, checks := seeds.Range(t, race.Fewer(4000))
	known, exactly, points := 0, 0, 0
	for n := range checks {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		w := &truthWorld{Rand: r, col: keyColumns[[]int{2, 2, 2, 2, 0, 1, 3, 4, 5, 6, 8}[r.IntN(11)]]}
		e := w.compile(t, w.cond(3))
		if e == nil {
			continue
		}
		for wanted := 1; wanted < 8; wanted++ {
			want := solve.TruthsOf(wanted&1 > 0, wanted&2 > 0, wanted&4 > 0)
			c := solve.Where(e, want)
			var got solve.Among
			var exact bool
			got.Set, got.Null, exact = c.Column(w.col.Index)
			if wanted == 1 {
				if !got.Set.IsAll() || exact {
					known++
				}
				if exact {
					exactly++
				}
			}
			for range 12 {
				v := w.value()
				row := make([]types.Value, len(keyColumns))
				row[w.col.Index] = v.OneZero()
				y, err := e.Eval(&expr.Env{Row: row})
				if err != nil {
					continue
				}
				points++
				if is, said := want.Holds(y), got.Holds(v); is && !said || exact && said && !is {
					t.Fatalf("seed %d, %d: %s with %v\nis %s for %s, but found are %s null=%v exact=%v for %s null=%v", seed, n, e, w.params, y.SQL(), v.SQL(), got.Set, got.Null, exact, want.Set, want.Null)
				}
			}
		}
	}
	t.Logf("%d conditions, something known of %d, exactly %d; %d values", checks, known, exactly, points)
}

// A CASE of many branches binds its column, although the branches before each are left out of what is found.
func TestManyBranches(t *testing.T) {
	const branches = 2000
	var b strings.Builder
	b.WriteString("CASE n")
	for i := range branches {
		fmt.Fprintf(&b, " WHEN %d THEN %d", 2*i, i%2)
	}
	e, err := compileText(b.String()+" ELSE 2 END = 1", testScope(false))
	if err != nil {
		t.Fatal(err)
	}
	c := new(solve.Solver).Solve(e)
	set, null, _ := c.Column(0)
	if null || !set.Contains(types.NewInt(2*branches-2)) || set.Contains(types.NewInt(0)) || set.Contains(types.NewInt(2*branches)) {
		t.Errorf("the column lies in %d intervals, NULL %v", len(set), null)
	}
}

// What conditions bind is found with little work, whatever stands in them. Work is counted as what is allocated.
func TestTruthIsCheap(t *testing.T) {
	nested := func(form, x string, times int) string {
		for range times {
			x = strings.ReplaceAll(form, "%s", x)
		}
		return x
	}
	list := make([]string, 1000)
	for i := range list {
		list[i] = strconv.Itoa(i * 7)
	}
	for _, c := range []struct {
		sql  string
		most float64
	}{
		{"f * 2 > 5", 1000},
		{"ABS(f) < 5.5", 1000},
		{"n::STRING IN ('" + strings.Join(list, "', '") + "')", 20_000},
		{"n::STRING NOT IN ('" + strings.Join(list, "', '") + "')", 20_000},
		{nested("CASE %s WHEN 'a' THEN 'b' WHEN 'c' THEN 'd' ELSE %s END", "n::STRING", 8) + " > 'a'", 500_000},
		{nested("COALESCE(NULLIF(%s, 'a'), %s)", "ts::STRING", 8) + " > 'a'", 500_000},
		{nested("CASE WHEN %s > 'b' THEN %s ELSE 'c' || %s END", "n::STRING", 5) + " > 'a'", 500_000},
	} {
		e := expr.Fold(mustCompile(t, c.sql, false), nil)
		if n := testing.AllocsPerRun(1, func() { solve.Sarg(e) }); n > c.most {
			t.Errorf("%.100s: %.0f allocations", c.sql, n)
		}
	}
}

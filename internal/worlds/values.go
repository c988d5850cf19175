package worlds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// Value draws a value for a column of t. A column that may be NULL sometimes is.
func (t *Table) Value(r *rand.Rand, col *catalog.Column) types.Value {
	if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == col.Name }); i >= 0 && !t.Columns[i].NotNull && r.IntN(4) == 0 {
		return types.Value{}
	}
	typ := col.Type.String()
	if t.IsUUID(col) {
		typ = "UUID"
	}
	text := draw(r, "value", typ, func(word string) (string, bool) {
		if word != "piece" {
			return "", false
		}
		return t.piece(r), true
	})
	switch col.Type {
	case types.Date, types.Time, types.Timestamp:
		n, _ := strconv.ParseInt(text, 10, 64)
		return types.NewIntOf(col.Type, n)
	case types.Double, types.Float:
		f, _ := strconv.ParseFloat(text, 64)
		return types.NewFloatOf(col.Type, f)
	case types.Bytes:
		return types.NewBytes(text)
	case types.JSON, types.JSONB:
		return types.NewJSONOf(col.Type, text)
	}
	v, err := types.Cast(types.NewString(text), col.Type, time.UTC)
	if err != nil {
		panic(err)
	}
	return v
}

// piece sometimes returns the beginning of a delimiter of t, otherwise "".
func (t *Table) piece(r *rand.Rand) string {
	if len(t.pieces) == 0 || r.IntN(5) > 0 {
		return ""
	}
	return pick(r, t.pieces)
}

// IsUUID reports whether col is stored as a UUID, which other texts do not fit.
func (t *Table) IsUUID(col *catalog.Column) bool {
	return strings.Contains(t.DDL(), col.Name+" AS UUID") || strings.Contains(t.DDL(), col.Name+" AS INVERTED UUID")
}

// Zone draws a time zone.
func Zone(r *rand.Rand) *time.Location {
	loc, err := types.Zone(pick(r, rules["zone"]))
	if err != nil {
		panic(err)
	}
	return loc
}

// Predicates draws conditions on the rows of Table, with constants from Value.
type Predicates struct {
	*rand.Rand
	Table *catalog.Table
	Value func(*catalog.Column) types.Value
	depth int             // of the conditions in the condition that is drawn
	col   *catalog.Column // that the condition is about
	other *catalog.Column // that it compares together with col
}

func (g *Predicates) draw(rule string) string { return draw(g.Rand, rule, g.col.Type.String(), g.word) }

// Draw draws a condition of at most that depth.
func (g *Predicates) Draw(depth int) string {
	x := *g
	x.depth, x.col = depth-1, pick(g.Rand, g.Table.Columns)
	if depth > 0 && g.IntN(2) == 0 {
		return x.draw("combined")
	}
	return x.draw("condition")
}

// word returns the texts that depend on the table.
func (g *Predicates) word(word string) (string, bool) {
	switch word {
	case "c":
		return g.col.Name, true
	case "k":
		return g.constant(g.col), true
	case "condition":
		return g.Draw(0), true
	case "deeper":
		return g.Draw(g.depth), true
	case "other":
		if g.other = pick(g.Rand, g.Table.Columns); g.other.Type.IsJSON() {
			g.other = g.col
		}
		return g.other.Name, true
	case "other k":
		return g.constant(g.other), true
	case "same":
		return g.same(), true
	case "quoted":
		return types.NewString(g.text()).SQL(), true
	case "part":
		return g.part(), true
	case "joined":
		return g.joined(), true
	}
	return "", false
}

// same draws another column with comparable values, or a constant if there is none.
func (g *Predicates) same() string {
	kind := func(c *catalog.Column) types.Type {
		if c.Type == types.Date {
			return types.Timestamp
		}
		return c.Type
	}
	cols := slices.DeleteFunc(slices.Clone(g.Table.Columns), func(c *catalog.Column) bool { return c == g.col || kind(c) != kind(g.col) })
	if len(cols) == 0 {
		return g.constant(g.col)
	}
	return pick(g.Rand, cols).Name
}

// constant draws a literal for col, sometimes outside the column's range.
func (g *Predicates) constant(col *catalog.Column) string {
	if g.IntN(25) == 0 && col.Type.IsInteger() {
		return g.draw("beyond")
	}
	v := g.Value(col)
	switch {
	case v.IsNull():
		return "NULL"
	case v.Type() == types.Timestamp && g.IntN(10) == 0 && !strings.HasPrefix(v.String(), "-"): // finer than a TIMESTAMP can be
		return "TIMESTAMP '" + time.UnixMilli(v.Int()).UTC().Format("2006-01-02 15:04:05.000") + pick(g.Rand, []string{"4", "9996"}) + "'"
	case v.Type().IsInteger() && v.Int() < 0 && v.Int() > math.MinInt64:
		return fmt.Sprint(v.Int())
	}
	return v.SQL()
}

// text draws a text from a column's values or their pieces, or from their beginnings and ends.
func (g *Predicates) text() string {
	texts := slices.Clone(rules["fragment"])
	for _, c := range g.Table.Columns {
		if c.Type == types.String {
			if v := g.Value(c); !v.IsNull() {
				texts = append(texts, v.Text(), v.Text(), v.Text()[:g.IntN(len(v.Text())+1)], v.Text()[g.IntN(len(v.Text())+1):])
			}
		}
	}
	return pick(g.Rand, texts)
}

// part draws a condition on the expression of a key part.
func (g *Predicates) part() string {
	l := g.Table.Layouts[g.IntN(len(g.Table.Layouts))]
	p := l.Key.Parts[g.IntN(len(l.Key.Parts))]
	all := g.Table.Columns // the predicates may use only some of the columns
	other := func(col int) bool { return col >= len(all) || all[col].Index != col }
	value := func() types.Value {
		if len(p.Columns) == 0 || onlyInKeys(p.Expr) || slices.ContainsFunc(p.Columns, other) {
			return types.Value{}
		}
		v, _ := p.Compute(func(col int) (types.Value, bool) { return g.Value(all[col]), true }, nil)
		return v
	}
	x, y := value(), value()
	if x.IsNull() || y.IsNull() || l.Kind == catalog.Index && g.overflows(p) || beyondLiterals(x) || beyondLiterals(y) {
		return g.Draw(0)
	}
	e := "(" + p.Expr.String() + ")"
	if x.Type() == types.String && g.IntN(3) == 0 {
		return e + " LIKE " + types.NewString(x.Text()[:g.IntN(len(x.Text())+1)]+"%").SQL()
	}
	words := map[string]string{"e": e, "x": x.SQL(), "y": y.SQL()}
	return draw(g.Rand, "part condition", "", func(w string) (string, bool) { return words[w], words[w] != "" })
}

// beyondLiterals reports whether v is a moment after the year 9999, which a literal cannot express.
func beyondLiterals(v types.Value) bool {
	return v.Type() == types.Timestamp && time.UnixMilli(v.Int()).UTC().Year() > 9999
}

// overflows reports whether p cannot be computed from every value of its columns. An INDEX has no entry for a row with
// NULL in the part, so rows may hold values that overflow.
func (g *Predicates) overflows(p *catalog.Part) bool {
	row := make([]types.Value, len(g.Table.Columns))
	return slices.ContainsFunc([]int64{math.MinInt64, math.MinInt32, -129, math.MaxInt32, 1 << 32, 1<<53 + 1, math.MaxInt64}, func(n int64) bool {
		for _, i := range p.Columns {
			switch c := g.Table.Columns[i]; c.Type {
			case types.BigInt:
				row[i] = types.NewIntOf(c.Type, n)
			case types.Timestamp:
				row[i] = types.NewTimestamp(max(n, -1))
			default:
				row[i] = g.Value(c)
			}
		}
		_, err := p.Expr.Eval(&expr.Env{Row: row})
		return err != nil
	})
}

func onlyInKeys(e expr.Expr) bool {
	c, ok := e.(*expr.Call)
	return ok && c.Func.Group == "key" || slices.ContainsFunc(expr.Children(e), onlyInKeys)
}

// joined draws a condition on a concatenation of columns.
func (g *Predicates) joined() string {
	var names, texts []string
	for _, i := range g.Perm(len(g.Table.Columns)) {
		c := g.Table.Columns[i]
		v := g.Value(c)
		if c.Type != types.String && !c.Type.IsInteger() || v.IsNull() || len(v.Text()) > 20 {
			continue
		}
		names, texts = append(names, c.Name), append(texts, v.String())
	}
	if len(names) < 2 {
		return g.Draw(0)
	}
	n, sep := 2+g.IntN(min(len(names), 3)-1), pick(g.Rand, []string{"|", "", "a", "."})
	quoted := types.NewString(sep).SQL()
	x := strings.Join(names[:n], " || "+quoted+" || ")
	switch g.IntN(3) {
	case 0:
		x = "CONCAT(" + strings.Join(names[:n], ", "+quoted+", ") + ")"
	case 1:
		x = "CONCAT_WS(" + quoted + ", " + strings.Join(names[:n], ", ") + ")"
	}
	whole := strings.Join(texts[:n], sep)
	k := types.NewString(whole).SQL()
	switch part := whole[:g.IntN(len(whole)+1)]; g.IntN(4) {
	case 0:
		return "STARTS_WITH(" + x + ", " + types.NewString(part).SQL() + ")"
	case 1:
		return x + pick(g.Rand, []string{" < ", " <= ", " > ", " >= "}) + pick(g.Rand, []string{k, types.NewString(part).SQL()})
	case 2:
		return x + " IN (" + k + ", " + types.NewString(part).SQL() + ")"
	}
	return x + " = " + k
}

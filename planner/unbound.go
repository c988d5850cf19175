package planner

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Unbound makes up values for the parameters of a statement that is planned before they are known. The values satisfy the
// comparisons in the statement: in ts >= $1 AND ts < $2 the second value is greater. If other conditions contradict the
// values, another variant may fit.
type Unbound struct {
	types []expr.ParameterType
	roles []role
	// constants are the values with which the statement compares each parameter: $1 = 'all' OR user_id = $2.
	constants [][]types.Value
}

// role is the use of a parameter in a statement, such as the lower bound of a column. It determines which value is made
// up.
type role uint8

const (
	equal role = iota
	lower
	upper
	unequal
	pattern // of a LIKE: a pattern that begins with a wildcard
	folded  // compared with LOWER(x) or UPPER(x): a text with so many letters that its spellings are not enumerated
	limit   // NULL: all rows
	offset
	unnested // an array whose elements may have any type
)

// UnboundOf makes up values for the parameters $1, $2 and so on of s; given are the types that their contexts expect.
func UnboundOf(s parser.Statement, given []expr.ParameterType) *Unbound {
	u := &Unbound{types: given, roles: make([]role, len(given)), constants: make([][]types.Value, len(given))}
	parser.Inspect(s, func(n parser.Node) bool {
		switch n := n.(type) {
		case *parser.Select:
			u.use(n.Limit, limit)
			u.use(n.Offset, offset)
		case *parser.Call:
			u.unnests(n.Name, n.Args)
		case *parser.TableFunction:
			u.unnests(n.Name, n.Args)
		case *parser.Binary:
			u.use(n.Y, compared(n.Op, n.X))
			u.use(n.X, compared(mirrored[n.Op], n.Y))
			if n.Op == "=" {
				u.meets(n.X, n.Y)
				u.meets(n.Y, n.X)
			}
		case *parser.Between:
			u.use(n.Lo, lower)
			u.use(n.Hi, upper)
			u.meets(n.X, n.Lo)
		case *parser.Like:
			u.use(n.Pattern, pattern)
			if k, ok := n.Pattern.(*parser.Literal); ok && k.Kind == parser.StringLiteral {
				u.meets(n.X, &parser.Literal{Kind: k.Kind, Text: strings.NewReplacer("%", "", "_", "k").Replace(k.Text)})
			}
		case *parser.In:
			for _, x := range n.List {
				u.meets(n.X, x)
			}
		case *parser.Case:
			for _, w := range n.Whens {
				u.meets(n.X, w.Cond)
			}
		}
		return true
	})
	return u
}

// unnests records that a function unnests parameters, unless a cast specifies their types.
func (u *Unbound) unnests(function string, args []parser.Expr) {
	for _, a := range args {
		if p, ok := a.(*parser.Param); ok && function == "UNNEST" && u.types[p.Index-1].Type == types.Null {
			u.use(p, unnested)
		}
	}
}

// mirrored maps a comparison operator to the operator that means the same with exchanged sides: x > y is y < x.
var mirrored = map[string]string{"=": "=", ">": "<", ">=": "<=", "<": ">", "<=": ">=", "<>": "<>"}

// compared returns the role of a parameter on the right of the comparison left op $n: in x > $1 it is lower, so that a
// value below those of x is made up.
func compared(op string, left parser.Expr) role {
	switch op {
	case ">", ">=":
		return lower
	case "<", "<=":
		return upper
	case "<>":
		return unequal
	case "=":
		if c, ok := left.(*parser.Call); ok && (c.Name == "LOWER" || c.Name == "UPPER") {
			return folded
		}
	}
	return equal
}

// meets records that the parameter x, if it is one, is compared with the constant y.
func (u *Unbound) meets(x, y parser.Expr) {
	p, isParam := uncast(x).(*parser.Param)
	sign := ""
	if m, ok := uncast(y).(*parser.Unary); ok && m.Op == "-" {
		sign, y = "-", m.X
	}
	k, isConst := uncast(y).(*parser.Literal)
	if !isParam || !isConst || p.Index < 1 || p.Index > len(u.types) || len(u.constants[p.Index-1]) == maxConstants || k.Kind == parser.NullLiteral || k.Kind == parser.BytesLiteral {
		return
	}
	v := types.NewString(sign + k.Text)
	if t := u.types[p.Index-1].Type; t != types.Null {
		var err error
		if v, err = types.Cast(v, t, nil); err != nil {
			return
		}
	}
	u.constants[p.Index-1] = append(u.constants[p.Index-1], v)
}

// maxConstants bounds the number of constants that are tried for a parameter.
const maxConstants = 8

// Constants returns the values with which the statement compares parameter i, counted from 0.
func (u *Unbound) Constants(i int) []types.Value { return u.constants[i] }

// Empty returns the empty text or array for parameter i, counted from 0: neither >= nor <> ALL with it binds a key. ok is
// false for other types.
func (u *Unbound) Empty(i int) (v types.Value, ok bool) {
	switch t := u.types[i]; {
	case t.List:
		return types.NewArray(t.Type, nil), true
	case t.Type.IsArray():
		return types.NewArray(t.Type.Elem(), nil), true
	default:
		return types.NewString(""), t.Type == types.String || t.Type == types.Null
	}
}

func uncast(e parser.Expr) parser.Expr {
	for {
		c, ok := e.(*parser.Cast)
		if !ok {
			return e
		}
		e = c.X
	}
}

// use records the role of e if it is a parameter.
func (u *Unbound) use(e parser.Expr, r role) {
	e = uncast(e)
	if p, ok := e.(*parser.Param); ok && r != equal && p.Index <= len(u.roles) {
		u.roles[p.Index-1] = r
	}
}

// Variants is the number of variants of made-up values.
const Variants = 6

// Enough reports whether no made-up values after variant i are needed, if those of i contradict no condition. Variant 0 is
// enough unless a parameter is BOOLEAN: it is TRUE in variant 0 and may be FALSE in the next one.
func (u *Unbound) Enough(i int) bool {
	return i > 0 || !slices.ContainsFunc(u.types, func(t expr.ParameterType) bool { return t.Type == types.Boolean })
}

// Values returns the made-up values of variant i.
func (u *Unbound) Values(i int) []types.Value {
	out := make([]types.Value, len(u.types))
	for k, t := range u.types {
		switch r := u.roles[k]; {
		case r == limit:
			out[k] = types.Value{}
		case r == offset: // larger than any
			out[k] = types.NewInt(madeUpOffset)
		case r == unnested:
			elem := madeUpElements[i]
			out[k] = types.NewArray(elem, []types.Value{madeUp(elem, equal, i)})
		case r == pattern:
			out[k] = types.NewString("%1%")
		case r == folded && i < len(madeUpLetters):
			out[k] = types.NewString(madeUpLetters[i])
		case t.List:
			out[k] = types.NewArray(t.Type, []types.Value{madeUp(t.Type, r, i)})
		default:
			out[k] = madeUp(t.Type, r, i)
		}
	}
	return out
}

// The made-up values for equality, by variant. A number may be an epoch second or millisecond, or the square of another.
// The days are Mondays on which a year begins, which DATE_TRUNC may require; some are after and some before any NOW().
var (
	madeUpElements = [Variants]types.Type{types.BigInt, types.String, types.Timestamp, types.Date, types.Double, types.UUID}
	madeUpLetters  = [...]string{"lowercaseletters", "UPPERCASELETTERS"}
	madeUpTexts    = [Variants]string{"k", "K", "1", "00000000-0000-4000-8000-00000000000", "com.a", "2024-01-0"}
	madeUpNumbers  = [Variants]int64{100, 1, 1_704_067_200, 1_704_067_200_000, -100, 1}
	madeUpDays     = [Variants]int64{19_723, 17_532, 27_759, 1_096, 19_723, 19_723}
)

// madeUpOffset exceeds the number of rows that a statement may read without a bound key.
const madeUpOffset = 1 << 40

// swapped is the variant in which lower bounds exceed upper ones, as NOT (x < ? OR x > ?) requires.
const swapped = Variants - 1

// madeUp returns a made-up value of type t.
func madeUp(t types.Type, r role, i int) types.Value {
	k := map[role]int64{lower: -1, upper: 1, unequal: 2}[r]
	if i == swapped && r != unequal {
		k = -k
	}
	const hour = types.MillisPerDay / 24
	var from types.Value
	switch {
	case t == types.Boolean:
		return types.NewBool(i%2 == 0)
	case t == types.UUID:
		return types.NewUUID("0123456789abcde" + string(rune('1'+k)))
	case t == types.Date:
		return types.NewDate(madeUpDays[i] + k)
	case t == types.Timestamp || t == types.LocalTimestamp:
		return types.NewIntOf(t, madeUpDays[i]*types.MillisPerDay+k*hour)
	case t == types.Time:
		return types.NewIntOf(t, (k+2)*hour)
	case t == types.Duration:
		v, _ := types.NewDuration(0, 0, (k+2)*hour)
		return v
	case t.IsArray():
		return types.NewArray(t.Elem(), []types.Value{madeUp(t.Elem(), r, i)})
	case t.IsNumeric():
		from = types.NewInt(madeUpNumbers[i] + k)
	default:
		from = types.NewString(madeUpTexts[i] + string(rune('2'+k)))
	}
	if t == types.Null {
		return from
	}
	for _, v := range []types.Value{from, types.NewInt(k + 2)} { // the second one fits in a TINYINT
		if out, err := types.Cast(v, t, nil); err == nil {
			return out
		}
	}
	return types.Value{}
}

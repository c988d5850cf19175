package parser

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// call reads the arguments of function t, after its parenthesis. Some functions have keywords between the arguments.
func (r *exprReader) call(t *lexer.Token) Expr {
	switch t.Value {
	case "CAST":
		return r.cast(t)
	case "EXISTS":
		return r.exists(t)
	case "EXTRACT":
		return r.extract(t)
	case "POSITION":
		return r.position(t)
	case "SUBSTRING", "SUBSTR":
		return r.substring(t)
	case "TRIM":
		return r.trim(t)
	case "OVERLAY":
		return r.overlay(t)
	case "ROW":
		return r.row(t)
	}
	return r.plainCall(&Call{Pos: pos(t), Name: strings.ToUpper(name(t))})
}

// plainCall reads the arguments of a function or aggregate that has no keywords between its arguments.
func (r *exprReader) plainCall(out *Call) Expr {
	out.Star = wanted(r.lex, "*")
	if out.Distinct = wanted(r.lex, "DISTINCT"); !out.Distinct {
		wanted(r.lex, "ALL")
	}
	if r.startsOperand() {
		out.Args = r.args(out)
		for i := 0; ofRows[out.Name] && i < len(out.Args); i++ {
			switch a := out.Args[i].(type) {
			case *ColumnRef:
				a.Row = a.Row || a.Table == ""
			case *Tuple:
				out.Args[i] = r.rowAsJSON(a)
			case *SubqueryExpr:
				core := a.Query.Cores[0]
				if strings.Contains(out.Name, "TO_JSON") && len(core.Items) == 1 && a.Query.Sets == nil && a.Query.OrderBy == nil && !a.Array && !core.Distinct {
					if row, ok := core.Items[0].Expr.(*ColumnRef); ok && row.Table == "" { // (SELECT t FROM ... AS t)
						row.Row = true
						core.Items[0].Expr = &Call{Pos: row.Pos, Name: out.Name, Args: []Expr{row}}
					}
				}
			}
		}
		if out.Name == "ENCODE" && len(out.Args) > 0 { // VARIADIC ARRAY[] gives no argument
			if hash, ok := out.Args[0].(*Call); ok && strings.HasPrefix(hash.Name, "SHA") { // it is hexadecimal digits, in PostgreSQL bytes
				out.Args[0] = &Call{Pos: hash.Pos, Name: "DECODE", Args: []Expr{hash, &Literal{Pos: hash.Pos, Kind: StringLiteral, Text: "hex"}}}
			}
		}
	}
	if wanted(r.lex, "ORDER", "BY") {
		out.OrderBy = r.order()
	}
	need(r.lex, ")")
	if out.Star && (out.Distinct || out.Args != nil || out.OrderBy != nil) {
		panic(fail.With(Errorf(out.Pos, "%s(*) takes nothing in addition to the *", out.Name)))
	}
	if out.Distinct && out.Args == nil {
		panic(fail.With(Errorf(out.Pos, "%s(DISTINCT) needs an argument", out.Name)))
	}
	if r.lex.Peek().Value == "WITHIN" && isNext(r.lex, "WITHIN", "GROUP", "(") {
		if out.OrderBy != nil || out.Distinct || out.Star {
			panic(fail.With(Errorf(pos(r.lex.Peek()), "WITHIN GROUP follows arguments without *, DISTINCT and ORDER BY")))
		}
		accept(r.lex, "WITHIN", "GROUP", "(")
		need(r.lex, "ORDER", "BY")
		out.Within = true
		out.OrderBy = r.order()
		need(r.lex, ")")
	}
	if wanted(r.lex, "FILTER", "(") {
		out.Filter = r.after("WHERE")
		need(r.lex, ")")
	}
	if wanted(r.lex, "OVER") {
		out.Over = r.over()
	}
	return out
}

// argumentNames are the names of the arguments of functions, in their order.
var argumentNames = map[string]string{"MAKE_INTERVAL": "years months weeks days hours mins secs", "MAKE_DATE": "year month day", "MAKE_TIME": "hour min sec",
	"MAKE_TIMESTAMP": "year month mday hour min sec", "MAKE_TIMESTAMPTZ": "year month mday hour min sec timezone", "PARSE_IDENT": "str strict",
	"JSONB_SET": "jsonb_in path replacement create_if_missing", "JSONB_INSERT": "jsonb_in path replacement insert_after", "JSONB_PATH_EXISTS": "target path vars silent",
	"JSONB_PATH_MATCH": "target path vars silent", "JSONB_PATH_QUERY": "target path vars silent", "JSONB_PATH_QUERY_ARRAY": "target path vars silent", "JSONB_PATH_QUERY_FIRST": "target path vars silent"}

// args reads the arguments of a function: each an expression, name => expression, VARIADIC ARRAY[...], a range lo TO hi, or x AS encoding.
func (r *exprReader) args(call *Call) []Expr {
	var out []Expr
	function := call.Name
	for {
		first, i := r.lex.Peek(), len(out)
		if at := r.lex.MakeCheckpoint(); isName(first) {
			if r.lex.Next(); accept(r.lex, "=>") || accept(r.lex, ":", "=") { // the latter is an older notation
				if i = slices.Index(strings.Fields(argumentNames[function]), strings.ToLower(name(first))); i < 0 {
					panic(fail.With(Errorf(pos(first), "%s has no argument called %s: it takes %s", function, name(first), cmp.Or(argumentNames[function], "values alone"))))
				}
			} else if next := r.lex.Peek(); !strings.EqualFold(first.Value, "VARIADIC") || strings.Contains("(+-", next.Value) || !startsOperand(next) {
				r.lex.LoadCheckpoint(at)
			} else if x := r.expr(); !wanted(r.lex, ",") {
				return call.spread(out, x)
			} else {
				panic(fail.With(Errorf(x.Position(), "VARIADIC is for the last argument")))
			}
		}
		x := r.expr()
		if t := r.lex.Peek(); wanted(r.lex, "TO") {
			hi := r.expr()
			x = &RangeArg{Pos: pos(t), Lo: x, Hi: hi}
		} else if accept(r.lex, "AS") {
			def := r.encoding()
			x = &EncodedArg{Pos: pos(t), X: x, Encoding: def}
		}
		for len(out) <= i { // those that a name skips have their defaults
			if out = append(out, &Literal{Pos: pos(first), Kind: StringLiteral, Text: "{}"}); function == "MAKE_INTERVAL" {
				out[len(out)-1] = &Literal{Pos: pos(first), Kind: NumberLiteral, Text: "0"}
			}
		}
		if out[i] = x; !wanted(r.lex, ",") {
			return out
		}
	}
}

// spread returns the arguments args, then the elements of array. Only CONCAT and CONCAT_WS take an array that does not list its
// elements: ARRAY_TO_STRING is the same.
func (call *Call) spread(args []Expr, array Expr) []Expr {
	list, cast := array, (*Cast)(nil)
	if c, ok := array.(*Cast); ok && strings.HasSuffix(c.Type, "[]") {
		list, cast = c.X, c
	}
	if a, ok := list.(*Array); ok {
		for _, x := range a.Items {
			if cast != nil {
				x = &Cast{Pos: cast.Pos, X: x, Type: strings.TrimSuffix(cast.Type, "[]")}
			}
			args = append(args, x)
		}
		return args
	}
	switch {
	case call.Name == "CONCAT" && len(args) == 0:
		args = append(args, &Literal{Pos: call.Pos, Kind: StringLiteral})
	case call.Name != "CONCAT_WS" || len(args) != 1:
		panic(fail.With(Errorf(array.Position(), "%s takes VARIADIC ARRAY[...], an array that lists its elements", call.Name)))
	}
	call.Name = "ARRAY_TO_STRING"
	return []Expr{array, args[0]}
}

// ofRows are the functions whose argument may be a whole row: COUNT, and the functions that return JSON.
var ofRows = map[string]bool{"COUNT": true, "ROW_TO_JSON": true, "TO_JSON": true, "TO_JSONB": true, "JSON_AGG": true, "JSONB_AGG": true,
	"JSON_BUILD_ARRAY": true, "JSONB_BUILD_ARRAY": true, "JSON_BUILD_OBJECT": true, "JSONB_BUILD_OBJECT": true, "JSON_OBJECT_AGG": true, "JSONB_OBJECT_AGG": true}

// rowAsJSON returns the row value x as JSON, with the names f1, f2 and so on that PostgreSQL gives its values.
func (r *exprReader) rowAsJSON(x *Tuple) Expr {
	r.height++
	out := &Call{Pos: x.Pos, Name: "JSON_BUILD_OBJECT"}
	for i, v := range x.Items {
		out.Args = append(out.Args, &Literal{Pos: v.Position(), Kind: StringLiteral, Text: "f" + strconv.Itoa(i+1)}, v)
	}
	return out
}

// order reads the terms after ORDER BY.
func (r *exprReader) order() []OrderTerm {
	var out []OrderTerm
	for {
		x := r.expr()
		o := OrderTerm{Expr: x, Desc: wanted(r.lex, "DESC") || accept(r.lex, "USING", ">")}
		if !o.Desc && !accept(r.lex, "USING", "<") {
			wanted(r.lex, "ASC")
		}
		if wanted(r.lex, "NULLS") {
			first := wanted(r.lex, "FIRST")
			if !first && !wanted(r.lex, "LAST") {
				panic(fail.With(unexpected(r.lex)))
			}
			o.NullsFirst = &first
		}
		if out = append(out, o); !wanted(r.lex, ",") {
			return out
		}
	}
}

// cast reads x AS type [AS encoding].
func (r *exprReader) cast(t *lexer.Token) Expr {
	out := &Cast{Pos: pos(t), X: r.expr()}
	need(r.lex, "AS")
	x := r.castTo(out)
	if !wanted(r.lex, "AS") {
		return r.close(x)
	}
	out.Encoding = r.encoding()
	return r.close(out)
}

// castTo reads the type of a cast. After INTERVAL it also reads the fields to keep, such as DAY TO HOUR.
func (r *exprReader) castTo(out *Cast) Expr {
	if out.Type = r.typeName(); out.Type != "INTERVAL" {
		return out
	}
	if l, ok := out.X.(*Literal); ok && l.Kind == StringLiteral {
		return r.interval(&Literal{Pos: l.Pos, Kind: IntervalLiteral, Text: l.Text})
	}
	_, unit := r.fields()
	return keepFields(out, unit)
}

// encoding reads an encoding after AS.
func (r *exprReader) encoding() *EncodingDef {
	var n encodingNode
	follow(r.lex, &n)
	return n.def
}

func (r *exprReader) exists(t *lexer.Token) Expr {
	return r.close(&SubqueryExpr{Pos: pos(t), Exists: true, Query: r.query()})
}

// extract turns EXTRACT(YEAR FROM ts) into EXTRACT('year', ts).
func (r *exprReader) extract(t *lexer.Token) Expr {
	field := r.expr()
	if !wanted(r.lex, "FROM") && !wanted(r.lex, ",") {
		panic(fail.With(unexpected(r.lex)))
	}
	x := r.expr()
	if c, ok := field.(*ColumnRef); ok && c.Table == "" {
		field = &Literal{Pos: c.Pos, Kind: StringLiteral, Text: strings.ToLower(c.Name)}
	}
	return r.close(&Call{Pos: pos(t), Name: "EXTRACT", Args: []Expr{field, x}})
}

// position turns POSITION(a IN b) into STRPOS(b, a).
func (r *exprReader) position(t *lexer.Token) Expr {
	needle := r.until("IN")
	in := wanted(r.lex, "IN")
	if !in && !wanted(r.lex, ",") {
		panic(fail.With(unexpected(r.lex)))
	}
	x := r.expr()
	if in {
		return r.close(&Call{Pos: pos(t), Name: "STRPOS", Args: []Expr{x, needle}})
	}
	return r.close(&Call{Pos: pos(t), Name: "POSITION", Args: []Expr{needle, x}})
}

// substring turns SUBSTRING(x FROM a FOR b) into SUBSTRING(x, a, b); FROM or FOR may be missing.
func (r *exprReader) substring(t *lexer.Token) Expr {
	args := r.list(3)
	out := &Call{Pos: pos(t), Name: t.Value, Args: args}
	words := false
	for _, word := range []string{"FROM", "FOR"} {
		switch {
		case r.isNext(word):
			x := r.after(word)
			out.Args, words = append(out.Args, x), true
		case word == "FROM" && r.lex.Peek().Value == "FOR":
			out.Args = append(out.Args, &Literal{Pos: out.Pos, Kind: NumberLiteral, Text: "1"})
		}
	}
	if words && len(args) != 1 {
		panic(fail.With(Errorf(out.Pos, "%s takes commas or FROM and FOR, not both", out.Name)))
	}
	return r.close(out)
}

// overlay turns OVERLAY(x PLACING y FROM a FOR b) into OVERLAY(x, y, a, b).
func (r *exprReader) overlay(t *lexer.Token) Expr {
	args := r.list(4)
	out := &Call{Pos: pos(t), Name: "OVERLAY", Args: args}
	if len(args) > 1 {
		return r.close(out)
	}
	for _, word := range []string{"PLACING", "FROM", "FOR"} {
		if word == "FOR" && !r.isNext(word) {
			break
		}
		x := r.after(word)
		out.Args = append(out.Args, x)
	}
	return r.close(out)
}

var trimNames = map[string]string{"BOTH": "TRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}

// trim turns TRIM(LEADING c FROM x) into LTRIM(x, c), TRAILING into RTRIM, and BOTH or no word into TRIM.
func (r *exprReader) trim(t *lexer.Token) Expr {
	out := &Call{Pos: pos(t), Name: "TRIM"}
	if side, ok := trimNames[r.lex.Peek().Value]; ok {
		r.lex.Next()
		out.Name = side
	}
	if r.startsOperand() {
		out.Args = r.list(2)
	}
	if r.isNext("FROM") {
		x := r.after("FROM")
		out.Args = append([]Expr{x}, out.Args...)
	}
	if len(out.Args) == 0 || len(out.Args) > 2 {
		panic(fail.With(Errorf(out.Pos, "TRIM takes a text and, before FROM, the characters to remove")))
	}
	return r.close(out)
}

// row reads the row value ROW(a, b), which may be empty or have one item.
func (r *exprReader) row(t *lexer.Token) Expr {
	out := &Tuple{Pos: pos(t), Items: []Expr{}}
	if r.startsOperand() {
		out.Items = r.list(0)
	}
	return r.close(out)
}

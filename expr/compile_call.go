package expr

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

func (c compiler) registry() *Registry {
	if c.s.Funcs == nil {
		return new(Registry)
	}
	return c.s.Funcs
}

// lookup returns the function with this name, or nil.
func (c compiler) lookup(name string) *Function {
	f := c.registry().Lookup(name)
	if f == nil && c.s.Function != nil {
		f = c.s.Function(strings.ToUpper(name))
	}
	return f
}

func misplaced(pos parser.Pos, aggregate string) error {
	return parser.Errorf(pos, "%s is an aggregate, which is not allowed here", aggregate).
		WithHint("aggregates are allowed in SELECT, HAVING and ORDER BY: HAVING has the conditions on groups, WHERE those on rows")
}

// UnknownType returns the error for an unknown type.
func UnknownType(name string, pos parser.Pos) *parser.Error {
	err := parser.Errorf(pos, "unknown type %s", name)
	base, _, _ := strings.Cut(strings.TrimRight(strings.ToUpper(name), "[]"), "(")
	if hint := parser.Elsewhere("type", base); hint != "" {
		return err.Of(parser.ErrUnsupported).WithHint("%s", hint)
	}
	return err
}

// Elsewhere returns what to write in place of a function of another system; "" if nothing is known.
func Elsewhere(function string) string {
	return parser.Elsewhere("function", strings.ToUpper(function))
}

// UnknownFunction returns the error for an unknown function; it suggests a similar name in r.
func UnknownFunction(r *Registry, name string, pos parser.Pos) error {
	err := parser.Errorf(pos, "unknown function %s", name)
	if hint := Elsewhere(name); hint != "" {
		return err.WithHint("%s", hint)
	}
	return Suggest(err, name, slices.Sorted(maps.Keys(r.funcs)))
}

func (c compiler) call(e *parser.Call) Expr {
	if e.Over != nil {
		panic(fail.With(parser.Errorf(e.Pos, "%s with OVER is a window function, which is not allowed here", e.Name).
			WithHint("window functions are allowed in SELECT and ORDER BY: a query around this one can filter and group by their values")))
	}
	if e.Star || e.Distinct || e.Filter != nil || len(e.OrderBy) > 0 {
		switch f := c.lookup(e.Name); {
		case f == nil: // the error says so
		case f.Group == "aggregate":
			panic(fail.With(misplaced(e.Pos, e.Name)))
		default:
			panic(fail.With(parser.Errorf(e.Pos, "%s is not an aggregate: it takes no *, DISTINCT, ORDER BY or FILTER", e.Name)))
		}
	}
	if _, ok := types.ParseType(e.Name); ok && len(e.Args) == 1 && c.lookup(e.Name) == nil { // float8(x) is CAST(x AS float8)
		return c.expr(&parser.Cast{Pos: e.Pos, X: e.Args[0], Type: e.Name})
	}
	if e.Name == "_PG_FIELD" { // (t).a is the column a of the table t
		if t, ok := e.Args[0].(*parser.ColumnRef); ok && c.tuple(t) != nil {
			return c.expr(&parser.ColumnRef{Pos: t.Pos, Table: t.Name, Name: e.Args[1].(*parser.Literal).Text})
		}
	}
	return c.function(e.Name, e.Pos, e.Args)
}

// arguments compiles the arguments of the function name; 'a' TO 'b' becomes several.
func (c compiler) arguments(name string, args []parser.Expr) (flat []Expr) {
	for i, a := range args {
		if r, ok := a.(*parser.RangeArg); ok {
			items := c.rangeArg(r)
			flat = append(flat, items...)
			continue
		}
		if f := c.lookup(name); i == 0 && f != nil && f.Key != nil && f.Key.Lookup == TableDictionary {
			ref, ok := a.(*parser.ColumnRef)
			if !ok || ref.Table == "" {
				panic(fail.With(parser.Errorf(a.Position(), "LOOKUP takes table.column first")))
			}
			flat = append(flat, &Const{Pos: ref.Pos, Val: types.NewString(ref.Table + "." + ref.Name), Typ: types.String})
			continue
		}
		x := c.expr(a)
		flat = append(flat, x)
	}
	return flat
}

// inZone applies f to the wall-clock time in zone at moment, and converts f's result back to a moment.
func (c compiler) inZone(zone, moment Expr, pos parser.Pos, f func(local Expr) Expr) Expr {
	local := c.apply("TIMEZONE", pos, []Expr{zone, c.cast(moment, types.Timestamp, pos)})
	return c.apply("TIMEZONE", pos, []Expr{zone, f(local)})
}

// clocked reports whether functions take the time that clocks in the session's zone show. Keys do not depend on a session,
// and are in UTC.
func (c compiler) clocked() bool { return !c.s.Key && c.s.Loc != nil && c.s.Loc != time.UTC }

// zoned reports whether x is a TIMESTAMP that functions take as the time of the session's clocks.
func (c compiler) zoned(x Expr) bool { return c.clocked() && x.Type() == types.Timestamp }

// local returns x, or if it is zoned, the wall-clock time at x in the session's zone.
func (c compiler) local(x Expr, pos parser.Pos) Expr {
	if !c.zoned(x) {
		return x
	}
	return c.cast(x, types.LocalTimestamp, pos)
}

// onClock applies f to local(x), and converts f's result back to the type of x.
func (c compiler) onClock(x Expr, pos parser.Pos, f func(local Expr) Expr) Expr {
	return c.cast(f(c.local(x, pos)), x.Type(), pos)
}

// ConstZone returns the time zone that e, a constant, names; nil for other expressions.
func ConstZone(e Expr) *time.Location {
	k, ok := e.(*Const)
	if !ok || !k.Val.Type().IsText() {
		return nil
	}
	loc, err := types.ZoneAt(k.Val.Text())
	if err != nil {
		return nil
	}
	return loc
}

// truncated compiles DATE_TRUNC of the time that clocks show in the zone args[2], or in the session's. Outside keys, whose
// bytes stay, an hour that clocks show twice is two hours, as in PostgreSQL.
func (c compiler) truncated(args []Expr, pos parser.Pos) Expr {
	const name = "DATE_TRUNC"
	loc := c.s.Loc
	if len(args) == 3 {
		loc = ConstZone(args[2])
	}
	if k, ok := args[0].(*Const); ok && !c.s.Key && loc != nil && args[1].Type() == types.Timestamp && cutInUTC(k.Val.Text(), loc) {
		return c.apply(name, pos, args[:2])
	}
	trunc := func(local Expr) Expr { return c.apply(name, pos, []Expr{args[0], local}) }
	if len(args) == 3 {
		return c.inZone(args[2], args[1], pos, trunc)
	}
	return c.onClock(args[1], pos, trunc)
}

// cutInUTC reports whether moments are cut to unit alike in UTC and in loc: to parts of an hour, and to hours if loc is
// whole hours from UTC from 1970 to 2040.
func cutInUTC(unit string, loc *time.Location) bool {
	switch strings.TrimSuffix(strings.ToLower(unit), "s") {
	case "minute", "second", "millisecond", "microsecond":
		return true
	case "hour":
	default:
		return false
	}
	for t := time.Unix(0, 0).In(loc); t.Year() < 2040; {
		if _, off := t.Zone(); off%3600 != 0 {
			return false
		}
		_, end := t.ZoneBounds()
		if end.IsZero() {
			break
		}
		if !end.After(t) { // package time reports such a change on the last day of leap years
			end = t.AddDate(0, 0, 1)
		}
		t = end
	}
	return true
}

// zoneName is the session's zone as an argument.
func (c compiler) zoneName(pos parser.Pos) Expr {
	return &Const{Pos: pos, Val: types.NewString(c.s.Loc.String()), Typ: types.String}
}

// inSession rewrites args of the function name so that args[at], if it is zoned, is the time of the session's clocks. The
// zone is the last argument instead if the argument constant, a field or a format, may name parts of it.
func (c compiler) inSession(args []Expr, at, constant int, pos parser.Pos) []Expr {
	if len(args) != 2 || !c.zoned(args[at]) {
		return args
	}
	k, ok := args[constant].(*Const)
	if ok && strings.EqualFold(k.Val.Text(), "epoch") {
		return args
	}
	if !ok || !k.Val.Type().IsText() || zoneParts.MatchString(k.Val.Text()) {
		return append(args, c.zoneName(pos))
	}
	args[at] = c.local(args[at], pos)
	return args
}

// zoneParts matches fields of EXTRACT and formats of TO_CHAR that are not taken from the time of a clock alone.
var zoneParts = regexp.MustCompile(`(?i)tz|of|timezone`)

func (c compiler) function(name string, pos parser.Pos, args []parser.Expr) Expr {
	flat := c.arguments(name, args)
	switch name {
	case "DATE_BIN", "BIN_OFFSET": // the width is a text
		if k, ok := leading(flat).(*Const); ok && k.Typ == types.Duration && !k.Val.IsNull() {
			flat[0] = &Const{Pos: k.Pos, Val: types.NewString(k.Val.String()), Typ: types.String}
		}
	case "NOW", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "STATEMENT_TIMESTAMP", "TRANSACTION_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "LOCALTIME", "AGE":
		if c.s.Key && (name != "AGE" || len(flat) == 1) {
			panic(fail.With(parser.Errorf(pos, "%s differs each time: a key with it could not be found again", name)))
		}
	}
	if f := fieldFunctions[name]; f != "" && len(flat) == 1 {
		local := c.local(flat[0], pos)
		return c.apply("EXTRACT", pos, []Expr{&Const{Pos: pos, Val: types.NewString(f), Typ: types.String}, local})
	}
	switch name {
	case "NOW", "CURRENT_TIMESTAMP", "STATEMENT_TIMESTAMP", "TRANSACTION_TIMESTAMP":
		return &Const{Pos: pos, Val: types.NewTimestamp(c.s.Now), Typ: types.Timestamp}
	case "CURRENT_TIME", "LOCALTIME":
		return c.cast(&Const{Pos: pos, Val: types.NewTimestamp(c.s.Now), Typ: types.Timestamp}, types.Time, pos)
	case "OVERLAPS":
		for i := 1; i < len(flat); i += 2 {
			if flat[i].Type() == types.Duration {
				flat[i] = c.later(flat[i-1], flat[i], pos)
			}
		}
		flat, _ = c.common(flat, pos)
	case "GENERATE_SERIES":
		flat = c.series(flat, pos)
	case "LOCALTIMESTAMP":
		return c.cast(&Const{Pos: pos, Val: types.NewTimestamp(c.s.Now), Typ: types.Timestamp}, types.LocalTimestamp, pos)
	case "TIMEZONE": // a DATE and a text are moments in the session's time zone
		if len(flat) != 2 {
			break
		}
		if k, ok := flat[1].(*Const); flat[1].Type() == types.Date || ok && k.Typ == types.String {
			flat[1] = c.cast(flat[1], types.Timestamp, pos)
		}
	case "INTERVAL_MS": // ts - ts, of which it made an INTERVAL, is one
		if len(flat) == 1 && flat[0].Type() == types.Duration {
			return flat[0]
		}
	case "DATE_TRUNC": // it truncates the wall-clock time in a zone
		if len(flat) == 3 || len(flat) == 2 && c.zoned(flat[1]) {
			return c.truncated(flat, pos)
		}
	case "DATE":
		if len(flat) == 1 && c.zoned(flat[0]) {
			return c.cast(flat[0], types.Date, pos)
		}
	case "EXTRACT", "DATE_PART":
		flat = c.inSession(flat, 1, 0, pos)
	case "TO_CHAR":
		flat = c.inSession(flat, 0, 1, pos)
	case "TO_TIMESTAMP": // it reads the time of a clock in the session's zone
		if len(flat) == 2 && c.clocked() {
			if k, ok := flat[1].(*Const); !ok || !zoneParts.MatchString(k.Val.Text()) {
				moment := c.apply(name, pos, flat)
				clock := c.apply("TIMEZONE", pos, []Expr{&Const{Pos: pos, Val: types.NewString("UTC"), Typ: types.String}, moment})
				return c.cast(clock, types.Timestamp, pos)
			}
		}
	case "MAKE_TIMESTAMPTZ":
		local := c.apply("MAKE_TIMESTAMP", pos, flat[:min(6, len(flat))])
		if len(flat) != 7 {
			return c.cast(local, types.Timestamp, pos)
		}
		return c.apply("TIMEZONE", pos, []Expr{flat[6], local})
	case "DATE_BIN":
		if x := leading(flat); x != nil && x.Type() == types.Duration {
			flat[0] = c.cast(x, types.String, pos)
		}
		if len(flat) == 3 && flat[1].Type().IsTimestamp() && flat[2].Type().IsTimestamp() {
			flat[1], flat[2] = c.moments(flat[1], flat[2], pos)
		}
	case "CURRENT_DATE":
		return &Const{Pos: pos, Val: fail.Must(types.Cast(types.NewTimestamp(c.s.Now), types.Date, c.s.Loc)), Typ: types.Date}
	case "COALESCE", "GREATEST", "LEAST", "IFNULL", "NVL":
		xs, _ := c.common(flat, pos)
		flat = xs
	case "TO_HEX": // as in PostgreSQL, a constant of 32 bits is an INT
		if k, ok := leading(flat).(*Const); ok && isNumberLiteral(args[0]) && k.Typ == types.BigInt {
			if v, err := types.Cast(k.Val, types.Int, nil); err == nil {
				flat[0] = &Const{Pos: k.Pos, Val: v, Typ: types.Int}
			}
		}
	case "ENCODE": // a text constant is read as bytes
		if k, ok := leading(flat).(*Const); ok && k.Typ == types.String {
			flat[0] = c.cast(k, types.Bytes, pos)
		}
	case "POSITION", "STRPOS":
		if len(flat) == 2 && flat[0].Type() == types.Bytes {
			name = "BYTE_POSITION"
		}
	case "SUBSTRING":
		if len(flat) == 2 && flat[1].Type().IsText() {
			name = "SUBSTRING_MATCH"
		}
	case "JSONB_CONTAINED":
		if len(flat) == 2 {
			name, flat = "JSONB_CONTAINS", []Expr{flat[1], flat[0]}
		}
	case "AGE":
		if len(flat) == 1 && flat[0].Type() == types.OID { // the argument is a transaction: only one exists, as in txid_current()
			return &Const{Pos: pos, Val: types.NewInt(0), Typ: types.Int}
		}
		if len(flat) == 1 { // from midnight of the current day
			flat = []Expr{c.cast(c.function("CURRENT_DATE", pos, nil), types.Timestamp, pos), flat[0]}
		} else if len(flat) == 2 && flat[0].Type().IsTimestamp() && flat[1].Type().IsTimestamp() {
			flat[0], flat[1] = c.moments(flat[0], flat[1], pos)
		}
		for i := range flat {
			flat[i] = c.local(flat[i], pos)
		}
	case "PG_TYPEOF": // a value does not tell its type
		if len(flat) == 1 {
			of := Declared(flat[0]).String()
			if k, ok := flat[0].(*Const); ok && (k.Typ == types.Null || k.Typ == types.String && k.Limit == types.Untyped) {
				of = "UNKNOWN"
			}
			flat = append(flat, &Const{Pos: pos, Val: types.NewString(of), Typ: types.String})
		}
	case "NULLIF":
		if len(flat) == 2 {
			eq := c.compare(EQ, flat[0], flat[1], pos)
			return c.fold(&Case{Pos: pos, Whens: []When{{eq, &Const{Pos: pos, Typ: flat[0].Type()}}}, Else: flat[0], Typ: flat[0].Type()})
		}
	}
	flat = c.elements(name, flat)
	return c.measured(name, pos, flat)
}

// digits has the digits behind the point of the fields of EXTRACT that have some.
var digits = map[string]int64{"second": 6, "seconds": 6, "epoch": 6, "millisecond": 3, "milliseconds": 3, "julian": 20}

// measured returns a call of a function with the type that PostgreSQL gives it, a number with fractions, also where its
// values are whole. In keys, which hold integers, these functions return integers.
func (c compiler) measured(name string, pos parser.Pos, args []Expr) Expr {
	f := c.lookup(name)
	if f != nil && f.Name == "EXTRACT" && len(args) == 2 && args[1].Type() == types.Duration {
		f = c.lookup("INTERVAL_FIELD")
	}
	if f == nil || c.s.Key || len(args) == 0 {
		return c.apply(name, pos, args)
	}
	of, t := args[0].Type(), types.Null
	switch f.Name {
	case "CEIL", "FLOOR", "ROUND", "SIGN", "TRUNC":
		if t = types.Double; of == types.Decimal {
			t = of
		}
		if len(args) == 2 && of.IsInteger() { // they have as many digits as it says
			t = types.Decimal
			args[0] = c.cast(args[0], t, pos)
		} else if len(args) == 2 {
			t = types.Null
		}
	case "DIV":
		if len(args) == 2 && of.IsInteger() && args[1].Type().IsInteger() {
			t = types.Decimal
		}
	case "EXTRACT", "INTERVAL_FIELD":
		if t = types.Decimal; name == "DATE_PART" {
			t = types.Double
		}
	}
	x := c.apply(f.Name, pos, args)
	if t != types.Null {
		x = c.cast(x, t, pos)
	}
	if k, ok := args[0].(*Const); ok && t == types.Decimal && of == types.String && args[1].Type() != types.Date {
		if n := digits[strings.ToLower(k.Val.Text())]; n > 0 {
			return c.apply("DECIMAL", pos, []Expr{x, &Const{Pos: pos, Val: types.NewInt(38), Typ: types.BigInt}, &Const{Pos: pos, Val: types.NewInt(n), Typ: types.BigInt}})
		}
	}
	return x
}

// series converts the arguments of GENERATE_SERIES: to numbers of one type, or to two moments and an INTERVAL.
func (c compiler) series(args []Expr, pos parser.Pos) []Expr {
	moment := types.Null
	for _, a := range args[:min(2, len(args))] {
		if t := a.Type(); t.IsMoment() && moment != types.Timestamp {
			moment = t.Moment()
		}
	}
	if moment != types.Null && (len(args) == 2 || len(args) == 3 && args[2].Type().IsNumeric()) {
		panic(fail.With(parser.Errorf(pos, "GENERATE_SERIES of %s takes an INTERVAL as its third argument", args[0].Type())))
	}
	if moment == types.Null || len(args) < 3 {
		out, typ := c.common(args, pos)
		for i := range out {
			if typ == types.String { // text constants
				out[i] = c.cast(out[i], types.BigInt, pos)
			}
		}
		return out
	}
	out := slices.Clone(args)
	for i, t := range []types.Type{moment, moment, types.Duration} {
		if out[i].Type().IsText() || out[i].Type() == types.Null || t.IsMoment() && out[i].Type().IsMoment() {
			out[i] = c.cast(out[i], t, pos)
		}
	}
	if len(out) == 3 && c.zoned(out[0]) {
		out = append(out, c.zoneName(pos))
	}
	return out
}

// encodedGroup is the group of the functions that encoded creates.
const encodedGroup = "encoding"

// encoded compiles the argument x AS encoding to a call of a function that encodes its argument; the function is named
// like the encoding.
func (c compiler) encoded(e *parser.EncodedArg) Expr {
	x := c.expr(e.X)
	encode := c.registry().Encode
	if encode == nil {
		panic(fail.With(parser.Errorf(e.Pos, "encodings are not known here")))
	}
	bytes := fail.Must(encode(e.Encoding, x.Type()))
	f := &Function{Name: e.Encoding.String(), Group: encodedGroup, Result: func([]Expr) (types.Type, error) { return types.Bytes, nil }, Strict: true,
		Eval: func(_ *Env, a []types.Value) (types.Value, error) { return bytes(a[0]) }}
	return c.fold(&Call{Pos: e.Pos, Func: f, Args: []Expr{x}, Typ: types.Bytes})
}

// isNumberLiteral reports whether e is a number literal, with or without a sign.
func isNumberLiteral(e parser.Expr) bool {
	if u, ok := e.(*parser.Unary); ok && u.Op == "-" {
		e = u.X
	}
	l, ok := e.(*parser.Literal)
	return ok && l.Kind == parser.NumberLiteral
}

// fieldFunctions maps functions to the field of an equivalent EXTRACT.
var fieldFunctions = map[string]string{"YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "DAY": "day", "DAYOFMONTH": "day", "DAYOFYEAR": "doy", "HOUR": "hour", "MINUTE": "minute", "SECOND": "second"}

// rangeArg returns the values of 'a' TO 'b', which are decimal numbers of equal width, or integers.
func (c compiler) rangeArg(r *parser.RangeArg) []Expr {
	lo := c.expr(r.Lo)
	hi := c.expr(r.Hi)
	a, ok1 := lo.(*Const)
	b, ok2 := hi.(*Const)
	if !ok1 || !ok2 || a.Typ != b.Typ {
		panic(fail.With(parser.Errorf(r.Pos, "TO takes two constants of one type")))
	}
	const most = 1 << 16
	var from, to int64
	width := 0
	switch {
	case a.Typ == types.BigInt:
		from, to = a.Val.Int(), b.Val.Int()
	case a.Typ == types.String && len(a.Val.Text()) == len(b.Val.Text()):
		width = len(a.Val.Text())
		va, err1 := types.Cast(a.Val, types.BigInt, nil)
		vb, err2 := types.Cast(b.Val, types.BigInt, nil)
		if err1 != nil || err2 != nil {
			panic(fail.With(parser.Errorf(r.Pos, "TO takes two integers, or two texts of equally many digits: 1 TO 16, '00' TO '15'")))
		}
		from, to = va.Int(), vb.Int()
	default:
		panic(fail.With(parser.Errorf(r.Pos, "TO takes two integers, or two texts of equally many digits: 1 TO 16, '00' TO '15'")))
	}
	if to < from || to-from >= most {
		panic(fail.With(parser.Errorf(r.Pos, "%s TO %s is not a range of at most %d values", a, b, most)))
	}
	var out []Expr
	for i := from; i <= to; i++ {
		v := types.NewInt(i)
		if width > 0 {
			v = types.NewString(fmt.Sprintf("%0*d", width, i))
		}
		out = append(out, &Const{Pos: r.Pos, Val: v, Typ: v.Type()})
	}
	return out
}

// apply returns a call of the function with this name.
func (c compiler) apply(name string, pos parser.Pos, args []Expr) Expr {
	f := c.lookup(name)
	switch {
	case f == nil:
		panic(fail.With(UnknownFunction(c.registry(), name, pos)))
	case f.Group == "key" && !c.s.Key:
		panic(fail.With(parser.Errorf(pos, "%s is allowed only in key parts", name)))
	}
	if len(args) < f.MinArgs || f.MaxArgs >= 0 && len(args) > f.MaxArgs {
		panic(fail.With(parser.Errorf(pos, "%s takes %s, not %d", f.Name, f.arity(), len(args))))
	}
	if c.s.Key && f.Group == "operator" {
		for i, a := range args {
			if a.Type().IsTimestamp() {
				args = slices.Clone(args)
				args[i] = &Cast{Pos: a.Position(), X: a, Typ: types.BigInt}
			}
		}
	}
	if f.Group == "window" {
		panic(fail.With(parser.Errorf(pos, "%s is a window function: it takes OVER (...) after its arguments", name)))
	}
	if f.Eval == nil {
		panic(fail.With(misplaced(pos, f.Name)))
	}
	if f.Set && (!c.s.Sets || slices.ContainsFunc(args, func(a Expr) bool { return Some(a, returnsRows) })) {
		panic(fail.With(parser.Errorf(pos, "%s gives several rows, which is not allowed here", f.Name).WithHint("it is allowed in FROM and in the list of a SELECT")))
	}
	args, t, err := c.accepted(f, args)
	if wrong, ok := errors.AsType[ArgumentError](err); ok {
		panic(fail.With(parser.Errorf(pos, "%s: %s", f.Name, wrong)))
	}
	if err != nil {
		panic(fail.With(parser.Errorf(pos, "%s", err)))
	}
	return c.fold(&Call{Pos: pos, Func: f, Args: args, Typ: t})
}

// accepted returns the arguments of f, and the type of its result. It reads a text constant as the type that f takes in its
// place, and records that type for a parameter.
func (c compiler) accepted(f *Function, args []Expr) (_ []Expr, t types.Type, err error) {
	defer fail.Catch(&err)
	args = slices.Clone(args)
	if f.Group == "operator" && len(args) == 2 {
		args[0], args[1] = c.operands(f.Name, args[0], args[1])
	}
	for i, x := range args {
		if c.s.Parameters == nil || x.Type() != types.Null {
			continue
		}
		if i < len(f.Reads) {
			c.wants(x, f.Reads[i])
		}
		texts := slices.Clone(args)
		texts[i] = &Const{Pos: x.Position(), Typ: types.String}
		_, err := f.Result(texts)
		if wrong, ok := errors.AsType[ArgumentError](err); ok && wrong.N == i+1 {
			c.wants(x, wrong.read())
		}
	}
	for {
		t, err = f.Result(args)
		wrong, ok := errors.AsType[ArgumentError](err)
		if !ok || wrong.At != types.String || wrong.read() == types.Null {
			return args, t, err
		}
		x := c.place(args[wrong.N-1], wrong.read())
		if x == args[wrong.N-1] {
			return args, t, err
		}
		args[wrong.N-1] = x
	}
}

// Accepted returns the arguments of f, an aggregate, with text constants read as the types that f takes, and the type of
// its result.
func Accepted(f *Function, args []Expr, s *Scope) ([]Expr, types.Type, error) {
	return compiler{s}.accepted(f, args)
}

// ArgumentError reports an argument of a type that a function does not accept.
type ArgumentError struct {
	N     int // from 1
	At    types.Type
	Takes func(types.Type) bool // nil: several classes are accepted
}

// read returns the type to which a text constant is converted if it is the refused argument: PostgreSQL's preferred
// type among those that the function accepts, or NULL if it accepts none of these.
func (e ArgumentError) read() types.Type {
	for _, t := range []types.Type{types.Timestamp, types.Duration, types.Double, types.BigInt, types.Boolean, types.Bytes, types.ArrayOf(types.String)} {
		if e.Takes != nil && e.Takes(t) {
			return t
		}
	}
	return types.Null
}

func (e ArgumentError) Error() string { return fmt.Sprintf("argument %d cannot be %s", e.N, e.At) }

// returnsRows reports whether e is a call of a function that returns rows.
func returnsRows(e Expr) bool {
	c, ok := e.(*Call)
	return ok && c.Func.Set
}

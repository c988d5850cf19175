package planner

import (
	"math"
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// windowMark is the index from which on a column represents a window function's value, while a core is planned.
const windowMark = 1 << 26

// windows collects the window functions of a core.
type windows struct {
	aggs  *aggregates // their scope is used, since windows may contain aggregates
	named []parser.NamedWindow
	calls []windowCall
}

// windowCall is a WindowCall with its PARTITION BY and ORDER BY.
type windowCall struct {
	plan.WindowCall
	partition []expr.Expr
	order     []plan.SortTerm
	text      string
}

// window compiles a window. The returned call has no function yet.
func (w *windows) window(spec *parser.Window) (out windowCall) {
	scope := w.aggs.scope()
	compile := func(x parser.Expr) expr.Expr {
		e := fail.Must(expr.Compile(x, scope))
		notVolatile(e)
		return e
	}
	for _, x := range spec.PartitionBy {
		out.partition = append(out.partition, compile(x))
	}
	for _, t := range spec.OrderBy {
		out.order = append(out.order, sortTerms(t, compile(t.Expr))...)
	}
	out.Frame = w.frame(spec)
	return out
}

// notVolatile refuses a sort key whose value may differ when it is compared later.
func notVolatile(e expr.Expr) {
	if f := expr.Volatile(e); f != "" {
		panic(fail.With(parser.Errorf(e.Position(), "%s gives another value each time: rows cannot be distinguished by it here", f).
			WithHint("compute it in a sub-query in FROM, and take its column")))
	}
}

// scope returns a scope that also resolves window functions.
func (w *windows) scope() *expr.Scope {
	s := w.aggs.scope()
	aggregate := s.Call
	s.Call = func(c *parser.Call) (expr.Expr, bool, error) {
		if c.Over == nil || w.aggs.inside {
			return aggregate(c)
		}
		x, err := fail.Try(func() expr.Expr { return w.call(c) })
		return x, true, err
	}
	return s
}

// call compiles a window function and returns the column that represents its value.
func (w *windows) call(c *parser.Call) expr.Expr {
	spec := specOf(c.Over, w.named)
	out := windowCall{text: (&parser.Call{Name: c.Name, Star: c.Star, Distinct: c.Distinct, Args: c.Args, OrderBy: c.OrderBy, Within: c.Within, Filter: c.Filter, Over: spec}).String()}
	f := functions.Builtins().Lookup(c.Name)
	switch {
	case f != nil && f.Grouping:
		return w.aggs.grouping(c)
	case f != nil && f.Group == "aggregate":
		if c.Within || c.Distinct || len(c.OrderBy) > 0 || f.Within {
			panic(fail.With(parser.Errorf(c.Pos, "%s takes no DISTINCT, ORDER BY and WITHIN GROUP as a window function", c.Name)))
		}
		out.AggCall = w.aggs.compile(c, f)
	case f != nil && f.Group == "window":
		out.AggCall = w.function(c, f)
	case f == nil:
		panic(fail.With(expr.UnknownFunction(functions.Builtins(), c.Name, c.Pos)))
	default:
		panic(fail.With(parser.Errorf(c.Pos, "%s is not a window function or an aggregate: it cannot have OVER", c.Name)))
	}
	win := w.window(spec)
	out.partition, out.order, out.Frame = win.partition, win.order, win.Frame
	at := slices.IndexFunc(w.calls, func(o windowCall) bool { return o.text == out.text })
	if at < 0 {
		at = len(w.calls)
		w.calls = append(w.calls, out)
	}
	return &expr.Column{Pos: c.Pos, Index: windowMark + at, Name: strings.ToLower(c.Name), Typ: out.Typ, Limit: w.aggs.q.limit(&out.AggCall)}
}

// check compiles the windows of the WINDOW clause, whether they are used or not.
func (w *windows) check() {
	for i, n := range w.named {
		if slices.ContainsFunc(w.named[:i], func(o parser.NamedWindow) bool { return strings.EqualFold(o.Name, n.Name) }) {
			panic(fail.With(parser.Errorf(n.Pos, "there are two windows called %q", n.Name)))
		}
		w.window(specOf(n.Window, w.named[:i]))
	}
}

// specOf returns the window of the WINDOW clause to which o refers, with what o adds to it; or o if it has no name.
func specOf(o *parser.Window, named []parser.NamedWindow) *parser.Window {
	if o.Name == "" {
		return o
	}
	for i, n := range named {
		if !strings.EqualFold(n.Name, o.Name) {
			continue
		}
		base := specOf(n.Window, named[:i])
		if !o.Copies {
			return base
		}
		switch {
		case o.PartitionBy != nil:
			panic(fail.With(parser.Errorf(o.Pos, "cannot override PARTITION BY clause of window %q", o.Name)))
		case o.OrderBy != nil && base.OrderBy != nil:
			panic(fail.With(parser.Errorf(o.Pos, "cannot override ORDER BY clause of window %q", o.Name)))
		case base.Frame != nil:
			panic(fail.With(parser.Errorf(o.Pos, "cannot copy window %q because it has a frame clause", o.Name)))
		}
		out := &parser.Window{Pos: o.Pos, PartitionBy: base.PartitionBy, OrderBy: o.OrderBy, Frame: o.Frame}
		if out.OrderBy == nil {
			out.OrderBy = base.OrderBy
		}
		return out
	}
	panic(fail.With(parser.Errorf(o.Pos, "unknown window %q", o.Name).WithHint("WINDOW %s AS (...) behind the other clauses defines it", o.Name)))
}

// function compiles a function that requires a window.
func (w *windows) function(c *parser.Call, f *expr.Function) plan.AggCall {
	out := plan.AggCall{Func: plan.Func(f.Name)}
	if c.Star || c.Distinct || c.Within || c.OrderBy != nil || c.Filter != nil {
		panic(fail.With(parser.Errorf(c.Pos, "%s is not an aggregate: it takes no *, DISTINCT, ORDER BY or FILTER", c.Name)))
	}
	if len(c.Args) < f.MinArgs || len(c.Args) > f.MaxArgs {
		panic(fail.With(parser.Errorf(c.Pos, "%s takes %s", c.Name, f.Signature)))
	}
	args := fail.Must(expr.CompileAll(c.Args, w.aggs.scope()))
	if i := f.Otherwise - 1; i >= 0 && i < len(args) {
		same, t := fail.Must2(expr.Common([]expr.Expr{args[0], args[i]}, w.aggs.scope(), c.Pos))
		args[0], args[i], out.Typ = same[0], same[1], t
	}
	var err error
	if args, out.Typ, err = expr.Accepted(f, args, w.aggs.scope()); err != nil {
		panic(fail.With(parser.Errorf(c.Pos, "%s: %s", c.Name, err)))
	}
	if len(args) > 0 {
		out.Arg, out.Args = args[0], args[1:]
	}
	return out
}

var boundKinds = map[string]plan.BoundKind{"UNBOUNDED PRECEDING": plan.UnboundedPreceding, "PRECEDING": plan.Preceding, "CURRENT ROW": plan.CurrentRow,
	"FOLLOWING": plan.Following, "UNBOUNDED FOLLOWING": plan.UnboundedFollowing}

var frameModes = map[string]plan.FrameMode{"RANGE": plan.RangeFrame, "ROWS": plan.RowsFrame, "GROUPS": plan.GroupsFrame}

func (w *windows) frame(spec *parser.Window) plan.Frame {
	f := spec.Frame
	if f == nil {
		return plan.Frame{Start: plan.FrameBound{Kind: plan.UnboundedPreceding}, End: plan.FrameBound{Kind: plan.CurrentRow}}
	}
	out := plan.Frame{Mode: frameModes[f.Mode], Exclude: f.Exclude}
	out.Start = w.bound(spec, f, f.Start)
	out.End = w.bound(spec, f, f.End)
	switch {
	case out.Start.Kind == plan.UnboundedFollowing:
		panic(fail.With(parser.Errorf(f.Start.Pos, "a frame cannot start at UNBOUNDED FOLLOWING")))
	case out.End.Kind == plan.UnboundedPreceding:
		panic(fail.With(parser.Errorf(f.End.Pos, "a frame cannot end at UNBOUNDED PRECEDING")))
	case out.Start.Kind > out.End.Kind:
		panic(fail.With(parser.Errorf(f.Start.Pos, "a frame that starts at %s cannot end at %s", f.Start.Kind, f.End.Kind)))
	case f.Mode == "GROUPS" && len(spec.OrderBy) == 0:
		panic(fail.With(parser.Errorf(f.Pos, "GROUPS needs ORDER BY in the window")))
	}
	return out
}

// bound compiles an end of a frame.
func (w *windows) bound(spec *parser.Window, f *parser.Frame, b parser.FrameBound) plan.FrameBound {
	out := plan.FrameBound{Kind: boundKinds[b.Kind]}
	if b.Offset == nil {
		return out
	}
	at, scope, t := b.Offset.Position(), w.aggs.scope(), types.BigInt
	x := fail.Must(expr.Compile(b.Offset, scope))
	if f.Mode == "RANGE" {
		if len(spec.OrderBy) != 1 {
			panic(fail.With(parser.Errorf(b.Pos, "RANGE with %s needs a window with ORDER BY one expression", b.Kind)))
		}
		t = fail.Must(expr.Compile(spec.OrderBy[0].Expr, scope)).Type()
	}
	read := t
	switch {
	case t.IsTemporal():
		read = types.Duration
	case !t.IsNumeric():
		read = types.Null
	}
	x = fail.Must(expr.Place(x, read, scope))
	k, ok := x.(*expr.Const)
	if ok && k.Val.IsNull() && scope.Parameters != nil { // the parameter has no value yet
		return out
	}
	if !ok || k.Val.IsNull() {
		panic(fail.With(parser.Errorf(at, "%s %s takes a constant", f.Mode, b.Kind)))
	}
	if f.Mode == "RANGE" {
		w.rangeOffset(&out, spec, b, t, k.Val)
		return out
	}
	by := k.Val
	if !by.Type().IsInteger() || by.Int() < 0 {
		panic(fail.With(parser.Errorf(at, "%s %s takes a whole number that is not negative", f.Mode, b.Kind)))
	}
	out.By = by
	return out
}

// rangeOffset sets the distance of a RANGE frame's end from the row's own value of type t: a number, or an interval if the
// order is by time.
func (w *windows) rangeOffset(out *plan.FrameBound, spec *parser.Window, b parser.FrameBound, t types.Type, by types.Value) {
	at := b.Offset.Position()
	switch {
	case t.IsTemporal():
		if by.Type() != types.Duration {
			panic(fail.With(parser.Errorf(at, "%s of %s takes an INTERVAL", b.Kind, t)))
		}
		w.intervalOffset(out, b, t, spec.OrderBy[0].Desc, by)
		return
	case !t.IsNumeric() || by.Type() == types.Duration:
		panic(fail.With(parser.Errorf(at, "RANGE with %s is not defined for ORDER BY of %s", b.Kind, t)))
	}
	zero := types.NewInt(0)
	if c, err := types.Compare(by, zero); err != nil || c < 0 || by.Type() == types.Double && math.IsNaN(by.Double()) {
		panic(fail.With(parser.Errorf(at, "%s takes a number that is not negative", b.Kind)))
	}
	out.By = by
}

// intervalOffset sets the distance of a RANGE frame's end as an interval, for values of type t.
func (w *windows) intervalOffset(out *plan.FrameBound, b parser.FrameBound, t types.Type, desc bool, by types.Value) {
	at := b.Offset.Position()
	if by.Millis() < 0 {
		panic(fail.With(parser.Errorf(at, "%s takes an interval that is not negative", b.Kind)))
	}
	if t == types.Time { // a TIME does not wrap at midnight here
		_, _, ms := by.Duration()
		out.By = types.NewInt(ms)
		return
	}
	op := "-"
	if (b.Kind == "FOLLOWING") != desc {
		op = "+"
	}
	out.Moved = fail.Must(w.aggs.q.moved(&expr.Column{Pos: at, Name: "value", Typ: t}, op, &parser.Literal{Pos: at, Kind: parser.IntervalLiteral, Text: by.String()}))
}

// moved compiles x op by; x is already compiled.
func (q *query) moved(x expr.Expr, op string, by parser.Expr) (expr.Expr, error) {
	scope := q.scope(nil)
	scope.Column = func(*parser.ColumnRef) (expr.Expr, error) { return x, nil }
	return expr.Compile(&parser.Binary{Pos: by.Position(), Op: op, X: &parser.ColumnRef{Pos: by.Position(), Name: "x"}, Y: by}, scope)
}

// exprs calls f with a pointer to each expression in w's calls.
func (w *windows) exprs(f func(*expr.Expr)) {
	for i := range w.calls {
		c := &w.calls[i]
		for _, e := range []*expr.Expr{&c.Arg, &c.Filter} {
			if *e != nil {
				f(e)
			}
		}
		for _, list := range [][]expr.Expr{c.Args, c.partition} {
			for k := range list {
				f(&list[k])
			}
		}
		for k := range c.order {
			f(&c.order[k].Expr)
		}
	}
}

// terms returns the order that c's input must have.
func (c *windowCall) terms() []plan.SortTerm {
	return append(groupOrder(c.partition), c.order...)
}

// over adds nodes to n that compute the calls; one node computes the calls with the same order. ordered reports whether
// n is in the order of the first call. It returns the index of each call's value in the rows.
func (w *windows) over(n plan.Node, ordered bool) (plan.Node, []int) {
	at := make([]int, len(w.calls))
	for i := range w.calls {
		c := &w.calls[i]
		if at[i] > 0 {
			continue
		}
		if terms := c.terms(); len(terms) > 0 && !(ordered && i == 0) {
			n = &plan.Sort{Input: n, By: terms}
		}
		node := &plan.Window{Input: n, PartitionBy: c.partition, OrderBy: c.order}
		for k := i; k < len(w.calls); k++ {
			if o := &w.calls[k]; sameAll(c.partition, o.partition) && sameTerms(c.order, o.order) {
				at[k] = node.Width()
				node.Calls = append(node.Calls, o.WindowCall)
			}
		}
		n = node
	}
	return n, at
}

func sameAll(a, b []expr.Expr) bool { return slices.EqualFunc(a, b, expr.Same) }

func sameTerms(a, b []plan.SortTerm) bool {
	return slices.EqualFunc(a, b, func(x, y plan.SortTerm) bool {
		return expr.Same(x.Expr, y.Expr) && x.Desc == y.Desc && x.NullsFirst == y.NullsFirst
	})
}

// placed replaces the columns in e that represent window functions by the columns that hold their values.
func placed(e expr.Expr, at []int) expr.Expr {
	return moved(e, func(i int) int {
		if i < windowMark {
			return i
		}
		return at[i-windowMark]
	})
}

// distinctOn compiles the expressions of DISTINCT ON; as in ORDER BY, they may be names or numbers of result columns. The
// first terms of ORDER BY must be the same expressions, in any order.
func (q *query) distinctOn(list []parser.Expr, outs []output, terms []plan.SortTerm, scope *expr.Scope) []expr.Expr {
	by := make([]parser.OrderTerm, len(list))
	for i, x := range list {
		by[i].Expr = x
	}
	compiled := q.orderTerms("DISTINCT ON", by, outs, scope)
	on := []expr.Expr{}
	for _, t := range compiled {
		if !isSet(t.Expr) {
			notVolatile(t.Expr)
		}
		if !has(on, t.Expr) {
			on = append(on, t.Expr)
		}
	}
	seen := 0
	for i, t := range terms {
		if seen == len(on) {
			break
		}
		if !has(on, t.Expr) {
			panic(fail.With(parser.Errorf(t.Expr.Position(), "ORDER BY must begin with the expressions of DISTINCT ON")))
		}
		if !slices.ContainsFunc(terms[:i], func(o plan.SortTerm) bool { return expr.Same(o.Expr, t.Expr) }) {
			seen++
		}
	}
	return on
}

func has(list []expr.Expr, x expr.Expr) bool {
	return slices.ContainsFunc(list, func(y expr.Expr) bool { return expr.Same(x, y) })
}

// onFirst returns an order that begins with the expressions of on, each once and in the direction of terms.
func onFirst(on []expr.Expr, terms []plan.SortTerm) []plan.SortTerm {
	var out []plan.SortTerm
	var given []expr.Expr
	for _, t := range append(slices.Clone(terms), groupOrder(on)...) {
		if !has(given, t.Expr) {
			given, out = append(given, t.Expr), append(out, t)
		}
	}
	return out
}

package parser

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// windowDef is name AS (...) after WINDOW.
type windowDef struct {
	Name ident      `parser:"@@ 'AS'"`
	Spec windowSpec `parser:"@@"`
}

// windowSpec is a window in parentheses.
type windowSpec struct {
	window *Window
	height int
}

func (n *windowSpec) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	r := exprReader{lex: lex}
	t := lex.Peek()
	if !wanted(lex, "(") {
		return participle.NextMatch
	}
	n.window = r.window(t)
	n.height = r.height
	return nil
}

// over reads the rest of OVER: a window's name, or (...).
func (r *exprReader) over() *Window {
	t := r.lex.Peek()
	if wanted(r.lex, "(") {
		return r.window(t)
	}
	if !isName(t) {
		panic(absent(r.lex, "a window's name"))
	}
	r.lex.Next()
	return &Window{Pos: pos(t), Name: name(t)}
}

// window reads a window after its parenthesis t.
func (r *exprReader) window(t *lexer.Token) (out *Window) {
	out = &Window{Pos: pos(t)}
	if n := r.lex.Peek(); isName(n) && !slices.Contains([]string{"PARTITION", "ROWS", "RANGE", "GROUPS"}, n.Value) {
		out.Name, out.Copies = name(r.lex.Next()), true
	}
	if wanted(r.lex, "PARTITION", "BY") {
		out.PartitionBy = r.list(1)
	}
	if wanted(r.lex, "ORDER", "BY") {
		out.OrderBy = r.order()
	}
	for _, mode := range []string{"ROWS", "RANGE", "GROUPS"} {
		if t := r.lex.Peek(); out.Frame == nil && wanted(r.lex, mode) {
			out.Frame = r.frame(t)
			out.Frame.Exclude = r.excluded()
		}
	}
	need(r.lex, ")")
	return out
}

// frame reads a frame after t: ROWS, RANGE or GROUPS.
func (r *exprReader) frame(t *lexer.Token) (out *Frame) {
	out = &Frame{Pos: pos(t), Mode: t.Value, End: FrameBound{Pos: pos(t), Kind: "CURRENT ROW"}}
	between := wanted(r.lex, "BETWEEN")
	if out.Start = r.frameBound(); !between {
		return out
	}
	need(r.lex, "AND")
	out.End = r.frameBound()
	return out
}

// excluded reads the EXCLUDE of a frame.
func (r *exprReader) excluded() string {
	if !wanted(r.lex, "EXCLUDE") || wanted(r.lex, "NO", "OTHERS") {
		return ""
	}
	for _, what := range []string{"CURRENT ROW", "GROUP", "TIES"} {
		if wanted(r.lex, strings.Fields(what)...) {
			return what
		}
	}
	panic(fail.With(unexpected(r.lex)))
}

func (r *exprReader) frameBound() (out FrameBound) {
	out.Pos = pos(r.lex.Peek())
	for _, words := range [][]string{{"UNBOUNDED", "PRECEDING"}, {"UNBOUNDED", "FOLLOWING"}, {"CURRENT", "ROW"}} {
		if wanted(r.lex, words...) {
			out.Kind = words[0] + " " + words[1]
			return out
		}
	}
	if !r.startsOperand() {
		panic(fail.With(unexpected(r.lex)))
	}
	out.Offset = r.binary(bindRange + 1)
	for _, word := range []string{"PRECEDING", "FOLLOWING"} {
		if wanted(r.lex, word) {
			out.Kind = word
			return out
		}
	}
	panic(fail.With(unexpected(r.lex)))
}

func (w *Window) print(p *printer) {
	var parts []string
	if w.Copies {
		parts = append(parts, QuoteName(w.Name))
	}
	if w.PartitionBy != nil {
		parts = append(parts, sql("PARTITION BY ", commas(w.PartitionBy)))
	}
	if w.OrderBy != nil {
		parts = append(parts, sql("ORDER BY ", commas(w.OrderBy)))
	}
	if f := w.Frame; f != nil {
		exclude := when(f.Exclude != "", " EXCLUDE ") + f.Exclude
		parts = append(parts, sql(f.Mode, " BETWEEN ", f.Start, " AND ", f.End, exclude))
	}
	p.put("(", strings.Join(parts, " "), ")")
}

func (b FrameBound) print(p *printer) {
	p.put(bounded(b.Offset), when(b.Offset != nil, " "), b.Kind)
}

package access

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// What is read of a table, in the notation of plan.Span.Over, and the boxes before it. The input is a predicate. Lines before it that begin
// with ( are the columns and the layouts of the table; without them it is that of the case before.
//
//	boxes    {a: [1 - 1], b: [3 - )}: each column with its set; what cannot match is no box
//	spans    one line for each span, then "tight" where they prove the predicate, or "residual" and what is left of it
//	         order=(a,b desc): the order, if the key has it
//	         max_spans=n: no more spans than that
func TestSpans(t *testing.T) {
	datadriven.Walk(t, "testdata/spans", func(t *testing.T, path string) {
		var table *catalog.Table
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			where := d.Input
			if strings.HasPrefix(where, "(") && strings.Contains(where, "ROW KEY") {
				def := ""
				def, where = where[:strings.LastIndex(where, "\n")], where[strings.LastIndex(where, "\n")+1:]
				c := catalog.New()
				if err := c.Load("CREATE TABLE t " + def); err != nil {
					d.Fatalf(t, "%v", err)
				}
				table, _ = c.Table("t")
			}
			cond, err := compileWhere(table, where, nil)
			if err != nil {
				return strings.SplitN(err.Error(), "\n", 2)[0]
			}
			req := &Request{Table: table, Conjuncts: expr.Conjuncts(cond), Needed: make([]bool, len(table.Columns)+2)}
			if d.Cmd == "boxes" {
				return boxesText(t, req)
			}
			env := &Env{}
			d.MaybeScanArgs(t, "max_spans", &env.Options.MaxSpans)
			order, _ := d.Arg("order")
			for _, term := range order.Vals {
				name, dir, _ := strings.Cut(term, " ")
				c, _ := table.Column(name)
				req.OrderBy = append(req.OrderBy, plan.SortTerm{Expr: &expr.Column{Index: c.Index, Name: c.Name, Typ: c.Type}, Desc: dir == "desc"})
			}
			return spansText(t, env, req)
		})
	})
}

func spansText(t *testing.T, env *Env, req *Request) string {
	s, err := env.Scan(req)
	if err != nil {
		t.Fatal(err)
	}
	if s.Access == plan.Empty {
		return "none"
	}
	var b strings.Builder
	if s.Layout.Kind != catalog.Primary {
		fmt.Fprintf(&b, "by %s\n", s.Layout.Name)
	}
	for _, sp := range s.Spans {
		b.WriteString(sp.Over(s.Layout) + "\n")
		if err := readsBack(sp, s.Layout); err != nil {
			t.Error(err)
		}
	}
	if s.Hop != nil {
		b.WriteString(s.Hop.Over(s.Layout) + "\n")
	}
	if len(req.OrderBy) > 0 {
		fmt.Fprintf(&b, "order %s\n", s.Order)
	}
	var left []expr.Expr
	for _, f := range s.Fates {
		if f.By != plan.ByKey {
			left = append(left, f.Expr)
		}
	}
	read := strings.TrimSuffix(b.String(), "\n")
	if len(left) == 0 {
		return read + "  tight"
	}
	return read + "\nresidual " + expr.Conjunction(left).String()
}

// boxesText prints the boxes of a request.
func boxesText(t *testing.T, req *Request) string {
	c := &columns{table: req.Table, parts: partsNamed(req.Table, req.Conjuncts)}
	boxes, capped := boxMaker{env: &Env{}, columns: c}.conjunction(termsOf(req.Conjuncts, c))
	if len(boxes) == 0 {
		return "none"
	}
	var lines []string
	for _, x := range boxes {
		text := boxText(c, x)
		back, err := parseBox(c, text)
		if err != nil || boxText(c, back) != text || fmt.Sprint(back.cols) != fmt.Sprint(x.cols) {
			t.Errorf("%s is read back as %s: %v", text, boxText(c, back), err)
		}
		lines = append(lines, text)
	}
	if capped {
		lines = append(lines, "capped")
	}
	return strings.Join(lines, "\n")
}

func (c *columns) name(col int) string {
	switch {
	case col >= c.first():
		return c.parts[col-c.first()].String()
	case col >= len(c.table.Columns):
		return [...]string{catalog.KeyColumn, catalog.TimestampColumn}[col-len(c.table.Columns)]
	}
	return c.table.Columns[col].Name
}

func boxText(c *columns, x box) string {
	var terms []string
	for col, s := range x.cols {
		if s != nil {
			terms = append(terms, c.name(col)+": "+s.String())
		}
	}
	return "{" + strings.Join(terms, ", ") + "}"
}

// cut splits text at each sep that stands in no quotes and in no brackets.
func cut(text, sep string) []string {
	var out []string
	at, depth, quoted, escapes := 0, 0, false, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && escapes && text[i] == '\\':
			i++
			continue
		case text[i] == '\'':
			quoted, escapes = !quoted, i > 0 && text[i-1] == 'E'
			continue
		case quoted:
			continue
		}
		if depth == 0 && strings.HasPrefix(text[i:], sep) {
			out, at = append(out, text[at:i]), i+len(sep)
			i += len(sep) - 1
			continue
		}
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		}
	}
	return append(out, text[at:])
}

func parseBox(c *columns, text string) (box, error) {
	x := box{cols: make([]types.Set, c.width())}
	body := strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
	if body == "" {
		return x, nil
	}
	for _, term := range cut(body, ", ") {
		pieces := cut(term, ": ")
		col := 0
		for c.name(col) != pieces[0] {
			col++
		}
		typ := types.BigInt
		if col >= c.first() {
			typ = c.parts[col-c.first()].Type()
		} else if col < len(c.table.Columns) {
			typ = c.table.Columns[col].Type
		}
		var ivs []types.Interval
		for _, iv := range cut(pieces[1], " ") {
			v, err := parseInterval(iv, typ)
			if err != nil {
				return x, err
			}
			ivs = append(ivs, v)
		}
		x.cols[col] = types.SetOf(ivs...)
	}
	return x, nil
}

// parseInterval reads [1 - 5), open where nothing stands.
func parseInterval(text string, typ types.Type) (iv types.Interval, err error) {
	ends := cut(text[1:len(text)-1], " - ")
	if len(ends) != 2 {
		return iv, fmt.Errorf("%s is no interval", text)
	}
	iv.LoOpen, iv.HiOpen = text[0] == '(' && ends[0] != "", text[len(text)-1] == ')' && ends[1] != ""
	if ends[0] != "" {
		if iv.Lo, err = parseValue(ends[0], typ); err != nil {
			return iv, err
		}
	}
	if ends[1] != "" {
		iv.Hi, err = parseValue(ends[1], typ)
	}
	return iv, err
}

func parseValue(text string, typ types.Type) (types.Value, error) {
	tree, err := parser.ParseExpr(text)
	if err != nil {
		return types.Value{}, err
	}
	x, err := expr.Compile(tree, &expr.Scope{Funcs: functions.Builtins()})
	if err != nil {
		return types.Value{}, err
	}
	return types.Cast(expr.Fold(x, nil).(*expr.Const).Val, typ, nil)
}

// parseSpan reads what plan.Span.Over prints.
func parseSpan(l *catalog.Layout, text string) (sp plan.Span, err error) {
	if len(l.Stored.Parts) > 1 || l.Stored.Parts[0].Literal == nil {
		at := min(strings.Index(text+" [", " ["), strings.Index(text+" /", " /"))
		sp.Table, text = strings.TrimPrefix(text[:at], "*"), text[at+1:]
	} else {
		sp.Table = string(l.Stored.Parts[0].Literal)
	}
	if strings.HasPrefix(text, "/") {
		sp.Key = true
		sp.Start, err = parseTuple(l.Key, text)
		return sp, err
	}
	if ends := cut(text, " from "); len(ends) == 2 {
		if sp.SignSplit, err = parseTuple(l.Key, ends[1]); err != nil {
			return sp, err
		}
		text = ends[0]
	}
	ends := cut(text[1:len(text)-1], " - ")
	if len(ends) != 2 {
		return sp, fmt.Errorf("%s is no span", text)
	}
	if sp.Start, err = parseTuple(l.Key, ends[0]); err != nil {
		return sp, err
	}
	if sp.Stop, err = parseTuple(l.Key, ends[1]); err == nil && strings.HasSuffix(text, "]") {
		sp.Stop = types.PrefixEnd(sp.Stop)
	}
	return sp, err
}

func parseTuple(k *catalog.Composite, text string) (key []byte, err error) {
	if text == "" || text == "/" {
		return nil, nil
	}
	for i, e := range cut(text, "/")[1:] {
		if raw, ok := strings.CutPrefix(e, "0x"); ok {
			b, err := hex.DecodeString(raw)
			if err != nil {
				return nil, err
			}
			key = append(key, b...)
			continue
		}
		if start, ok := strings.CutSuffix(e, "%"); ok {
			v, err := parseValue(start, types.String)
			if err != nil {
				return nil, err
			}
			key = append(key, v.Text()...)
			continue
		}
		v, err := parseValue(e, k.Parts[i].Expr.Type())
		if err != nil {
			return nil, err
		}
		if key, err = k.Parts[i].Append(key, v); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// readsBack checks that what is printed of sp is read as sp.
func readsBack(sp plan.Span, l *catalog.Layout) error {
	text := sp.Over(l)
	back, err := parseSpan(l, text)
	if err == nil && (sp.Table != back.Table || sp.Key != back.Key || !bytes.Equal(sp.Start, back.Start) || !bytes.Equal(sp.Stop, back.Stop) || !bytes.Equal(sp.SignSplit, back.SignSplit)) {
		err = errors.New("it is not the same")
	}
	if err != nil {
		return fmt.Errorf("%v is printed as %s, which is read as %v: %v", sp, text, back, err)
	}
	return nil
}

package parser

import "strings"

func (n *callNode) lower(l *lowerer) (Expr, error) {
	out := &Call{Pos: pos(n.Name.Tok), Name: strings.ToUpper(l.name(n.Name.Tok)), Star: n.Star, Distinct: n.Distinct}
	if n.Name.SaltHex {
		out.Name = "SALT_HEX"
	}
	if n.Star && (n.Distinct || n.Args.args != nil || n.OrderBy != nil) {
		return nil, Errorf(out.Pos, "%s(*) takes nothing beside the *", out.Name)
	}
	if n.Distinct && n.Args.args == nil {
		return nil, Errorf(out.Pos, "%s(DISTINCT) needs an argument", out.Name)
	}
	var err error
	if out.Args, err = l.args(n.Args.args); err != nil {
		return nil, err
	}
	if out.OrderBy, err = l.order(n.OrderBy); err != nil {
		return nil, err
	}
	out.Filter, err = l.expr(n.Filter)
	return out, err
}

func (l *lowerer) args(in []argNode) ([]Expr, error) {
	var out []Expr
	for i := range in {
		x, err := l.expr(&in[i].lo)
		if err != nil {
			return nil, err
		}
		if in[i].to != nil {
			hi, err := l.expr(&in[i].hi)
			if err != nil {
				return nil, err
			}
			x = &RangeArg{Pos: pos(in[i].to), Lo: x, Hi: hi}
		}
		out = append(out, x)
	}
	return out, nil
}

// call makes a call with these arguments, nil ones left out.
func (l *lowerer) call(at Pos, name string, args ...*exprNode) (*Call, error) {
	out := &Call{Pos: at, Name: name}
	for _, a := range args {
		if a == nil {
			continue
		}
		x, err := l.expr(a)
		if err != nil {
			return nil, err
		}
		out.Args = append(out.Args, x)
	}
	return out, nil
}

// lower turns EXTRACT(YEAR FROM ts) into EXTRACT('year', ts).
func (n *extractNode) lower(l *lowerer) (Expr, error) {
	out, err := l.call(at(n.Pos), "EXTRACT", &n.Field, &n.X)
	if err != nil {
		return nil, err
	}
	if c, ok := out.Args[0].(*ColumnRef); ok && c.Table == "" {
		out.Args[0] = &Literal{Pos: c.Pos, Kind: StringLiteral, Text: strings.ToLower(c.Name)}
	}
	return out, nil
}

// lower turns POSITION(a IN b) into STRPOS(b, a).
func (n *positionNode) lower(l *lowerer) (Expr, error) {
	if n.In {
		return callExpr(l.call(at(n.Pos), "STRPOS", &n.X, &n.Needle.exprNode))
	}
	return callExpr(l.call(at(n.Pos), "POSITION", &n.Needle.exprNode, &n.X))
}

// callExpr drops the typed nil of a failed lowering.
func callExpr(c *Call, err error) (Expr, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// lower turns SUBSTRING(x FROM a FOR b) into SUBSTRING(x, a, b).
func (n *substringNode) lower(l *lowerer) (Expr, error) {
	args := make([]*exprNode, 0, 3)
	for i := range n.Args.items {
		args = append(args, &n.Args.items[i])
	}
	if (n.From != nil || n.For != nil) && len(args) != 1 {
		return nil, Errorf(at(n.Pos), "%s takes commas or FROM and FOR, not both", n.Name)
	}
	out, err := l.call(at(n.Pos), n.Name, append(args, n.From, n.For)...)
	if err == nil && n.For != nil && n.From == nil {
		one := &Literal{Pos: out.Pos, Kind: NumberLiteral, Text: "1"}
		out.Args = []Expr{out.Args[0], one, out.Args[1]}
	}
	return callExpr(out, err)
}

var trimNames = map[string]string{"": "TRIM", "BOTH": "TRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}

// lower turns TRIM(LEADING c FROM x) into LTRIM(x, c), TRAILING into RTRIM, BOTH and neither into TRIM.
func (n *trimNode) lower(l *lowerer) (Expr, error) {
	args := make([]*exprNode, 0, 3)
	if n.From != nil {
		args = append(args, n.From)
	}
	for i := range n.Args.items {
		args = append(args, &n.Args.items[i])
	}
	if len(args) == 0 || len(args) > 2 {
		return nil, Errorf(at(n.Pos), "TRIM takes a text and, before FROM, the characters to remove")
	}
	return callExpr(l.call(at(n.Pos), trimNames[n.Side], args...))
}

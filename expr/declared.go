package expr

import "github.com/hql-db/hql/types"

// Declared returns the type that PostgreSQL gives e: INT or SMALLINT for integers that are computed as BIGINTs although all
// of their operands are smaller, otherwise e.Type().
func Declared(e Expr) types.Type {
	if e.Type() != types.BigInt {
		return e.Type()
	}
	switch e := e.(type) {
	case *Const:
		if _, err := types.Cast(e.Val, types.Int, nil); e.Limit == types.Untyped && err == nil {
			return types.Int
		}
	case *Column:
		if e.Limit == types.Untyped {
			return types.Int
		}
	case *Subquery:
		if e.limit(0) == types.Untyped {
			return types.Int
		}
	case *Cast:
		if !e.Written && e.X.Type().IsInteger() {
			return Declared(e.X)
		}
	case *Case:
		return declaredOf(e.children())
	case *Call:
		switch {
		case e.Func.Small:
			return types.Int
		case e.Func.Group == "operator", e.Func.Same:
			return declaredOf(e.Args)
		}
	}
	return types.BigInt
}

// declaredOf returns the widest type of the integers among es. Without any, as of the difference of DATEs, it is INT.
func declaredOf(es []Expr) types.Type {
	t := types.Null
	for _, e := range es {
		if k, ok := e.(*Const); e.Type().IsInteger() && !(ok && k.Val.IsNull()) {
			t = Wider(t, Declared(e))
		}
	}
	if t == types.Null {
		return types.Int
	}
	return max(t, types.SmallInt)
}

// DeclaredLimit returns the limit of a result column of type t that has the values of es.
func DeclaredLimit(t types.Type, es ...Expr) types.Limit {
	if len(es) == 0 {
		return types.Limit{}
	}
	if c, ok := es[0].(*Column); ok && len(es) == 1 && c.Typ == t {
		return c.Limit
	}
	if t == types.BigInt && declaredOf(es) != t {
		return types.Untyped
	}
	return types.Limit{}
}

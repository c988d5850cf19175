package pgcatalog

import (
	"fmt"
	"time"

	"github.com/hql-db/hql/types"
)

// plainValue works like valueOf for types that need no cast, which most columns of large relations have; ok is false for other
// types.
func plainValue(x any, t types.Type) (v types.Value, ok bool) {
	switch x := x.(type) {
	case string:
		switch {
		case t == types.Name && len(x) < 64:
			return types.NewName(x), true
		case t == types.Char && len(x) < 2:
			return types.NewChar(x), true
		}
	case uint32:
		if t == types.OID {
			return types.NewOID(x), true
		}
	case int:
		switch {
		case t == types.OID:
			return types.NewOID(uint32(x)), true
		case t == types.SmallInt, t == types.Int:
			return types.NewIntOf(t, int64(x)), true
		}
	}
	return v, false
}

// valueOf converts x to a value of t.
func valueOf(x any, t types.Type) types.Value {
	var v types.Value
	if out, ok := plainValue(x, t); ok {
		return out
	}
	switch x := x.(type) {
	case nil:
		return v
	case bool:
		v = types.NewBool(x)
	case int:
		v = types.NewInt(int64(x))
	case int64:
		v = types.NewInt(x)
	case uint32:
		v = types.NewInt(int64(x))
	case float64:
		v = types.NewDouble(x)
	case string:
		v = types.NewString(x)
	case time.Time:
		v = types.NewTimestamp(x.UnixMilli())
	case []int:
		items := make([]types.Value, len(x))
		for i, n := range x {
			items[i] = valueOf(n, t.Elem())
		}
		return arrayOf(t, items)
	case []string:
		items := make([]types.Value, len(x))
		for i, s := range x {
			items[i] = valueOf(s, t.Elem())
		}
		return arrayOf(t, items)
	case types.Value:
		v = x
	default:
		panic(fmt.Sprintf("pgcatalog: %T is no value", x))
	}
	if v.Type() == t {
		return v
	}
	out, err := types.Cast(v, t, time.UTC)
	if err != nil {
		panic("pgcatalog: " + err.Error()) // of facts and definitions: no user's value is cast
	}
	return out
}

// arrayOf makes an array of type t. The indexes of a vector begin at 0, those of other arrays at 1.
func arrayOf(t types.Type, items []types.Value) types.Value {
	lower := 1
	if t == types.Int2Vector || t == types.OIDVector {
		lower = 0
	}
	return types.NewArrayOf(t, []types.Dim{{Lower: lower, Len: len(items)}}, items)
}

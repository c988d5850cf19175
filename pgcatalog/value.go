package pgcatalog

import (
	"fmt"
	"time"

	"github.com/hql-db/hql/types"
)

// valueOf is x as a value of t.
func valueOf(x any, t types.Type) types.Value {
	var v types.Value
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

// arrayOf makes an array of t. The elements of a vector are counted from 0.
func arrayOf(t types.Type, items []types.Value) types.Value {
	lower := 1
	if t == types.Int2Vector || t == types.OIDVector {
		lower = 0
	}
	return types.NewArrayOf(t, []types.Dim{{Lower: lower, Len: len(items)}}, items)
}

// Package companyhash adds a hash function to hql, so that ROW KEY can use it like a built-in one.
//
// It is an example for the hash of your existing keys: here the sum of the bytes' squares, modulo 4096.
package companyhash

import (
	"fmt"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// Tables maps a table whose keys begin with the hash of the device's name.
const Tables = `
CREATE TABLE readings (device STRING, ts TIMESTAMP, value DOUBLE)
  ROW KEY (SQUARES(device) AS UINT16, device AS TEXT, X'00', ts AS INT64);`

// Register makes SQUARES known to a catalog: hql.WithTables(companyhash.Register), before WithCatalog.
func Register(c *catalog.Catalog) error { return c.Funcs().Register(squares) }

const buckets = 4096

func sum(s string) int64 {
	n := 0
	for i := range len(s) {
		n = (n + int(s[i])*int(s[i])) % buckets
	}
	return int64(n)
}

var squares = expr.Function{
	Name: "SQUARES", Group: "hash", Signature: "squares(text) bigint", Doc: "The company's hash, 0 to 4095.", MinArgs: 1, MaxArgs: 1,
	Result: func(args []expr.Expr) (types.Type, error) {
		if t := args[0].Type(); !t.IsText() && t != types.Null {
			return 0, fmt.Errorf("SQUARES takes text, not %s", t)
		}
		return types.BigInt, nil
	},
	// Eval is never given NULL: NULL gives NULL.
	Eval: func(_ *expr.Env, args []types.Value) (types.Value, error) {
		return types.NewInt(sum(args[0].Text())), nil
	},
	// Key answers the planner's questions about a function in a key. SQUARES can be computed from its argument but not
	// inverted, so Key has only Domain, the values that SQUARES may return. For a function that grows with its
	// argument, or that can be inverted, Key has further answers: see expr.Algebra.
	Key: &expr.Algebra{Domain: func(*expr.Call) (types.Set, bool) {
		return types.SetOf(types.Interval{Lo: types.NewInt(0), Hi: types.NewInt(buckets - 1)}), true
	}},
}

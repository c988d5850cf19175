package operator

import (
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// distinctOn keeps the first row of each run of consecutive rows with equal values of by.
func distinctOn(in Operator, by []expr.Expr, env *expr.Env) Operator {
	some := false        // there was a row before
	var last, key []byte // the values of by in the previous row, and in this one
	return &sieve{in: in, keep: func(row []types.Value) (_ bool, err error) {
		if key, err = valuesKey(key[:0], by, env, row); err != nil || some && string(key) == string(last) {
			return false, err
		}
		some, last, key = true, key, last
		return true, nil
	}}
}

// valuesKey appends bytes that are equal for rows with equal values of es.
func valuesKey(dst []byte, es []expr.Expr, env *expr.Env, row []types.Value) ([]byte, error) {
	env.Row = row
	for _, e := range es {
		v, err := e.Eval(env)
		if err != nil {
			return dst, err
		}
		dst = v.AppendKey(dst)
	}
	return dst, nil
}

package functions

import (
	"errors"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// sequenceFunctions draw numbers from sequences, which the statement's environment knows.
var sequenceFunctions = []expr.Function{
	ofSequence("NEXTVAL", "nextval(sequence) bigint", "The next number of a sequence.", 1, 1),
	ofSequence("CURRVAL", "currval(sequence) bigint", "The number that nextval returned last for a sequence in the session.", 1, 1),
	ofSequence("LASTVAL", "lastval() bigint", "The number that nextval returned last in the session.", 0, 0),
	ofSequence("SETVAL", "setval(sequence, n [, drawn]) bigint", "Sets the last number of a sequence; with FALSE, n is the next one.", 2, 3),
	ofSequence("HQL_SEQUENCE", "hql_sequence(counter, column) bigint", "A column of the state of a sequence, whose name as a table shows it.", 2, 2),
}

func ofSequence(name, signature, doc string, least, most int) expr.Function {
	return expr.Function{Name: name, Group: "sequence", Signature: signature, Doc: doc, Unknown: "it differs each time", MinArgs: least, MaxArgs: most, Reads: []types.Type{types.String, types.BigInt, types.Boolean}, Volatile: true, Result: returns(types.BigInt),
		Eval: func(env *expr.Env, args []types.Value) (types.Value, error) {
			if env.Sequence == nil {
				return types.Value{}, errors.New("numbers are drawn when a statement runs")
			}
			return env.Sequence(name, args)
		}}
}

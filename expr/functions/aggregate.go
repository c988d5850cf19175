package functions

import (
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// aggregateFunctions describes the aggregates, which package exec computes.
var aggregateFunctions = []expr.Function{
	{Name: "COUNT", Group: "aggregate", Signature: "count(*) or count([DISTINCT] x) bigint", Doc: "Number of rows; of values that are not NULL.",
		MinArgs: 1, MaxArgs: 1, Rows: true, Result: aggregating(types.BigInt, isAny)},
	{Name: "SUM", Group: "aggregate", Signature: "sum([DISTINCT] x)", Doc: "The sum: BIGINT of smaller integers, DECIMAL of BIGINTs, else of the type of x; NULL of no values. Also of INTERVALs.",
		MinArgs: 1, MaxArgs: 1, Result: orInterval(sumOf)},
	{Name: "AVG", Group: "aggregate", Signature: "avg([DISTINCT] x)", Doc: "The mean: DECIMAL of integers and DECIMAL, else DOUBLE; NULL of no values. Also of INTERVALs.",
		MinArgs: 1, MaxArgs: 1, Result: orInterval(exactly)},
	{Name: "MIN", Group: "aggregate", Same: true, Signature: "min(x)", Doc: "The least value.", MinArgs: 1, MaxArgs: 1, Result: sameAs(0, isOrdered)},
	{Name: "MAX", Group: "aggregate", Same: true, Signature: "max(x)", Doc: "The greatest value.", MinArgs: 1, MaxArgs: 1, Result: sameAs(0, isOrdered)},
	{Name: "MIN_BY", Group: "aggregate", Same: true, Signature: "min_by(x, y)", Doc: "The x of the row with the least y: any such row's where several have it.", MinArgs: 2, MaxArgs: 2, Result: sameAs(0)},
	{Name: "MAX_BY", Group: "aggregate", Same: true, Signature: "max_by(x, y)", Doc: "The x of the row with the greatest y: any such row's where several have it.", MinArgs: 2, MaxArgs: 2, Result: sameAs(0)},
	{Name: "ANY_VALUE", Group: "aggregate", Same: true, Signature: "any_value(x)", Doc: "Some value that is not NULL.", MinArgs: 1, MaxArgs: 1, Result: sameAs(0)},
	{Name: "BOOL_AND", Group: "aggregate", Signature: "bool_and(condition) boolean", Doc: "Whether it is true in every row where it is not NULL.",
		MinArgs: 1, MaxArgs: 1, Result: aggregating(types.Boolean, isTruth)},
	{Name: "BOOL_OR", Group: "aggregate", Signature: "bool_or(condition) boolean", Doc: "Whether it is true in some row.",
		MinArgs: 1, MaxArgs: 1, Result: aggregating(types.Boolean, isTruth)},
	{Name: "BIT_AND", Group: "aggregate", Same: true, Signature: "bit_and(n)", Doc: "The bits that are set in all integers.", MinArgs: 1, MaxArgs: 1, Result: ofIntegers},
	{Name: "BIT_OR", Group: "aggregate", Same: true, Signature: "bit_or(n)", Doc: "The bits that are set in some integer.", MinArgs: 1, MaxArgs: 1, Result: ofIntegers},
	{Name: "BIT_XOR", Group: "aggregate", Same: true, Signature: "bit_xor(n)", Doc: "The bits that are set in an odd number of the integers.", MinArgs: 1, MaxArgs: 1, Result: ofIntegers},
	{Name: "STDDEV_SAMP", Group: "aggregate", Signature: "stddev([DISTINCT] x)", Doc: "The standard deviation of a sample: DECIMAL of integers and DECIMAL, else DOUBLE; NULL of fewer than two values.",
		MinArgs: 1, MaxArgs: 1, Result: exactly},
	{Name: "STDDEV_POP", Group: "aggregate", Signature: "stddev_pop([DISTINCT] x)", Doc: "The standard deviation of all values there are.",
		MinArgs: 1, MaxArgs: 1, Result: exactly},
	{Name: "VAR_SAMP", Group: "aggregate", Signature: "variance([DISTINCT] x)", Doc: "The square of stddev.", MinArgs: 1, MaxArgs: 1, Result: exactly},
	{Name: "VAR_POP", Group: "aggregate", Signature: "var_pop([DISTINCT] x)", Doc: "The square of stddev_pop.", MinArgs: 1, MaxArgs: 1, Result: exactly},
	pairs("CORR", "The correlation of y and x, from -1 to 1."),
	pairs("COVAR_POP", "The covariance of all pairs there are."),
	pairs("COVAR_SAMP", "The covariance of a sample."),
	pairs("REGR_SLOPE", "The slope of the line of least squares."),
	pairs("REGR_INTERCEPT", "Where that line meets x = 0."),
	pairs("REGR_R2", "The square of the correlation."),
	pairs("REGR_AVGX", "The mean of x."),
	pairs("REGR_AVGY", "The mean of y."),
	pairs("REGR_SXX", "The sum of the squares of x about its mean."),
	pairs("REGR_SYY", "The sum of the squares of y about its mean."),
	pairs("REGR_SXY", "The sum of the products of both about their means."),
	{Name: "REGR_COUNT", Group: "aggregate", Signature: "regr_count(y, x) bigint", Doc: "The number of pairs.", MinArgs: 2, MaxArgs: 2, Result: aggregating(types.BigInt, isNumber)},
	{Name: "MEDIAN", Group: "aggregate", Signature: "median(x) double", Doc: "percentile_cont(0.5) of x.", Percentile: 0.5, MinArgs: 1, MaxArgs: 1, Result: aggregating(types.Double, isNumber)},
	{Name: "PERCENTILE_CONT", Group: "aggregate", Within: true, Signature: "percentile_cont(p) WITHIN GROUP (ORDER BY x) double", Doc: "The value below which the part p (0 to 1) of the numbers, or INTERVALs, lies, between two of them where need be; of an array of parts an array.",
		MinArgs: 1, MaxArgs: 1, Result: percentiles(orInterval(aggregating(types.Double, isNumber)))},
	{Name: "PERCENTILE_DISC", Group: "aggregate", Within: true, Signature: "percentile_disc(p) WITHIN GROUP (ORDER BY x)", Doc: "The first value at or below which the part p (0 to 1) of them lies; of an array of parts an array.",
		MinArgs: 1, MaxArgs: 1, Result: percentiles(sameAs(0))},
	{Name: "MODE", Group: "aggregate", Within: true, Signature: "mode() WITHIN GROUP (ORDER BY x)", Doc: "The value that comes most often, the first of several.", MinArgs: 0, MaxArgs: 0, Result: sameAs(0)},
	{Name: "STRING_AGG", Group: "aggregate", Signature: "string_agg([DISTINCT] text, delimiter [ORDER BY ...]) text", Doc: "The texts, or BYTES, that are not NULL, separated.",
		MinArgs: 2, MaxArgs: 2, Distinct: true, Result: func(args []expr.Expr) (types.Type, error) {
			if args[0].Type() == types.Bytes {
				return types.Bytes, nil
			}
			return types.String, nil
		}},
	{Name: "ARRAY_AGG", Group: "aggregate", Signature: "array_agg([DISTINCT] x [ORDER BY ...]) x[]", Doc: "The array of all values, NULLs too; of arrays, one of a dimension more.",
		MinArgs: 1, MaxArgs: 1, Result: func(args []expr.Expr) (types.Type, error) {
			if t := args[0].Type().ElemOrSelf(); t != types.Null {
				return types.ArrayOf(t), nil
			}
			return types.ArrayOf(types.String), nil
		}},
	{Name: "GROUPING", Group: "aggregate", Signature: "grouping(x, ...) int", Doc: "Of GROUPING SETS, ROLLUP and CUBE: a bit for each x, the last one's the least, which is set where the rows are not grouped by x, so that its NULL is none of the data.",
		MinArgs: 1, MaxArgs: 31, Grouping: true, Result: aggregating(types.Int, isAny)},
	{Name: "JSON_AGG", Group: "aggregate", Signature: "json_agg([DISTINCT] x [ORDER BY ...]) json", Doc: "All values, NULLs too, as a JSON array.",
		MinArgs: 1, MaxArgs: 1, Result: aggregating(types.JSON, isAny)},
	{Name: "JSON_OBJECT_AGG", Group: "aggregate", Signature: "json_object_agg(key, value [ORDER BY ...]) json", Doc: "An object of these members; a key that is NULL is an error.",
		MinArgs: 2, MaxArgs: 2, Result: aggregating(types.JSON, isAny)},
}

// pairs returns an aggregate over pairs of numbers that ignores pairs with a NULL.
func pairs(name, doc string) expr.Function {
	return expr.Function{Name: name, Group: "aggregate", Signature: strings.ToLower(name) + "(y, x) double", Doc: doc, MinArgs: 2, MaxArgs: 2, Result: aggregating(types.Double, isNumber)}
}

// aggregating returns a resultFunc that returns t if all arguments are of class c.
func aggregating(t types.Type, c class) resultFunc {
	return func(args []expr.Expr) (types.Type, error) {
		for i, a := range args {
			if at := a.Type(); at != types.Null && !c(at) {
				return 0, expr.ArgumentError{N: i + 1, At: at, Takes: c}
			}
		}
		return t, nil
	}
}

// percentiles returns the type that of returns for the first argument, or arrays of it if the second one is an array.
func percentiles(of resultFunc) resultFunc {
	return func(args []expr.Expr) (types.Type, error) {
		t, err := of(args[:1])
		if len(args) > 1 && args[1].Type().IsArray() && !t.IsArray() {
			t = types.ArrayOf(t)
		}
		return t, err
	}
}

// sumOf returns the type of the sum of the argument.
func sumOf(args []expr.Expr) (types.Type, error) {
	t := args[0].Type()
	switch {
	case t.IsInteger() && expr.Declared(args[0]) != types.BigInt:
		return types.BigInt, nil
	case t == types.Float:
		return t, nil
	}
	return exactly(args)
}

// exactly returns DECIMAL for integers and DECIMALs, and DOUBLE for other numbers.
func exactly(args []expr.Expr) (types.Type, error) {
	if t := args[0].Type(); t.IsInteger() || t == types.Decimal {
		return types.Decimal, nil
	}
	return aggregating(types.Double, isNumber)(args)
}

// orInterval returns INTERVAL for an INTERVAL.
func orInterval(of resultFunc) resultFunc {
	return func(args []expr.Expr) (types.Type, error) {
		if args[0].Type() == types.Duration {
			return types.Duration, nil
		}
		return of(args)
	}
}

// ofIntegers returns the type of the integer argument.
func ofIntegers(args []expr.Expr) (types.Type, error) {
	return aggregating(args[0].Type(), isInt)(args)
}

// windowFunctions describe the functions over a window of rows: see package planner.
var windowFunctions = []expr.Function{
	{Name: "ROW_NUMBER", Group: "window", Signature: "row_number() bigint", Doc: "The number of the row in its partition, from 1.", Result: returns(types.BigInt)},
	{Name: "RANK", Group: "window", Signature: "rank() bigint", Doc: "The number of the first row that is equal in the order.", Result: returns(types.BigInt)},
	{Name: "DENSE_RANK", Group: "window", Signature: "dense_rank() bigint", Doc: "The number of the group of rows that are equal in the order.", Result: returns(types.BigInt)},
	{Name: "PERCENT_RANK", Group: "window", Signature: "percent_rank() double", Doc: "(rank - 1) / (rows - 1); 0 of a single row.", Result: returns(types.Double)},
	{Name: "CUME_DIST", Group: "window", Signature: "cume_dist() double", Doc: "The part of the rows that come before this one or are equal in the order.", Result: returns(types.Double)},
	{Name: "NTILE", Group: "window", Signature: "ntile(n) integer", Doc: "The number of the row's part, from 1, of n parts of about one size.", MinArgs: 1, MaxArgs: 1, Result: returns(types.Int, isInt)},
	{Name: "LAG", Group: "window", Same: true, Signature: "lag(x [, n [, default]])", Doc: "x of the row n (1) rows before; default (NULL) where there is none.", Otherwise: 3, MinArgs: 1, MaxArgs: 3, Result: sameAs(0, isAny, isInt, isAny)},
	{Name: "LEAD", Group: "window", Same: true, Signature: "lead(x [, n [, default]])", Doc: "x of the row n (1) rows behind; default (NULL) where there is none.", Otherwise: 3, MinArgs: 1, MaxArgs: 3, Result: sameAs(0, isAny, isInt, isAny)},
	{Name: "FIRST_VALUE", Group: "window", Same: true, Signature: "first_value(x)", Doc: "x of the frame's first row.", MinArgs: 1, MaxArgs: 1, Result: sameAs(0)},
	{Name: "LAST_VALUE", Group: "window", Same: true, Signature: "last_value(x)", Doc: "x of the frame's last row.", MinArgs: 1, MaxArgs: 1, Result: sameAs(0)},
	{Name: "NTH_VALUE", Group: "window", Same: true, Signature: "nth_value(x, n)", Doc: "x of the frame's row number n, from 1; NULL where there is none.", MinArgs: 2, MaxArgs: 2, Result: sameAs(0, isAny, isInt)},
}

// formFunctions are compiled to other expressions.
var formFunctions = []expr.Function{
	{Name: "NULLIF", Group: "conditional", Binds: "as its first argument does", Signature: "nullif(a, b)", Doc: "NULL where a = b, else a.", MinArgs: 2, MaxArgs: 2},
	{Name: "NOW", Group: "time", Binds: "as a constant", Signature: "now() timestamp", Doc: "The moment the statement began.", MinArgs: 0, MaxArgs: 0},
	{Name: "CURRENT_DATE", Group: "time", Binds: "as a constant", Signature: "current_date date", Doc: "The day on which the statement began, in the zone of SET timezone.", MinArgs: 0, MaxArgs: 0},
}

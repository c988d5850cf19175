package expr

// aggregateFunctions are known by name and number of arguments; what computes them reads many rows.
var aggregateFunctions = []Function{
	{Name: "COUNT", Group: "aggregate", Signature: "count(*) or count([DISTINCT] x) bigint", Doc: "Number of rows; of values that are not NULL.", MinArgs: 1, MaxArgs: 1},
	{Name: "SUM", Group: "aggregate", Signature: "sum([DISTINCT] x)", Doc: "The sum: BIGINT of integers, an error beyond it; NULL of no values.", MinArgs: 1, MaxArgs: 1},
	{Name: "AVG", Group: "aggregate", Signature: "avg([DISTINCT] x)", Doc: "The mean: DECIMAL of integers and DECIMAL, else DOUBLE; NULL of no values.", MinArgs: 1, MaxArgs: 1},
	{Name: "MIN", Group: "aggregate", Signature: "min(x)", Doc: "The least value.", MinArgs: 1, MaxArgs: 1},
	{Name: "MAX", Group: "aggregate", Signature: "max(x)", Doc: "The greatest value.", MinArgs: 1, MaxArgs: 1},
	{Name: "BOOL_AND", Group: "aggregate", Signature: "bool_and(condition) boolean", Doc: "Whether it is true in every row where it is not NULL.", MinArgs: 1, MaxArgs: 1},
	{Name: "BOOL_OR", Group: "aggregate", Signature: "bool_or(condition) boolean", Doc: "Whether it is true in some row.", MinArgs: 1, MaxArgs: 1},
	{Name: "STRING_AGG", Group: "aggregate", Signature: "string_agg([DISTINCT] text, delimiter [ORDER BY ...]) text", Doc: "The texts that are not NULL, separated.", MinArgs: 2, MaxArgs: 2},
	{Name: "ARRAY_AGG", Group: "aggregate", Signature: "array_agg([DISTINCT] x [ORDER BY ...]) json", Doc: "All values, NULLs too, as a JSON array.", MinArgs: 1, MaxArgs: 1},
	{Name: "JSON_AGG", Group: "aggregate", Signature: "json_agg([DISTINCT] x [ORDER BY ...]) json", Doc: "As array_agg.", MinArgs: 1, MaxArgs: 1},
}

// formFunctions are made into other expressions when they are compiled.
var formFunctions = []Function{
	{Name: "NULLIF", Group: "conditional", Binds: "as its first argument does", Signature: "nullif(a, b)", Doc: "NULL where a = b, else a.", MinArgs: 2, MaxArgs: 2},
	{Name: "NOW", Group: "time", Binds: "as a constant", Signature: "now() timestamp", Doc: "The moment the statement began.", MinArgs: 0, MaxArgs: 0},
	{Name: "CURRENT_DATE", Group: "time", Binds: "as a constant", Signature: "current_date date", Doc: "The day on which the statement began, in the zone of SET timezone.", MinArgs: 0, MaxArgs: 0},
}

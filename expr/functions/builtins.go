package functions

import (
	"sync"

	"github.com/hql-db/hql/expr"
)

// Builtins returns the registry of the built-in functions. All users share it, and it must not be changed.
var Builtins = sync.OnceValue(func() *expr.Registry {
	groups := [][]expr.Function{operators,
		stringFunctions,
		numberFunctions,
		timeFunctions,
		intervalFunctions,
		hashFunctions,
		sequenceFunctions,
		regexpFunctions,
		jsonFunctions,
		jsonEdits,
		jsonPaths,
		jsonbFunctions(jsonFunctions, jsonEdits, aggregateFunctions),
		arrayFunctions,
		keyFunctions,
		gridFunctions,
		aggregateFunctions,
		windowFunctions,
		formFunctions}
	for _, group := range groups {
		for i := range group {
			f := &group[i]
			f.Strict = !f.NullArgs && !f.Volatile && f.Eval != nil && f.Group != "json" && f.Group != "key" && !maybeNull[f.Name]
		}
	}
	return expr.NewRegistry(aliases, groups...)
})

// maybeNull has functions whose result may be NULL although no argument is. Functions of JSON and for keys may return
// NULL, too; they are not listed.
var maybeNull = map[string]bool{"REGEXP_SUBSTR": true, "SUBSTRING_MATCH": true, "REGEXP_MATCH": true, "->": true, "->>": true, "#>": true, "#>>": true,
	"@?": true, "@@": true, "ARRAY_LENGTH": true, "ARRAY_UPPER": true, "ARRAY_LOWER": true, "ARRAY_NDIMS": true, "ARRAY_POSITION": true, "SUBSCRIPT": true}

// aliases are the other names of functions.
var aliases = map[string]string{
	"SUBSTR": "SUBSTRING", "CHAR_LENGTH": "LENGTH", "CHARACTER_LENGTH": "LENGTH", "CEILING": "CEIL", "POW": "POWER",
	"IFNULL": "COALESCE", "NVL": "COALESCE", "STRPOS": "POSITION", "DATETRUNC": "DATE_TRUNC", "DATE_PART": "EXTRACT", "TRIM": "BTRIM", "UCASE": "UPPER",
	"LCASE": "LOWER", "TRUNCATE": "TRUNC", "RAND": "RANDOM", "MOD": "%",
	"CURRENT_TIMESTAMP": "NOW", "LOCALTIMESTAMP": "NOW", "STATEMENT_TIMESTAMP": "NOW", "TRANSACTION_TIMESTAMP": "NOW", "EVERY": "BOOL_AND", "STDDEV": "STDDEV_SAMP", "VARIANCE": "VAR_SAMP", "ARG_MIN": "MIN_BY", "ARG_MAX": "MAX_BY",
	"ROW_TO_JSON": "TO_JSON", "LOCALTIME": "NOW", "CURRENT_TIME": "NOW", "ARRAY_TO_JSON": "TO_JSON", "UUIDV4": "GEN_RANDOM_UUID", "UUID_GENERATE_V4": "GEN_RANDOM_UUID", "JSONB_DELETE_PATH": "#-",
}

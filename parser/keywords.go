package parser

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordClass is the set of places in which a keyword is also allowed as a name.
type wordClass uint8

const (
	// free words are allowed as names everywhere: user, key, date, format, index, table ...
	free wordClass = iota
	// guarded words are allowed as names except as an alias without AS, where they begin a clause: LEFT, TO, ALLOW ...
	guarded
	// reserved words are allowed as names only in double quotes.
	reserved
)

type keyword struct {
	word  string
	class wordClass
}

// keywordList is the complete list of keywords. A word of a grammar literal that is missing here could never match; a test
// compares the two.
var keywordList = []keyword{
	{"ABORT", free}, {"ADD", free}, {"ALL", reserved}, {"ALLOW", guarded}, {"ALTER", free}, {"ANALYZE", free}, {"AND", reserved}, {"ANY", free}, {"AS", reserved},
	{"ASC", reserved}, {"ASYMMETRIC", reserved}, {"AT", free}, {"BEGIN", free}, {"BETWEEN", reserved}, {"BOTH", free}, {"BTREE", free}, {"BY", free},
	{"CASCADE", free}, {"CASE", reserved}, {"CAST", free}, {"CHECK", free}, {"COLLATE", guarded}, {"COLUMN", free}, {"COMMENT", free}, {"COMMIT", free}, {"CONCURRENTLY", free}, {"CONFLICT", free}, {"CONSTRAINT", free}, {"CONTINUE", free}, {"COPY", free},
	{"CREATE", reserved}, {"CROSS", reserved}, {"CUBE", free}, {"CURRENT", free}, {"CURRENT_DATE", reserved}, {"CURRENT_TIME", reserved},
	{"CURRENT_TIMESTAMP", reserved}, {"DATA", free}, {"DATE", free}, {"DEALLOCATE", free}, {"DEFAULT", free}, {"DELETE", free}, {"DESC", reserved}, {"DESCRIBE", free},
	{"DISCARD", free}, {"DISTINCT", reserved}, {"DO", free}, {"DROP", free}, {"ELSE", reserved}, {"END", reserved}, {"ERROR", free},
	{"ESCAPE", guarded}, {"EXCEPT", reserved}, {"EXCLUDE", free}, {"EXECUTE", free}, {"EXISTS", free}, {"EXPLAIN", free}, {"EXTERNAL", free},
	{"EXTRACT", free}, {"FALSE", reserved}, {"FAMILY", free}, {"FETCH", guarded}, {"FILE", free},
	{"FILTER", guarded}, {"FIRST", free}, {"FOLLOWING", free}, {"FOR", reserved}, {"FORMAT", free}, {"FREEZE", free}, {"FROM", reserved},
	{"FULL", guarded}, {"FUNCTIONS", free}, {"GROUP", reserved}, {"GROUPING", free}, {"GROUPS", free}, {"HASH", free}, {"HAVING", reserved}, {"HEX", free},
	{"HTML", free}, {"IDENTITY", free}, {"IF", guarded}, {"ILIKE", reserved}, {"IN", reserved}, {"INCLUDE", free}, {"INDEX", free}, {"INHERIT", free},
	{"INNER", reserved}, {"INSERT", free}, {"INTERSECT", reserved}, {"INTERVAL", free}, {"INTO", reserved},
	{"IS", reserved}, {"ISNULL", guarded}, {"JOIN", reserved}, {"JSON", free}, {"KEY", free}, {"LAST", free}, {"LATERAL", free},
	{"LEADING", free}, {"LEFT", guarded}, {"LIKE", reserved}, {"LIMIT", reserved}, {"LOCAL", free}, {"LOCALTIME", reserved}, {"LOCALTIMESTAMP", reserved}, {"MALFORMED", free}, {"MATCHED", free}, {"MATERIALIZED", free}, {"MERGE", free},
	{"NAMES", free}, {"NATURAL", guarded}, {"NEXT", free}, {"NO", free}, {"NOT", reserved}, {"NOTHING", free}, {"NOTNULL", guarded}, {"NULL", reserved}, {"NULLS", guarded},
	{"OF", free}, {"OFF", free}, {"OFFSET", reserved}, {"ON", reserved}, {"ONLY", free}, {"OPERATOR", guarded}, {"OR", reserved},
	{"ORDER", reserved}, {"ORDINALITY", free}, {"OTHERS", free}, {"OUTER", guarded}, {"OVER", guarded}, {"OVERLAPS", guarded}, {"OVERLAY", free}, {"OWNER", free}, {"PARTITION", free}, {"PLACING", guarded}, {"POSITION", free}, {"PRECEDING", free}, {"PRECISION", free}, {"PREPARE", free}, {"PRIMARY", free},
	{"RANGE", free}, {"RECURSIVE", free}, {"REFRESH", free}, {"RENAME", free}, {"REPAIR", free}, {"REPLACE", free}, {"RESET", free}, {"RESTART", free}, {"RESTRICT", free}, {"RETURNING", guarded}, {"RIGHT", guarded}, {"ROLLBACK", free}, {"ROLLUP", free}, {"ROW", free}, {"ROWS", free}, {"SALT", free},
	{"SAMPLE", free}, {"SCAN", free}, {"SCHEMA", free}, {"SELECT", reserved}, {"SEQUENCE", free}, {"SESSION", free}, {"SET", guarded}, {"SETS", free}, {"SHOW", free},
	{"SIMILAR", guarded}, {"SKIP", free}, {"SOME", free}, {"SPLIT", free}, {"SPLITS", free}, {"START", free}, {"STATISTICS", free}, {"STDIN", free},
	{"STDOUT", free}, {"STORED", free}, {"SUBSTR", free}, {"SUBSTRING", free}, {"SYMMETRIC", reserved}, {"SYSTEM_TIME", free},
	{"TABLE", free}, {"TABLES", free}, {"TEXT", free}, {"THEN", reserved}, {"TIES", free}, {"TIME", free},
	{"TIMESTAMP", free}, {"TO", guarded}, {"TRAILING", free}, {"TRANSACTION", free}, {"TRIM", free}, {"TRUE", reserved}, {"TRUNCATE", free},
	{"TYPE", free}, {"UNBOUNDED", free}, {"UNIFORM", free}, {"UNION", reserved}, {"UNKNOWN", free}, {"UNLOGGED", free}, {"UPDATE", free}, {"UPSERT", free},
	{"USING", reserved}, {"VACUUM", free}, {"VALID", free}, {"VALIDATE", free}, {"VALUES", reserved}, {"VARYING", free}, {"VERBOSE", free}, {"VIEW", free}, {"WHEN", reserved}, {"WHERE", reserved},
	{"WINDOW", guarded}, {"WITH", reserved}, {"WITHIN", guarded}, {"WITHOUT", free}, {"WORK", free}, {"ZONE", free},
}

const longestKeyword = len("CURRENT_TIMESTAMP")

var keywordsByWord = func() map[string]keyword {
	m := make(map[string]keyword, len(keywordList))
	for _, k := range keywordList {
		m[k.word] = k
	}
	return m
}()

// Keywords returns the keywords in upper case, sorted, for completion and highlighting. Most of them may also be names.
func Keywords() []string {
	out := make([]string, len(keywordList))
	for i, k := range keywordList {
		out[i] = k.word
	}
	return out
}

// keywordOf returns the keyword that word spells in upper or lower case.
func keywordOf(word string) (keyword, bool) {
	if len(word) > longestKeyword {
		return keyword{}, false
	}
	var buf [longestKeyword]byte
	for i := 0; i < len(word); i++ {
		c := word[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		buf[i] = c
	}
	k, ok := keywordsByWord[string(buf[:len(word)])]
	return k, ok
}

// QuoteName returns a name in a form that is parsed as the same name: unchanged if possible, otherwise in double quotes.
//
//	uid -> uid    order -> "order"    f:q -> "f:q"    a"b -> "a""b"
func QuoteName(name string) string {
	if isPlainName(name) {
		return name
	}
	return quoteAlways(name)
}

// QuoteQualifier returns a qualifier in the form that follows family: in a definition: a name, or bytes if it is not
// printable text.
func QuoteQualifier(q string) string {
	if strings.ContainsFunc(q, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) || escapedByte.MatchString(q) {
		return fmt.Sprintf("X'%X'", q)
	}
	return QuoteName(q)
}

func quoteAlways(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// isPlainName reports whether name needs no quotes wherever a name is allowed.
func isPlainName(name string) bool {
	if name == "" || wordEnd(name, 0) != len(name) {
		return false
	}
	k, ok := keywordOf(name)
	return !ok || k.class == free
}

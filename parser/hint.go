package parser

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// hint suggests a correction of the mistake at token i; "" if none is known.
func (d *diagnosis) hint(i int) string {
	t := &d.tokens[i]
	before, word := d.value(i-1), t.Value
	switch {
	case before == "=" && word == "=":
		return "equality is a single ="
	case word == "ON" && d.frames[len(d.frames)-1].clause == "FROM":
		return "ON follows JOIN: FROM a JOIN b ON condition"
	case word == "OUTER" && d.value(i+1) == "JOIN":
		return "LEFT, RIGHT or FULL OUTER JOIN says whose rows stay"
	case before == "OF" && d.value(i-2) == "AS":
		return "versions are read with FOR SYSTEM_TIME AS OF time"
	case before == "(" && d.verb == "CREATE" && d.value(i-2) == "KEY" && d.value(i-3) == "ROW" && len(d.frames) > 2:
		return "ROW KEY (...) follows the ) of the columns"
	case word == ")" && d.frames[len(d.frames)-1].open < 0:
		return "there is no ( for this )"
	case (word == "SELECT" || word == "CREATE") && i > 0 && d.endsOperand(i-1) && len(d.frames) == 1:
		return "a ; separates statements"
	case t.Type == tokReserved && d.wantsName(i):
		text := d.src[t.Pos.Offset : t.Pos.Offset+len(word)]
		return fmt.Sprintf("%s is a reserved word: in double quotes, %s, it is a name", strings.ToUpper(text), quoteAlways(text))
	}
	if s := d.typo(i); s != "" {
		return s
	}
	if top := d.frames[len(d.frames)-1]; top.open >= 0 && (t.Type == lexer.EOF || clauseWords[word]) {
		return d.notClosed(top)
	}
	return ""
}

// namesTable are the words after which a table's name comes.
var namesTable = map[string]bool{"FROM": true, "JOIN": true, "INTO": true, "UPDATE": true, "TABLE": true, "DESCRIBE": true, "DESC": true, "COPY": true, "ANALYZE": true}

// locks maps the word behind FOR to the lock that PostgreSQL takes on the rows of a query.
var locks = map[string]string{"UPDATE": "UPDATE", "SHARE": "SHARE", "NO": "NO KEY UPDATE", "KEY": "KEY SHARE"}

// unsupported returns a hint if token i belongs to a feature of another database; otherwise "".
func (d *diagnosis) unsupported(i int) string {
	upper := func(i int) string { return strings.ToUpper(d.value(i)) }
	word, before, next := upper(i), upper(i-1), upper(i+1)
	quoted := func(i int) bool { return i < len(d.tokens) && d.tokens[i].Type == tokString }
	switch {
	case i == 0 && (word == "." || word == "!"): // commands of DuckDB, SQLite and Beeline
		if next == "TABLES" {
			return Elsewhere("statement", "TABLES")
		}
		return "statements end with ; and commands of the prompt begin with a backslash: \\? lists them"
	case i == 0 && Elsewhere("unsupported", word) != "":
		return word + isUnsupported + ": " + Elsewhere("unsupported", word)
	case i == 0:
		return Elsewhere("statement", word)
	case word == "," && before != "" && upper(i-2) == "LIMIT":
		return fmt.Sprintf("of MySQL's LIMIT skipped, rows it is LIMIT %s OFFSET %s", d.value(i+1), d.value(i-1))
	case d.verb == "SELECT" && i >= 2 && upper(i-1) == "TOP" && upper(i-2) == "SELECT" && d.tokens[i].Type == tokNumber:
		return fmt.Sprintf("LIMIT %s goes at the end of the query", d.value(i))
	case before == "INTERVAL" && d.tokens[i].Type == tokNumber:
		return fmt.Sprintf("an interval is written in quotes: INTERVAL '%s %s'", d.value(i), strings.ToLower(strings.Trim(d.value(i+1), "()")))
	case (before == "REGEXP" || before == "RLIKE") && quoted(i), (word == "REGEXP" || word == "RLIKE") && quoted(i+1):
		return "x ~ 'pattern' asks for a regular expression"
	case i == 1 && before == "INSERT" && word == "OR" && next == "REPLACE":
		return "INSERT INTO overwrites the row of the same key"
	case i == 1 && before == "INSERT" && (word == "IGNORE" || word == "OR"):
		return "INSERT INTO ... IF NOT EXISTS keeps rows that are there"
	case before == "PREPARE" && word == "TRANSACTION", before == "TRANSACTION" && upper(i-2) == "PREPARE",
		d.verb == "SET" && (before == "TRANSACTION" || before == "CHARACTERISTICS"), (d.verb == "START" || d.verb == "BEGIN") && i > 0:
		return Elsewhere("unsupported", "SAVEPOINT")
	case d.verb == "CREATE" && word == "WITH" && (next == "CHECK" || next == "LOCAL" || next == "CASCADED"):
		return "a view has no CHECK OPTION: INSERT and UPDATE may write rows that its WHERE leaves out"
	case before == "." && word == "*":
		return "FROM f(x) AS t gives the columns of a function's rows: t.*"
	case word == "SEARCH" || word == "CYCLE":
		return "an array of the keys on the way is both: ORDER BY path, and WHERE NOT id = ANY (path)"
	case before == "ROWS" && word == "FROM":
		return "FROM (SELECT f() AS a, g() AS b) AS t has the rows of both functions side by side"
	case d.verb == "UPDATE" && word == ":":
		return "a slice is written with the whole array: a = a[:1] || ARRAY['x'] || a[3:]"
	case before == "TABLESAMPLE" || word == "TABLESAMPLE":
		return "WHERE RANDOM() < 0.01 keeps some of the rows, LIMIT 100 reads no more than that; \\sample shows stored keys"
	case d.verb == "ALTER" && i == 1 && cmp.Or(Elsewhere("alter", word), Elsewhere("object", word)) != "":
		return "ALTER " + word + isUnsupported + ": " + cmp.Or(Elsewhere("alter", word), Elsewhere("object", word))
	case d.verb == "ALTER" && i > 2 && next == "ROW":
		return "ROW LEVEL SECURITY" + isUnsupported + ": " + Elsewhere("object", "POLICY")
	case d.constraint(i) > 0:
		return Elsewhere("constraint", upper(d.constraint(i)))
	case d.verb == "ALTER" && word == "USING":
		return "ALTER TABLE changes no stored value: ADD COLUMN, and UPDATE it from this column"
	case before == "<=" && word == ">":
		return "a IS NOT DISTINCT FROM b compares NULLs, too"
	case before == "QUALIFY":
		return "a query around it filters by a window function: SELECT * FROM (SELECT ..., ROW_NUMBER() OVER (...) AS n ...) AS q WHERE n = 1"
	case before == "FOR" && locks[word] != "":
		return "FOR " + locks[word] + isUnsupported + ": " + Elsewhere("unsupported", "LOCK")
	case word == "FOR" && locks[next] != "":
		return "FOR " + locks[next] + isUnsupported + ": " + Elsewhere("unsupported", "LOCK")
	case word == "." && i > 3 && (d.value(i-2) == "." || d.value(i-2) == ":") && namesTable[upper(i-4)]:
		return "only an HBase namespace can be in front of a table's name, as in namespace.table"
	case (d.verb == "CREATE" || d.verb == "ALTER") && (word == "INHERITS" || word == "PARTITION" || next == "PARTITION"):
		return word + isUnsupported + ": HBase cuts tables into regions by itself, SPLIT says where those of a new table begin"
	case d.verb == "CREATE" && before == "ON" && word == "COMMIT":
		return "ON COMMIT " + next + isUnsupported + ": the table is dropped when the session ends, or by DROP TABLE"
	case d.verb == "SELECT" && word == "INTO":
		return "CREATE TABLE table AS query keeps the rows of a query"
	case before == "ALL" && upper(i-2) == "BY" && upper(i-3) == "GROUP":
		return "GROUP BY takes columns, or their numbers in SELECT: GROUP BY 1, 2"
	case d.verb == "EXPLAIN" && i == 1 && d.tokens[i].Type == tokWord && word != "EXPLAIN", d.verb == "SHOW" && i == 2 && (word == "FROM" || word == "IN"):
		return "DESCRIBE table shows a table's columns and keys"
	case i == 1 && (before == "DESCRIBE" || before == "DROP" || before == "CREATE") && quoted(i):
		return "that is HBase's shell: here names are written without quotes, \\h " + strings.ToLower(before) + " shows the form"
	case before == "DESCRIBE" && quoted(i):
		return "names are written without quotes"
	case i == 1 && before == "CREATE" && word == "UNIQUE":
		return "CREATE UNIQUE INDEX" + isUnsupported + ": the rowkey alone is unique, CREATE INDEX makes one that is not"
	case (d.verb == "CREATE" && len(d.frames) == 2 || d.verb == "ALTER" && upper(3) == "ADD") && Elsewhere("definition", word) != "":
		return word + isUnsupported + ": " + Elsewhere("definition", word)
	case i == 1 && (before == "CREATE" || before == "DROP") && Elsewhere("object", word) != "":
		return before + " " + word + isUnsupported + ": " + Elsewhere("object", word)
	case i == 3 && d.verb == "CREATE" && before == "REPLACE" && Elsewhere("object", word) != "":
		return "CREATE OR REPLACE " + word + isUnsupported + ": " + Elsewhere("object", word)
	case word == "WITH" && (next == "ROLLUP" || next == "CUBE"):
		return "GROUP BY " + next + " (a, b) is that"
	case word == "ON" && next == "DUPLICATE":
		return "INSERT overwrites the row of the same key; with IF NOT EXISTS at its end it keeps it"
	case word == ":" && i+1 < len(d.tokens) && d.tokens[i+1].Type == tokWord:
		return fmt.Sprintf("no variable %[1]s is set: \\set %[1]s and --var set one, @%[1]s is an argument", d.src[d.tokens[i+1].Pos.Offset:][:len(d.value(i+1))])
	}
	return ""
}

// wantsName reports whether the grammar expects only a name at token i.
func (d *diagnosis) wantsName(i int) bool {
	named := slices.ContainsFunc(d.wanted, func(w string) bool {
		return w == "a table name" || w == "a column name" || w == "a name" || w == "*"
	})
	return named && d.tokens[i].Value != "SELECT" && !followsClause(d.value(i+1), d.tokens[i].Value)
}

// followsClause reports whether word and the next token look like a clause rather than a name that is reserved: in FROM
// WHERE x, the name of the table is missing.
func followsClause(next, word string) bool {
	switch word {
	case "WHERE", "HAVING", "LIMIT", "ON", "JOIN", "FROM", "VALUES":
		return next != "" && next != "," && next != ")" && !clauseWords[next]
	case "ORDER", "GROUP":
		return next == "BY"
	}
	return false
}

func (d *diagnosis) notClosed(top frame) string {
	open := &d.tokens[top.open]
	line, col := (&Error{Pos: pos(open), Source: d.src}).LineCol()
	return fmt.Sprintf("the %s at %d:%d is not closed", open.Value, line, col)
}

// typo returns the keyword that was probably meant by token i, or by the word before it that was parsed as an alias.
func (d *diagnosis) typo(i int) string {
	for _, j := range []int{i, i - 1} {
		if j < 0 || d.tokens[j].Type != tokWord {
			continue
		}
		if j < i && (d.verb == "CREATE" || j == 0 || !d.endsOperand(j-1)) {
			continue // a type or a name is not an alias
		}
		word := d.tokens[j].Value
		if _, known := keywordOf(word); known {
			continue
		}
		if k := nearestKeyword(strings.ToUpper(word), j == 0); k != "" {
			return "did you mean " + k + "?"
		}
	}
	return ""
}

// statementWords begin a statement.
var statementWords = []string{
	"SELECT", "INSERT", "UPSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "SHOW", "DESCRIBE", "EXPLAIN", "SET", "COPY", "CHECK", "ANALYZE", "WITH", "VALUES",
	"PREPARE", "EXECUTE", "DEALLOCATE", "RESET", "DISCARD", "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT",
}

func nearestKeyword(word string, first bool) string {
	if len(word) < 3 || len(word) > longestKeyword+1 {
		return ""
	}
	if first {
		for _, k := range statementWords {
			if isNear(word, k) {
				return k
			}
		}
		return ""
	}
	near := ""
	for _, k := range keywordList {
		switch {
		case len(k.word) < 3 || k.class == free && !clauseWords[k.word] || !isNear(word, k.word):
		case strings.HasPrefix(k.word, word):
			return k.word // FRO: FROM rather than FOR
		case near == "" || len(near) != len(word):
			near = k.word // FORM: FROM rather than FOR
		}
	}
	return near
}

// isNear reports whether one edit makes b of a: an added, deleted or changed letter, or two neighbours swapped.
func isNear(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) {
		return true
	}
	swapped := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return swapped || a[i+1:] == b[i+1:]
}

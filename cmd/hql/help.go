package main

import (
	"context"
	"fmt"
	"strings"
)

// topic is one statement of \h.
type topic struct{ name, text string }

var topics = []topic{
	{"SELECT", `[WITH [RECURSIVE] name [(column, ...)] AS (query), ...] SELECT [DISTINCT [ON (expression, ...)]]
  * | table.* | expression [AS name], ...
  [FROM table [AS alias] [FOR SYSTEM_TIME ALL | AS OF time | BETWEEN time AND time]
      | [LATERAL] (query) [AS alias [(column, ...)]], ...
    [[INNER | LEFT | RIGHT | FULL] JOIN ... ON condition | USING (column, ...)]
    [CROSS JOIN ...] [NATURAL [LEFT | RIGHT | FULL] JOIN ...]]
  [WHERE condition] [GROUP BY [DISTINCT] group, ...] [HAVING condition] [WINDOW name AS (window), ...]
  [UNION | EXCEPT | INTERSECT [ALL] SELECT ... | VALUES ... | (query)]
  [ORDER BY expression [ASC | DESC] [NULLS FIRST | LAST], ...]
  [LIMIT n | FETCH FIRST [n] ROWS ONLY] [OFFSET n] [ALLOW FULL SCAN]
group: expression | ROLLUP (expression, ...) | CUBE (expression, ...) | GROUPING SETS (group, ...)
  a list in parentheses, (a, b) or (), counts as one expression
window, after a function: OVER name | ([PARTITION BY expression, ...] [ORDER BY ...]
  [ROWS | RANGE | GROUPS BETWEEN n PRECEDING | CURRENT ROW | UNBOUNDED ... AND ... FOLLOWING])
pseudo-columns: _key, the rowkey's bytes; _ts, the newest cell's time`},
	{"VALUES", `VALUES (expression, ...), ...
a query by itself, and in FROM: (VALUES (1, 'a'), (2, 'b')) AS v (id, name)`},
	{"INSERT", `INSERT INTO table [(column, ...)] VALUES (value, ...), ... | query   (UPSERT is the same)
  [IF NOT EXISTS | ON CONFLICT [(key column, ...)] DO NOTHING | DO UPDATE SET column = excluded.column, ...]
  [RETURNING * | expression [AS name], ...]`},
	{"UPDATE", `UPDATE table [AS alias] SET column = expression, ... [FROM table, ...] [WHERE condition] [ALLOW FULL SCAN]
  [RETURNING * | expression [AS name], ...]
columns of the key cannot be changed`},
	{"DELETE", `DELETE FROM table [AS alias] [USING table, ...] [WHERE condition] [ALLOW FULL SCAN]
  [RETURNING * | expression [AS name], ...]`},
	{"EXPLAIN", `EXPLAIN statement
EXPLAIN ANALYZE query
EXPLAIN (FORMAT TEXT | JSON | HTML [, ANALYZE]) statement`},
	{"CREATE TABLE", `CREATE [EXTERNAL] TABLE [IF NOT EXISTS] name
  (column TYPE [FROM family:qualifier] [AS encoding] [NOT NULL | DEFAULT constant] [PRIMARY KEY], ...)
  [FAMILY name (ATTRIBUTE = value, ...)] ...
  [STORED IN 'name' | (part, ...)]
  [ROW KEY | INDEX [name] (part, ...) [INCLUDE ([column [FROM ...] [AS encoding], ...])] [STORED IN ...]] ...
  [SPLIT AT (value, ...) | FROM FILE 'file' | INTO n BY KEY | HEX | UNIFORM | SAMPLE OF FILE 'file']
  [ON MALFORMED KEY ERROR | SKIP] [WITH (option = value, ...)]
CREATE TABLE [IF NOT EXISTS] name [(column ..., ... [PRIMARY KEY (column, ...)])] [ROW KEY ...] ... AS query
part: a literal, or an expression over the columns AS an encoding
EXTERNAL maps an HBase table that exists. Without it CREATE TABLE refuses a name that HBase has, unless hql made
that table. NOT NULL promises that every row has the cell, whoever writes it: a query that reads the column skips
rows without the cell. INCLUDE is for an INDEX that other programs write: its entries carry these columns in cells,
like the rows unless FROM or AS says otherwise. DEFAULT is the value of rows without the cell; a moment is read in
the time zone of the session. In VALUES and SET, the word DEFAULT means that value, or NULL. Definitions are kept in
the HBase table hql_catalog; other connections follow a change from their next statement on. AS query writes the
query's rows; columns that are not defined get the names and types of the query's, not the limits in
VARCHAR(n) and DECIMAL(p, s). If it fails, the table is dropped again`},
	{"ALTER TABLE", `ALTER TABLE [IF EXISTS] table change, ...
change: ADD [COLUMN] [IF NOT EXISTS] column ... | DROP [COLUMN] [IF EXISTS] column | RENAME [COLUMN] column TO name
  | SET (option = value, ...) | RESET (option, ...) | ADD INDEX ... | DROP INDEX [IF EXISTS] name
COMMENT ON TABLE table | COLUMN table.column IS 'text' | NULL
CREATE OR REPLACE EXTERNAL TABLE ...
change a definition that is kept in hql_catalog. Cells stay as they are: a column that is dropped and added again
has its values. A column of a key, and the last column of a family, cannot be dropped. Other connections follow; a
statement that has written nothing yet begins again with the new definition, others fail`},
	{"CREATE INDEX", `CREATE INDEX [IF NOT EXISTS] name ON table (column | expression AS encoding, ...) [STORED IN ...]
DROP INDEX [IF EXISTS] name [ON table]
adds an INDEX, and an entry for each row, while others write. A column without an encoding gets one that keeps its
order; columns that lead to the row are added. Queries use the index when all entries are there. If the statement
ends before, the index is written and not read: the same statement goes on, DROP INDEX drops it`},
	{"TRUNCATE", `TRUNCATE [TABLE] table
deletes all rows, as DELETE without WHERE does. The HBase tables and their regions stay`},
	{"DROP TABLE", `DROP TABLE [IF EXISTS] table, ...
drops the definition and the HBase tables that CREATE TABLE made. It drops only the definition of an EXTERNAL table.
A look-up table cannot be dropped while keys of another table hold its numbers. DROP TABLE first makes all
connections forget the table: statements that still read or write it fail. Then it drops the HBase tables. If that
fails, no table can be defined under the name; DROP TABLE again drops the rest`},
	{"CREATE VIEW", `CREATE [OR REPLACE] VIEW [IF NOT EXISTS] name [(column, ...)] AS query
gives a query a name; statements read the view like a table and cannot write it. A view is planned as part of the
statement that reads it: conditions on the view bind the keys of its tables. * means the columns that the tables
have when it is read. Moments in the view are in the time zone of the session that creates it, not of the reader's.
A view in a catalog file reads a moment without a zone in the zone of the reader: write the zone there.
Views are kept where the definitions of tables are`},
	{"DROP VIEW", `DROP VIEW [IF EXISTS] view`},
	{"SHOW", `SHOW TABLES | CREATE TABLE table | CREATE VIEW view | SPLITS table | STATISTICS table | FUNCTIONS | ALL | setting`},
	{"DESCRIBE", `DESCRIBE [TABLE] table`},
	{"SET", `SET setting = value | DEFAULT
SET TIME ZONE zone
SHOW ALL lists the settings`},
	{"COPY", `COPY table [(column, ...)] FROM 'file' [WITH (FORMAT = 'csv', HEADER = FALSE)]
COPY table | (query) TO 'file' [WITH (FORMAT = 'csv', HEADER = FALSE, OVERWRITE = FALSE)] [ALLOW FULL SCAN]
The format is csv, tsv, jsonl, arrow or parquet; without FORMAT the file's ending gives it. '/dev/stdin' and
'/dev/stdout' are files, too. COPY TO replaces an existing file once the new one is whole; on a read-only connection
it does so only WITH (OVERWRITE = TRUE)`},
	{"ANALYZE", `ANALYZE [TABLE] table
reads a sample of the table's rows and keeps statistics, which SHOW STATISTICS table shows. SET analyze_rows and
analyze_time limit the sample. Statistics are kept in the HBase table hql_stats or, without the right to write, in
the user's cache`},
	{"CHECK TABLE", `CHECK TABLE table [REPAIR]
compares a table's indexes and copies with its rows`},
	{"BEGIN", `BEGIN | START TRANSACTION | COMMIT | END
do nothing, with a warning: there are no transactions. Each row is written whole and at once; ROLLBACK is an error`},
}

// syntax is \h: the statements, or the form of those that begin with the given words.
func (s *session) syntax(_ context.Context, arg string) error {
	if arg == "" {
		fmt.Fprintln(s.stdout, `\h STATEMENT shows a statement's form, \df the functions, \? the commands.`)
		for _, t := range topics {
			fmt.Fprintln(s.stdout, " ", t.name)
		}
		return nil
	}
	want := strings.ToUpper(strings.Join(strings.Fields(arg), " "))
	if want == "UPSERT" {
		want = "INSERT"
	}
	found := false
	for _, t := range topics {
		if strings.HasPrefix(t.name, want) {
			fmt.Fprintln(s.stdout, t.text)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("no help on %s (\\h lists the statements)", printable(arg))
	}
	return nil
}

func (s *session) help(context.Context, string) error {
	fmt.Fprintln(s.stdout, `Statements end with ';'. EXPLAIN shows how a query uses the rowkey.`)
	for _, c := range commands() {
		fmt.Fprintf(s.stdout, "  %-10s %-20s %s\n", c.name, c.args, c.help)
	}
	return nil
}

package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/demo"
)

// | is the cursor. want are all the words offered, in order, unless it ends with "..." (these and more).
func TestComplete(t *testing.T) {
	db, err := demo.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	t.Chdir(t.TempDir())
	for _, f := range []string{"rows.csv", "rows.sql", ".hidden"} {
		if err := os.WriteFile(f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("sub/deep", 0o755); err != nil {
		t.Fatal(err)
	}
	conf := &config{file: configFile{Connections: map[string]settings{"prod": {}, "test": {}}}}
	s := &session{db: db, conf: conf, vars: map[string]string{"uid": "1"}}
	for _, c := range []struct{ query, line, want string }{
		{"", "sel|", "select"},
		{"", "SEL|", "SELECT"},
		{"", "cr|", "create table,create external table,create view"},
		{"", "EXPLAIN |", "SELECT,WITH,VALUES,INSERT INTO,UPSERT INTO,UPDATE,DELETE FROM,MERGE INTO,ANALYZE"},
		{"", "explain an|", "analyze"},
		{"", "EXPLAIN ANALYZE S|", "SELECT"},
		{"", "EXPLAIN (FORMAT JSON) U|", "UPSERT INTO,UPDATE"},
		{"", "EXPLAIN (FOR|", "FOR,FORMAT"},
		{"", "EXPLAIN SELECT * FROM fi|", "files"},
		{"", "EXPLAIN SELECT * FROM files WHERE user|", "user_id"},
		{"", "SELECT * FROM files WHERE true ALLO|", "ALLOW FULL SCAN"},
		{"", "SELECT * FROM files order|", "order by"},
		{"", "SELECT CAST(user_id AS big|", "bigint"},
		{"", "SELECT user_id::da|", "date"},
		{"", "CREATE TABLE t (a bigi|", "bigint"},
		{"", "CREATE TABLE t (a INT AS ORD|", "ORDERED INT8,ORDERED INT16,ORDERED INT24..."},
		{"", "CREATE TABLE t (a INT AS ORDERED INT3|", "INT32"},
		{"", "CREATE TABLE t (a INT) ROW KEY (a AS crock|", "crockford"},
		{"", "CREATE TABLE t (a INT AS INT32 prim|", "primary key"},
		{"", "CREATE TABLE t AS SEL|", "SELECT"},
		{"", "SELECT * FROM fi|", "files"},
		{"", "SELECT * FROM |", "car_events,contacts..."},
		{"", "SELECT * FROM FOO_|", "foo_hashed,foo_salted"},
		{"", "SELECT ca| FROM files", "category,cascade,case,cast,cardinality"}, // the statement goes on behind the cursor
		{"", "SELECT f.| FROM files AS f", "user_id,create_time,file_id,name,category"},
		{"", "SELECT s.d| FROM files f JOIN sites s ON true", "domain"},
		{"", "SELECT _| FROM files", "_key,_ts"},
		{"SELECT 1 FROM files\n", "WHERE user|", "user_id"},
		{"", "SELECT 1 FROM sites; SELECT 1 FROM files WHERE dom|", ""}, // sites is another statement's
		{"", "SELECT repl|", "replace"},
		{"", "SELECT dom|", "domain"}, // no table is named yet
		{"", "SELECT REPL|", "REPLACE"},
		{"", "SELECT * FROM files ORDER BY cr|", "create_time,create,cross,crc16,crc32"},
		{"", "WITH mine AS (SELECT user_id FROM files) SELECT * FROM mi|", "mine"},
		{"", "WITH RECURSIVE mine AS (SELECT user_id FROM files) SELECT * FROM mi|", "mine"},
		{"", "/* of mine */ WITH mine AS (SELECT user_id FROM files) SELECT * FROM mi|", "mine"},
		{"", "EXPLAIN WITH mine AS (SELECT 1), other AS (SELECT 2) SELECT * FROM |", "car_events..."},
		{"", "EXPLAIN WITH mine AS (SELECT 1), other AS (SELECT 2) SELECT * FROM oth|", "other"},
		{"", "WITH a AS (SELECT 1 AS deep), (|", ""},
		{"", "SELECT x.| FROM (SELECT", ""},
		{"", "EXPLAIN ANALYZE WITH a AS (SELECT 1 AS deep) SELECT a.|  FROM a", ""},
		{"", "DELETE FROM |", "car_events..."},
		{"", "UPDATE files SET |", "user_id,create_time,file_id,name,category"},
		{"", "SET |", "analyze_rows,analyze_time,full_scan..."},
		{"", "SET full_scan = |", "allow,deny,warn,DEFAULT"},
		{"", "SET full_scan TO d|", "deny,default"},
		{"", "SHOW s|", "splits,statistics,statement_timeout"},
		{"", "COPY files FROM 'ro|", "rows.csv,rows.sql"},
		{"", "COPY files FROM 'sub/|", "deep/"},
		{"", "SELECT 'ro|", ""},
		{"", "SELECT 1 -- sel|", ""},
		{"", "SELECT 12|", ""},
		{"", `\i |`, "rows.csv,rows.sql,sub/"},
		{"", `\i sub/d|`, "deep/"},
		{"", `\ir nowhere/|`, ""},
		{"", `SELECT 1 \g ro|`, "rows.csv,rows.sql"},
		{"SELECT 1\n", `\gx sub/|`, "deep/"},
		{"", `\d|`, `\d,\d+,\dt,\dv,\di,\dT,\dn,\df`},
		{"", `\d fi|`, "files"},
		{"", `\sample f|`, "files,foo_hashed,foo_salted"},
		{"", `\h cr|`, "create table,create index,create view,create materialized view,create sequence"},
		{"", `\format j|`, "json,jsonl"},
		{"", `\x |`, "on,off,auto"},
		{"", `\copy fi|`, "files"},
		{"", `\pset t|`, "title,tuples_only"},
		{"", `\pset p|`, "pager on,pager off"},
		{"", `\c p|`, "prod"},
		{"", `\unset u|`, "uid"},
	} {
		s.query = c.query
		pos := strings.Index(c.line, "|")
		got, n := s.complete(strings.Replace(c.line, "|", "", 1), pos)
		text := strings.Join(got, ",")
		if want, more := strings.CutSuffix(c.want, "..."); text != c.want && !(more && strings.HasPrefix(text, want)) {
			t.Errorf("%s%s: %s, want %s", c.query, c.line, text, c.want)
		}
		if n > pos {
			t.Errorf("%s%s: replaces %d characters of %d", c.query, c.line, n, pos)
		}
		for i := range len(c.line) { // what is not finished, and what lacks its beginning
			s.complete(c.line[:i], i)
			s.complete(c.line[i:], len(c.line)-i)
		}
	}
	s.query = ""
	if got, n := s.complete("SELECT * FROM fi", 16); !slices.Equal(got, []string{"files"}) || n != 2 {
		t.Errorf("%v replaces %d", got, n)
	}
}

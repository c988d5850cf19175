package exec

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
)

// Definitions of another catalog come, change and go; those of hql's own win over them.
func TestForeignDefinitions(t *testing.T) {
	defer func(was, age time.Duration) { foreignAge, definitionsAge = was, age }(foreignAge, definitionsAge)
	foreignAge, definitionsAge = 0, 0
	_, c := newStore(t)
	var src string
	var fails error
	w := &world{t, New(c, catalog.New(), Config{FullScan: AllowFullScan, Definitions: func(context.Context, hbase.Client) (string, error) { return src, fails }})}
	const a = "-- TODO a comment\nCREATE EXTERNAL TABLE a (k INT) STORED IN 'other' ROW KEY (k AS INT32);\n"
	w.run("CREATE TABLE other (k INT, v INT) ROW KEY (k AS INT32)")
	w.run("INSERT INTO other VALUES (1, 10), (2, 20)")
	w.refused(`unknown table "a"`, "SELECT * FROM a")
	src = a
	w.expect("1\n2", "SELECT * FROM a ORDER BY k")
	src = "CREATE EXTERNAL TABLE a (k INT, v INT) STORED IN 'other' ROW KEY (k AS INT32);\nCREATE EXTERNAL TABLE other (v INT) STORED IN 'none' ROW KEY (v AS INT32);"
	w.expect("1|10\n2|20", "SELECT * FROM a ORDER BY k")
	w.expect("1|10\n2|20", "SELECT * FROM other ORDER BY k")
	src = ""
	w.refused(`unknown table "a"`, "SELECT * FROM a")
	fails = errors.New("it is not to be read")
	w.refused("it is not to be read", "SELECT * FROM other")
}

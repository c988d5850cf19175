package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
)

// Definitions of another catalog come, change and go; those of hql's own win over them.
func TestForeignDefinitions(t *testing.T) {
	defer func(was, age time.Duration) { foreignAge, definitionsAge = was, age }(foreignAge, definitionsAge)
	foreignAge, definitionsAge = 0, 0
	_, c := NewStore(t)
	var src string
	var asked []string
	var fails error
	w := worldOf(t, New(c, catalog.New(), Config{FullScan: AllowFullScan, Definitions: func(context.Context, hbase.Client) (Foreign, error) {
		return foreign{src, &src, &asked}, fails
	}}))
	const a = "-- TODO a comment\nCREATE EXTERNAL TABLE a (k INT) STORED IN 'other' ROW KEY (k AS INT32);\n"
	w.Do("CREATE TABLE other (k INT, v INT) ROW KEY (k AS INT32)")
	w.Do("INSERT INTO other VALUES (1, 10), (2, 20)")
	w.Refused(`unknown table "a"`, "SELECT * FROM a")
	src = a
	w.Expect("1\n2", "SELECT * FROM a ORDER BY k")
	src = "CREATE EXTERNAL TABLE a (k INT, v INT) STORED IN 'other' ROW KEY (k AS INT32);\nCREATE EXTERNAL TABLE other (v INT) STORED IN 'none' ROW KEY (v AS INT32);"
	w.Expect("1|10\n2|20", "SELECT * FROM a ORDER BY k")
	w.Expect("1|10\n2|20", "SELECT * FROM other ORDER BY k")
	src = ""
	w.Refused(`unknown table "a"`, "SELECT * FROM a")
	fails = errors.New("it is not to be read")
	w.Refused("it is not to be read", "SELECT * FROM other")
}

// foreign is a catalog that says something else as soon as now does.
type foreign struct {
	sql   string
	now   *string
	asked *[]string
}

func (f foreign) SQL() string { return f.sql }

func (f foreign) Same(_ context.Context, _ hbase.Client, table string, written bool) (bool, error) {
	*f.asked = append(*f.asked, fmt.Sprint(table, " ", written))
	return f.sql == *f.now, nil
}

// A table of another catalog is read and written as that catalog has it when the statement begins, however young the definition is.
func TestForeignChanges(t *testing.T) {
	defer func(was time.Duration) { foreignAge = was }(foreignAge)
	foreignAge = time.Hour
	_, c := NewStore(t)
	var asked []string
	src := "CREATE EXTERNAL TABLE a (k INT, v INT) STORED IN 'other' ROW KEY (k AS INT32)"
	w := worldOf(t, New(c, catalog.New(), Config{FullScan: AllowFullScan, Definitions: func(context.Context, hbase.Client) (Foreign, error) {
		return foreign{src, &src, &asked}, nil
	}}))
	w.Do("CREATE TABLE other (k INT, v INT, u INT) ROW KEY (k AS INT32)")
	w.Do("INSERT INTO other VALUES (1, 10, 100)")
	w.Expect("1|10", "SELECT * FROM a")
	w.Expect("1|10", "SELECT x.* FROM a AS x JOIN a AS y ON x.k = y.k JOIN other ON x.k = other.k")
	src = "CREATE EXTERNAL TABLE a (k INT, u INT) STORED IN 'other' ROW KEY (k AS INT32)"
	w.Expect("100", "SELECT u FROM a")
	w.Refused(`unknown column "v"`, "SELECT v FROM a")
	w.Expect("1|100", "SELECT * FROM a")
	src = "CREATE EXTERNAL TABLE a (k INT, v INT) STORED IN 'other' ROW KEY (k AS INT32) WITH (READ_ONLY = 'it has an index by now')"
	w.Refused("table a is not written: it has an index by now", "INSERT INTO a VALUES (2, 20)")
	w.Expect("1|10|100", "SELECT * FROM other")
	src = "CREATE EXTERNAL TABLE a (k INT, v INT) STORED IN 'other' ROW KEY (k AS INT32)"
	w.Expect("1|10", "SELECT * FROM a")
	w.Do("UPDATE a SET v = 11 WHERE k = 1")
	src = ""
	w.Refused(`unknown table "a"`, "SELECT * FROM a")
	want := []string{"a false", "a true", "a false", "a true", "a false"}
	asked = slices.Compact(asked)
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

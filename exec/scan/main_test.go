package scan_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/hql-db/hql/exec"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
)

func TestMain(m *testing.M) { Main(m) }

// TestHBase runs on one HBase, one test after the other.
func TestHBase(t *testing.T) {
	t.Parallel()
	t.Run("Mob", testMobHBase)
	t.Run("CostOfHops", testCostOfHopsHBase)
	t.Run("KeyFilters", testKeyFiltersHBase)
	t.Run("Limits", testLimitsHBase)
	t.Run("WideRows", testWideRowsHBase)
}

// Large values of a MOB family stand in files of their own, and HBase's filters compare the references to them.
func testMobHBase(t *testing.T) {
	race.Skip(t)
	c := DialHBase(t)
	w := NewWorld(t, c, Config{})
	w.Do("CREATE TABLE mob (id INT, s STRING FROM f:s, n STRING FROM g:n) FAMILY f (IS_MOB = true, MOB_THRESHOLD = 8) ROW KEY (id AS INT32)")
	defer w.Do("DROP TABLE mob")
	w.Do("INSERT INTO mob SELECT g, 'a large value ' || g, 'n' || g % 10 FROM generate_series(1, 100) AS g")
	w.Do("INSERT INTO mob VALUES (101, 'small', 'n1'), (102, NULL, 'n2')")
	stay := errors.New("it stays")
	if err := c.DropTable(t.Context(), "mob", func(context.Context) error { return stay }); !errors.Is(err, stay) { // disabling it writes its files
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"s = 'a large value 90'":               "1",
		"s <> 'a large value 90'":              "100",
		"s LIKE '%value 9%'":                   "11",
		"s < 'a large value 2'":                "12",
		"s = 'small' OR s = 'a large value 7'": "2",
		"s IS NULL":                            "1",
		"n = 'n1' AND s IN ('a large value 1', 'small', 'none')": "2",
	} {
		if got := w.Do("SELECT count(*) FROM mob WHERE " + query); got != want {
			t.Errorf("%s: %s, not %s", query, got, want)
		}
	}
	w.Do("DELETE FROM mob WHERE s <> 'a large value 50' AND id BETWEEN 40 AND 60")
	if got := w.Do("SELECT s FROM mob WHERE id BETWEEN 40 AND 60"); got != "a large value 50" {
		t.Errorf("left are %s", got)
	}
}

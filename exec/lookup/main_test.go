package lookup_test

import (
	"context"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"

	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
)

// TestMain fails if a goroutine is left, and collects the heap of many small stores rarely.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	goleak.VerifyTestMain(poison.Tests(m))
}

// TestHBase runs on one HBase, one test after the other.
func TestHBase(t *testing.T) {
	t.Parallel()
	t.Run("OpenTSDB", testOpenTSDBHBase)
}

// OpenTSDB's cells on a real HBase.
func testOpenTSDBHBase(t *testing.T) {
	race.Skip(t)
	c := DialHBase(t)
	checkOpenTSDB(t, c)
	for table := range openTSDB {
		if err := c.DropTable(context.Background(), table, nil); err != nil {
			t.Fatal(err)
		}
	}
}

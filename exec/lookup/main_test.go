package lookup_test

import (
	"context"
	"testing"

	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
)

func TestMain(m *testing.M) { Main(m) }

// TestHBase runs on one HBase, one test after the other.
func TestHBase(t *testing.T) {
	t.Parallel()
	t.Run("OpenTSDB", testOpenTSDBHBase)
	t.Run("Sequences", testSequencesHBase)
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

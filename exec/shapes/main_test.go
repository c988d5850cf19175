package shapes_test

import (
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"

	"github.com/hql-db/hql/internal/poison"
)

// TestMain fails if a goroutine is left, and collects the heap of many small stores rarely.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	goleak.VerifyTestMain(poison.Tests(m))
}

// TestHBase runs on one HBase, one test after the other.
func TestHBase(t *testing.T) {
	t.Parallel()
	t.Run("Forms", testFormsHBase)
	t.Run("Shapes", testShapesHBase)
	t.Run("CellTimes", testCellTimesHBase)
}

package shapes_test

import (
	"testing"

	. "github.com/hql-db/hql/internal/scripttest"
)

func TestMain(m *testing.M) { Main(m) }

// TestHBase runs on one HBase, one test after the other.
func TestHBase(t *testing.T) {
	t.Parallel()
	t.Run("Forms", testFormsHBase)
	t.Run("Shapes", testShapesHBase)
	t.Run("CellTimes", testCellTimesHBase)
}

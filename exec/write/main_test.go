package write_test

import (
	"testing"

	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
)

func TestMain(m *testing.M) { Main(m) }

// TestHBase runs on one HBase, one test after the other.
func TestHBase(t *testing.T) {
	t.Parallel()
	t.Run("ReadModifyWrite", testReadModifyWriteHBase)
	t.Run("WithWrites", func(t *testing.T) { checkWithWrites(t, DialHBase(t), 5) })
	t.Run("Histories", testHistoriesHBase)
}

// Several connections that change one row by what they read of it, on a real HBase.
func testReadModifyWriteHBase(t *testing.T) {
	_, times := seeds.Range(t, 5)
	for _, name := range []string{"plain", "families", "indexes", "copy"} {
		t.Run(name, func(t *testing.T) { checkReadModifyWrite(t, DialHBase(t), name, times) })
	}
}

// Histories of clients of a real HBase.
func testHistoriesHBase(t *testing.T) {
	c := DialHBase(t)
	seeds.Each(t, race.Fewer(2), func(t *testing.T, seed uint64, fig seeds.Figures) {
		checkHistory(t, c, seed, fig).Do("DROP TABLE t")
	})
}

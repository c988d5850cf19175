package differential

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/internal/seeds"
)

// The test alternates queries and changes of the same random tables in both.
func TestDifferential(t *testing.T) {
	pg := connect(t)
	seeds.Each(t, race.Fewer(4), func(t *testing.T, seed uint64, fig seeds.Figures) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, pg, r, fig)
		g := &gen{Rand: r, tables: w.tables}
		for _, tb := range w.tables {
			w.load(g, tb)
		}
		for i := range 5 {
			if i < 3 {
				w.view(g, fmt.Sprint("view", i))
			}
			for range 20 {
				if g.odds(3) {
					w.setZone(r)
				}
				w.check(g, g.query())
			}
			for range 5 {
				w.shaped(g)
			}
			w.write(g)
			w.write(g)
			w.copiedQuery(g)
			w.past(g)
		}
	})
}

package exec

import (
	"testing"

	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/store"
)

// The law on the embedded store, with all that the region servers filter.
func TestLawStore(t *testing.T) {
	t.Parallel()
	seeds.Each(t, race.Fewer(12), func(t *testing.T, seed uint64, fig seeds.Figures) {
		_, c := NewStore(t)
		newLawWorld(t, seed, c, Config{}).check(10)
		fig["queries"] += 10
	})
}

// The law while answers are lost, leases expire and regions move, split and merge.
func TestLawUnderFaults(t *testing.T) {
	t.Parallel()
	seeds.Each(t, race.Fewer(12), func(t *testing.T, seed uint64, fig seeds.Figures) {
		s, c := NewStore(t)
		g := newLawWorld(t, seed, c, Config{})
		s.SetFaults(store.Faults{Seed: int64(seed), AnswerLost: 0.05, RequestLost: 0.05, LeaseGone: 0.05, Move: 0.03, Split: 0.03, Merge: 0.03, Stray: 0.03, PartialRow: 0.2, Heartbeat: 0.1})
		g.check(5)
		fig["queries"] += 5
		for kind, n := range s.FaultCounts() {
			fig[string(kind)] += n
		}
	})
}

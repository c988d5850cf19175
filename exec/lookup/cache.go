package lookup

import (
	"sync"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Cache keeps numbers of names for later statements. Numbers never change. A name without a number may get one at any
// time, so its absence is not cached. The zero value is ready to use; it is safe for concurrent use.
type Cache struct {
	mu      sync.Mutex
	byName  map[string]types.Value
	cleared int // number of Clear calls: a number that was read before the last one is not cached
}

// maxKept is the number of names whose numbers an engine caches; at that size it empties the cache. A statement caches as
// many, in addition to the names of its current rows.
const maxKept = 100_000

// nameOf returns the cache key for the number of k.
func nameOf(k plan.LookupKey) string {
	b := append([]byte(k.Table), 0)
	b = append(append(b, k.Column...), 0)
	for _, a := range k.Args {
		b = a.AppendKey(b)
	}
	return string(b)
}

func (c *Cache) get(name string) (types.Value, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.byName[name]
	return v, ok
}

// age returns the value to pass to put with a number that is read from now on.
func (c *Cache) age() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cleared
}

func (c *Cache) put(name string, v types.Value, age int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age != c.cleared {
		return
	}
	if c.byName == nil || len(c.byName) >= maxKept {
		c.byName = map[string]types.Value{}
	}
	c.byName[name] = v
}

// Clear empties the cache, because a look-up table was changed.
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byName = nil
	c.cleared++
}

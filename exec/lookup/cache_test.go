package lookup

import (
	"testing"

	"github.com/hql-db/hql/types"
)

// A number is kept until the look-up tables change, and not at all if it was read before that and comes after it.
func TestCacheForgets(t *testing.T) {
	c, number := &Cache{}, types.NewInt(7)
	kept := func(want bool) {
		t.Helper()
		if v, ok := c.get("a"); ok != want || ok && v.Int() != 7 {
			t.Errorf("kept: %v, %v", v, ok)
		}
	}
	c.put("a", number, c.age())
	kept(true)
	before := c.age()
	c.Clear()
	kept(false)
	c.put("a", number, before)
	kept(false)
	c.put("a", number, c.age())
	kept(true)
}

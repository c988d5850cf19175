package plan

import (
	"fmt"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/types"
)

// Use is the use that a plan makes of a key part.
type Use uint8

// The uses. Among the first four, a greater value describes the reads in more detail.
const (
	Unused     Use = iota
	Bound          // it has one value, or one of a list
	Enumerated     // each of its possible values is read
	Ranged         // a range of its values is read
	Skipped        // a skip scan hops from value to value
	Literal        // it is the same in all keys
)

// String returns the use as in EXPLAIN.
func (u Use) String() string {
	return [...]string{"unused", "bound", "enumerated", "range", "skipped", "literal"}[u]
}

// PartUse describes the use of one key part, and the values read.
type PartUse struct {
	Part   *catalog.Part
	Use    Use
	Values types.Set // those of the first spans; nil if they are not shown
	Varied bool      // other spans have other values
	Why    string    // the reason why the part is unused; "" if it is obvious
}

// Detail returns the first few values as text; "" if there are none.
func (u PartUse) Detail() string {
	const most = 3
	if len(u.Values) == 0 {
		return ""
	}
	var parts []string
	for i, iv := range u.Values {
		if i == most {
			parts = append(parts, fmt.Sprintf("... (%d in all)", len(u.Values)))
			break
		}
		if iv.IsPoint() {
			parts = append(parts, iv.Lo.SQL())
		} else {
			parts = append(parts, iv.String())
		}
	}
	if u.Varied {
		parts = append(parts, "and others")
	}
	return strings.Join(parts, ", ")
}

package plan

import (
	"fmt"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/types"
)

// Use is what a plan does with a part of a key.
type Use uint8

// What is done with a part. Of the first four the greater tells more.
const (
	Unused     Use = iota
	Bound          // it has one value, or each of a list
	Enumerated     // all values that it can have are read, one by one
	Ranged         // a range of its values is read
	Skipped        // a skip scan hops from value to value
	Literal        // it is the same in all keys
)

// String is the use as EXPLAIN names it.
func (u Use) String() string {
	return [...]string{"unused", "bound", "enumerated", "range", "skipped", "literal"}[u]
}

// PartUse says what a plan does with one part of a key, and with which of its values.
type PartUse struct {
	Part   *catalog.Part
	Use    Use
	Values types.Set // those of the first spans; nil: not told
	Varied bool      // other spans have others
	Why    string    // why the part is unused; "" where that is clear
}

// Detail prints the values, the first few of them; "" for none.
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

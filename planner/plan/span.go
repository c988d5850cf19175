package plan

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hql-db/hql/types"
)

// Span is a range [Start, Stop) of the keys of an HBase table; an empty Stop means no upper bound.
type Span struct {
	Table       string
	Start, Stop []byte
	// Key is set if the span is the single key Start, which is read by a Get.
	Key bool
	// SignSplit, if set, is a key in the span. In the order of values, the rows from SignSplit on come before those below
	// it (negative numbers in two's complement). It matters only if Scan.Order is not NoOrder.
	SignSplit []byte
}

// Bounds returns the keys of a span as text: one key, or [start, stop).
func (sp Span) Bounds() string {
	if sp.Key {
		return Escape(sp.Start)
	}
	if len(sp.Start)+len(sp.Stop) == 0 {
		return "all of it"
	}
	return fmt.Sprintf("[%s, %s)", orOpen(Escape(sp.Start)), orOpen(Escape(sp.Stop)))
}

func orOpen(s string) string {
	if s == "" {
		return "open"
	}
	return s
}

// Holds reports whether the range contains keys before key and from key on, so that it can be cut there.
func (sp Span) Holds(key []byte) bool {
	return !sp.Key && bytes.Compare(sp.Start, key) < 0 && (len(sp.Stop) == 0 || bytes.Compare(key, sp.Stop) < 0)
}

// AllBegin reports whether all keys of sp begin with prefix. Start must begin with prefix.
func (sp Span) AllBegin(prefix []byte) bool {
	return sp.Key || bytes.HasPrefix(sp.Stop, prefix) || bytes.Equal(sp.Stop, types.PrefixEnd(prefix))
}

// Escape prints bytes as in EXPLAIN: printable ASCII unchanged, the backslash and other bytes as \xNN.
func Escape(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		if c < 0x20 || c > 0x7e || c == '\\' {
			fmt.Fprintf(&s, `\x%02X`, c)
		} else {
			s.WriteByte(c)
		}
	}
	return s.String()
}

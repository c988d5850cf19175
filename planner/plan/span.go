package plan

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hql-db/hql/types"
)

// Span is one key range [Start, Stop) of a physical table; an empty Stop is open.
type Span struct {
	Table       string
	Start, Stop []byte
	// Key is set when the span is the single key Start: a Get.
	Key bool
	// SignSplit, where set, lies in the span and cuts it into two halves whose value
	// order is the other one round: the rows from SignSplit on come before those below
	// it (negative two's complement numbers). It matters only when Scan.Order is not NoOrder.
	SignSplit []byte
}

// Bounds prints the keys of a span: one key, or [start, stop).
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

// Holds reports whether a range goes on from before key to behind it: it can be cut there.
func (sp Span) Holds(key []byte) bool {
	return !sp.Key && bytes.Compare(sp.Start, key) < 0 && (len(sp.Stop) == 0 || bytes.Compare(key, sp.Stop) < 0)
}

// AllBegin reports whether all keys of sp, of which Start begins with prefix, begin with it.
func (sp Span) AllBegin(prefix []byte) bool {
	return sp.Key || bytes.HasPrefix(sp.Stop, prefix) || bytes.Equal(sp.Stop, types.PrefixEnd(prefix))
}

// Escape prints bytes as EXPLAIN does: printable ASCII as it is, the backslash and the rest as \xNN.
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

package scan

import (
	"unsafe"

	"github.com/hql-db/hql/internal/poison"
)

// arenaChunk is the size of an arena's later chunks in bytes. It is small, because one kept value keeps its whole chunk in
// memory. The first chunk is smaller still, since many statements read one row.
const firstArenaChunk, arenaChunk = 128, 16 << 10

// arena allocates strings, many in one allocation.
type arena struct{ chunk []byte }

// text copies b. The string is valid until the arena is rewound to before it.
func (a *arena) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > arenaChunk/8 {
		return string(b)
	}
	if cap(a.chunk)-len(a.chunk) < len(b) {
		a.chunk = make([]byte, 0, max(len(b), firstArenaChunk, min(2*cap(a.chunk), arenaChunk)))
	}
	n := len(a.chunk)
	a.chunk = append(a.chunk, b...)
	return unsafe.String(&a.chunk[n], len(b))
}

// mark returns the current position for rewind.
func (a *arena) mark() []byte { return a.chunk }

// rewind releases the strings made since mark; no caller may still use them.
func (a *arena) rewind(mark []byte) {
	if len(mark) == 0 || len(a.chunk) == 0 || &mark[0] != &a.chunk[0] {
		mark = a.chunk[:0]
	}
	poison.Bytes(a.chunk[len(mark):])
	a.chunk = mark
}

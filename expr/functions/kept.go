package functions

import (
	"strings"
	"sync"
)

// kept caches values computed from texts, which are usually equal in all rows: patterns, intervals.
type kept[V any] struct {
	sync.Mutex
	byText map[string]V
	size   int // bytes of the texts
}

// maxKept bounds the bytes of the texts in a cache. The cached value of a text may take thousands of times as many
// bytes.
const maxKept = 16 << 10

// get returns the cached value for text, or computes it. It caches neither errors nor the values of long texts.
func (k *kept[V]) get(text string, of func() (V, error)) (V, error) {
	k.Lock()
	v, ok := k.byText[text]
	k.Unlock()
	if ok {
		return v, nil
	}
	v, err := of()
	if err != nil || len(text) > maxKept {
		return v, err
	}
	k.Lock()
	defer k.Unlock()
	if k.size += len(text) + 16; k.byText == nil || k.size > maxKept {
		k.byText, k.size = map[string]V{}, len(text)+16
	}
	k.byText[strings.Clone(text)] = v // text may belong to a row
	return v, nil
}

package expr

import (
	"strings"
	"sync"
)

// kept caches values computed from texts, which are usually equal in all rows: patterns, intervals.
type kept[V any] struct {
	sync.Mutex
	byText map[string]V
}

// get returns the cached value for text, or computes it. It does not cache errors.
func (k *kept[V]) get(text string, of func() (V, error)) (V, error) {
	k.Lock()
	defer k.Unlock()
	if v, ok := k.byText[text]; ok {
		return v, nil
	}
	v, err := of()
	if err != nil {
		return v, err
	}
	if k.byText == nil || len(k.byText) >= 256 {
		k.byText = map[string]V{}
	}
	k.byText[strings.Clone(text)] = v // text may belong to a row
	return v, nil
}

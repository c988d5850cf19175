package expr

import (
	"strings"
	"sync"
)

// kept caches values made from texts, which are usually the same for every row: patterns, intervals.
type kept[V any] struct {
	sync.Mutex
	byText map[string]V
}

// get returns the cached value for text, or makes it. Errors are not cached.
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
	k.byText[strings.Clone(text)] = v // it may be a row's
	return v, nil
}

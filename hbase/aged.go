package hbase

import (
	"sync"
	"time"
)

// aged caches values with the time at which each was put. It is emptied when it has more than a thousand. The zero value works.
type aged[K comparable, V any] struct {
	mu sync.Mutex
	of map[K]agedValue[V]
}

type agedValue[V any] struct {
	value V
	at    time.Time
}

// get returns the value of key if it was put less than age ago.
func (a *aged[K, V]) get(key K, age time.Duration) (v V, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, ok := a.of[key]
	return e.value, ok && time.Since(e.at) < age
}

func (a *aged[K, V]) put(key K, v V) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil || len(a.of) > 1000 {
		a.of = map[K]agedValue[V]{}
	}
	a.of[key] = agedValue[V]{v, time.Now()}
}

func (a *aged[K, V]) drop(key K) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.of, key)
}

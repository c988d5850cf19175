package scan

import (
	"bytes"
	"sync"
)

// regionsSeen holds the names of the regions that answered one table access.
type regionsSeen struct {
	mu     sync.Mutex
	first  []byte // often the only one; nil: none
	others map[string]bool
}

func (r *regionsSeen) Answered(name []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.first == nil:
		r.first = name
	case bytes.Equal(r.first, name):
	case r.others == nil:
		r.others = map[string]bool{string(name): true}
	default:
		r.others[string(name)] = true
	}
}

func (r *regionsSeen) addTo(seen map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first != nil {
		seen[string(r.first)] = true
	}
	for name := range r.others {
		seen[name] = true
	}
}

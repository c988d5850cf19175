package store

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// scanners are the open scanners of the store, by id.
type scanners struct {
	mu     sync.Mutex
	open   map[uint64]*scannerHolder
	closed map[uint64]closedScanner
	lastID uint64
	// swept is when leases were last checked.
	swept time.Time
}

// scannerHolder is an open scanner between two calls.
type scannerHolder struct {
	id      uint64
	region  *region
	scanner *regionScanner
	// busy is held by the call that uses the scanner.
	busy    sync.Mutex
	gone    bool // closed while another call waited for it
	nextSeq uint64
	expires time.Time
	// partialRow is the row of which the last answer may have contained a part; nil: none.
	partialRow []byte
}

// closedScanner remembers, for the time of a lease, a scanner that the server closed after its last row: clients still
// send a request to close it.
type closedScanner struct {
	nextSeq uint64
	until   time.Time
}

func (s *scanners) init() {
	s.open = map[uint64]*scannerHolder{}
	s.closed = map[uint64]closedScanner{}
}

// add registers a scanner.
func (s *scanners) add(g *region, r *regionScanner, expires time.Time) *scannerHolder {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	h := &scannerHolder{id: s.lastID, region: g, scanner: r, expires: expires}
	s.open[h.id] = h
	return h
}

// find returns an open scanner, or the record of one that ended recently.
func (s *scanners) find(id uint64, now time.Time) (h *scannerHolder, ended closedScanner, ok bool) {
	s.expire(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.open[id]; h != nil {
		return h, ended, true
	}
	ended, ok = s.closed[id]
	return nil, ended, ok
}

// remove closes the scanner h; the caller holds h.busy. If remember is set, later requests are answered as for a closed
// scanner until the time until, otherwise as for an unknown scanner.
func (s *scanners) remove(h *scannerHolder, remember bool, until time.Time) {
	s.mu.Lock()
	_, ok := s.open[h.id]
	delete(s.open, h.id)
	if ok && remember {
		s.closed[h.id] = closedScanner{nextSeq: h.nextSeq, until: until}
	}
	s.mu.Unlock()
	if ok {
		h.gone = true
		h.scanner.close()
	}
}

// sweepEvery is the least time between two checks of the leases.
const sweepEvery = 100 * time.Millisecond

// expire closes scanners whose lease is over.
func (s *scanners) expire(now time.Time) {
	s.mu.Lock()
	if d := now.Sub(s.swept); d >= 0 && d < sweepEvery {
		s.mu.Unlock()
		return
	}
	s.swept = now
	var gone []*scannerHolder
	for _, h := range s.open {
		if !h.busy.TryLock() {
			continue
		}
		if now.After(h.expires) {
			gone = append(gone, h)
		} else {
			h.busy.Unlock()
		}
	}
	for id, c := range s.closed {
		if now.After(c.until) {
			delete(s.closed, id)
		}
	}
	s.mu.Unlock()
	for _, h := range gone {
		s.remove(h, false, now)
		h.busy.Unlock()
	}
}

func (s *scanners) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

func (s *scanners) closeAll() {
	s.mu.Lock()
	all := s.open
	s.open = map[uint64]*scannerHolder{}
	s.mu.Unlock()
	for _, h := range all {
		h.busy.Lock()
		h.gone = true
		h.scanner.close()
		h.busy.Unlock()
	}
}

// dropLease makes an open scanner unknown, as if its lease had expired. It reports whether there was such a scanner.
func (s *scanners) dropLease(id uint64) bool {
	s.mu.Lock()
	h := s.open[id]
	s.mu.Unlock()
	if h == nil || !h.busy.TryLock() {
		return false
	}
	defer h.busy.Unlock()
	s.remove(h, false, time.Time{})
	return true
}

func unknownScanner(id uint64) error {
	return throw(classUnknownScanner, "Unknown scanner '%s'. This can happen due to any of the following "+
		"reasons: a) Scanner id given is wrong, b) Scanner lease expired because of long wait between consecutive client checkins, "+
		"c) Server may be closing down, d) RegionServer restart during upgrade.", strconv.FormatUint(id, 10))
}

// canceled returns the context's error if a request was given up, else nil.
func canceled(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}

package store

import (
	"bytes"
	"context"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hql-db/hql/internal/poison"
)

// regionScanner reads the rows of a query within one region from a snapshot: it does not see writes after it was
// opened.
type regionScanner struct {
	query  *query
	filter filter
	stores []*storeScanner // of the families that the filter needs
	joined []*storeScanner // of the others
	// joinedRow is the row of which joined has more cells, because a limit stopped the reading.
	joinedRow   []byte
	joinedOpen  bool
	hasFilter   bool
	wholeRows   bool // the filter wants whole rows
	lastRowBuf  []byte
	iteratorsOf []*pebble.Iterator
	plain       *rowProgram // for plainRows; nil: it reads nothing
	ended       func()      // is called when the scan has come to the end of the region; nil: never
}

// openRegionScanner opens a query on a region; now is in milliseconds.
func (s *Store) openRegionScanner(ctx context.Context, q *query, g *region, now int64) (*regionScanner, error) {
	r := &regionScanner{query: q, filter: q.filter, hasFilter: q.filter != nil}
	r.wholeRows = r.hasFilter && q.filter.hasRow()
	var cells []*cachedCells
	if version, ok := s.cells.version(g.table); ok {
		if cells = s.cached(ctx, q, g, version); cells == nil && q.whole(g) {
			r.ended = func() { s.cells.mark(q, g, version) }
		}
	}
	for i := range q.families {
		var of *cachedCells
		if cells != nil {
			of = cells[i]
		}
		if err := r.openFamily(s.db, &q.families[i], of, g, now); err != nil {
			r.close()
			return nil, err
		}
	}
	if len(r.stores) == 1 && len(r.joined) == 0 && r.stores[0].matcher.plain && !q.reversed && !q.get && q.storeLimit == 0 {
		r.plain = newRowProgram(q.filter, r.stores[0].family, r.stores[0].cells.cachedCells)
	}
	if q.reversed && len(r.joined) > 0 {
		r.close()
		return nil, throw(classDoNotRetry, "Reverse scan with loading CFs on demand is not supported")
	}
	return r, nil
}

func (r *regionScanner) openFamily(db *pebble.DB, fq *familyQuery, cells *cachedCells, g *region, now int64) (err error) {
	q := r.query
	s := &storeScanner{family: fq.family, meta: g.table.meta, query: q, matcher: newMatcher(q, fq, now), cur: cell{family: fq.family.name}}
	if cells != nil {
		s.cells = cells.reader(q, g)
		s.matcher.plain = cells.plain && fq.qualifiers == nil && q.times.all && s.matcher.oldest == math.MinInt64
	} else if s.it, err = r.iterator(db, fq.family, g); err != nil {
		return err
	}
	s.start()
	if r.hasFilter && q.onDemand && !r.filter.essential(fq.family.name) {
		r.joined = append(r.joined, s)
	} else {
		r.stores = append(r.stores, s)
	}
	return s.err
}

// iterator opens an iterator of a family's keys.
func (r *regionScanner) iterator(db *pebble.DB, f *family, g *region) (it *pebble.Iterator, err error) {
	lower, upper := r.query.bounds(f, g)
	o := &pebble.IterOptions{LowerBound: lower, UpperBound: upper}
	if len(r.iteratorsOf) == 0 {
		it, err = db.NewIter(o)
	} else { // the same snapshot, so that a row is consistent over its families
		it, err = r.iteratorsOf[0].Clone(pebble.CloneOptions{IterOptions: o})
	}
	if err == nil {
		r.iteratorsOf = append(r.iteratorsOf, it)
	}
	return it, err
}

func (r *regionScanner) close() {
	for _, it := range r.iteratorsOf {
		// Reading errors were returned when they occurred.
		_ = it.Close()
	}
	r.iteratorsOf, r.stores, r.joined = nil, nil, nil
}

// top returns the scanner at the next row and there at the first family; nil: no more cells.
func (r *regionScanner) top(stores []*storeScanner) *storeScanner {
	var best *storeScanner
	for _, s := range stores {
		if !s.valid {
			continue
		}
		if best == nil {
			best = s
			continue
		}
		c := bytes.Compare(s.cur.row, best.cur.row)
		if r.query.reversed {
			c = -c
		}
		if c < 0 { // scanners are in the order of their families
			best = s
		}
	}
	return best
}

// populate reads the cells of a row from stores until the row ends or a limit is reached.
func (r *regionScanner) populate(ctx context.Context, stores []*storeScanner, row []byte, b *block, lim *limits) error {
	for {
		s := r.top(stores)
		if s == nil {
			return nil
		}
		more, err := s.next(ctx, b, lim)
		if err != nil {
			return err
		}
		if !more {
			s.valid = false
		}
		next := r.top(stores)
		inRow := next != nil && bytes.Equal(next.cur.row, row)
		if !inRow {
			lim.rowsScanned++ // HBase also counts a row again for families that are read only if the filter keeps the row
		}
		if lim.reached(betweenCells) {
			lim.midRow = inRow
			return nil
		}
		if !inRow {
			return nil
		}
	}
}

// passRow skips the rest of the row. In a forward scan the filter still sees the cells of the row.
func (r *regionScanner) passRow(ctx context.Context, row []byte) error {
	if r.query.reversed {
		for _, s := range r.stores {
			if s.valid && bytes.Equal(s.cur.row, row) {
				s.toNextRow()
			}
			if s.err != nil {
				return s.err
			}
		}
	}
	lim := limits{off: true}
	for {
		s := r.top(r.stores)
		if s == nil || !bytes.Equal(s.cur.row, row) {
			break
		}
		more, err := s.next(ctx, nil, &lim)
		if err != nil {
			return err
		}
		if !more {
			s.valid = false
		}
	}
	if r.hasFilter {
		r.filter.reset()
	}
	return nil
}

// filterDone reports whether the filter has ended the scan of the region.
func (r *regionScanner) filterDone() bool { return r.hasFilter && r.filter.allRemaining() }

// next adds the next row, or a part of it, to b's open row. If the open row stays empty, no row is left or a limit was
// reached first. more reports whether further rows may follow.
func (r *regionScanner) next(ctx context.Context, b *block, lim *limits) (more bool, err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case errNoHint: // a filter raised this exception, as on the server
			more, err = false, errNoHint
		default:
			panic(p)
		}
	}()
	lim.midRow = false
	more, err = r.nextRow(ctx, b, lim)
	if err != nil {
		return false, err
	}
	if r.hasFilter && !lim.midRow {
		r.filter.reset()
	}
	if done := r.filterDone(); more || done || r.ended == nil {
		return more && !done, nil
	}
	r.ended()
	return false, nil
}

// nextRow does the work of next, but does not reset the filter for another row. It is one function, like HBase's own,
// because the order of these steps decides what is counted, which limit ends it and which questions the filter gets.
func (r *regionScanner) nextRow(ctx context.Context, b *block, lim *limits) (more bool, err error) {
	size := lim.sizeDone
	for {
		lim.sizeDone = size // dropped cells do not count
		if r.wholeRows {
			lim.wholeRows = true
		}
		if lim.poll(ctx) {
			return false, ctx.Err()
		}
		if r.joinedOpen {
			if err := r.join(ctx, b, lim); err != nil || lim.reached(betweenCells) {
				return true, err
			}
		} else {
			s := r.top(r.stores)
			if s == nil {
				return false, nil
			}
			poison.Bytes(r.lastRowBuf)
			r.lastRowBuf = append(r.lastRowBuf[:0], s.cur.row...)
			row := r.lastRowBuf
			if r.hasFilter && r.refusesKey(row) {
				lim.rowsFiltered++
				if r.filter.allRemaining() {
					return false, nil
				}
				lim.rowsScanned++
				if err := r.passRow(ctx, row); err != nil {
					return false, err
				}
				if lim.reached(scope(!r.wholeRows)) {
					return true, nil
				}
				continue
			}
			if err := r.populate(ctx, r.stores, row, b, lim); err != nil {
				return false, err
			}
			if lim.reached(betweenCells) {
				return true, nil
			}
			last := r.top(r.stores) == nil
			if r.refusesRow(b, lim, size) {
				lim.rowsFiltered++
				b.drop()
				if err := r.passRow(ctx, row); err != nil {
					return false, err
				}
				if last {
					return false, nil
				}
				if lim.reached(scope(!r.wholeRows)) {
					return true, nil
				}
				continue
			}
			found, err := r.joinedHas(row)
			if err != nil {
				return false, err
			}
			if found {
				poison.Bytes(r.joinedRow)
				r.joinedRow = append(r.joinedRow[:0], row...)
				r.joinedOpen = true
				if err := r.join(ctx, b, lim); err != nil || lim.reached(betweenCells) {
					return true, err
				}
			}
		}
		if b.cells == 0 {
			lim.rowsFiltered++
			if err := r.passRow(ctx, r.lastRowBuf); err != nil {
				return false, err
			}
			if r.top(r.stores) != nil {
				continue
			}
		}
		return r.top(r.stores) != nil, nil
	}
}

func (r *regionScanner) refusesKey(row []byte) bool {
	return r.filter.allRemaining() || r.filter.rowKey(row)
}

// refusesRow lets the filter decide about the open row.
func (r *regionScanner) refusesRow(b *block, lim *limits, size int64) bool {
	empty := b.cells == 0
	if !r.wholeRows {
		return empty || r.hasFilter && r.filter.row()
	}
	if b.cells > 0 && r.filter.row() {
		lim.sizeDone = size
		return true
	}
	lim.sizeDone = size + b.size()
	return empty
}

// joinedHas moves the scanners in r.joined, whose families the filter did not need, to a row that the filter kept. It
// reports whether one of these families has cells of the row.
func (r *regionScanner) joinedHas(row []byte) (found bool, err error) {
	for _, s := range r.joined {
		if s.valid && bytes.Compare(s.cur.row, row) < 0 {
			s.toHint(firstOnRow(row))
			s.matcher.inRow = false
		}
		if s.err != nil {
			return false, s.err
		}
		found = found || s.valid && bytes.Equal(s.cur.row, row)
	}
	return found, nil
}

// join adds the cells of the families in r.joined to the open row.
func (r *regionScanner) join(ctx context.Context, b *block, lim *limits) error {
	if err := r.populate(ctx, r.joined, r.joinedRow, b, lim); err != nil {
		return err
	}
	if !lim.reached(betweenCells) {
		r.joinedOpen = false
	}
	b.sort()
	return nil
}

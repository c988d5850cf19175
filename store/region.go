package store

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"slices"
	"sort"
	"strconv"
	"sync/atomic"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	gohbaseregion "github.com/tsuna/gohbase/region"
)

// region is one region of a table since it was opened. A region that moves is opened again, and its former scanners are
// lost.
type region struct {
	table       *table // its name and namespace never change; for the families look the table up
	id          uint64 // milliseconds of its creation
	name        []byte // "table,start,id.encoded."
	encoded     string // md5 of the name without it, in hex
	start, stop []byte // [start, stop); empty: open
	info        hrpc.RegionInfo
	load        *regionLoad
}

// regionLoad counts the rows that were read and written since a region was opened.
type regionLoad struct{ reads, writes atomic.Int64 }

func newRegion(t *table, r regionRecord) *region {
	name := []byte(t.name + ",")
	name = append(append(name, r.Start...), ',')
	name = strconv.AppendUint(name, r.ID, 10)
	sum := md5.Sum(name)
	encoded := hex.EncodeToString(sum[:])
	name = append(append(append(name, '.'), encoded...), '.')
	return openRegion(&region{table: t, id: r.ID, name: name, encoded: encoded, start: r.Start, stop: r.Stop})
}

func newMetaRegion(t *table) *region {
	return openRegion(&region{table: t, id: 1, name: []byte("hbase:meta,,1"), encoded: "1588230740"})
}

// openRegion returns a region that can be served: g itself, with the fields that clients see.
func openRegion(g *region) *region {
	namespace := g.table.namespace
	if namespace == "default" {
		namespace = "" // as in gohbase
	}
	g.load = &regionLoad{}
	g.info = gohbaseregion.NewInfo(g.id, []byte(namespace), []byte(g.table.qualifier), g.name, g.start, g.stop)
	return g
}

// contains reports whether row lies in the region.
func (g *region) contains(row []byte) bool {
	return bytes.Compare(row, g.start) >= 0 && (len(g.stop) == 0 || bytes.Compare(row, g.stop) < 0)
}

// regionIndex finds the region of a key.
func (t *table) regionIndex(key []byte) int {
	return sort.Search(len(t.regions)-1, func(i int) bool { return bytes.Compare(key, t.regions[i].stop) < 0 })
}

func (t *table) region(key []byte) *region { return t.regions[t.regionIndex(key)] }

// newRegionID returns a time that no other region has as its id. Callers hold ddl.
func (s *Store) newRegionID() uint64 {
	c := &s.catalog
	c.lastRegionID = max(c.lastRegionID+1, uint64(max(s.now(), 0)))
	return c.lastRegionID
}

// Split divides the region that holds key into two; the second begins with key. Scanners of the region are lost. Split does
// nothing if a region already begins with key. The error for a missing table is gohbase.TableNotFound.
func (s *Store) Split(name string, key []byte) error {
	err := s.reshape(name, func(t *table) []*region {
		i := t.regionIndex(key)
		g := t.regions[i]
		if bytes.Equal(key, g.start) {
			return nil
		}
		id := s.newRegionID()
		key = bytes.Clone(key)
		return slices.Concat(t.regions[:i], []*region{
			newRegion(t, regionRecord{ID: id, Start: g.start, Stop: key}),
			newRegion(t, regionRecord{ID: id, Start: key, Stop: g.stop}),
		}, t.regions[i+1:])
	})
	return err
}

// Merge joins the region of a table that holds key with the next one; scanners of both are lost. It does nothing on the
// last region.
func (s *Store) Merge(name string, key []byte) error {
	err := s.reshape(name, func(t *table) []*region {
		i := t.regionIndex(key)
		if i+1 == len(t.regions) {
			return nil
		}
		merged := newRegion(t, regionRecord{ID: s.newRegionID(), Start: t.regions[i].start, Stop: t.regions[i+1].stop})
		return slices.Concat(t.regions[:i], []*region{merged}, t.regions[i+2:])
	})
	return err
}

// Move reopens the region of a table that holds key, as if on another server: its
// scanners are lost.
func (s *Store) Move(name string, key []byte) error {
	return s.reshape(name, reopened(key))
}

// reopened opens the region of a key again.
func reopened(key []byte) func(*table) []*region {
	return func(t *table) []*region {
		i := t.regionIndex(key)
		moved := *t.regions[i]
		regions := slices.Clone(t.regions)
		regions[i] = openRegion(&moved)
		return regions
	}
}

// reshape replaces a table's regions by those that change returns; nil changes nothing.
func (s *Store) reshape(name string, change func(*table) []*region) error {
	return s.working(func() error { return s.reshapeLocked(name, change) })
}

// reshapeLocked works like reshape for callers that hold the lock s.life.
func (s *Store) reshapeLocked(name string, change func(*table) []*region) error {
	s.catalog.ddl.Lock()
	defer s.catalog.ddl.Unlock()
	t, ok := s.catalog.lookup(name)
	if !ok || t.meta {
		return gohbase.TableNotFound
	}
	regions := change(t)
	if regions == nil {
		return nil
	}
	next := *t
	next.regions = regions
	return s.replace(t, &next)
}

package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// catalog holds the tables. A table is immutable: a change replaces it, so that calls use the table that they looked up
// without a lock.
type catalog struct {
	mu      sync.RWMutex
	tables  map[string]*table  // by full name: "t" or "ns:t"
	regions map[string]*region // by region name
	nextID  uint32
	// changed is closed and replaced at each change; calls to disabled tables wait for it.
	changed chan struct{}
	// ddl serializes changes of the catalog.
	ddl sync.Mutex
	// lastRegionID makes region ids, which are times, unique.
	lastRegionID uint64
}

// table is the definition of a table and its regions, sorted and without gaps.
type table struct {
	name, namespace, qualifier string
	id                         uint32
	families                   []*family // sorted by name
	attributes                 []pair
	configuration              []pair
	regions                    []*region
	disabled                   bool
	readOnly                   bool
	meta                       bool
}

// family is a column family: its attributes as given, and values derived from them.
type family struct {
	name                      []byte
	id                        byte
	attributes, configuration []pair
	maxVersions, minVersions  int
	ttl                       int64 // milliseconds; math.MaxInt64: for ever
	keepDeleted               bool
	prefix                    []byte // common prefix of its keys
}

// pair is an attribute of a table or family.
type pair struct{ Name, Value []byte }

// record is the stored form of a table under spaceTables and its name.
type record struct {
	ID                        uint32
	Namespace, Qualifier      string
	Attributes, Configuration []pair         `json:",omitempty"`
	Families                  []familyRecord `json:",omitempty"`
	Regions                   []regionRecord
	Disabled                  bool `json:",omitempty"`
}

type familyRecord struct {
	ID                        byte
	Name                      []byte
	Attributes, Configuration []pair `json:",omitempty"`
}

type regionRecord struct {
	ID          uint64
	Start, Stop []byte
}

// Table ids below firstTableID are reserved for system tables.
const (
	metaTableID  uint32 = 1
	firstTableID uint32 = 16
	metaName            = "hbase:meta"
)

func fullName(namespace, qualifier string) string {
	if namespace == "" || namespace == "default" {
		return qualifier
	}
	return namespace + ":" + qualifier
}

// newFamily derives the values that reading needs from a family's attributes.
func newFamily(tableID uint32, r familyRecord) *family {
	f := &family{name: r.Name, id: r.ID, attributes: r.Attributes, configuration: r.Configuration,
		maxVersions: 1, ttl: math.MaxInt64, prefix: appendPrefix(nil, tableID, r.ID)}
	for _, a := range r.Attributes {
		v := strings.TrimSpace(string(a.Value))
		switch string(a.Name) {
		case "VERSIONS":
			if n, err := strconv.Atoi(v); err == nil && n > 0 {
				f.maxVersions = n
			}
		case "MIN_VERSIONS":
			if n, err := strconv.Atoi(v); err == nil && n > 0 {
				f.minVersions = n
			}
		case "TTL":
			// Seconds; the largest int32 and FOREVER mean no expiry.
			if n, err := strconv.ParseInt(v, 10, 64); err == nil && n > 0 && n < math.MaxInt32 {
				f.ttl = n * 1000
			}
		case "KEEP_DELETED_CELLS":
			f.keepDeleted = v != "" && !strings.EqualFold(v, "false")
		}
	}
	return f
}

func newTable(r record) *table {
	t := &table{name: fullName(r.Namespace, r.Qualifier), namespace: r.Namespace, qualifier: r.Qualifier,
		id: r.ID, attributes: r.Attributes, configuration: r.Configuration, disabled: r.Disabled,
		meta: r.ID == metaTableID}
	for _, a := range r.Attributes {
		if string(a.Name) == "READONLY" {
			t.readOnly = strings.EqualFold(string(a.Value), "true")
		}
	}
	for _, f := range r.Families {
		t.families = append(t.families, newFamily(r.ID, f))
	}
	slices.SortFunc(t.families, func(a, b *family) int { return strings.Compare(string(a.name), string(b.name)) })
	for _, g := range r.Regions {
		t.regions = append(t.regions, newRegion(t, g))
	}
	return t
}

func (t *table) record() record {
	r := record{ID: t.id, Namespace: t.namespace, Qualifier: t.qualifier, Attributes: t.attributes,
		Configuration: t.configuration, Disabled: t.disabled}
	for _, f := range t.families {
		r.Families = append(r.Families, familyRecord{ID: f.id, Name: f.name, Attributes: f.attributes, Configuration: f.configuration})
	}
	for _, g := range t.regions {
		r.Regions = append(r.Regions, regionRecord{ID: g.id, Start: g.start, Stop: g.stop})
	}
	return r
}

// family finds a family by name; nil if the table lacks it.
func (t *table) family(name []byte) *family {
	for _, f := range t.families {
		if string(f.name) == string(name) {
			return f
		}
	}
	return nil
}

// metaTable is hbase:meta: one region, two families, never disabled.
func metaTable() *table {
	versions := []pair{{[]byte("VERSIONS"), []byte("3")}}
	t := newTable(record{ID: metaTableID, Namespace: "hbase", Qualifier: "meta",
		Families: []familyRecord{{ID: 0, Name: []byte("info"), Attributes: versions}, {ID: 1, Name: []byte("table"), Attributes: versions}}})
	t.regions = []*region{newMetaRegion(t)}
	return t
}

func tableKey(name string) []byte { return append([]byte{spaceTables}, name...) }

// loadCatalog reads the tables of an existing store.
func (s *Store) loadCatalog() error {
	c := &s.catalog
	c.tables = map[string]*table{metaName: metaTable()}
	c.regions = map[string]*region{}
	c.nextID = firstTableID
	c.changed = make(chan struct{})
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{spaceTables}, UpperBound: []byte{spaceCells}})
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		var r record
		if err := json.Unmarshal(v, &r); err != nil {
			return fmt.Errorf("definition of table %q: %w", it.Key()[1:], err)
		}
		t := newTable(r)
		c.tables[t.name] = t
		c.nextID = max(c.nextID, t.id+1)
		for _, g := range t.regions {
			c.lastRegionID = max(c.lastRegionID, g.id)
		}
	}
	for _, t := range c.tables {
		for _, g := range t.regions {
			c.regions[string(g.name)] = g
		}
	}
	return it.Error()
}

// lookup finds a table by full name.
func (c *catalog) lookup(name string) (*table, bool) {
	c.mu.RLock()
	t, ok := c.tables[name]
	c.mu.RUnlock()
	return t, ok
}

// all returns the tables sorted by name, including hbase:meta.
func (c *catalog) all() []*table {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.SortedFunc(maps.Values(c.tables), func(a, b *table) int { return strings.Compare(a.name, b.name) })
}

// online reports whether g is served: it is still part of its table, which is enabled.
func (c *catalog) online(g *region) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t := c.tables[g.table.name]
	return c.regions[string(g.name)] == g && t != nil && !t.disabled
}

// regionByName finds a region that is served, and the current version of its table.
func (c *catalog) regionByName(name []byte) (*table, *region, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	g, ok := c.regions[string(name)]
	if !ok {
		return nil, nil, false
	}
	t := c.tables[g.table.name]
	if t == nil || t.disabled {
		return nil, nil, false
	}
	return t, g, true
}

// waitChange returns a channel that is closed at the next change of the catalog.
func (c *catalog) waitChange() <-chan struct{} {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.changed
}

// wake wakes everyone who waits for a change.
func (c *catalog) wake() {
	c.mu.Lock()
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
}

// replace replaces the version old of a table by t, after it has written t's definition and rows of hbase:meta. A nil
// old creates the table, a nil t drops it. Callers hold ddl.
func (s *Store) replace(old, t *table) error {
	b := s.db.NewBatch()
	defer b.Close()
	if err := s.writeMeta(b, old, t); err != nil {
		return err
	}
	if t != nil {
		def, err := json.Marshal(t.record())
		if err != nil {
			return err
		}
		if err := b.Set(tableKey(t.name), def, nil); err != nil {
			return err
		}
	} else {
		if err := b.Delete(tableKey(old.name), nil); err != nil {
			return err
		}
		if err := b.DeleteRange(appendPrefix(nil, old.id, 0), appendPrefix(nil, old.id+1, 0), nil); err != nil {
			return err
		}
	}
	if err := b.Commit(s.write); err != nil {
		return err
	}
	c := &s.catalog
	c.mu.Lock()
	if old != nil {
		delete(c.tables, old.name)
		for _, g := range old.regions {
			delete(c.regions, string(g.name))
		}
	}
	if t != nil {
		c.tables[t.name] = t
		for _, g := range t.regions {
			c.regions[string(g.name)] = g
		}
	}
	c.mu.Unlock()
	if old != nil {
		s.cells.forget(old, t)
	}
	c.wake()
	return nil
}

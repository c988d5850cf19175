package stats

import (
	"slices"
	"strings"
	"time"
)

// Version is the version of Table's JSON. It increases when an older hql would misinterpret new statistics.
const Version = 1

// Table is the statistics of a table.
type Table struct {
	Version int       `json:"version"`
	Name    string    `json:"table"`
	At      time.Time `json:"at"` // when it was read
	Rows    float64   `json:"rows"`
	Read    int64     `json:"rows_read"`
	// Complete reports whether all rows were read. If so, the counts of rows and NULLs were exact when they were read.
	Complete bool `json:"complete"`
	// Unread is the share of the rows, 0 to 1, that were not read for lack of time; they are assumed to be like the
	// rows that were read. Unscaled reports that the number of unread rows is unknown: then the number of all rows is
	// unknown too.
	Unread   float64 `json:"unread,omitempty"`
	Unscaled bool    `json:"unscaled,omitempty"`
	Bytes    float64 `json:"bytes_a_row"` // of its cells as a server sends them, keys and names included
	Cells    float64 `json:"cells_a_row"`
	// Packed is the mean number of rows of the table in a row of HBase, if a row of HBase can hold several.
	Packed  float64  `json:"rows_a_key,omitempty"`
	Columns []Column `json:"columns"` // in the table's order
	Keys    []Key    `json:"keys"`    // by layout, in the table's order
	// Size is the size of the regions in bytes, as the master reported it; 0 if it did not.
	Size int64 `json:"size,omitempty"`
	// Sample are rows that each represent equally many rows of the table, by column: they show correlations between
	// columns. Long texts are cut. If the sample has as many rows as the table, it holds all rows.
	Sample []Values `json:"sample,omitempty"`

	orders orders
}

// Column is the statistics of a column.
type Column struct {
	Name     string  `json:"name"`
	Nulls    float64 `json:"nulls"`    // the share of rows in which it is NULL
	Distinct float64 `json:"distinct"` // values
	Bytes    float64 `json:"bytes"`    // of its cell as a server sends it; 0 for a column in the key
	// Frequent are values with their shares of all rows, the most frequent first.
	Frequent []Frequent `json:"frequent,omitempty"`
	// Bounds cut the values that are not in Frequent into pieces of equally many rows: first the least value, then the
	// end of each piece.
	Bounds []Value `json:"bounds,omitempty"`
}

// Frequent is a value with its share of all rows.
type Frequent struct {
	Value Value   `json:"value"`
	Share float64 `json:"share"`
}

// Key is the statistics of a layout's keys.
type Key struct {
	Layout string  `json:"layout"`
	Rows   float64 `json:"rows"` // entries: an index can have fewer than the table has rows
	Bytes  float64 `json:"bytes"`
	// Prefixes describe the first part, the first two parts, and so on up to the whole key.
	Prefixes []Prefix `json:"prefixes"`
	Stored   []Stored `json:"stored"` // the HBase tables, by name
}

// Prefix is the statistics of the first parts of a key.
type Prefix struct {
	Parts    string  `json:"parts"` // as written
	Distinct float64 `json:"distinct"`
	// Frequent are frequent prefixes with their shares of all rows, sorted by their bytes. A share counts the rows of
	// all HBase tables together, unless the prefix determines the HBase table.
	Frequent []FrequentPrefix `json:"frequent,omitempty"`
	// Rare is the mean number of rows of the prefixes that are not in Frequent.
	Rare float64 `json:"rare"`
}

// FrequentPrefix is the start of keys with its share of all rows.
type FrequentPrefix struct {
	Prefix []byte  `json:"prefix"`
	Share  float64 `json:"share"`
}

// Stored is the distribution of keys in an HBase table.
type Stored struct {
	Table   string  `json:"table"`
	Rows    float64 `json:"rows"`
	Regions int     `json:"regions,omitempty"` // 0: not known
	// Bounds are the first key and the last, and between them keys that cut the table into pieces of equally many rows.
	Bounds [][]byte `json:"bounds"`
	// Unread are ranges of keys that were not looked at.
	Unread []Gap `json:"unread,omitempty"`
}

// Gap is a range of keys: [Start, Stop), an empty Stop being open.
type Gap struct {
	Start []byte `json:"start"`
	Stop  []byte `json:"stop"`
}

// Column returns the statistics of the i-th column, or nil.
func (t *Table) Column(i int) *Column {
	if t == nil || i < 0 || i >= len(t.Columns) {
		return nil
	}
	return &t.Columns[i]
}

// StoredIn returns the distribution of keys in an HBase table; nil: unknown.
func (k *Key) StoredIn(table string) *Stored {
	i, found := slices.BinarySearchFunc(k.Stored, table, func(s Stored, name string) int { return strings.Compare(s.Table, name) })
	if !found {
		return nil
	}
	return &k.Stored[i]
}

// Key returns the statistics of a layout, or nil.
func (t *Table) Key(layout string) *Key {
	if t == nil {
		return nil
	}
	for i := range t.Keys {
		if t.Keys[i].Layout == layout {
			return &t.Keys[i]
		}
	}
	return nil
}

// WithKey returns the statistics of the table as if it had one more key, computed from the sample; the key of the
// sample's i-th row is places[i], a zero Place if the row has no entry. Nil: there is no sample, or the number of
// places differs.
func (t *Table) WithKey(k KeyShape, places []Place) *Table {
	if len(t.Sample) == 0 || len(t.Sample[0]) != len(places) {
		return nil
	}
	c := NewCollector(Shape{Keys: []KeyShape{k}})
	run := c.Begin(len(places))
	for _, p := range places {
		run.Add(Row{Places: []Place{p}})
	}
	run.Stands = t.Rows
	found := Build(t.Name, t.At, t.Complete && run.Rows == int64(t.Rows), c).Keys[0]
	for i := range found.Stored {
		found.Stored[i].Regions = 1
	}
	out := t.Clone()
	out.Keys = append(out.Keys, found)
	return out
}

// Clone returns a copy of t whose columns and keys may be changed.
func (t *Table) Clone() *Table {
	return &Table{Version: t.Version, Name: t.Name, At: t.At, Rows: t.Rows, Read: t.Read, Complete: t.Complete, Unread: t.Unread, Unscaled: t.Unscaled,
		Bytes: t.Bytes, Cells: t.Cells, Packed: t.Packed, Columns: slices.Clone(t.Columns), Keys: slices.Clone(t.Keys), Size: t.Size, Sample: t.Sample}
}

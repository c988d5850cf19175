package stats

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/axiomhq/hyperloglog"

	"github.com/hql-db/hql/types"
)

// Limits of the detail of a table's statistics.
const (
	maxFrequent       = 100 // values of a column
	maxFrequentPrefix = 500 // prefixes of a key
	columnPieces      = 100
	keyPieces         = 500
	minSeen           = 4   // occurrences in the sample from which a value counts as frequent
	maxValueLength    = 256 // of a frequent value, in bytes
	maxBoundLength    = 64  // bounds are cut to it
	sampleRows        = 40_000
	keptSample        = 4000    // rows of Table.Sample
	keptSampleSize    = 1 << 19 // of their values, in bytes
)

// Shape describes a table's columns and keys.
type Shape struct {
	Columns []string   // their names
	Keys    []KeyShape // the first is the one in whose order rows are read
}

// KeyShape is the key of a layout: its parts as written.
type KeyShape struct {
	Layout string
	Parts  []string
}

// Row is a row that was read. The collector copies the parts that it keeps.
type Row struct {
	Values []types.Value
	// CellBytes are the sizes of the columns' cells, 0 for a missing cell. Bytes and Cells count all cells of the HBase
	// row. If the HBase row holds several rows of the table, they are 0 for all but the first.
	CellBytes    []int
	Bytes, Cells int
	Places       []Place // by key; a zero Place: the layout has no entry for the row
}

// Place is the place of a row in a layout.
type Place struct {
	Table string
	Key   []byte
	Ends  []int // where each part of the key ends
}

// Collector collects the rows of one reader. Build combines several collectors.
type Collector struct {
	shape  Shape
	values []*hyperloglog.Sketch   // by column
	starts [][]*hyperloglog.Sketch // by key, then part: of the prefix that ends with it
	runs   []*Run
	buf    []byte
}

// NewCollector makes an empty Collector.
func NewCollector(s Shape) *Collector {
	c := &Collector{shape: s}
	for range s.Columns {
		c.values = append(c.values, hyperloglog.New14())
	}
	for _, k := range s.Keys {
		var starts []*hyperloglog.Sketch
		for range k.Parts {
			starts = append(starts, hyperloglog.New14())
		}
		c.starts = append(c.starts, starts)
	}
	return c
}

// Run is a set of rows of a table that had equal chances to be read.
type Run struct {
	// Stands is the number of rows of the table that the run represents, including its own. It can be set until Build.
	Stands float64
	Rows   int64

	c            *Collector
	keep         int // rows of it that are kept, at most
	kept         []kept
	nulls        []int64
	cellBytes    []int64
	cellCount    []int64
	bytes, cells int64
	stored       int64   // rows of the store
	entries      []int64 // by key
	keyBytes     []int64
	rng          *rand.Rand
}

// kept is a row of the sample, with the number of rows that it represents.
type kept struct {
	values []types.Value
	places []Place
	weight float64
	even   bool // set by chooseEven: each row of the table has the same chance to be marked
}

// Begin starts a run that keeps at most keep rows as a sample.
func (c *Collector) Begin(keep int) *Run {
	n, k := len(c.shape.Columns), len(c.shape.Keys)
	r := &Run{c: c, keep: keep, nulls: make([]int64, n), cellBytes: make([]int64, n), cellCount: make([]int64, n), entries: make([]int64, k),
		keyBytes: make([]int64, k), rng: rand.New(rand.NewPCG(uint64(len(c.runs)), 1))}
	c.runs = append(c.runs, r)
	return r
}

// Forget discards the rows of r: another run represents them.
func (r *Run) Forget() { r.Rows, r.kept = 0, nil }

// Add takes the next row.
func (r *Run) Add(row Row) {
	c := r.c
	for i, v := range row.Values[:len(c.shape.Columns)] {
		if v.IsNull() {
			r.nulls[i]++
			continue
		}
		c.buf = v.AppendKey(c.buf[:0])
		c.values[i].Insert(c.buf)
		if n := row.CellBytes[i]; n > 0 {
			r.cellBytes[i] += int64(n)
			r.cellCount[i]++
		}
	}
	for k, p := range row.Places {
		if p.Key == nil {
			continue
		}
		r.entries[k]++
		r.keyBytes[k] += int64(len(p.Key))
		for i, end := range p.Ends {
			c.buf = append(append(append(c.buf[:0], p.Table...), 0), p.Key[:end]...)
			c.starts[k][i].Insert(c.buf)
		}
	}
	r.bytes, r.cells, r.stored = r.bytes+int64(row.Bytes), r.cells+int64(row.Cells), r.stored+int64(types.Bit(row.Cells > 0))
	r.Rows++
	r.Stands++
	if len(r.kept) < r.keep {
		r.kept = append(r.kept, keptRow(row, len(c.shape.Columns)))
	} else if at := r.rng.Int64N(r.Rows); at < int64(r.keep) {
		r.kept[at] = keptRow(row, len(c.shape.Columns))
	}
}

func keptRow(row Row, columns int) kept {
	k := kept{values: make([]types.Value, columns), places: make([]Place, len(row.Places))}
	for i, v := range row.Values[:columns] {
		k.values[i] = v.Clone()
	}
	for i, p := range row.Places {
		k.places[i] = Place{p.Table, bytes.Clone(p.Key), slices.Clone(p.Ends)}
	}
	return k
}

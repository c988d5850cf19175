package estimate

import (
	"math"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// Costs in microseconds of CPU of server and client together. TestPrices measures them on HBase 2.5 with 100,000
// rows of three cells, 20,000 of twenty and 10,000 of 1 KB, in files whose blocks the server caches. For rows in the
// memstore, reading costs 0.5 to 2 times as much, and a Get 30 instead of 124. The prices are those for files, because
// most rows of a table are in files.
const (
	perRPC        = 300  // a guess: docs/speed.md measures 100 on idle servers; busy ones take longer
	perGet        = 17   // a requested key; a missing key, which Bloom filters exclude, costs no more
	perFound      = 90   // a position sought in a file: half a block is read on average
	perLooked     = 1    // a row that the server reads,
	perLookedCell = 0.55 // and each of its cells: 2.2 to 4.2 for a row of three that a filter drops, 10.5 to 12.1 for one of twenty
	perLookedByte = 0.002
	perSkipped    = 0.5  // a row that a filter seeks past: a guess between nearly 0, if it skips a thousand at a time, and the cost of a single one
	perPassed     = 0.2  // a cell before a row that is read backwards, in its block: 159 for a row of three, 186 for one of twenty, 20 for one of 1 KB
	perWanted     = 0.35 // a cell that the filter of wanted columns checks: 4.9 to 5.6 for a row of three of which one is sent, 18.8 to 23.6 for one of twenty
	perRow        = 0.5  // a row that is sent and decoded,
	perCell       = 0.6  // and each of its cells: 5.7 with the reading for a row of three, 23 to 27 for one of twenty
	perByte       = 0.003
)

// The number of keys that hbase.Client sends in one Get, and the approximate sizes of a response and of half a block of a
// file in bytes.
const (
	keysOfGet     = 200
	responseBytes = 1 << 20
	halfBlock     = 32 << 10
)

// The number of rows first requested under a limit, and the limits for trying hops: see exec/scan.
const (
	firstRows = 100
	hopRows   = 48 // keys of a look in the mean: a quarter of 100, and in each sixteenth look 400;
	moreRows  = 52 // and more in each of the first three
	hopPays   = 400
	triedRows = 8500 // rows that triedHops hops may cost before hopping is given up,
	triedHops = 4
	lessRows  = 500 // and the same if the servers could compare keys instead
	lessHops  = 2
)

// work is the work of servers and client for a table access.
type work struct {
	looked, cells, volume  float64 // rows that servers read, their cells and bytes
	skipped, wanted        float64 // rows that a filter seeks past; cells that the filter of wanted columns checks
	passed                 float64 // cells before the rows that are read backwards
	gets, found            float64 // keys requested; positions sought
	rows, sentCells, bytes float64 // sent rows, cells and bytes
	ranges                 int
	packed                 float64 // stats.Table.Packed
	hops, keysSeen         float64 // number of hops, and of the keys read for them
	values, read           float64 // of the first key part: see buckets
}

// look adds the reading of rows of s by the servers.
func (w *work) look(s *plan.Scan, t *stats.Table, k *stats.Key, rows float64) {
	of := size{math.Max(t.Cells, 1), t.Bytes}
	w.packed = t.Packed
	if s.Entries {
		of = size{1, keyValue + k.Bytes}
	}
	w.looked, w.cells, w.volume = w.looked+rows, w.cells+rows*of.cells, w.volume+rows*of.bytes
	if s.Reversed && rows > w.found { // a server seeks each row behind the first one from the beginning of its block
		w.passed += (rows - w.found) * math.Min(halfBlock*of.cells/math.Max(of.bytes, 1), k.Rows*of.cells/2)
	}
	if s.Fetch == plan.FetchFirst && !s.Entries {
		w.wanted += rows * of.cells
	}
}

// send adds the sending of rows.
func (w *work) send(rows float64, of size) {
	w.rows, w.sentCells, w.bytes = w.rows+rows, w.sentCells+rows*of.cells, w.bytes+rows*of.bytes
}

// follow adds the work of looking up the complete rows for a number of index entries.
func (w *work) follow(t *stats.Table, rows float64) {
	w.gets, w.found, w.cells, w.volume = w.gets+rows, w.found+rows, w.cells+rows*t.Cells, w.volume+rows*t.Bytes
	w.send(rows, size{t.Cells, t.Bytes})
}

// estimate returns the cost of w on the layout with the keys k.
func (w *work) estimate(k *stats.Key) plan.Estimate {
	regions, rows := regionsOf(k)
	rpcs := w.hops
	if w.gets > 0 {
		rpcs += math.Max(touched(regions, w.gets), math.Ceil(w.gets/keysOfGet))
	}
	if w.ranges > 0 {
		n, of := touched(regions, float64(w.ranges)), regions // of: that have one value
		if w.values > 1 {                                     // buckets: regions begin where they do
			n, of = math.Min(regions, w.read), math.Max(1, regions/w.values)
		}
		if rows > 0 { // and the seeks for the ranges
			share := w.looked / rows
			n = math.Max(math.Max(n, regions*share), math.Min(regions, 1+(of-1)*math.Max(1, w.values)*share))
		}
		sent := w.bytes
		if w.gets > 0 {
			sent = 0 // entries are small
		}
		rpcs += n + math.Floor(sent/responseBytes)
	}
	return plan.Estimate{Rows: w.rows / math.Max(1, w.packed), Bytes: w.bytes, RPCs: math.Ceil(rpcs - 0.5),
		Cost: rpcs*perRPC + w.gets*perGet + (w.found+w.hops)*perFound + w.looked*perLooked + w.cells*perLookedCell + w.volume*perLookedByte +
			w.skipped*perSkipped + w.passed*perPassed + w.wanted*perWanted + w.rows*perRow + w.sentCells*perCell + w.bytes*perByte}
}

// regionsOf returns the number of regions and of rows in a layout's tables.
func regionsOf(k *stats.Key) (regions, rows float64) {
	for i := range k.Stored {
		regions += math.Max(1, float64(k.Stored[i].Regions))
		rows += k.Stored[i].Rows
	}
	return math.Max(regions, 1), rows
}

// touched estimates how many of a number of regions contain at least one of n evenly distributed keys.
func touched(regions, n float64) float64 {
	return regions * -math.Expm1(n*math.Log1p(-1/math.Max(regions, 1+1e-9)))
}

// hop adds the cost of hopping from value to value. It returns the number of rows that are then read: for a skip scan all
// rows after the values, otherwise only some for each value if the first ones suffice. sought reports that only rows that
// match the conditions on the key are read.
func (w *work) hop(s *plan.Scan, t *stats.Table, k *stats.Key, looked float64) (rows float64, sought, ok bool) {
	parts := s.DistinctPrefix
	if parts == 0 {
		parts = s.Hop.Parts
	}
	if parts > len(k.Prefixes) || k.Rows == 0 {
		return 0, false, false
	}
	values := math.Max(1, k.Prefixes[parts-1].Distinct*math.Min(1, looked/k.Rows))
	if s.DistinctPrefix > 0 && (s.Hop != nil || s.Filter != nil || s.Residual != nil || s.Limit.Set) {
		return 0, false, false
	}
	if looked < values*hopPays { // hopping is given up
		hops, seen := 2.0*triedHops, float64(triedRows) // a hop is one call for keys and one for rows
		if s.Access != plan.SkipScan && len(filter.OfKeys(s.Filter)) > 0 {
			hops, seen = 2*lessHops, lessRows
		}
		regions, _ := regionsOf(k) // each is begun twice
		w.hops, w.keysSeen = hops+math.Ceil(regions*math.Min(1, looked/k.Rows)), math.Min(looked, seen)
		return looked, false, true // the rest is read with the servers' filter
	}
	w.hops = values
	if s.Hop == nil {
		return keysOfHops(values), false, true
	}
	matching, ok := byKeyColumns(s, t, k)
	w.keysSeen = keysOfHops(values)
	return math.Min(matching, looked), true, ok
}

// keysOfHops returns the number of keys that are read to hop over a number of values.
func keysOfHops(values float64) float64 { return values*hopRows + math.Min(values, 3)*moreRows }

// byKeyColumns estimates the number of rows that match the conditions on columns of the key.
func byKeyColumns(s *plan.Scan, t *stats.Table, k *stats.Key) (rows float64, ok bool) {
	of := allRows(s.Table, t)
	for _, f := range s.Fates {
		if onKey(s, f.Expr) && !of.where(f.Expr) {
			return 0, false
		}
	}
	return k.Rows * of.share, true
}

// onKey reports whether e refers only to columns of s's key.
func onKey(s *plan.Scan, e expr.Expr) bool {
	return !expr.SomeColumn(e, func(c int) bool { return c >= len(s.Table.Columns) || s.Layout.PartOf(c) == nil })
}

// fuzzy reports whether f contains a fuzzy filter, with which the servers seek from one key pattern to the next.
func fuzzy(f filter.Filter) bool {
	if fs, ok := f.(filter.And); ok {
		return slices.ContainsFunc(fs, fuzzy)
	}
	_, ok := f.(filter.Fuzzy)
	return ok
}

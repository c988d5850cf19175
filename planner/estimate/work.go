package estimate

import (
	"math"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// What things cost, in microseconds of a server's and the client's time together. How they compare is fitted to the times that TestYardstick
// took on an HBase of a million rows, whose scale is that of a machine with nothing else to do; a call's price is a guess.
const (
	perRPC     = 300
	perGet     = 20
	perLooked  = 1
	perSkipped = 0.5 // a row that a filter seeks over
	perRow     = 0.5 // that is sent and decoded
	perByte    = 0.003
	perCell    = 0.3 // that the filter of wanted columns looks at
)

// What a call brings: hbase.Client's keys a Get, and about the bytes of a response.
const (
	keysOfGet     = 200
	responseBytes = 1 << 20
)

// How hops are tried and given up: see exec/scan.
const (
	hopRows   = 100
	hopPays   = 400
	triedRows = 8500 // in triedHops looks, until they are given up
	triedHops = 4
)

// work is what an access makes servers and client do.
type work struct {
	looked, skipped, gets float64
	filtered              float64 // cells that the filter of wanted columns looks at
	rows, bytes           float64 // sent
	ranges                int
	hops, keysSeen        float64 // what is looked at to hop: keys alone
}

// estimate prices w, on the keys k.
func (w *work) estimate(k *stats.Key) plan.Estimate {
	regions, rows := 0.0, 0.0
	for i := range k.Stored {
		regions += math.Max(1, float64(k.Stored[i].Regions))
		rows += k.Stored[i].Rows
	}
	regions = math.Max(regions, 1)
	rpcs := w.hops
	if w.gets > 0 {
		rpcs += math.Max(touched(regions, w.gets), math.Ceil(w.gets/keysOfGet))
	}
	if w.ranges > 0 {
		n := touched(regions, float64(w.ranges))
		if rows > 0 { // and what lies in each range
			n = math.Max(n, math.Min(regions, 1+(regions-1)*w.looked/rows))
		}
		sent := w.bytes
		if w.gets > 0 {
			sent = 0 // the entries alone are small
		}
		rpcs += n + math.Floor(sent/responseBytes)
	}
	return plan.Estimate{Rows: w.rows, Bytes: w.bytes, RPCs: math.Ceil(rpcs),
		Cost: rpcs*perRPC + w.gets*perGet + w.looked*perLooked + w.skipped*perSkipped + w.filtered*perCell + w.rows*perRow + w.bytes*perByte}
}

// touched is how many of some regions n keys lie in, spread evenly.
func touched(regions, n float64) float64 {
	return regions * -math.Expm1(n*math.Log1p(-1/math.Max(regions, 1+1e-9)))
}

// hop adds what hopping from value to value takes, and gives the rows that are looked at then: those behind the values in a skip scan, some
// of each value where the first ones do.
func (w *work) hop(s *plan.Scan, t *stats.Table, k *stats.Key, looked float64) (rows float64, ok bool) {
	parts := s.DistinctPrefix
	if parts == 0 {
		parts = s.Hop.Parts
	}
	if parts > len(k.Prefixes) || k.Rows == 0 {
		return 0, false
	}
	values := math.Max(1, k.Prefixes[parts-1].Distinct*math.Min(1, looked/k.Rows))
	if s.DistinctPrefix > 0 && (s.Hop != nil || s.Filter != nil || s.Residual != nil || s.Limit.Set) {
		return 0, false
	}
	if looked < values*hopPays { // they are given up
		w.hops = triedHops
		return looked + math.Min(looked, triedRows), true
	}
	w.hops = values
	if s.Hop == nil {
		return values * hopRows, true
	}
	matching, ok := byKeyColumns(s, t, k)
	w.keysSeen = values * hopRows
	return math.Min(matching, looked), ok
}

// byKeyColumns estimates the rows for which the conditions on columns of the key alone are true.
func byKeyColumns(s *plan.Scan, t *stats.Table, k *stats.Key) (rows float64, ok bool) {
	of := allRows(s.Table, t)
	for _, f := range s.Fates {
		if onKey(s, f.Expr) && !of.where(f.Expr) {
			return 0, false
		}
	}
	return k.Rows * of.share, true
}

// onKey reports whether e is about columns of s's key alone.
func onKey(s *plan.Scan, e expr.Expr) bool {
	return !slices.ContainsFunc(expr.Columns(e), func(c int) bool { return c >= len(s.Table.Columns) || s.Layout.PartOf(c) == nil })
}

// fuzzy reports whether the servers' filter seeks from one pattern of keys to the next.
func fuzzy(f filter.Filter) bool {
	if fs, ok := f.(filter.And); ok {
		return slices.ContainsFunc(fs, fuzzy)
	}
	_, ok := f.(filter.Fuzzy)
	return ok
}

package infer

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/types"
)

// The bytes of a cell do not determine their meaning: 4 of them are an INT, a FLOAT, a moment or something else.
// Readings are compared by the bits needed to write the sampled values, like the ways to divide keys: small numbers
// have high bytes of zeros, floats have few exponents and few decimal digits, moments are close together. A wrong
// reading finds none of these patterns, and costs as much as the bytes.

// reading is a way to read values of one width.
type reading struct {
	typ, as string // AS as, "" for the type's own encoding
	prior   float64
	cost    func(vs []types.Value, width int) float64 // of all values; infinite if a value cannot be one
}

// readings returns the readings of cells of 1, 2, 4 or 8 bytes; phoenix reports whether Phoenix wrote the rows.
func readings(width int, phoenix bool) []reading {
	typ := map[int]string{1: "TINYINT", 2: "SMALLINT", 4: "INT", 8: "BIGINT"}[width]
	size := strconv.Itoa(8 * width)
	plain, ordered, float := 0.0, 6.0, 20.0 // Phoenix marks its rows: without the mark it did not write them
	if phoenix {
		plain, ordered, float = 6, 0, 4
	}
	out := []reading{{typ, "", plain, costOfNumbers}, {typ, "ORDERED INT" + size, ordered, costOfNumbers}}
	if width > 1 {
		out = append(out, reading{typ, "LITTLE INT" + size, 12, costOfNumbers})
	}
	switch width {
	case 4:
		out = append(out, reading{"TIMESTAMP", "EPOCH32", 6, costOfMoments},
			reading{"FLOAT", "", 4 + plain, costOfFloats}, reading{"FLOAT", "ORDERED FLOAT32", 20, costOfFloats}, reading{"FLOAT", "PHOENIX FLOAT", float, costOfFloats})
	case 8:
		out = append(out, reading{"TIMESTAMP", "", plain, costOfMoments}, reading{"TIMESTAMP", "ORDERED INT64", ordered, costOfMoments}, reading{"TIMESTAMP", "LITTLE INT64", 6, costOfMoments},
			reading{"DOUBLE", "", 4 + plain, costOfFloats}, reading{"DOUBLE", "ORDERED FLOAT64", 20, costOfFloats}, reading{"DOUBLE", "PHOENIX DOUBLE", float, costOfFloats})
	}
	return out
}

// encoding returns the clause of r's encoding.
func (r reading) encoding() string {
	if r.as == "" {
		return ""
	}
	return " AS " + r.as
}

// decode returns the values of cells; ok is false if r cannot read one of them.
func (r reading) decode(cells []string) (vs []types.Value, ok bool) {
	c := catalog.New()
	if err := c.Load("CREATE EXTERNAL TABLE t (k STRING, v " + r.typ + " FROM f:v" + r.encoding() + ") ROW KEY (k AS TEXT)"); err != nil {
		panic(err) // readings are constants
	}
	column, _ := c.Tables()[0].Column("v")
	for _, b := range cells {
		v, err := column.DecodeCell([]byte(b))
		if err != nil {
			return nil, false
		}
		vs = append(vs, v)
	}
	return vs, true
}

// longAgo is the age, at the writing of its cell, from which a moment is doubtful: amounts of about 10^12 would be
// moments of 2001.
const longAgo = 5 * 365 * types.MillisPerDay

// readCells returns the type and encoding of cells of one width, and the evidence for them. The cells were written at
// the time written, in milliseconds, or later.
func readCells(values [][]byte, written int64, phoenix bool) (typ, as, why string) {
	width := len(values[0])
	var cells []string // a repeated value adds no evidence
	for _, b := range values {
		cells = append(cells, string(b))
	}
	slices.Sort(cells)
	cells = slices.Compact(cells)
	n := float64(len(cells))
	whole := n * 8 * float64(width)
	// The gain of a reading must exceed chance: a single value of four bytes may happen to be below 2^26.
	best, next := reading{typ: "BYTES"}, reading{typ: "BYTES"}
	bestCost, nextCost := whole-max(1.5*float64(width), n/10), math.Inf(1)
	if width == 1 {
		bestCost = whole + 8
	}
	var read []types.Value // by best
	for _, r := range readings(width, phoenix) {
		vs, ok := r.decode(cells)
		if !ok {
			continue
		}
		switch c := r.cost(vs, width) + r.prior; {
		case c < bestCost:
			next, nextCost = best, bestCost
			best, bestCost, read = r, c, vs
		case c < nextCost:
			next, nextCost = r, c
		}
	}
	count := fmt.Sprintf("%d values of %d bytes", len(cells), width)
	if len(cells) == 1 {
		count = fmt.Sprintf("one value of %d bytes", width)
	}
	if best.typ == "BYTES" {
		return "BYTES", "", fmt.Sprintf("%s: nothing else is plausible", count)
	}
	slices.SortFunc(read, func(a, b types.Value) int {
		c, _ := types.Compare(a, b)
		return c
	})
	lo, hi := read[0], read[len(read)-1]
	doubt := "clear"
	if nextCost-bestCost < 10 {
		doubt = "doubtful"
	}
	if best.typ == "TIMESTAMP" && written-hi.Int() > longAgo {
		doubt = "doubtful, because they were written years later"
	}
	return best.typ, best.as, fmt.Sprintf("%s, %s to %s, %.0f bits a value; %s takes %.0f bits more in all: %s", count, lo, hi,
		bestCost/n, next.typ+next.encoding(), nextCost-bestCost, doubt)
}

// costOfNumbers is the cost of integers that are near zero, or close together.
func costOfNumbers(vs []types.Value, _ int) float64 {
	n := float64(len(vs))
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, v := range vs {
		lo, hi = min(lo, v.Int()), max(hi, v.Int())
	}
	most := math.Log2(max(math.Abs(float64(lo)), math.Abs(float64(hi))) + 1)
	each := most
	if lo < 0 {
		each++
	}
	spread := rangeBits(lo, hi)
	if hi < 0 {
		most += 16 // large negative numbers close together
	}
	return min(n*each, n*spread+most+spread+12)
}

// maxLife is the longest period of plausible moments: numbers spread over decades are amounts.
const maxLife = 12 * 365 * types.MillisPerDay

// floatsEnd is the time in milliseconds from which four bytes of seconds are no longer floats between 0.001 and 10
// million: late in 2009.
const floatsEnd = 0x4b000000 * 1000

// costOfMoments is the cost of points in time, in seconds if they have 4 bytes, otherwise in milliseconds.
func costOfMoments(vs []types.Value, width int) float64 {
	var step int64
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, v := range vs {
		lo, hi, step = min(lo, v.Int()), max(hi, v.Int()), gcd(step, v.Int())
	}
	round := len(vs) > 1 && step >= 100_000 && step%60_000 != 0 // 10^5, 10^6 ... are not units of time
	if lo < earliest || width == 4 && lo < floatsEnd || hi >= latest || hi-lo > maxLife || round {
		return math.Inf(1)
	}
	unit := int64(1)
	if width == 4 {
		unit = 1000
	}
	return float64(len(vs))*rangeBits(lo/unit, hi/unit) + 12
}

// maxExponent is the greatest absolute binary exponent of a plausible measurement.
const maxExponent = 50

// costOfFloats is the cost of floats. It is low if they have few exponents, one sign, and few decimal or binary digits.
func costOfFloats(vs []types.Value, width int) float64 {
	digits := 52.0
	if width == 4 {
		digits = 23
	}
	least, most := maxExponent, -maxExponent
	lo, hi := math.Inf(1), math.Inf(-1)
	total, odd := 0.0, 0
	for _, v := range vs {
		f := v.Double()
		_, e := math.Frexp(f)
		if math.IsNaN(f) || math.IsInf(f, 0) || e > maxExponent || e < -maxExponent {
			odd++
			total += float64(8*width) + 8
			continue
		}
		lo, hi = min(lo, f), max(hi, f)
		if f == 0 {
			total += 2
			continue
		}
		least, most = min(least, e), max(most, e)
		total += mantissaBits(f, width, digits)
	}
	if 20*odd > len(vs) || least > most {
		return math.Inf(1)
	}
	each := math.Log2(float64(most - least + 1))
	if lo < 0 && hi > 0 {
		each++
	}
	// The numbers lie within one exponent or two, as integers that are close together.
	near := math.Inf(1)
	if odd == 0 && (lo > 0 || hi < 0) {
		a, b := math.Abs(lo), math.Abs(hi)
		spread := math.Log2(math.Abs(ulps(a, width)-ulps(b, width)) + 1)
		near = float64(len(vs))*spread + spread + float64(8*width)
	}
	cost := min(total+float64(len(vs))*each+8, near)
	if hi < 0 {
		cost += 8
	}
	if len(vs) > 2 && hi-lo < 1e-3*max(math.Abs(lo), math.Abs(hi)) {
		cost += 16 // neighbours are more likely integers
	}
	return cost
}

// ulps numbers the positive floats from zero.
func ulps(f float64, width int) float64 {
	if width == 4 {
		return float64(math.Float32bits(float32(f)))
	}
	return float64(math.Float64bits(f))
}

// mantissaBits is the cost of the digits of f, decimal or binary, whichever are fewer.
func mantissaBits(f float64, width int, most float64) float64 {
	decimal := 0
	for _, c := range strconv.AppendFloat(nil, math.Abs(f), 'e', -1, 8*width) {
		if c == 'e' {
			break
		}
		if c != '.' {
			decimal++
		}
	}
	zeros := float64(bits.TrailingZeros64(math.Float64bits(f)|1<<52)) - (52 - most)
	return min(most, most-zeros+math.Log2(most), math.Log2(10)*float64(decimal)+2)
}

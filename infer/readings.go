package infer

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

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
	cost    func(us []uint64, width int) float64 // of all values; infinite if a value cannot be one
	show    func(u uint64, width int) string
	at      func(u uint64, width int) int64 // of a moment: in milliseconds
}

// readings returns the readings of cells of 1, 2, 4 or 8 bytes; phoenix reports whether Phoenix wrote the rows.
func readings(width int, phoenix bool) []reading {
	typ := map[int]string{1: "TINYINT", 2: "SMALLINT", 4: "INT", 8: "BIGINT"}[width]
	size := strconv.Itoa(8 * width)
	plain, ordered, float := 0.0, 6.0, 20.0 // Phoenix marks its rows: without the mark it did not write them
	if phoenix {
		plain, ordered, float = 6, 0, 4
	}
	out := []reading{numberReading(typ, "", bigEndianInt, plain), numberReading(typ, "ORDERED INT"+size, orderedInt, ordered)}
	if width > 1 {
		out = append(out, numberReading(typ, "LITTLE INT"+size, littleInt, 12))
	}
	switch width {
	case 4:
		out = append(out, momentReading("EPOCH32", func(u uint64, _ int) int64 { return int64(u) * 1000 }, 1000, 6),
			floatReading("FLOAT", "", plainFloat, 4+plain), floatReading("FLOAT", "ORDERED FLOAT32", orderedFloat, 20), floatReading("FLOAT", "PHOENIX FLOAT", phoenixFloat, float))
	case 8:
		out = append(out, momentReading("", bigEndianInt, 1, plain), momentReading("ORDERED INT64", orderedInt, 1, ordered), momentReading("LITTLE INT64", littleInt, 1, 6),
			floatReading("DOUBLE", "", plainFloat, 4+plain), floatReading("DOUBLE", "ORDERED FLOAT64", orderedFloat, 20), floatReading("DOUBLE", "PHOENIX DOUBLE", phoenixFloat, float))
	}
	return out
}

// longAgo is the age, at the writing of its cell, from which a moment is doubtful: amounts of about 10^12 would be
// moments of 2001.
const longAgo = 5 * 365 * types.MillisPerDay

// readCells returns the type and encoding of cells of one width, and the evidence for them. The cells were written at
// the time written, in milliseconds, or later.
func readCells(values [][]byte, written int64, phoenix bool) (typ, as, why string) {
	width := len(values[0])
	seen := map[uint64]bool{}
	var us []uint64 // a repeated value adds no evidence
	for _, b := range values {
		if u := uint64(bigEndian(string(b))); !seen[u] {
			seen[u] = true
			us = append(us, u)
		}
	}
	n := float64(len(us))
	whole := n * 8 * float64(width)
	// The gain of a reading must exceed chance: a single value of four bytes may happen to be below 2^26.
	best, next := reading{typ: "BYTES"}, reading{typ: "BYTES"}
	bestCost, nextCost := whole-max(1.5*float64(width), n/10), math.Inf(1)
	if width == 1 {
		bestCost = whole + 8
	}
	for _, r := range readings(width, phoenix) {
		switch c := r.cost(us, width) + r.prior; {
		case c < bestCost:
			next, nextCost = best, bestCost
			best, bestCost = r, c
		case c < nextCost:
			next, nextCost = r, c
		}
	}
	count := fmt.Sprintf("%d values of %d bytes", len(us), width)
	if len(us) == 1 {
		count = fmt.Sprintf("one value of %d bytes", width)
	}
	if best.typ == "BYTES" {
		return "BYTES", "", fmt.Sprintf("%s: nothing else is plausible", count)
	}
	lo, hi := us[0], us[0]
	for _, u := range us { // in the reading's own order
		if best.less(u, lo, width) {
			lo = u
		}
		if best.less(hi, u, width) {
			hi = u
		}
	}
	doubt := "clear"
	if nextCost-bestCost < 10 {
		doubt = "doubtful"
	}
	if best.at != nil && written-best.at(hi, width) > longAgo {
		doubt = "doubtful, because they were written years later"
	}
	return best.typ, best.as, fmt.Sprintf("%s, %s to %s, %.0f bits a value; %s takes %.0f bits more in all: %s", count, best.show(lo, width), best.show(hi, width),
		bestCost/n, next.name(), nextCost-bestCost, doubt)
}

func (r reading) name() string {
	if r.as == "" {
		return r.typ
	}
	return r.typ + " AS " + r.as
}

// less compares two values as r shows them.
func (r reading) less(a, b uint64, width int) bool {
	x, y := r.show(a, width), r.show(b, width)
	m, err1 := strconv.ParseInt(x, 10, 64)
	n, err2 := strconv.ParseInt(y, 10, 64)
	if err1 == nil && err2 == nil {
		return m < n
	}
	f, err1 := strconv.ParseFloat(x, 64)
	g, err2 := strconv.ParseFloat(y, 64)
	if err1 == nil && err2 == nil {
		return f < g
	}
	return x < y
}

func bigEndianInt(u uint64, width int) int64 {
	shift := 64 - 8*width
	return int64(u<<shift) >> shift
}

func orderedInt(u uint64, width int) int64 { return bigEndianInt(u^1<<(8*width-1), width) }

func littleInt(u uint64, width int) int64 {
	return bigEndianInt(bits.ReverseBytes64(u<<(64-8*width)), width)
}

func plainFloat(u uint64, width int) float64 {
	if width == 4 {
		return float64(math.Float32frombits(uint32(u)))
	}
	return math.Float64frombits(u)
}

// orderedFloat decodes a float with its sign bit flipped, or with all bits flipped if it is negative.
func orderedFloat(u uint64, width int) float64 {
	top := uint64(1) << (8*width - 1)
	if u&top == 0 {
		return plainFloat(^u&(top<<1-1), width)
	}
	return plainFloat(u^top, width)
}

// phoenixFloat decodes an orderedFloat to which Phoenix has added 1.
func phoenixFloat(u uint64, width int) float64 {
	return orderedFloat((u-1)&(1<<(8*width-1)<<1-1), width)
}

// numberReading reads integers that are near zero, or close together.
func numberReading(typ, as string, decode func(uint64, int) int64, prior float64) reading {
	return reading{typ: typ, as: as, prior: prior,
		cost: func(us []uint64, width int) float64 {
			n := float64(len(us))
			lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
			for _, u := range us {
				lo, hi = min(lo, decode(u, width)), max(hi, decode(u, width))
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
		},
		show: func(u uint64, width int) string { return strconv.FormatInt(decode(u, width), 10) }}
}

// maxLife is the longest period of plausible moments: numbers spread over decades are amounts.
const maxLife = 12 * 365 * types.MillisPerDay

// floatsEnd is the time in milliseconds from which four bytes of seconds are no longer floats between 0.001 and 10
// million: late in 2009.
const floatsEnd = 0x4b000000 * 1000

// momentReading returns the reading of bytes as points in time. unit is the number of milliseconds in one unit of the
// stored number.
func momentReading(as string, decode func(uint64, int) int64, unit int64, prior float64) reading {
	return reading{typ: "TIMESTAMP", as: as, prior: prior,
		cost: func(us []uint64, width int) float64 {
			var step int64
			lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
			for _, u := range us {
				n := decode(u, width)
				lo, hi, step = min(lo, n), max(hi, n), gcd(step, n)
			}
			round := len(us) > 1 && step >= 100_000 && step%60_000 != 0 // 10^5, 10^6 ... are not units of time
			if lo < earliest || width == 4 && lo < floatsEnd || hi >= latest || hi-lo > maxLife || round {
				return math.Inf(1)
			}
			return float64(len(us))*rangeBits(lo/unit, hi/unit) + 12
		},
		show: func(u uint64, width int) string { return types.NewTimestamp(decode(u, width)).String() }, at: decode}
}

// maxExponent is the greatest absolute binary exponent of a plausible measurement.
const maxExponent = 50

// floatReading returns the reading of bytes as floats. It is likely if the values have few exponents, one sign, and few
// decimal or binary digits.
func floatReading(typ, as string, decode func(uint64, int) float64, prior float64) reading {
	return reading{typ: typ, as: as, prior: prior,
		cost: func(us []uint64, width int) float64 {
			digits := 52.0
			if width == 4 {
				digits = 23
			}
			least, most := maxExponent, -maxExponent
			lo, hi := math.Inf(1), math.Inf(-1)
			total, odd := 0.0, 0
			for _, u := range us {
				f := decode(u, width)
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
			if 20*odd > len(us) || least > most {
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
				near = float64(len(us))*spread + spread + float64(8*width)
			}
			cost := min(total+float64(len(us))*each+8, near)
			if hi < 0 {
				cost += 8
			}
			if len(us) > 2 && hi-lo < 1e-3*max(math.Abs(lo), math.Abs(hi)) {
				cost += 16 // neighbours are more likely integers
			}
			return cost
		},
		show: func(u uint64, width int) string { return strconv.FormatFloat(decode(u, width), 'g', -1, 8*width) }}
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

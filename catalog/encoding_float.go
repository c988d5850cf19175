package catalog

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/hql-db/hql/types"
)

// float is IEEE 754, big-endian: with plainBits, as Bytes.toBytes writes it; with orderedBits (the sign bit flipped, or all
// bits if it was set); or with phoenixBits, Phoenix's own order-preserving form.
type float struct {
	*traits
	form floatForm
}

type floatForm uint8

const (
	plainBits floatForm = iota
	orderedBits
	phoenixBits
)

func newFloat(name string, t types.Type, bytes int, form floatForm) float {
	order := Ascending
	if form == plainBits {
		order = Unordered
	}
	return float{&traits{t, name, bytes, order}, form}
}

func (float) Respells() bool { return true } // -0 and the NaNs have several

func (e float) Append(dst []byte, v types.Value) ([]byte, error) {
	f := v.Double()
	if math.IsNaN(f) {
		f = math.NaN()
	}
	u := math.Float64bits(f)
	if e.width == 4 {
		g := float32(f)
		if float64(g) != f && !math.IsNaN(f) {
			return dst, errors.New("it needs more than 32 bits")
		}
		u = uint64(math.Float32bits(g))
	}
	switch {
	case e.form == orderedBits:
		u = orderBits(u, 8*e.width)
	case e.form == phoenixBits:
		u = orderBits(u, 8*e.width) + 1
	}
	return appendUint(dst, u, e.width), nil
}

// orderBits maps the bits so that their unsigned order is the order of the numbers.
func orderBits(u uint64, bits int) uint64 {
	sign := uint64(1) << (bits - 1)
	if u&sign != 0 {
		return ^u & (sign | (sign - 1))
	}
	return u | sign
}

func unorderBits(u uint64, bits int) uint64 {
	sign := uint64(1) << (bits - 1)
	if u&sign != 0 {
		return u &^ sign
	}
	return ^u & (sign | (sign - 1))
}

func (e float) Decode(src []byte) (types.Value, error) {
	if len(src) != e.width {
		return types.Value{}, errWidth
	}
	var u uint64 // not readUint, which is slower
	if e.width == 4 {
		u = uint64(binary.BigEndian.Uint32(src))
	} else {
		u = binary.BigEndian.Uint64(src)
	}
	switch {
	case e.form == orderedBits:
		u = unorderBits(u, 8*e.width)
	case e.form == phoenixBits:
		u = unorderBits(u-1, 8*e.width)
	}
	if e.width == 4 {
		return types.NewFloatOf(e.t, float64(math.Float32frombits(uint32(u)))), nil
	}
	f := math.Float64frombits(u)
	if e.t == types.Float && math.Abs(f) > math.MaxFloat32 && !math.IsInf(f, 0) {
		return types.Value{}, errors.New("it is out of the range of FLOAT")
	}
	return types.NewFloatOf(e.t, f), nil
}

// Clip makes the bounds inclusive; NaN is the greatest value, as in Compare.
func (e float) Clip(iv types.Interval) (types.Interval, bool) {
	lo, hi := math.Inf(-1), math.NaN()
	if !iv.Lo.IsNull() {
		if lo = iv.Lo.Double(); iv.LoOpen {
			if math.IsNaN(lo) {
				return iv, false
			}
			if math.IsInf(lo, 1) {
				lo = math.NaN()
			} else {
				lo = math.Nextafter(lo, math.Inf(1))
			}
		}
	}
	if !iv.Hi.IsNull() {
		if hi = iv.Hi.Double(); iv.HiOpen {
			switch {
			case math.IsInf(hi, -1):
				return iv, false
			case math.IsNaN(hi):
				hi = math.Inf(1)
			default:
				hi = math.Nextafter(hi, math.Inf(-1))
			}
		}
	}
	if e.t == types.Float { // greater numbers are not FLOATs
		switch {
		case lo > math.MaxFloat32:
			lo = math.Inf(1)
		case lo < -math.MaxFloat32 && !math.IsInf(lo, -1):
			lo = -math.MaxFloat32
		}
		switch {
		case hi < -math.MaxFloat32:
			hi = math.Inf(-1)
		case hi > math.MaxFloat32 && !math.IsInf(hi, 1):
			hi = math.MaxFloat32
		}
	}
	if e.width == 4 {
		if f := float32(lo); float64(f) < lo {
			lo = float64(math.Nextafter32(f, float32(math.Inf(1))))
		} else {
			lo = float64(f)
		}
		if f := float32(hi); float64(f) > hi {
			hi = float64(math.Nextafter32(f, float32(math.Inf(-1))))
		} else {
			hi = float64(f)
		}
	}
	out := types.Interval{Lo: types.NewFloatOf(e.t, lo), Hi: types.NewFloatOf(e.t, hi)}
	c, err := types.Compare(out.Lo, out.Hi)
	return out, err == nil && c <= 0
}

// openTSDBValue is a number as OpenTSDB 2.x stores it: an integer of 1, 2, 4 or 8 bytes or an IEEE 754 number of 4 or
// 8. The last four bits of the qualifier tell type and width (DecodePacked).
type openTSDBValue struct{ *traits }

func (openTSDBValue) CellsOnly() bool   { return true }
func (openTSDBValue) takes(string) bool { return false }

func (openTSDBValue) Append(dst []byte, v types.Value) ([]byte, error) {
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Double())), nil
}

// Decode reads floating-point numbers, the only form that Append writes.
func (e openTSDBValue) Decode(src []byte) (types.Value, error) { return e.decode(src, true) }

// decode reads an integer or a floating-point number. It ignores the length in a qualifier's flags: early versions of
// OpenTSDB wrote it wrong.
func (openTSDBValue) decode(src []byte, floating bool) (types.Value, error) {
	switch {
	case len(src) == 1 && !floating:
		return types.NewDouble(float64(int8(src[0]))), nil
	case len(src) == 2 && !floating:
		return types.NewDouble(float64(int16(binary.BigEndian.Uint16(src)))), nil
	case len(src) == 4 && floating:
		return types.NewDouble(float64(math.Float32frombits(binary.BigEndian.Uint32(src)))), nil
	case len(src) == 4:
		return types.NewDouble(float64(int32(binary.BigEndian.Uint32(src)))), nil
	case len(src) == 8 && floating:
		return types.NewDouble(math.Float64frombits(binary.BigEndian.Uint64(src))), nil
	case len(src) == 8:
		return types.NewDouble(float64(int64(binary.BigEndian.Uint64(src)))), nil
	}
	return types.Value{}, errWidth
}

func (openTSDBValue) Clip(iv types.Interval) (types.Interval, bool) { return iv, false }

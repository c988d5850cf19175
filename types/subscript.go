package types

import (
	"errors"
	"fmt"
	"slices"
)

// Element returns the element of an array with these subscripts, or NULL if it has none.
func (v Value) Element(at []int64) Value {
	dims := v.Dims()
	if len(at) != len(dims) {
		return Value{}
	}
	n := 0
	for i, d := range dims {
		k := at[i] - int64(d.Lower)
		if k < 0 || k >= int64(d.Len) {
			return Value{}
		}
		n = n*d.Len + int(k)
	}
	return v.Items()[n]
}

// Bounds are the subscripts of a slice in one dimension; an open bound is the dimension's own bound.
type Bounds struct {
	Lo, Hi         int64
	LoOpen, HiOpen bool
}

// Slice returns the part of an array within bounds, with subscripts from 1. It includes the whole of dimensions without
// bounds.
func (v Value) Slice(bounds []Bounds) Value {
	t := ArrayOf(v.typ.Elem())
	dims, items := v.Dims(), v.Items()
	if len(bounds) > len(dims) || len(dims) == 0 {
		return NewArrayOf(t, nil, nil)
	}
	from, to := make([]int, len(dims)), make([]int, len(dims)) // subscripts from 0
	out := make([]Dim, len(dims))
	for i, d := range dims {
		to[i] = d.Len
		if i < len(bounds) {
			b := bounds[i]
			if !b.LoOpen {
				from[i] = int(max(0, min(b.Lo-int64(d.Lower), int64(d.Len))))
			}
			if !b.HiOpen {
				to[i] = int(max(-1, min(b.Hi-int64(d.Lower), int64(d.Len)-1))) + 1
			}
		}
		if to[i] <= from[i] {
			return NewArrayOf(t, nil, nil)
		}
		out[i] = Dim{1, to[i] - from[i]}
	}
	var part []Value
	at := slices.Clone(from)
	for {
		n := 0
		for i, d := range dims {
			n = n*d.Len + at[i]
		}
		part = append(part, items[n])
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < to[i] {
				break
			}
			at[i] = from[i]
		}
		if i < 0 {
			return NewArrayOf(t, out, part)
		}
	}
}

var errDimensions = errors.New("arrays of these dimensions cannot be concatenated")

// Concat returns a || b for two arrays.
func Concat(a, b Value) (Value, error) {
	t := ArrayOf(a.typ.Elem())
	p, q := a.Dims(), b.Dims()
	switch {
	case len(p) == 0:
		return NewArrayOf(t, q, b.Items()), nil
	case len(q) == 0:
		return NewArrayOf(t, p, a.Items()), nil
	}
	items := append(a.Items(), b.Items()...)
	dims := slices.Clone(p)
	same := func(a, b []Dim) bool { return slices.EqualFunc(a, b, func(x, y Dim) bool { return x.Len == y.Len }) }
	switch {
	case len(p) == len(q) && same(p[1:], q[1:]):
		dims[0].Len += q[0].Len
	case len(p) == len(q)+1 && same(p[1:], q):
		dims[0].Len++
	case len(q) == len(p)+1 && same(q[1:], p):
		dims = slices.Clone(q)
		dims[0].Len++
	default:
		return Value{}, errDimensions
	}
	return NewArrayOf(t, dims, items), nil
}

// Stack returns an array with one more dimension, whose slices are rows; its elements have type t.
func Stack(t Type, rows []Value) (Value, error) {
	var dims []Dim
	var items []Value
	for i, r := range rows {
		d := r.Dims()
		if i == 0 {
			dims = append([]Dim{{1, len(rows)}}, d...)
		}
		if len(d) != len(dims)-1 || !slices.EqualFunc(d, dims[1:], func(a, b Dim) bool { return a.Len == b.Len }) {
			return Value{}, errors.New("arrays within an array have different dimensions")
		}
		items = append(items, r.Items()...)
	}
	if len(dims) > maxDims {
		return Value{}, fmt.Errorf("more than %d dimensions", maxDims)
	}
	for i := range dims {
		dims[i].Lower = 1
	}
	return NewArrayOf(ArrayOf(t), dims, items), nil
}

package catalog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hql-db/hql/types"
)

// jsonName and countedArrayName are encodings of arrays.
const (
	jsonName         = "JSON"
	countedArrayName = "COUNT32 ARRAY"
)

// inCells are the traits of the encodings of arrays.
type inCells struct{ *traits }

func (inCells) CellsOnly() bool { return true }

func arrayOf(t types.Type, name string) inCells {
	return inCells{&traits{t, name, Variable, Unordered}}
}

// jsonArray is an array as a JSON text.
type jsonArray struct{ inCells }

func newJSONArray(t types.Type, args []types.Value, _ encodingMaker) (Encoding, error) {
	switch {
	case len(args) > 0:
		return nil, errors.New("JSON takes no argument")
	case !t.IsArray():
		return nil, fmt.Errorf("%s cannot be stored AS JSON: an array can", t)
	}
	return jsonArray{arrayOf(t, jsonName)}, nil
}

// Respells is true because spaces and numbers in JSON may be written in several ways.
func (jsonArray) Respells() bool { return true }

func (jsonArray) Append(dst []byte, v types.Value) ([]byte, error) {
	return v.AppendJSON(dst), fromOne(v)
}

// fromOne refuses an array whose subscripts do not begin at 1: it would be read back with subscripts from 1.
func fromOne(v types.Value) error {
	if slices.ContainsFunc(v.Dims(), func(d types.Dim) bool { return d.Lower != 1 }) {
		return fmt.Errorf("the subscripts of %s do not begin at 1: AS TEXT alone keeps them", types.Short(v.String()))
	}
	return nil
}

func (e jsonArray) Decode(src []byte) (types.Value, error) {
	return types.ArrayOfJSON(string(src), e.t, func(text string) (types.Value, error) {
		if e.t.Elem() == types.Bytes {
			b, err := types.UnescapeBytes(text)
			return types.NewBytes(b), err
		}
		return types.Cast(types.NewString(text), e.t.Elem(), nil)
	})
}

// newCountedArray makes COUNT32 ARRAY or COUNT32 ARRAY('encoding').
func newCountedArray(t types.Type, args []types.Value, other encodingMaker) (Encoding, error) {
	of, err := elementEncoding(countedArrayName, t, args, other)
	return countedArray{arrayOf(t, countedArrayName+written(args)), of}, err
}

// elementEncoding makes the encoding that args name for the elements of an array of type t; without args, the encoding
// of cells.
func elementEncoding(name string, t types.Type, args []types.Value, other encodingMaker) (Encoding, error) {
	switch {
	case !t.IsArray():
		return nil, fmt.Errorf("%s cannot be stored AS %s%s: an array can, as %s", t, name, written(args), types.ArrayOf(types.Int))
	case len(args) > 1 || len(args) == 1 && !args[0].Type().IsText():
		return nil, fmt.Errorf("%s takes the encoding of the elements: %s('ORDERED INT32')", name, name)
	case len(args) == 1:
		return other(t.Elem(), args[0])
	}
	return cellEncoding(t.Elem()), nil
}

// countedArray is the number of elements in four bytes, then each element after its length in four bytes. A NULL has
// the length 0xffffffff.
type countedArray struct {
	inCells
	of Encoding
}

func (e countedArray) Append(dst []byte, v types.Value) ([]byte, error) {
	if dims := v.Dims(); len(dims) > 1 {
		return dst, fmt.Errorf("an array of %d dimensions cannot be stored AS %s: store the column AS JSON", len(dims), countedArrayName)
	}
	if err := fromOne(v); err != nil {
		return dst, err
	}
	items := v.Items()
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(items)))
	for _, x := range items {
		at := len(dst)
		if dst = binary.BigEndian.AppendUint32(dst, math.MaxUint32); x.IsNull() {
			continue
		}
		var err error
		if dst, err = e.of.Append(dst, x); err != nil {
			return dst, err
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst, nil
}

var errArray = errors.New("it is not a valid array")

func (e countedArray) Decode(src []byte) (types.Value, error) {
	next := func() (n uint32, ok bool) {
		if len(src) < 4 {
			return 0, false
		}
		n, src = binary.BigEndian.Uint32(src), src[4:]
		return n, true
	}
	count, ok := next()
	if !ok || uint64(count) > uint64(len(src))/4 {
		return types.Value{}, errArray
	}
	items := make([]types.Value, count)
	for i := range items {
		n, ok := next()
		switch {
		case !ok:
			return types.Value{}, errArray
		case n == math.MaxUint32:
			continue
		case uint64(n) > uint64(len(src)):
			return types.Value{}, errArray
		}
		var err error
		if items[i], err = e.of.Decode(src[:n]); err != nil {
			return types.Value{}, err
		}
		src = src[n:]
	}
	if len(src) > 0 {
		return types.Value{}, errArray
	}
	return types.NewArray(e.t.Elem(), items), nil
}

package catalog

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// The names of encodings that contain other encodings.
const (
	elementName = "PHOENIX ELEMENT"
	arrayName   = "PHOENIX ARRAY"
)

// encodingNamed parses the text after AS.
func encodingNamed(text string) (*parser.EncodingDef, error) {
	s, err := parser.ParseStatement("CREATE TABLE t (c STRING AS " + text + ") ROW KEY (c)")
	if err != nil {
		return nil, err
	}
	return s.(*parser.CreateTable).Columns[0].Encoding, nil
}

// encodingOf makes the encoding that an argument names.
func (c *Catalog) encodingOf(t types.Type, named types.Value) (Encoding, error) {
	def, err := encodingNamed(named.Text())
	if err != nil {
		return nil, fmt.Errorf("%s is not an encoding", named.SQL())
	}
	args, err := literals(def.Args)
	if err != nil {
		return nil, err
	}
	return c.named(def.Name, t, args)
}

// newElement makes PHOENIX ELEMENT(n) or PHOENIX ELEMENT(n, 'encoding').
func newElement(t types.Type, args []types.Value, other encodingMaker) (Encoding, error) {
	if len(args) < 1 || len(args) > 2 || !args[0].Type().IsInteger() || args[0].Int() < 1 || args[0].Int() > maxElements || len(args) == 2 && !args[1].Type().IsText() {
		return nil, errors.New("PHOENIX ELEMENT takes the number of the element, from 1, and its encoding: PHOENIX ELEMENT(2, 'ORDERED INT32')")
	}
	e := phoenixElement{Encoding: cellEncoding(t), n: int(args[0].Int()), args: args}
	if len(args) == 2 {
		var err error
		if e.Encoding, err = other(t, args[1]); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// maxElements is the greatest number of an element: Phoenix's qualifiers have four bytes.
const maxElements = 1<<31 - 1

// phoenixElement is the n-th of the values in one cell of an immutable Phoenix table. The cell holds the values one
// after the other, the offset of each value (negative if the value is missing), the offset of the first of these
// offsets, the number of values and a version. A value without bytes is NULL. Append writes only the value's bytes: hql
// does not write such cells.
type phoenixElement struct {
	Encoding // of the value
	n        int
	args     []types.Value
}

var errElements = errors.New("the cell is not in Phoenix's format for several values")

func (e phoenixElement) String() string       { return elementName + written(e.args) }
func (phoenixElement) Width() int             { return Variable }
func (phoenixElement) Order() Order           { return Unordered }
func (phoenixElement) CellsOnly() bool        { return true }
func (phoenixElement) takes(word string) bool { return word != nullableName }

func (e phoenixElement) Append(dst []byte, v types.Value) ([]byte, error) {
	return appendSome(e.Encoding, dst, v)
}

// Decode returns NULL if the cell lacks the value.
func (e phoenixElement) Decode(src []byte) (types.Value, error) {
	b, err := e.find(src)
	if err != nil || len(b) == 0 {
		return types.Value{}, err
	}
	return e.Encoding.Decode(b)
}

// immutableCell is the version byte at the end of a cell that holds elements.
const immutableCell = 3

// find returns the bytes of the element in a cell, nil if it is missing.
func (e phoenixElement) find(src []byte) ([]byte, error) {
	offsets, count, width, err := elementOffsets(src, immutableCell)
	if err != nil || e.n >= count {
		return nil, err
	}
	at := func(i int) int {
		if width == 2 {
			return int(int16(binary.BigEndian.Uint16(src[offsets+2*i:])))
		}
		return int(int32(binary.BigEndian.Uint32(src[offsets+4*i:])))
	}
	from, to := at(e.n), offsets
	if from < 0 {
		return nil, nil
	}
	if e.n+1 < count {
		if to = at(e.n + 1); to < 0 {
			to = -to
		}
	}
	if from > to || to > offsets {
		return nil, errElements
	}
	return src[from:to], nil
}

// element returns the Encoding of c if c is one of several elements in a cell.
func (c *Column) element() (phoenixElement, bool) {
	e := c.Encoding
	if d, ok := e.(emptyNull); ok {
		e = d.Encoding
	}
	el, ok := e.(phoenixElement)
	return el, ok
}

// Element returns the number, from 1, of c's value in a cell of several columns; 0 if c has a cell of its own.
func (c *Column) Element() int {
	e, _ := c.element()
	return e.n
}

// elementOffsets returns where the list of element offsets begins in src, how many there are, and the bytes of each
// offset (2 or 4).
func elementOffsets(src []byte, version byte) (offsets, count, width int, err error) {
	n := len(src) - 9 // the offset of the offsets, their number and the version
	if n < 0 || src[len(src)-1] != version {
		return 0, 0, 0, errElements
	}
	offsets, count, width = int(int32(binary.BigEndian.Uint32(src[n:]))), int(int32(binary.BigEndian.Uint32(src[n+4:]))), 2
	if count < 0 {
		count, width = -count, 4
	}
	if offsets < 0 || count > n || offsets+width*count != n {
		return 0, 0, 0, errElements
	}
	return offsets, count, width, nil
}

// newArray makes PHOENIX ARRAY or PHOENIX ARRAY('encoding').
func newArray(t types.Type, args []types.Value, other encodingMaker) (Encoding, error) {
	of, err := elementEncoding(arrayName, t, args, other)
	return phoenixArray{arrayOf(t, arrayName+written(args)), of}, err
}

// phoenixArray is a Phoenix ARRAY. Elements of fixed width follow one another. Elements of varying width each end with
// 0x00. After the last element come 0x0000, the offsets of the elements, the offset of the first of these offsets, the
// number of elements and a version. An offset has two bytes and is stored less 32,767; if the stored number of elements
// is negative, it has four bytes.
type phoenixArray struct {
	inCells
	of Encoding // of the elements
}

func (phoenixArray) Append(dst []byte, _ types.Value) ([]byte, error) {
	return dst, errors.New("hql cannot write Phoenix arrays")
}

func (e phoenixArray) Decode(src []byte) (types.Value, error) {
	var items []types.Value
	add := func(element []byte) error {
		v, err := types.Value{}, error(nil)
		if element != nil {
			v, err = e.of.Decode(element)
		}
		items = append(items, v)
		return err
	}
	if w := e.of.Width(); w != Variable {
		if len(src)%w != 0 {
			return types.Value{}, errWidth
		}
		for ; len(src) > 0; src = src[w:] {
			if err := add(src[:w]); err != nil {
				return types.Value{}, err
			}
		}
	} else if err := e.elements(src, add); err != nil {
		return types.Value{}, err
	}
	return types.NewArray(e.t.Elem(), items), nil
}

// elements calls add for each element of varying width, with nil for a NULL.
func (e phoenixArray) elements(src []byte, add func([]byte) error) error {
	const sortableArray, least, end = 1, 32767, 2
	offsets, count, width, err := elementOffsets(src, sortableArray)
	if err != nil {
		return err
	}
	at := func(i int) int {
		if i == count {
			return offsets - end
		}
		if width == 2 {
			return int(int16(binary.BigEndian.Uint16(src[offsets+2*i:]))) + least
		}
		return int(int32(binary.BigEndian.Uint32(src[offsets+4*i:])))
	}
	for i := range count {
		from, to := at(i), at(i+1)
		if from < 0 || to < from || to > offsets {
			return errElements
		}
		var element []byte
		if to-from > 1 && src[from] != 0 { // a run of NULLs is 0x00 and their number
			element = src[from : to-1]
		}
		if err := add(element); err != nil {
			return err
		}
	}
	return nil
}

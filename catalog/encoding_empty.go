package catalog

import (
	"errors"
	"fmt"

	"github.com/hql-db/hql/types"
)

// defaultName is the name of the encoding that gives missing cells a value.
const defaultName = "DEFAULT"

// emptyNull is NULLABLE and DEFAULT for cells, and for the values of a cell that holds several: a value without bytes
// is NULL, and a missing value is read as the value absent.
type emptyNull struct {
	Encoding
	absent types.Value
	name   string // as written
}

// nullableCell makes NULLABLE encoding.
func nullableCell(e Encoding) (Encoding, error) {
	if err := takes(e, nullableName); err != nil {
		return nil, err
	}
	return emptyNull{Encoding: e, name: nullableName + " " + e.String()}, nil
}

// newDefault makes DEFAULT(value) or DEFAULT(value, 'encoding').
func newDefault(t types.Type, args []types.Value, other encodingMaker) (Encoding, error) {
	if len(args) < 1 || len(args) > 2 || args[0].IsNull() || len(args) == 2 && !args[1].Type().IsText() {
		return nil, errors.New("DEFAULT takes the value of missing cells, and the encoding of the others: DEFAULT(7, 'ORDERED INT32')")
	}
	e := emptyNull{Encoding: cellEncoding(t), name: defaultName + written(args)}
	var err error
	if len(args) == 2 {
		if e.Encoding, err = other(t, args[1]); err != nil {
			return nil, err
		}
	}
	own := e.Encoding
	if el, ok := own.(phoenixElement); ok {
		own = el.Encoding
	}
	var cell []byte
	if e.absent, err = types.Read(args[0], t, types.NoTime, nil); err == nil {
		cell, err = own.Append(nil, e.absent)
	}
	if err == nil { // the value as it reads back after a write
		e.absent, err = own.Decode(cell)
	}
	if err != nil {
		return nil, fmt.Errorf("the DEFAULT %s: %w", args[0].SQL(), err)
	}
	return e, nil
}

func (e emptyNull) String() string  { return e.name }
func (emptyNull) Width() int        { return Variable }
func (emptyNull) Order() Order      { return Unordered }
func (e emptyNull) Respells() bool  { return respells(e.Encoding) }
func (e emptyNull) OneScale() bool  { return oneScale(e.Encoding) }
func (emptyNull) CellsOnly() bool   { return true }
func (emptyNull) takes(string) bool { return false }

func (e emptyNull) Append(dst []byte, v types.Value) ([]byte, error) {
	return appendSome(e.Encoding, dst, v)
}

// appendSome appends v with the encoding e. It refuses a value that would have no bytes.
func appendSome(e Encoding, dst []byte, v types.Value) ([]byte, error) {
	at := len(dst)
	dst, err := e.Append(dst, v)
	if err == nil && len(dst) == at {
		return dst, fmt.Errorf("%s would be read back as NULL", v.SQL())
	}
	return dst, err
}

func (e emptyNull) Decode(src []byte) (types.Value, error) {
	if el, ok := e.Encoding.(phoenixElement); ok {
		b, err := el.find(src)
		if err == nil && b == nil {
			return e.absent, nil
		}
	} else if len(src) == 0 {
		return types.Value{}, nil
	}
	return e.Encoding.Decode(src)
}

// EmptyIsNull reports whether NULL is written as a cell without bytes.
func (c *Column) EmptyIsNull() bool {
	_, ok := c.Encoding.(emptyNull)
	return ok
}

// Absent returns the value of c in rows without its cell; NULL for most columns.
func (c *Column) Absent() types.Value {
	if e, ok := c.Encoding.(emptyNull); ok {
		return e.absent
	}
	return types.Value{}
}

// LeftAway reports whether v is stored by omitting the cell: v is the DEFAULT and has no bytes, so that its cell would
// be read as NULL.
func (c *Column) LeftAway(v types.Value) bool {
	e, ok := c.Encoding.(emptyNull)
	if !ok || v.IsNull() || e.absent.IsNull() {
		return false
	}
	is, err := e.Encoding.Append(nil, v)
	if err != nil || len(is) > 0 {
		return false
	}
	is, err = e.Encoding.Append(nil, e.absent)
	return err == nil && len(is) == 0
}

package types

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ArrayOfJSON reads an array of type t from JSON. element converts the text of a string, or the JSON text of any other
// value.
func ArrayOfJSON(text string, t Type, element func(text string) (Value, error)) (Value, error) {
	r := jsonArrayReader{element: element, raw: t.Elem() == JSON}
	if err := r.read(strings.TrimSpace(text), 0); err != nil {
		return Value{}, err
	}
	return NewArrayOf(t, r.dims, r.items), nil
}

// jsonArrayReader collects the elements of nested arrays of equal lengths.
type jsonArrayReader struct {
	element func(string) (Value, error)
	raw     bool // elements are JSON values, which may be arrays, so that the result has one dimension
	dims    []Dim
	items   []Value
}

var errJSONArray = errors.New("it is not a JSON array")

func (r *jsonArrayReader) read(text string, depth int) error {
	var parts []json.RawMessage
	if !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &parts) != nil {
		return errJSONArray
	}
	if depth == len(r.dims) {
		if depth == maxDims || len(r.items) > 0 {
			return fmt.Errorf("its parts have different dimensions")
		}
		r.dims = append(r.dims, Dim{1, len(parts)})
	}
	if r.dims[depth].Len != len(parts) {
		return fmt.Errorf("its parts have different lengths")
	}
	for _, p := range parts {
		s := strings.TrimSpace(string(p))
		if s[0] == '[' && !r.raw {
			if err := r.read(s, depth+1); err != nil {
				return err
			}
			continue
		}
		if depth != len(r.dims)-1 {
			return fmt.Errorf("its parts have different dimensions")
		}
		v, err := Value{}, error(nil)
		switch {
		case r.raw:
			v = NewJSON(s)
		case s == "null":
		case s[0] == '"':
			if s, err = UnquoteJSON(s); err == nil {
				v, err = r.element(s)
			}
		default:
			v, err = r.element(s)
		}
		if err != nil {
			return err
		}
		r.items = append(r.items, v)
	}
	return nil
}

package stats

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/hql-db/hql/types"
)

// Value is a types.Value that JSON can hold.
type Value struct{ types.Value }

// jsonValue has one field set beside Type. NULL has none.
type jsonValue struct {
	Type  string `json:"type"`
	Int   string `json:"int,omitempty"` // as text: JSON's numbers are floats to many
	Float string `json:"float,omitempty"`
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"` // of text that is no UTF-8
}

// MarshalJSON writes the type and the value.
func (v Value) MarshalJSON() ([]byte, error) {
	t := v.Type()
	out := jsonValue{Type: t.String()}
	switch {
	case t == types.Null:
	case t.IsInteger(), t.IsTemporal(), t == types.Boolean:
		out.Int = strconv.FormatInt(v.Int(), 10)
	case t == types.Float, t == types.Double:
		out.Float = strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case t == types.Decimal:
		out.Text = v.String()
	case utf8.ValidString(v.Text()):
		out.Text = v.Text()
	default:
		out.Bytes = []byte(v.Text())
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Value) UnmarshalJSON(b []byte) error {
	var in jsonValue
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in.Type == types.Null.String() {
		v.Value = types.Value{}
		return nil
	}
	t, ok := types.ParseType(in.Type)
	if !ok {
		return fmt.Errorf("statistics: unknown type %q", in.Type)
	}
	switch {
	case t == types.Boolean:
		v.Value = types.NewBool(in.Int == "1")
	case t.IsInteger(), t.IsTemporal():
		i, err := strconv.ParseInt(in.Int, 10, 64)
		if err != nil {
			return err
		}
		v.Value = types.NewIntOf(t, i)
	case t == types.Float, t == types.Double:
		f, err := strconv.ParseFloat(in.Float, 64)
		if err != nil {
			return err
		}
		v.Value = types.NewFloatOf(t, f)
	case t == types.Decimal:
		d, err := types.ParseDecimal(in.Text)
		if err != nil {
			return err
		}
		v.Value = d
	default:
		text := in.Text
		if in.Bytes != nil {
			text = string(in.Bytes)
		}
		switch t {
		case types.Bytes:
			v.Value = types.NewBytes(text)
		case types.JSON:
			v.Value = types.NewJSON(text)
		default:
			v.Value = types.NewString(text)
		}
	}
	return nil
}

package stats

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/hql-db/hql/types"
)

// Value is a types.Value that JSON can hold.
type Value struct{ types.Value }

// jsonValue is the JSON form of a value: Type and one other field are set. For NULL no field is set.
type jsonValue struct {
	Type  string `json:"type"`
	Int   string `json:"int,omitempty"` // as text: JSON's numbers are floats to many
	Float string `json:"float,omitempty"`
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"` // of text that is not UTF-8
}

// MarshalJSON writes the type and the value.
func (v Value) MarshalJSON() ([]byte, error) {
	t := v.Type()
	out := jsonValue{Type: t.String()}
	switch {
	case t == types.Null:
	case t.IsInteger(), t.IsTemporal(), t == types.Boolean:
		out.Int = text(v.Value)
	case t == types.Float, t == types.Double:
		out.Float = text(v.Value)
	case t == types.Decimal, t.IsArray(), t == types.UUID:
		out.Text = text(v.Value)
	case utf8.ValidString(v.Text()):
		out.Text = text(v.Value)
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
	text := in.Int + in.Float + in.Text
	if in.Bytes != nil {
		text = string(in.Bytes)
	}
	var err error
	v.Value, err = parse(t, text)
	return err
}

// text writes v for parse.
func text(v types.Value) string {
	switch t := v.Type(); {
	case t.IsInteger(), t.IsTemporal(), t == types.Boolean:
		return strconv.FormatInt(v.Int(), 10)
	case t == types.Float, t == types.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case t == types.Decimal, t.IsArray(), t == types.UUID:
		return v.String()
	}
	return v.Text()
}

// parse is the inverse of text: it reads a value of type t.
func parse(t types.Type, text string) (types.Value, error) {
	switch {
	case t == types.Boolean:
		return types.NewBool(text == "1"), nil
	case t.IsInteger(), t.IsTemporal():
		i, err := strconv.ParseInt(text, 10, 64)
		return types.NewIntOf(t, i), err
	case t == types.Float, t == types.Double:
		f, err := strconv.ParseFloat(text, 64)
		return types.NewFloatOf(t, f), err
	case t == types.Decimal:
		return types.ParseDecimal(text)
	case t == types.Bytes:
		return types.NewBytes(text), nil
	case t.IsJSON():
		return types.NewJSONOf(t, text), nil
	case t.IsArray(), t == types.UUID:
		return types.Cast(types.NewString(text), t, nil)
	}
	return types.NewString(text), nil
}

// Values are values of one type, and NULLs, that JSON can hold. Bytes of texts that are not UTF-8 are lost.
type Values []types.Value

type jsonValues struct {
	Type   string    `json:"type"`
	Values []*string `json:"values"` // nil: NULL
}

// MarshalJSON writes the type and the values.
func (v Values) MarshalJSON() ([]byte, error) {
	out := jsonValues{Type: types.Null.String(), Values: make([]*string, len(v))}
	for i, x := range v {
		if x.IsNull() {
			continue
		}
		out.Type = x.Type().String()
		s := text(x)
		if x.Type() == types.Bytes {
			s = hex.EncodeToString([]byte(s))
		}
		out.Values[i] = &s
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Values) UnmarshalJSON(b []byte) error {
	var in jsonValues
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	t, ok := types.ParseType(in.Type)
	if !ok && in.Type != types.Null.String() {
		return fmt.Errorf("statistics: unknown type %q", in.Type)
	}
	*v = make(Values, len(in.Values))
	for i, s := range in.Values {
		if s == nil {
			continue
		}
		text, err := *s, error(nil)
		if t == types.Bytes {
			var b []byte
			b, err = hex.DecodeString(text)
			text = string(b)
		}
		if err == nil {
			(*v)[i], err = parse(t, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

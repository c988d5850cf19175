package types

import (
	"encoding/json"
	"errors"
	"strings"
)

// ArrayOfJSON reads an array of type t from JSON. element converts the text of a string, or the JSON text of any other value.
// Elements of JSON[] and JSONB[] may be arrays: such an array has one dimension.
func ArrayOfJSON(text string, t Type, element func(text string) (Value, error)) (Value, error) {
	var parts []json.RawMessage
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &parts) != nil {
		return Value{}, errors.New("it is not a JSON array")
	}
	items, nested := make([]Value, len(parts)), 0
	for i, p := range parts {
		var err error
		switch s := strings.TrimSpace(string(p)); {
		case t.Elem().IsJSON():
			items[i] = NewJSONOf(t.Elem(), s)
		case s[0] == '[':
			nested++
			items[i], err = ArrayOfJSON(s, t, element)
		case s == "null":
		case s[0] == '"':
			if s, err = UnquoteJSON(s); err == nil {
				items[i], err = element(s)
			}
		default:
			items[i], err = element(s)
		}
		if err != nil {
			return Value{}, err
		}
	}
	switch nested {
	case 0:
		return NewArrayOf(t, []Dim{{1, len(items)}}, items), nil
	case len(items):
		return Stack(t.Elem(), items)
	}
	return Value{}, errors.New("its parts have different dimensions")
}

package exec

import (
	"strings"
	"time"

	"github.com/hql-db/hql/types"
)

// jsonValue reads a JSON value for a column of type t: a JSON string becomes its text, other values their JSON text.
func jsonValue(text string, t types.Type, now int64, loc *time.Location) (types.Value, error) {
	switch {
	case text == "null":
		return types.Value{}, nil
	case t.IsJSON() && strings.HasPrefix(text, jsonText):
		s, err := types.UnquoteJSON(text[len(jsonText) : len(text)-1])
		if err != nil {
			return types.Value{}, err
		}
		return fromText(s, t, now, loc)
	case t.IsJSON():
		return types.NewJSONOf(t, text), nil
	case t.IsArray() && text[0] == '[':
		return types.ArrayOfJSON(text, t, func(text string) (types.Value, error) { return fromText(text, t.Elem(), now, loc) })
	case text[0] == '"':
		s, err := types.UnquoteJSON(text)
		if err != nil {
			return types.Value{}, err
		}
		return fromText(s, t, now, loc)
	}
	return fromText(text, t, now, loc)
}

// fromText parses a value of type t in the form in which results print it, or as INSERT reads it at the time now.
func fromText(text string, t types.Type, now int64, loc *time.Location) (types.Value, error) {
	if t == types.Bytes {
		b, err := types.UnescapeBytes(text)
		return types.NewBytes(b), err
	}
	if t == types.Date || t == types.Timestamp { // HBase may hold years that SQL's notation does not allow
		if v, err := types.ParseFar(text, t, loc); err == nil {
			return v, nil
		}
	}
	return types.Read(types.NewString(text), t, now, loc)
}

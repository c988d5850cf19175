package exec

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/types"
)

// jsonValue reads a JSON value for a column of type t: a string is its text, the rest stands for itself.
func jsonValue(text string, t types.Type, loc *time.Location) (types.Value, error) {
	switch {
	case text == "null":
		return types.Value{}, nil
	case t == types.JSON && strings.HasPrefix(text, jsonText):
		s, err := types.UnquoteJSON(text[len(jsonText) : len(text)-1])
		if err != nil {
			return types.Value{}, err
		}
		return fromText(s, t, loc)
	case t == types.JSON:
		return types.NewJSON(text), nil
	case text[0] == '"':
		s, err := types.UnquoteJSON(text)
		if err != nil {
			return types.Value{}, err
		}
		return fromText(s, t, loc)
	}
	return fromText(text, t, loc)
}

// fromText reads a value of type t as results print it.
func fromText(text string, t types.Type, loc *time.Location) (types.Value, error) {
	if t == types.Bytes {
		b, err := types.UnescapeBytes(text)
		return types.NewBytes(b), err
	}
	v, err := types.Cast(types.NewString(text), t, loc)
	if err != nil && (t == types.Date || t == types.Timestamp) {
		if far, ok := farMoment(text, t); ok {
			return far, nil
		}
	}
	return v, err
}

// longYear is how days and moments of years outside 0 to 9999 are printed.
var longYear = regexp.MustCompile(`^(-?\d{4,9})(-\d\d-\d\d(?:T.*Z)?)$`)

// farMoment reads a day or moment as copyText gives it that SQL cannot write: HBase holds such, as
// sentinels. The calendar repeats itself every 400 years.
func farMoment(text string, t types.Type) (types.Value, bool) {
	m := longYear.FindStringSubmatch(text)
	if m == nil {
		return types.Value{}, false
	}
	year, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return types.Value{}, false
	}
	const days = 146_097 // of 400 years
	near := 2000 + (year%400+400)%400
	cycles := (year - near) / 400
	v, err := types.Cast(types.NewString(strconv.FormatInt(near, 10)+m[2]), t, time.UTC)
	if err != nil {
		return types.Value{}, false
	}
	if t == types.Date {
		return types.NewDate(v.Int() + cycles*days), true
	}
	return types.NewTimestamp(v.Int() + cycles*days*types.MillisPerDay), true
}

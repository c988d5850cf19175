package exec

import (
	_ "embed" // settings_postgres.tsv
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/types"
)

// postgresText has a setting of PostgreSQL on each line: its name, its value, the name of its check in checks, or = and its
// allowed values, and a description.
//
//go:embed settings_postgres.tsv
var postgresText string

// checks check the values of settings, and return them in one spelling. A setting with the check "fixed" cannot be set.
var checks = map[string]func(v string) (string, error){
	"any": anyText, "encoding": ParseEncoding, "date style": dateStyle, "fixed": nil,
	"number": func(v string) (string, error) {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return "", fmt.Errorf("%q is not a number", v)
		}
		return v, nil
	},
	"switch": func(v string) (string, error) {
		on, ok := ParseSwitch(v)
		if !ok {
			return "", fmt.Errorf("a switch is on or off, not %q", v)
		}
		return map[bool]string{true: "on", false: "off"}[on], nil
	},
	"time": func(v string) (string, error) {
		d, err := ParseTimeout(v)
		return showTimeout(d), err
	},
}

// postgresSettings returns the settings of PostgreSQL that clients use. A session stores their values.
func postgresSettings() (out []setting) {
	for line := range strings.Lines(postgresText) {
		f := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "") // the description may be missing
		check := checks[f[2]]
		if list, some := strings.CutPrefix(f[2], "="); some {
			of := strings.Split(list, "|")
			check = func(v string) (string, error) {
				if slices.Contains(of, strings.ToLower(v)) {
					return strings.ToLower(v), nil
				}
				return "", fmt.Errorf("the value %q is not supported here: %s", v, strings.Join(of, ", "))
			}
		}
		if f[0] == "server_version" {
			f[1] = pgcatalog.ServerVersion
		}
		out = append(out, keptSetting(f[0], f[1], f[3], check))
	}
	return out
}

// keptSetting returns a setting that a session stores, and that has no effect on the engine.
func keptSetting(spelled, byDefault, doc string, check func(string) (string, error)) setting {
	name := strings.ToLower(spelled)
	return setting{name: name, spelled: spelled, doc: doc, fixed: check == nil,
		show: func(s settings) string {
			if v, ok := s.kept[name]; ok {
				return v
			}
			return byDefault
		},
		set: func(s *settings, v string) (err error) {
			if check != nil {
				if v, err = check(v); err != nil {
					return fmt.Errorf("invalid value for parameter %q: %w", name, err)
				}
			}
			s.keep(name, v)
			return nil
		},
		reset: func(s *settings, initial settings) {
			v, ok := initial.kept[name]
			s.keep(name, v)
			if !ok {
				delete(s.kept, name)
			}
		}}
}

// keep sets a value in a copy of the map: running statements use the old map.
func (s *settings) keep(name, value string) {
	kept := map[string]string{name: value}
	for k, v := range s.kept {
		if k != name {
			kept[k] = v
		}
	}
	s.kept = kept
}

// ParseEncoding parses the name of a text encoding.
func ParseEncoding(v string) (string, error) {
	switch strings.ToUpper(strings.NewReplacer("-", "", "_", "", "'", "").Replace(v)) {
	case "UTF8", "UNICODE":
		return "UTF8", nil
	case "SQLASCII": // from a client without a locale; hql reads its texts as UTF-8
		return "SQL_ASCII", nil
	}
	return "", fmt.Errorf("%q is not available: texts are UTF8", v)
}

func dateStyle(v string) (string, error) {
	for _, word := range strings.FieldsFunc(strings.ToUpper(v), func(r rune) bool { return r == ',' || r == ' ' }) {
		switch word {
		case "ISO", "MDY", "US", "NONEURO", "NONEUROPEAN":
		default:
			return "", fmt.Errorf("the date style %q is not supported here: dates are sent in the form of ISO 8601, and 1/2/2024 is the second of January", v)
		}
	}
	return "ISO, MDY", nil
}

func showTimeout(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "min"
	case d%time.Second == 0:
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

// ParseSwitch parses on, off and their other spellings.
func ParseSwitch(text string) (on, ok bool) {
	v, err := types.Cast(types.NewString(text), types.Boolean, time.UTC)
	return err == nil && v.Bool(), err == nil
}

// ParseTimeout parses a number of milliseconds, or a number with a unit. 0 means no limit.
func ParseTimeout(text string) (time.Duration, error) {
	if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && n >= 0 && n < 1<<31 {
		return time.Duration(n) * time.Millisecond, nil
	}
	number := strings.TrimSpace(strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz "))
	unit := strings.TrimSpace(text[len(number):])
	scale, ok := map[string]time.Duration{"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "min": time.Minute, "m": time.Minute,
		"h": time.Hour, "d": 24 * time.Hour}[unit]
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || n < 0 || n*float64(scale) > float64(1<<31)*float64(time.Millisecond) {
		return 0, fmt.Errorf("invalid time %q: write a number of milliseconds, or a number with a unit, such as 30s or 5min", text)
	}
	return time.Duration(n * float64(scale)), nil
}

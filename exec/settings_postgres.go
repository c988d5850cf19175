package exec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/types"
)

// postgresSettings returns the settings of PostgreSQL that clients use. A session stores their values. A setting with a
// nil check cannot be set.
func postgresSettings() (out []setting) {
	one := func(of ...string) func(string) (string, error) {
		return func(v string) (string, error) {
			if slices.Contains(of, strings.ToLower(v)) {
				return strings.ToLower(v), nil
			}
			return "", fmt.Errorf("the value %q is not supported here: %s", v, strings.Join(of, ", "))
		}
	}
	number := func(v string) (string, error) {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return "", fmt.Errorf("%q is not a number", v)
		}
		return v, nil
	}
	onOff := func(v string) (string, error) {
		on, ok := ParseSwitch(v)
		if !ok {
			return "", fmt.Errorf("a switch is on or off, not %q", v)
		}
		if on {
			return "on", nil
		}
		return "off", nil
	}
	period := func(v string) (string, error) {
		d, err := ParseTimeout(v)
		if err != nil {
			return "", err
		}
		return showTimeout(d), nil
	}
	isolation := one("read committed", "read uncommitted", "repeatable read", "serializable")
	for _, p := range []struct {
		name, value, doc string
		check            func(string) (string, error)
	}{
		{"allow_system_table_mods", "off", "", nil},
		{"application_name", "", "the name of the program that asks", anyText},
		{"backslash_quote", "safe_encoding", "", anyText},
		{"bytea_output", "hex", "the form of bytes in text", one("hex")},
		{"check_function_bodies", "on", "", onOff},
		{"client_encoding", "UTF8", "the encoding of texts", ParseEncoding},
		{"client_min_messages", "notice", "which notices are sent", one("debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error")},
		{"DateStyle", "ISO, MDY", "the form of dates in text", dateStyle},
		{"default_table_access_method", "heap", "", anyText},
		{"default_tablespace", "", "", anyText},
		{"default_transaction_deferrable", "off", "", onOff},
		{"default_transaction_isolation", "read committed", "", isolation},
		{"default_transaction_read_only", "on", "whether statements may only read", onOff},
		{"escape_string_warning", "on", "", onOff},
		{"extra_float_digits", "1", "numbers are sent with all digits that they need", number},
		{"hql.write_in_block", "off", "whether statements between BEGIN and COMMIT may write: what they wrote stays after ROLLBACK", onOff},
		{"idle_in_transaction_session_timeout", "0", "", period},
		{"idle_session_timeout", "0", "", period},
		{"in_hot_standby", "off", "", nil},
		{"integer_datetimes", "on", "", nil},
		{"intervalstyle", "postgres", "the form of intervals in text", one("postgres")},
		{"is_superuser", "off", "", nil},
		{"jit", "off", "", onOff},
		{"lc_collate", "C", "", nil},
		{"lc_ctype", "C.UTF-8", "", nil},
		{"lc_messages", "C", "", anyText},
		{"lc_monetary", "C", "", anyText},
		{"lc_numeric", "C", "", anyText},
		{"lc_time", "C", "", anyText},
		{"lock_timeout", "0", "", period},
		{"max_connections", "1000", "", nil},
		{"max_identifier_length", "63", "", nil},
		{"max_index_keys", "32", "", nil},
		{"plan_cache_mode", "auto", "", anyText},
		{"quote_all_identifiers", "off", "", onOff},
		{"row_security", "on", "", onOff},
		{"search_path", `"$user", public`, "where names are looked for", anyText},
		{"server_encoding", "UTF8", "", nil},
		{"server_version", pgcatalog.ServerVersion, "", nil},
		{"server_version_num", "150010", "", nil},
		{"session_authorization", "", "", nil},
		{"session_replication_role", "origin", "", anyText},
		{"ssl", "off", "", nil},
		{"standard_conforming_strings", "on", "whether a backslash is itself in texts", one("on", "true")},
		{"synchronize_seqscans", "on", "", onOff},
		{"synchronous_commit", "on", "", anyText},
		{"transaction_deferrable", "off", "", onOff},
		{"transaction_isolation", "read committed", "", isolation},
		{"transaction_read_only", "off", "", onOff},
		{"vacuum_cost_delay", "0", "", period},
		{"work_mem", "4MB", "", anyText},
		{"xmloption", "content", "", anyText},
	} {
		out = append(out, keptSetting(p.name, p.value, p.doc, p.check))
	}
	for _, how := range []string{"bitmapscan", "hashagg", "hashjoin", "indexonlyscan", "indexscan", "material", "memoize", "mergejoin", "nestloop", "seqscan", "sort"} {
		out = append(out, keptSetting("enable_"+how, "on", "", onOff))
	}
	for name, value := range map[string]string{"effective_cache_size": "4GB", "maintenance_work_mem": "64MB", "temp_buffers": "8MB", "random_page_cost": "4",
		"seq_page_cost": "1", "cpu_tuple_cost": "0.01", "max_parallel_workers_per_gather": "0", "log_statement": "none", "log_min_duration_statement": "-1",
		"default_text_search_config": "pg_catalog.simple", "default_statistics_target": "100"} {
		out = append(out, keptSetting(name, value, "", anyText))
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

package pgwire

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/types"
)

// settings are a session's: PostgreSQL's, as far as a client asks for them, and hql's own.
type settings struct {
	values   map[string]string // that were set
	initial  map[string]string // what RESET goes back to, where it is not the default
	loc      *time.Location
	timeouts map[string]time.Duration // statement_timeout and those of idle sessions; 0: none
	memory   int64                    // bytes of a statement
	greeted  bool                     // all settings were reported to the client
}

// setting is one of PostgreSQL's.
type setting struct {
	name, value string // by default
	doc         string
	// check returns the normalised value; nil: the setting cannot be set.
	check func(value string) (string, *Error)
}

// reported are the settings that a ParameterStatus message reports when they change, in PostgreSQL's spelling.
var reported = []string{"server_version", "server_encoding", "client_encoding", "application_name", "is_superuser", "session_authorization", "DateStyle",
	"IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings", "default_transaction_read_only", "in_hot_standby"}

// serverVersion is the PostgreSQL whose protocol and catalog clients find here.
const serverVersion = pgcatalog.ServerVersion

// settingList has the settings of PostgreSQL that clients ask for, by their names in lower case.
var settingList = func() map[string]setting {
	anything := func(v string) (string, *Error) { return v, nil }
	one := func(of ...string) func(string) (string, *Error) {
		return func(v string) (string, *Error) {
			if slices.Contains(of, strings.ToLower(v)) {
				return strings.ToLower(v), nil
			}
			return "", failure("22023", "the value %q is not supported here: %s", v, strings.Join(of, ", "))
		}
	}
	number := func(v string) (string, *Error) {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return "", failure("22023", "%q is not a number", v)
		}
		return v, nil
	}
	onOff := func(v string) (string, *Error) {
		on, ok := parseSwitch(v)
		if !ok {
			return "", failure("22023", "a switch is on or off, not %q", v)
		}
		if on {
			return "on", nil
		}
		return "off", nil
	}
	period := func(v string) (string, *Error) {
		d, err := parseTimeout(v)
		if err != nil {
			return "", failure("22023", "%v", err)
		}
		return showTimeout(d), nil
	}
	isolation := one("read committed", "read uncommitted", "repeatable read", "serializable")
	out := map[string]setting{}
	for _, s := range []setting{
		{"allow_system_table_mods", "off", "", nil},
		{"application_name", "", "the name of the program that asks", anything},
		{"backslash_quote", "safe_encoding", "", anything},
		{"bytea_output", "hex", "the form of bytes in text", one("hex")},
		{"check_function_bodies", "on", "", onOff},
		{"client_encoding", "UTF8", "the encoding of texts", encoding},
		{"client_min_messages", "notice", "which notices are sent", one("debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error")},
		{"DateStyle", "ISO, MDY", "the form of dates in text", dateStyle},
		{"default_table_access_method", "heap", "", anything},
		{"default_tablespace", "", "", anything},
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
		{"lc_messages", "C", "", anything},
		{"lc_monetary", "C", "", anything},
		{"lc_numeric", "C", "", anything},
		{"lc_time", "C", "", anything},
		{"lock_timeout", "0", "", period},
		{"max_connections", "1000", "", nil},
		{"max_identifier_length", "63", "", nil},
		{"max_index_keys", "32", "", nil},
		{"plan_cache_mode", "auto", "", anything},
		{"quote_all_identifiers", "off", "", onOff},
		{"row_security", "on", "", onOff},
		{"search_path", `"$user", public`, "where names are looked for", anything},
		{"server_encoding", "UTF8", "", nil},
		{"server_version", serverVersion, "", nil},
		{"server_version_num", "150010", "", nil},
		{"session_authorization", "", "", nil},
		{"session_replication_role", "origin", "", anything},
		{"ssl", "off", "", nil},
		{"standard_conforming_strings", "on", "whether a backslash is itself in texts", one("on", "true")},
		{"statement_timeout", "0", "how long a statement may take", period},
		{"synchronize_seqscans", "on", "", onOff},
		{"synchronous_commit", "on", "", anything},
		{"transaction_deferrable", "off", "", onOff},
		{"transaction_isolation", "read committed", "", isolation},
		{"transaction_read_only", "off", "", onOff},
		{"vacuum_cost_delay", "0", "", period},
		{"work_mem", "4MB", "", anything},
		{"xmloption", "content", "", anything},
	} {
		out[strings.ToLower(s.name)] = s
	}
	return out
}()

// hqlSettings are the DB's own, which its sessions keep.
var hqlSettings = []string{"analyze_rows", "analyze_time", "consistency", "full_scan", "full_scan_rows", "max_scan_bytes", "max_scan_rows", "memory_limit", "timezone"}

// settingName returns the key of a setting's name.
func settingName(name string) string {
	name = strings.ToLower(name)
	switch name {
	case "time zone", "time_zone":
		return "timezone"
	case "transaction isolation level":
		return "transaction_isolation"
	case "session authorization":
		return "session_authorization"
	}
	return name
}

func encoding(v string) (string, *Error) {
	switch strings.ToUpper(strings.NewReplacer("-", "", "_", "", "'", "").Replace(v)) {
	case "UTF8", "UNICODE":
		return "UTF8", nil
	case "SQLASCII": // a client without a locale; what it sends is read as UTF-8
		return "SQL_ASCII", nil
	}
	return "", failure("0A000", "the client encoding %q is not supported", v).hint("texts are UTF-8: client_encoding = 'UTF8'")
}

func dateStyle(v string) (string, *Error) {
	order := "MDY"
	for _, word := range strings.FieldsFunc(strings.ToUpper(v), func(r rune) bool { return r == ',' || r == ' ' }) {
		switch word {
		case "ISO":
		case "MDY", "DMY", "YMD":
			order = word
		case "US", "NONEURO", "NONEUROPEAN":
			order = "MDY"
		case "EURO", "EUROPEAN":
			order = "DMY"
		default:
			return "", failure("22023", "the date style %q is not supported here: dates are sent in the form of ISO 8601", v)
		}
	}
	return "ISO, " + order, nil
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

// begin sets the initial settings of a session.
func (s *settings) begin(c *conn) *Error {
	s.values, s.timeouts, s.loc = map[string]string{}, map[string]time.Duration{}, time.UTC
	s.initial = maps.Clone(c.role.Settings)
	if s.initial == nil {
		s.initial = map[string]string{}
	}
	s.initial["session_authorization"] = c.user
	s.initial["max_connections"] = strconv.Itoa(c.srv.opts.MaxConnections)
	if c.mayWrite() {
		s.initial["default_transaction_read_only"] = "off"
	} else {
		s.initial["transaction_read_only"] = "on"
	}
	if d := c.srv.opts.StatementTimeout; d > 0 && s.initial["statement_timeout"] == "" {
		s.initial["statement_timeout"] = showTimeout(d)
	}
	if s.initial["memory_limit"] == "" { // an even share of the server's memory, less what reads hold
		share := c.srv.opts.Memory/int64(c.srv.opts.MaxStatements) - c.srv.readMemory()
		s.initial["memory_limit"] = strconv.FormatInt(max(share, 1<<20), 10)
	}
	for name, value := range s.initial {
		if err := s.apply(c, name, value); err != nil {
			return err
		}
	}
	zone, err := s.own(c, "timezone")
	if err != nil {
		return asError(err, "", 0)
	}
	s.loc, err = types.Zone(zone)
	if err != nil {
		return asError(err, "", 0)
	}
	return nil
}

// readMemory is the greatest memory of a statement's reads in flight: the answers of the servers at one time.
func (s *Server) readMemory() int64 { return int64(s.opts.Parallelism) * 2 << 20 }

// get gives the value of a setting of PostgreSQL.
func (s *settings) get(name string) string {
	name = settingName(name)
	if v, ok := s.values[name]; ok {
		return v
	}
	if v, ok := s.initial[name]; ok {
		return v
	}
	if name == "timezone" && s.loc != nil {
		return s.loc.String()
	}
	return settingList[name].value
}

// show is SHOW name.
func (s *settings) show(c *conn, name string) (string, error) {
	name = settingName(name)
	if slices.Contains(hqlSettings, name) {
		return s.own(c, name)
	}
	if name == "transaction_isolation" && c.tx.state == outside { // that of the next block
		name = "default_transaction_isolation"
	}
	if _, ok := settingList[name]; ok {
		return s.get(name), nil
	}
	if v, ok := s.values[name]; ok {
		return v, nil
	}
	return "", unknownSetting(name)
}

func unknownSetting(name string) *Error {
	return failure("42704", "unrecognized configuration parameter %q", name)
}

// own asks the DB for a setting of its own.
func (s *settings) own(c *conn, name string) (string, error) {
	rows, err := c.db.Query(c.ctx, "SHOW "+name)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		if v := rows.Raw(); len(v) > 1 && strings.EqualFold(v[0].Text(), name) {
			return v[1].Text(), nil
		} else if len(v) == 1 {
			return v[0].Text(), nil
		}
	}
	return "", rows.Err()
}

// start is a setting of the startup message.
func (s *settings) start(c *conn, name, value string) error {
	name = settingName(name)
	if err := s.set(c, name, value); err != nil {
		err.Severity = "FATAL"
		return err
	}
	s.initial[name] = s.values[name]
	return nil
}

// set is SET name = value.
func (s *settings) set(c *conn, name, value string) *Error {
	name = settingName(name)
	if limit, ok := c.role.Settings[name]; ok && !ceilings[name](limit, value) {
		return failure("42501", "permission denied to set %s to %q: the role %s may have at most %q", name, value, c.user, limit)
	}
	if known, ok := settingList[name]; ok {
		if known.check == nil {
			return failure("55P02", "parameter %q cannot be changed", name)
		}
		kept, err := known.check(value)
		if err != nil {
			err.Message = "invalid value for parameter \"" + name + "\": " + err.Message
			return err
		}
		if off, _ := parseSwitch(kept); (name == "transaction_read_only" || name == "default_transaction_read_only") && !off && !c.mayWrite() {
			return readOnly()
		}
		value = kept
	} else if !slices.Contains(hqlSettings, name) && !strings.Contains(name, ".") {
		return unknownSetting(name)
	}
	before := s.get(name)
	if err := s.apply(c, name, value); err != nil {
		return err
	}
	s.values[name] = value
	return s.tell(c, name, before)
}

// reset is RESET name.
func (s *settings) reset(c *conn, name string) *Error {
	name = settingName(name)
	if _, ok := settingList[name]; !ok && !slices.Contains(hqlSettings, name) && !strings.Contains(name, ".") {
		return unknownSetting(name)
	}
	before := s.get(name)
	value, ok := s.initial[name]
	if !ok {
		if value = settingList[name].value; slices.Contains(hqlSettings, name) {
			value = "DEFAULT"
		}
	}
	if err := s.apply(c, name, value); err != nil {
		return err
	}
	delete(s.values, name)
	return s.tell(c, name, before)
}

// restore sets all settings to their former values.
func (s *settings) restore(c *conn, values map[string]string) *Error {
	for name := range s.values {
		if _, ok := values[name]; !ok {
			if err := s.reset(c, name); err != nil {
				return err
			}
		}
	}
	for name, value := range values {
		if s.values[name] != value {
			if err := s.set(c, name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply puts a new setting into effect.
func (s *settings) apply(c *conn, name, value string) *Error {
	switch {
	case name == "statement_timeout", strings.HasPrefix(name, "idle_"):
		d, err := parseTimeout(value)
		if err != nil {
			return failure("22023", "%v", err)
		}
		s.timeouts[name] = d
	case slices.Contains(hqlSettings, name):
		text := "'" + strings.ReplaceAll(value, "'", "''") + "'"
		if value == "DEFAULT" {
			text = value
		}
		if _, err := c.db.Exec(context.WithoutCancel(c.ctx), "SET "+name+" = "+text); err != nil {
			e := asError(err, "", 0)
			e.Code, e.Position = "22023", 0
			return e
		}
		shown, err := s.own(c, name)
		if err != nil {
			return asError(err, "", 0)
		}
		switch name {
		case "timezone":
			if loc, err := types.Zone(shown); err == nil {
				s.loc = loc
			}
		case "memory_limit":
			s.memory, _ = exec.ParseScanLimit(shown)
		}
	}
	return nil
}

// tell reports a changed setting to the client, if it is one of reported.
func (s *settings) tell(c *conn, name, before string) *Error {
	now := s.get(name)
	if now == before || !s.greeted {
		return nil
	}
	for _, r := range reported {
		if strings.EqualFold(r, name) {
			if err := c.send(&pgproto3.ParameterStatus{Name: r, Value: clean(now)}); err != nil {
				return asError(err, "", 0)
			}
		}
	}
	return nil
}

// timeout returns the greatest duration of a statement; 0: unlimited.
func (s *settings) timeout() time.Duration { return s.timeouts["statement_timeout"] }

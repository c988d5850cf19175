package pgwire

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/parser"
)

// settings is what the protocol has to remember about the session's settings; the DB's session has their values.
type settings struct {
	greeted bool // all settings were reported to the client
}

// reported are the settings that a ParameterStatus message reports when they change, in PostgreSQL's spelling.
var reported = []string{"server_version", "server_encoding", "client_encoding", "application_name", "is_superuser", "session_authorization", "DateStyle",
	"IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings", "default_transaction_read_only", "in_hot_standby"}

// beginSettings sets the initial settings of a session.
func (c *conn) beginSettings() error {
	initial := maps.Clone(c.role.Settings)
	if initial == nil {
		initial = map[string]string{}
	}
	initial["session_authorization"] = c.user
	initial["max_connections"] = strconv.Itoa(c.srv.opts.MaxConnections)
	if c.mayWrite() {
		initial["default_transaction_read_only"] = "off"
	} else {
		initial["transaction_read_only"] = "on"
	}
	if d := c.srv.opts.StatementTimeout; d > 0 && initial["statement_timeout"] == "" {
		initial["statement_timeout"] = strconv.FormatInt(d.Milliseconds(), 10)
	}
	if initial["memory_limit"] == "" { // an even share of the server's memory, less what reads hold
		share := c.srv.opts.Memory/int64(c.srv.opts.MaxStatements) - c.srv.readMemory()
		initial["memory_limit"] = strconv.FormatInt(max(share, 1<<20), 10)
	}
	for name, value := range initial {
		if err := c.db.Settings().Begin(name, value); err != nil {
			return asError(err, "", 0)
		}
	}
	return nil
}

// readMemory is the greatest number of bytes that a statement's reads in flight hold: the servers' answers.
func (s *Server) readMemory() int64 { return int64(s.opts.Parallelism) * 2 << 20 }

// setting returns the value of a setting; "" if there is no such setting.
func (c *conn) setting(name string) string {
	v, _ := c.db.Settings().Setting(name)
	return v
}

// switched reports whether a setting is on.
func (c *conn) switched(name string) bool { return c.setting(name) == "on" }

// startSetting is a setting of the startup message.
func (c *conn) startSetting(name, value string) error {
	err := c.change(name, value)
	if err == nil {
		err = asSetting(c.db.Settings().Begin(name, value))
	}
	if err != nil {
		err.Severity = "FATAL"
		return err
	}
	return nil
}

// change is SET name = value.
func (c *conn) change(name, value string) *Error {
	name = strings.ToLower(name)
	if limit, ok := c.role.Settings[name]; ok && !ceilings[name](limit, value) {
		return failure("42501", "permission denied to set %s to %q: the role %s may have at most %q", name, value, c.user, limit)
	}
	if name == "transaction_read_only" || name == "default_transaction_read_only" {
		if on, ok := exec.ParseSwitch(value); ok && !on && !c.mayWrite() {
			return readOnly()
		}
	}
	return c.telling(func(s *exec.Session) error {
		if err := s.Set(name, value); err != nil || name != "default_transaction_isolation" || c.tx.state != outside {
			return err
		}
		return s.Set("transaction_isolation", value) // of the next block
	})
}

// reset is RESET name, or RESET ALL.
func (c *conn) reset(name string) *Error {
	return c.telling(func(s *exec.Session) error { return s.Reset(name) })
}

// telling calls f, which changes settings, and tells the client the new values of the settings in reported.
func (c *conn) telling(f func(*exec.Session) error) *Error {
	before := make([]string, len(reported))
	for i, name := range reported {
		before[i] = c.setting(name)
	}
	if err := f(c.db.Settings()); err != nil {
		return asSetting(err)
	}
	for i, name := range reported {
		if now := c.setting(name); now != before[i] && c.settings.greeted {
			if err := c.send(&pgproto3.ParameterStatus{Name: name, Value: clean(now)}); err != nil {
				return asError(err, "", 0)
			}
		}
	}
	return nil
}

// asSetting is the error about a setting.
func asSetting(err error) *Error {
	if err == nil {
		return nil
	}
	e := asError(err, "", 0)
	if own := (*parser.Error)(nil); !errors.As(err, &own) && e.Code == "XX000" {
		e.Code = "22023"
	}
	return e
}

// setCommand is SET, RESET or DISCARD.
type setCommand struct {
	noRows
	set *parser.Set
}

func (s *setCommand) run(c *conn, ctx context.Context, _ []any) (*answer, error) {
	tag, _ := parser.CommandTag(s.set)
	name := s.set.Name
	literal, ok := s.set.Value.(*parser.Literal)
	switch {
	case s.set.Verb == "DISCARD":
		return done(tag), c.discard(ctx, name)
	case s.set.Value == nil:
		return done(tag), noError(c.reset(name))
	case !ok:
		return nil, parser.Errorf(s.set.Value.Position(), "SET takes a text, a number or a word")
	case s.set.Local && c.tx.state == outside:
		return done(tag), c.notice("WARNING", "25P01", "SET LOCAL can only be used in transaction blocks", "")
	case s.set.Local:
		return done(tag), noError(c.setLocal(name, literal.Text))
	}
	delete(c.tx.local, strings.ToLower(name))
	if strings.EqualFold(literal.Text, "DEFAULT") {
		return done(tag), noError(c.reset(name))
	}
	return done(tag), noError(c.change(name, literal.Text))
}

// discard is DISCARD.
func (c *conn) discard(ctx context.Context, what string) error {
	all := strings.EqualFold(what, "ALL")
	if all && c.tx.state != outside {
		return failure("25001", "DISCARD ALL cannot run inside a transaction block")
	}
	if all {
		c.closePortals(c.cursors)
		c.dropStatements()
		c.srv.locks.end(c, false, true)
		if err := c.reset("ALL"); err != nil {
			return err
		}
	}
	_, err := c.db.Exec(ctx, "DISCARD "+what)
	return err
}

// modesCommand is SET TRANSACTION or SET SESSION CHARACTERISTICS.
type modesCommand struct {
	noRows
	modes  map[string]string
	always bool // SET SESSION CHARACTERISTICS: for all later transactions
}

// parseSet leaves SET of a setting to the parser.
func parseSet(w *words) (_ command, err error) {
	w.at++
	s := &modesCommand{}
	switch {
	case w.take("TRANSACTION"):
	case w.take("SESSION", "CHARACTERISTICS", "AS", "TRANSACTION"):
		s.always = true
	case w.take("SESSION", "AUTHORIZATION"), w.take("ROLE"):
		name, err := w.value()
		return roleCommand{name: name}, err
	default:
		return nil, nil
	}
	if s.modes, err = w.modes(); err != nil {
		return nil, err
	}
	return s, w.end()
}

func (s *modesCommand) run(c *conn, _ context.Context, _ []any) (*answer, error) {
	for name, value := range s.modes {
		var err *Error
		if s.always {
			err = c.change("default_"+name, value)
		} else if c.tx.state == outside {
			return done("SET"), c.notice("WARNING", "25P01", "SET TRANSACTION can only be used in transaction blocks", "")
		} else {
			err = c.setLocal(name, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return done("SET"), nil
}

// roleCommand is SET ROLE or SET SESSION AUTHORIZATION, or RESET of either.
type roleCommand struct {
	noRows
	reset bool
	name  string
}

// parseReset parses RESET ROLE and RESET SESSION AUTHORIZATION. It returns nil for a setting, which the DB resets.
func parseReset(w *words) (command, error) {
	w.at++
	if w.take("ROLE") || w.take("SESSION", "AUTHORIZATION") {
		return roleCommand{reset: true}, w.end()
	}
	return nil, nil
}

func (r roleCommand) run(c *conn, _ context.Context, _ []any) (*answer, error) {
	switch {
	case r.reset:
		return done("RESET"), nil
	case strings.EqualFold(r.name, "none"), strings.EqualFold(r.name, "default"), r.name == c.user:
		return done("SET"), nil
	}
	return nil, failure("42501", "permission denied to set role %q", r.name)
}

// deallocateCommand is DEALLOCATE of a statement that was prepared by a message or by SQL's PREPARE.
type deallocateCommand struct {
	noRows
	of *hql.Stmt
}

func (d *deallocateCommand) run(c *conn, ctx context.Context, _ []any) (*answer, error) {
	s := d.of.Statement().(*parser.Deallocate)
	tag, _ := parser.CommandTag(s)
	switch {
	case s.Name == "":
		c.dropStatements()
	case c.statements[s.Name] != nil:
		c.dropStatement(s.Name)
		return done(tag), nil
	}
	_, err := d.of.Exec(ctx)
	if err == nil {
		c.dropStatement(ofSession(s.Name))
	}
	return done(tag), err
}

// ofSession returns the key in conn.statements for a statement that SQL's PREPARE made. It begins with a zero byte, which a
// name in a message cannot contain.
func ofSession(name string) string { return "\x00" + strings.ToLower(name) }

// keep keeps a prepared statement under its name.
func (c *conn) keep(name string, p *prepared) error {
	if len(c.statements) >= maxOpen {
		return failure("54000", "a session may have at most %d prepared statements", maxOpen)
	}
	c.statements[name] = p
	return nil
}

// dropStatement forgets a prepared statement.
func (c *conn) dropStatement(name string) {
	if p := c.statements[name]; p != nil {
		c.srv.held.give(p.held)
		delete(c.statements, name)
	}
}

// dropStatements forgets all prepared statements that have a name.
func (c *conn) dropStatements() {
	for name := range c.statements {
		if name != "" {
			c.dropStatement(name)
		}
	}
	c.db.Settings().Deallocate("")
}

// noError returns err as an error; for a nil err it returns a nil error.
func noError(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}

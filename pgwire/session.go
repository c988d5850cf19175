package pgwire

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hql-db/hql"
)

// setCommand is SET [SESSION | LOCAL] name = value.
type setCommand struct {
	noRows
	local  bool
	reset  bool // TO DEFAULT
	name   string
	value  string
	modes  map[string]string // SET TRANSACTION, SET SESSION CHARACTERISTICS
	always bool              // modes are those of all transactions to come
}

func parseSet(w *words) (command, error) {
	w.at++
	s := &setCommand{}
	var err error
	switch {
	case w.take("TRANSACTION"):
		if s.modes, err = w.modes(); err != nil {
			return nil, err
		}
		return s, w.end()
	case w.take("SESSION", "CHARACTERISTICS", "AS", "TRANSACTION"):
		s.always = true
		if s.modes, err = w.modes(); err != nil {
			return nil, err
		}
		return s, w.end()
	case w.take("SESSION", "AUTHORIZATION"):
		s.name = "session_authorization"
	case w.take("LOCAL"):
		s.local = true
	default:
		w.take("SESSION")
	}
	switch {
	case s.name != "":
	case w.take("TIME", "ZONE"):
		s.name = "timezone"
		if w.take("LOCAL") {
			s.reset = true
			return s, w.end()
		}
		w.take("INTERVAL")
	case w.take("NAMES"):
		s.name = "client_encoding"
	case w.take("ROLE"):
		s.name = "role"
	default:
		if s.name, err = w.dotted(); err != nil {
			return nil, err
		}
		if !w.take("=") && !w.take("TO") {
			return nil, w.unexpected()
		}
	}
	if w.take("DEFAULT") {
		s.reset = true
		return s, w.end()
	}
	if s.value, err = w.values(); err != nil {
		return nil, err
	}
	return s, w.end()
}

// dotted reads the name of a setting: words between dots.
func (w *words) dotted() (string, error) {
	name, err := w.name()
	for err == nil && w.take(".") {
		var next string
		next, err = w.name()
		name += "." + next
	}
	return name, err
}

func (s *setCommand) run(c *conn, _ context.Context, _ []any) (*answer, error) {
	if s.modes != nil {
		return done("SET"), s.setModes(c)
	}
	if s.name == "role" || s.name == "session_authorization" {
		if s.reset || strings.EqualFold(s.value, "none") || s.value == c.user {
			return done("SET"), nil
		}
		return nil, failure("42501", "permission denied to set role %q", s.value)
	}
	name := settingName(s.name)
	switch {
	case s.local && c.tx.state == outside:
		return done("SET"), c.notice("WARNING", "25P01", "SET LOCAL can only be used in transaction blocks", "")
	case s.reset:
		return done("SET"), noError(c.settings.reset(c, name))
	case s.local:
		return done("SET"), noError(c.setLocal(name, s.value))
	}
	delete(c.tx.local, name)
	return done("SET"), noError(c.settings.set(c, name, s.value))
}

func (s *setCommand) setModes(c *conn) error {
	for name, value := range s.modes {
		var err *Error
		if s.always {
			err = c.settings.set(c, "default_"+name, value)
		} else if c.tx.state == outside {
			return c.notice("WARNING", "25P01", "SET TRANSACTION can only be used in transaction blocks", "")
		} else {
			err = c.setLocal(name, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noError is err as an error, nil for none.
func noError(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}

// showCommand is SHOW name of a setting, or SHOW ALL.
type showCommand struct {
	name string
}

// parseShow leaves SHOW without a setting to the DB: SHOW TABLES.
func parseShow(w *words) (command, error) {
	w.at++
	for _, of := range []string{"TABLES", "CREATE", "COLUMNS", "FUNCTIONS", "SPLITS", "STATISTICS"} {
		if strings.EqualFold(w.peek(), of) {
			return nil, nil
		}
	}
	s := &showCommand{}
	switch {
	case w.take("TIME", "ZONE"):
		s.name = "TimeZone"
	case w.take("TRANSACTION", "ISOLATION", "LEVEL"):
		s.name = "transaction_isolation"
	case w.take("SESSION", "AUTHORIZATION"):
		s.name = "session_authorization"
	case w.take("ALL"):
	default:
		var err error
		if s.name, err = w.dotted(); err != nil {
			return nil, err
		}
	}
	return s, w.end()
}

func (s *showCommand) columns(*conn) ([]hql.ColumnType, error) {
	if s.name == "" {
		return textColumns("name", "setting", "description"), nil
	}
	return textColumns(spelled(s.name)), nil
}

// spelled is a setting's name as PostgreSQL spells it.
func spelled(name string) string {
	name = settingName(name)
	for _, r := range reported {
		if strings.EqualFold(r, name) {
			return r
		}
	}
	return name
}

func (s *showCommand) run(c *conn, _ context.Context, _ []any) (*answer, error) {
	if s.name != "" {
		v, err := c.settings.show(c, s.name)
		if err != nil {
			return nil, err
		}
		return textAnswer("SHOW", []string{spelled(s.name)}, []string{v}), nil
	}
	list, err := c.listSettings()
	if err != nil {
		return nil, err
	}
	rows := make([][]string, len(list))
	for i := range list {
		rows[i] = list[i][:]
	}
	return textAnswer("SHOW", []string{"name", "setting", "description"}, rows...), nil
}

// listSettings lists all settings: name, value and description.
func (c *conn) listSettings() (out [][3]string, err error) {
	docs := map[string]string{}
	list, err := c.db.Query(c.ctx, "SHOW ALL")
	if err != nil {
		return nil, err
	}
	defer list.Close()
	for list.Next() {
		docs[list.Raw()[0].Text()] = list.Raw()[2].Text()
	}
	names := slices.Concat(slices.Collect(maps.Keys(settingList)), hqlSettings)
	for name := range c.settings.values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		v, err := c.settings.show(c, name)
		if err != nil {
			return nil, err
		}
		out = append(out, [3]string{spelled(name), v, or(docs[name], settingList[name].doc)})
	}
	return out, nil
}

// resetCommand is RESET name, RESET ALL.
type resetCommand struct {
	noRows
	name string
}

func parseReset(w *words) (command, error) {
	w.at++
	r := &resetCommand{}
	switch {
	case w.take("ALL"):
	case w.take("TIME", "ZONE"):
		r.name = "timezone"
	case w.take("SESSION", "AUTHORIZATION"):
		r.name = "session_authorization"
	default:
		var err error
		if r.name, err = w.dotted(); err != nil {
			return nil, err
		}
	}
	return r, w.end()
}

func (r *resetCommand) run(c *conn, _ context.Context, _ []any) (*answer, error) {
	switch r.name {
	case "":
		return done("RESET"), noError(c.settings.restore(c, nil))
	case "role", "session_authorization":
		return done("RESET"), nil
	}
	return done("RESET"), noError(c.settings.reset(c, r.name))
}

// discardCommand is DISCARD ALL, PLANS, SEQUENCES or TEMP.
type discardCommand struct {
	noRows
	what string
}

func parseDiscard(w *words) (command, error) {
	w.at++
	what := strings.ToUpper(w.peek())
	if !slices.Contains([]string{"ALL", "PLANS", "SEQUENCES", "TEMP", "TEMPORARY"}, what) {
		return nil, w.unexpected()
	}
	w.at++
	return &discardCommand{what: what}, w.end()
}

func (d *discardCommand) run(c *conn, _ context.Context, _ []any) (*answer, error) {
	if d.what != "ALL" {
		return done("DISCARD " + d.what), nil
	}
	if c.tx.state != outside {
		return nil, failure("25001", "DISCARD ALL cannot run inside a transaction block")
	}
	c.closePortals(c.cursors)
	for name := range c.statements {
		if name != "" {
			c.dropStatement(name)
		}
	}
	return done("DISCARD ALL"), noError(c.settings.restore(c, nil))
}

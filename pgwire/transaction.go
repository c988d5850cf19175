package pgwire

import (
	"context"
	"slices"
	"strings"

	"github.com/hql-db/hql/exec"
)

// txState is the state of a session between BEGIN and COMMIT.
type txState uint8

const (
	outside txState = iota
	inside
	inFailed // a statement failed; nothing runs up to the end of the block
)

// transaction is a block between BEGIN and COMMIT. Its statements write only with hql.write_in_block: other sessions see each
// write at once, and ROLLBACK takes none back.
type transaction struct {
	state      txState
	wrote      bool
	savepoints []string
	settings   exec.Saved            // as they were at BEGIN
	local      map[string]exec.Saved // the settings before SET LOCAL changed the one of this name
}

// status is the status in ReadyForQuery.
func (t *transaction) status() byte { return "ITE"[t.state] }

// failed notes that a statement failed.
func (t *transaction) failed() {
	if t.state == inside {
		t.state = inFailed
	}
}

// endImplicit ends what lives only for one message outside of a transaction block: portals and locks.
func (c *conn) endImplicit() {
	if c.tx.state == outside {
		c.closePortals(c.portals)
		c.srv.locks.end(c, true, false)
	}
}

// transactionCommand is BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE or ROLLBACK TO.
type transactionCommand struct {
	noRows
	verb      string // the command tag
	savepoint string
	modes     map[string]string // settings
	chain     bool
}

// ends reports whether the command ends a block, so that it may run after a statement has failed.
func (t *transactionCommand) ends() bool { return t.verb == "COMMIT" || t.verb == "ROLLBACK" }

func parseBegin(w *words) (command, error) {
	t := &transactionCommand{verb: "BEGIN"}
	if w.take("START") {
		t.verb = "START TRANSACTION"
		if !w.take("TRANSACTION") {
			return nil, w.unexpected()
		}
	} else {
		w.take("BEGIN")
		_ = w.take("WORK") || w.take("TRANSACTION")
	}
	var err error
	if t.modes, err = w.modes(); err != nil {
		return nil, err
	}
	return t, w.end()
}

// modes reads ISOLATION LEVEL ..., READ ONLY, READ WRITE, [NOT] DEFERRABLE.
func (w *words) modes() (map[string]string, error) {
	out := map[string]string{}
	for w.at < len(w.toks) {
		w.take(",")
		switch {
		case w.take("ISOLATION", "LEVEL", "READ", "COMMITTED"):
			out["transaction_isolation"] = "read committed"
		case w.take("ISOLATION", "LEVEL", "READ", "UNCOMMITTED"):
			out["transaction_isolation"] = "read uncommitted"
		case w.take("ISOLATION", "LEVEL", "REPEATABLE", "READ"):
			out["transaction_isolation"] = "repeatable read"
		case w.take("ISOLATION", "LEVEL", "SERIALIZABLE"):
			out["transaction_isolation"] = "serializable"
		case w.take("READ", "ONLY"):
			out["transaction_read_only"] = "on"
		case w.take("READ", "WRITE"):
			out["transaction_read_only"] = "off"
		case w.take("DEFERRABLE"), w.take("NOT", "DEFERRABLE"):
		default:
			return nil, w.unexpected()
		}
	}
	return out, nil
}

func parseEnd(w *words) (command, error) {
	t := &transactionCommand{verb: "COMMIT"}
	if w.take("ROLLBACK") || w.take("ABORT") {
		t.verb = "ROLLBACK"
	} else {
		w.at++
	}
	_ = w.take("WORK") || w.take("TRANSACTION")
	if w.take("PREPARED") {
		return nil, failure("0A000", "two-phase commit is not supported")
	}
	if t.verb == "ROLLBACK" && w.take("TO") {
		w.take("SAVEPOINT")
		var err error
		if t.savepoint, err = w.name(); err != nil {
			return nil, err
		}
		return t, w.end()
	}
	if w.take("AND", "NO", "CHAIN") {
	} else if w.take("AND", "CHAIN") {
		t.chain = true
	}
	return t, w.end()
}

func parseSavepoint(w *words) (command, error) {
	t := &transactionCommand{verb: strings.ToUpper(w.peek())}
	if w.at++; t.verb == "RELEASE" {
		w.take("SAVEPOINT")
	}
	var err error
	if t.savepoint, err = w.name(); err != nil {
		return nil, err
	}
	return t, w.end()
}

func (t *transactionCommand) run(c *conn, _ context.Context, _ []any) (*answer, error) {
	switch {
	case t.savepoint != "":
		return t.savepoints(c)
	case t.verb == "COMMIT" || t.verb == "ROLLBACK":
		return t.end(c)
	}
	if c.tx.state != outside {
		return done(t.verb), c.notice("WARNING", "25001", "there is already a transaction in progress", "")
	}
	c.beginBlock()
	for name, value := range t.modes {
		if err := c.setLocal(name, value); err != nil {
			c.tx = transaction{}
			return nil, err
		}
	}
	return done(t.verb), nil
}

func (c *conn) beginBlock() {
	c.tx = transaction{state: inside, settings: c.db.Settings().Save(), local: map[string]exec.Saved{}}
	read := c.setting("default_transaction_read_only")
	_ = c.setLocal("transaction_read_only", read)
	_ = c.setLocal("transaction_isolation", c.setting("default_transaction_isolation"))
}

// end runs COMMIT or ROLLBACK.
func (t *transactionCommand) end(c *conn) (*answer, error) {
	if c.tx.state == outside {
		return done(t.verb), c.notice("WARNING", "25P01", "there is no transaction in progress", "")
	}
	back := t.verb == "ROLLBACK" || c.tx.state == inFailed
	was := c.tx
	c.tx = transaction{}
	for name, cursor := range c.cursors {
		if !cursor.hold || back {
			cursor.close(c)
			delete(c.cursors, name)
		}
	}
	c.closePortals(c.portals)
	c.srv.locks.end(c, true, false)
	if back {
		if err := c.telling(func(s *exec.Session) error { return s.Restore("ALL", was.settings) }); err != nil {
			return nil, err
		}
	} else if err := c.endLocal(was.local); err != nil {
		return nil, err
	}
	if t.chain {
		c.beginBlock()
	}
	if !back {
		return done("COMMIT"), nil
	}
	if was.wrote {
		return done("ROLLBACK"), c.notice("WARNING", "01000", "what was written stays: HBase has no transactions over rows", "")
	}
	return done("ROLLBACK"), nil
}

// endLocal restores the settings that SET LOCAL changed.
func (c *conn) endLocal(before map[string]exec.Saved) error {
	return noError(c.telling(func(s *exec.Session) error {
		for name, saved := range before {
			if err := s.Restore(name, saved); err != nil {
				return err
			}
		}
		return nil
	}))
}

// setLocal is SET LOCAL.
func (c *conn) setLocal(name, value string) *Error {
	name = strings.ToLower(name)
	if _, ok := c.tx.local[name]; !ok && c.tx.local != nil {
		c.tx.local[name] = c.db.Settings().Save()
	}
	return c.change(name, value)
}

// savepoints is SAVEPOINT, RELEASE and ROLLBACK TO.
func (t *transactionCommand) savepoints(c *conn) (*answer, error) {
	if c.tx.state == outside {
		return nil, failure("25P01", "%s can only be used in transaction blocks", strings.Replace(t.verb, "RELEASE", "RELEASE SAVEPOINT", 1))
	}
	at := -1
	for i, name := range slices.Backward(c.tx.savepoints) {
		if name == t.savepoint {
			at = i
			break
		}
	}
	switch {
	case t.verb == "SAVEPOINT":
		c.tx.savepoints = append(c.tx.savepoints, t.savepoint)
		return done(t.verb), nil
	case at < 0:
		return nil, failure("3B001", "savepoint %q does not exist", t.savepoint)
	case t.verb == "RELEASE":
		c.tx.savepoints = c.tx.savepoints[:at]
		return done(t.verb), nil
	}
	c.tx.savepoints = c.tx.savepoints[:at+1]
	c.tx.state = inside
	return done("ROLLBACK"), nil
}

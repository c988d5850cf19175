package pgwire

import (
	"maps"
	"strings"
	"sync"
	"time"
)

// locks are the advisory locks that sessions of a server hold. Another server of the same tables does not know them: a session
// has to allow them by hql.local_locks.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	owner   *conn
	times   int  // that the session took it
	inBlock bool // the end of the transaction gives it back
}

// advisoryLock is a function of advisory locks, in upper case, of a key. stop returns an error once the statement must end.
func (c *conn) advisoryLock(function, key string, stop func() error) (bool, error) {
	l := &c.srv.locks
	if function == "PG_ADVISORY_UNLOCK_ALL" {
		l.end(c, false, true)
		return true, nil
	}
	if !c.switched("hql.local_locks") {
		return false, failure("0A000", "HBase has no locks, and this server knows those of its own clients alone").
			hint("SET hql.local_locks = on allows them, if no other server writes these tables; INSERT ... ON CONFLICT DO NOTHING of a row tells by its count who came first")
	}
	if function == "PG_ADVISORY_UNLOCK" {
		return l.give(c, key), nil
	}
	inBlock := strings.Contains(function, "XACT")
	for !l.take(c, key, inBlock) {
		if strings.Contains(function, "TRY") {
			return false, nil
		}
		if err := stop(); err != nil {
			return false, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true, nil
}

func (l *locks) take(c *conn, key string, inBlock bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	has := l.held[key]
	if has == nil {
		has = &lock{owner: c}
		if l.held == nil {
			l.held = map[string]*lock{}
		}
		l.held[key] = has
	}
	if has.owner != c {
		return false
	}
	if inBlock {
		has.inBlock = true
	} else {
		has.times++
	}
	return true
}

// give gives a lock of the session back, once.
func (l *locks) give(c *conn, key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	has := l.held[key]
	if has == nil || has.owner != c || has.times == 0 {
		return false
	}
	if has.times--; has.times == 0 && !has.inBlock {
		delete(l.held, key)
	}
	return true
}

// end gives back the locks of c that end with its transaction, with its session, or both.
func (l *locks) end(c *conn, transaction, session bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.held, func(_ string, has *lock) bool {
		if has.owner == c && transaction {
			has.inBlock = false
		}
		if has.owner == c && session {
			has.times = 0
		}
		return has.owner == c && has.times == 0 && !has.inBlock
	})
}

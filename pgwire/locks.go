package pgwire

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/hql-db/hql/exec"
)

// locks are the advisory locks that sessions of a server hold. Another server of the same tables does not know them: a session
// has to allow them by hql.local_locks.
type locks struct {
	mu    sync.Mutex
	held  map[string]*lock
	waits map[*conn]string // the lock for which a session waits
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
	inBlock, began := strings.Contains(function, "XACT"), time.Now()
	patience, _ := exec.ParseTimeout(c.setting("lock_timeout"))
	defer l.wait(c, "")
	for !l.take(c, key, inBlock) {
		if strings.Contains(function, "TRY") {
			return false, nil
		}
		if err := stop(); err != nil {
			return false, err
		}
		if l.wait(c, key) {
			return false, failure("40P01", "deadlock detected").hint("the sessions wait for locks of each other: take the locks in the same order in all of them")
		}
		if patience > 0 && time.Since(began) > patience {
			return false, failure("55P03", "canceling statement due to lock timeout")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true, nil
}

// wait notes that c waits for the lock of key; "": for none. It reports whether sessions that hold locks wait for each other then.
func (l *locks) wait(c *conn, key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waits, c)
	for at := key; at != "" && l.held[at] != nil; at = l.waits[l.held[at].owner] {
		if l.held[at].owner == c {
			return true
		}
	}
	if key != "" {
		if l.waits == nil {
			l.waits = map[*conn]string{}
		}
		l.waits[c] = key
	}
	return false
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

package pgwire

import (
	"sync"
	"time"
)

// activity is what a connection runs.
type activity struct {
	sql   string // "" where statements are not to be told
	since time.Time
	runs  bool
}

// Session is a connection, as pg_stat_activity has it.
type Session struct {
	PID         uint32
	User        string
	Database    string
	Application string
	Client      string
	Began       time.Time
	State       string // active, idle, idle in transaction, idle in transaction (aborted)
	Since       time.Time
	Query       string // that runs, or ran last; "" unless Options.LogStatements
}

// Query is a statement that ended.
type Query struct {
	Time     time.Time
	User     string
	Client   string
	SQL      string // "" unless Options.LogStatements
	Rows     int64  // sent
	Duration time.Duration
	Code     string // SQLSTATE of its failure; "" for none
}

// keptQueries is how many statements are kept.
const keptQueries = 1000

// queryLog keeps the last statements.
type queryLog struct {
	mu   sync.Mutex
	last []Query
	next int
}

func (l *queryLog) add(q Query) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) < keptQueries {
		l.last = append(l.last, q)
		return
	}
	l.last[l.next] = q
	l.next = (l.next + 1) % keptQueries
}

// Queries are the last thousand statements that ended, the oldest first.
func (s *Server) Queries() []Query {
	s.queries.mu.Lock()
	defer s.queries.mu.Unlock()
	return append(append([]Query(nil), s.queries.last[s.queries.next:]...), s.queries.last[:s.queries.next]...)
}

// maxKeptText is how much of a statement's text is kept.
const maxKeptText = 1024

// note notes the beginning of a statement; its result is to be called at the end.
func (c *conn) note(p *prepared) (end func(rows int64, err error)) {
	sql := ""
	if c.srv.opts.LogStatements {
		sql = p.sql[:min(len(p.sql), maxKeptText)]
	}
	begin := time.Now()
	c.mu.Lock()
	c.running = activity{sql, begin, true}
	c.mu.Unlock()
	c.srv.counts.statements.Add(1)
	return func(rows int64, err error) {
		now := time.Now()
		c.mu.Lock()
		c.running.runs, c.running.since = false, now
		c.mu.Unlock()
		q := Query{Time: begin, User: c.user, Client: c.client, SQL: sql, Rows: rows, Duration: now.Sub(begin)}
		if err != nil {
			q.Code = asError(err, "", 0).Code
			if err == errCanceled || err == errTimeout {
				c.srv.counts.canceled.Add(1)
			}
		}
		c.srv.queries.add(q)
		if c.srv.opts.LogStatements {
			c.srv.log.Info("pgwire: statement", "pid", c.pid, "user", c.user, "sql", sql, "rows", rows, "time", q.Duration, "code", q.Code)
		}
	}
}

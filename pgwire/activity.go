package pgwire

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// activity is the running statement of a connection.
type activity struct {
	sql   string // "" if the server does not show statements
	since time.Time
	runs  bool
}

// Session is a connection as in pg_stat_activity.
type Session struct {
	PID         uint32
	User        string
	Database    string
	Application string
	Client      string
	Began       time.Time
	State       string // active, idle, idle in transaction, idle in transaction (aborted)
	Since       time.Time
	Query       string // the statement that runs, or ran last; "" unless Options.LogStatements
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

// keptQueries is the number of statements that the log keeps.
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

// maxKeptText is the greatest number of bytes that the log keeps of a statement's text.
const maxKeptText = 1024

// note records that the statement p begins. The caller calls end with the number of rows when the statement has ended.
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

// Sessions are the connections, the oldest first.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	conns := slices.Collect(maps.Values(s.conns))
	s.mu.Unlock()
	out := make([]Session, 0, len(conns))
	for _, c := range conns {
		c.mu.Lock()
		if c.shown.PID != 0 {
			one := c.shown
			one.Query, one.Since = c.running.sql, c.running.since
			if c.running.runs {
				one.State = "active"
			}
			out = append(out, one)
		}
		c.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b Session) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.PID, b.PID)) })
	return out
}

// show stores what Sessions returns about the connection while it is idle.
func (c *conn) show() {
	state := map[txState]string{outside: "idle", inside: "idle in transaction", inFailed: "idle in transaction (aborted)"}[c.tx.state]
	name := c.setting("application_name")
	c.mu.Lock()
	c.shown = Session{PID: c.pid, User: c.user, Database: c.database, Application: name, Client: c.client, Began: c.began, State: state}
	c.mu.Unlock()
}

// WriteMetrics writes the server's counts in Prometheus' text format.
func (s *Server) WriteMetrics(w io.Writer) error {
	s.mu.Lock()
	open := len(s.conns)
	s.mu.Unlock()
	for _, m := range []struct {
		name, kind, help string
		value            int64
	}{
		{"hql_pg_connections", "gauge", "Connections that are open.", int64(open)},
		{"hql_pg_connections_total", "counter", "Connections that were made.", s.counts.connections.Load()},
		{"hql_pg_connections_refused_total", "counter", "Connections beyond --max-connections.", s.counts.refused.Load()},
		{"hql_pg_logins_failed_total", "counter", "Wrong passwords.", s.counts.failedLogins.Load()},
		{"hql_pg_statements_total", "counter", "Statements that began.", s.counts.statements.Load()},
		{"hql_pg_statements_failed_total", "counter", "Statements that failed.", s.counts.failed.Load()},
		{"hql_pg_statements_canceled_total", "counter", "Statements that their client or a timeout ended.", s.counts.canceled.Load()},
		{"hql_pg_statements_running", "gauge", "Statements that run.", s.admission.running.Load()},
		{"hql_pg_statements_waiting", "gauge", "Statements that wait for others.", s.admission.waiting.Load()},
		{"hql_pg_memory_bytes", "gauge", "Memory that running statements may use.", s.admission.used.Load()},
		{"hql_pg_held_bytes", "gauge", "Memory of messages, statements and parameters.", s.held.used.Load()},
		{"hql_pg_rows_sent_total", "counter", "Rows that were sent.", s.counts.rowsSent.Load()},
		{"hql_pg_bytes_sent_total", "counter", "Bytes that were sent.", s.counts.bytesSent.Load()},
	} {
		if _, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", m.name, m.help, m.name, m.kind, m.name, m.value); err != nil {
			return err
		}
	}
	return nil
}

package pgwire

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/pgcatalog"
)

// catalog describes the connection to PostgreSQL's catalog.
func (c *conn) catalog() *pgcatalog.Client {
	return &pgcatalog.Client{User: c.user, Database: c.database, Address: c.client, PID: c.pid, Began: c.srv.began, Roles: c.srv.opts.Users.names(), MayWrite: c.mayWrite,
		Setting:  func(name string) (string, error) { return c.db.Settings().Setting(name) },
		Set:      c.setConfig,
		Settings: func() [][3]string { return c.db.Settings().Settings() },
		Rows:     c.srv.catalogRows,
		Cancel:   c.srv.Cancel,
		Lock:     c.advisoryLock,
	}
}

// setConfig is set_config().
func (c *conn) setConfig(name, value string, local bool) error {
	if local && c.tx.state != outside {
		return noError(c.setLocal(name, value))
	}
	if local { // until the end of the statement
		return nil
	}
	return noError(c.change(name, value))
}

// catalogRows returns the rows of pg_stat_activity or of hql_queries.
func (s *Server) catalogRows(relation string) (out []pgcatalog.Row) {
	if relation == "hql_queries" {
		for _, q := range s.Queries() {
			out = append(out, pgcatalog.Row{"started": q.Time, "usename": q.User, "client": q.Client, "query": orNull(q.SQL), "rows": q.Rows,
				"duration_ms": float64(q.Duration) / float64(time.Millisecond), "sqlstate": orNull(q.Code)})
		}
		return out
	}
	for _, a := range s.Sessions() {
		host, port, _ := strings.Cut(a.Client, ":")
		out = append(out, pgcatalog.Row{"datid": 5, "datname": a.Database, "pid": int64(a.PID), "usesysid": 10, "usename": a.User, "application_name": a.Application,
			"client_addr": host, "client_port": orNull(port), "backend_start": a.Began, "query_start": moment(a.Since), "state_change": moment(a.Since), "state": a.State,
			"query": a.Query, "backend_type": "client backend"})
	}
	return out
}

// relationOID returns the OID of a table or view; 0 for "". It caches the OID of each name.
func (c *conn) relationOID(name string) uint32 {
	if name == "" {
		return 0
	}
	if oid, ok := c.srv.oids.Load(name); ok {
		return oid.(uint32)
	}
	oid := c.db.RelationOID(name)
	c.srv.oids.Store(name, oid)
	return oid
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// names are the users, sorted. A nil u has none.
func (u *Users) names() []string {
	if u == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(u.byName))
}

package exec

import (
	"cmp"
	"strings"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
)

// Searches reports whether search_path was set in s, or a temporary table made. Otherwise, names without a namespace are those of
// tables without one.
func (s *Session) Searches() bool { return s.path() != nil || s.temporaryTables() != "" }

// path returns the schemas of search_path, or nil if it was not set.
func (s *Session) path() []string {
	v, ok := s.now().kept["search_path"]
	if !ok {
		return nil
	}
	user := ""
	if s.Client != nil {
		user = s.Client.User
	}
	return pgcatalog.SearchPath(v, user)
}

// Place gives each table that s, a statement of sql, names without a schema the first schema of search_path that has such a
// table, unless it is a temporary one. A new table gets the first schema. PREPARE keeps the names as they are, for each
// EXECUTE. Place reports whether the names depend on the session, which may be nil.
func (e *Engine) Place(s parser.Statement, sql string, session *Session) bool {
	session = cmp.Or(session, e.session)
	path, own := session.path(), session.temporaryTables()
	if path == nil && own == "" {
		return false
	}
	if _, later := s.(*parser.Prepare); later {
		return true
	}
	parser.Qualify(s, sql, func(name string, defines bool) string {
		if rest, ok := strings.CutPrefix(name, "pg_temp:"); ok && own != "" {
			return own + rest
		}
		if strings.Contains(name, ":") || !defines && pgcatalog.Find(name) != nil {
			return name
		}
		if _, _, err := e.catalog.TableOrView(own+name, parser.NoPos); err == nil && own != "" && !defines {
			return own + name
		}
		if path == nil {
			return name
		}
		full := func(schema string) string {
			if schema == "public" || schema == "default" {
				return name
			}
			return schema + ":" + name
		}
		for _, schema := range path {
			if _, _, err := e.catalog.TableOrView(full(schema), parser.NoPos); err == nil || defines {
				return full(schema)
			}
		}
		if len(path) == 0 {
			return name
		}
		return full(path[0])
	})
	return true
}

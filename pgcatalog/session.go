package pgcatalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// Client describes a connection of a PostgreSQL client. Its functions may be nil; the catalog then lacks what they would
// return.
type Client struct {
	User, Database string
	Address        string
	PID            uint32
	Began          time.Time // when the server began
	Roles          []string  // all users that may connect
	MayWrite       func() bool
	// Setting returns the value of a setting. Set changes a setting until the end of the session or, if local, of the
	// transaction.
	Setting func(name string) (string, error)
	Set     func(name, value string, local bool) error
	// Settings lists names, values and descriptions.
	Settings func() [][3]string
	// Rows returns the rows of pg_stat_activity or hql_queries, as relation says.
	Rows func(relation string) []Row
	// Cancel cancels the running statement of the connection pid; it returns false if there is no such connection.
	Cancel func(pid uint32) bool
	// Lock takes or gives back an advisory lock, as function says, and reports whether it did; stop ends a wait by an error.
	Lock func(function, key string, stop func() error) (bool, error)
}

// Planner knows the definitions of a statement.
type Planner interface {
	// ViewColumns returns the columns of a view, or none if its query cannot be planned.
	ViewColumns(*catalog.View) []Column
	// TableStatistics returns the statistics that ANALYZE found, or nil.
	TableStatistics(*catalog.Table) *stats.Table
}

// Session holds everything that the catalog depends on during one statement.
type Session struct {
	Catalog *catalog.Catalog
	Funcs   *expr.Registry // nil: the built-in ones
	Client  *Client        // nil: the statement is a program's own
	// Settings returns the settings of a session without a Client; nil: the catalog does not know them.
	Settings interface {
		Setting(name string) (string, error)
		// TemporarySchema returns the schema of the session's temporary tables; "" if it has none.
		TemporarySchema() string
	}
	Planner Planner
	// LastValue returns the last number of a counter; ok is false if none was drawn. nil: the catalog does not know it.
	LastValue func(counter string) (n int64, ok bool)
	Cache     *Cache // nil: objects are collected for each statement

	once      sync.Once
	known     *objects
	path      []string // of search_path
	mu        sync.Mutex
	functions map[string]*expr.Function
}

// objects collects the objects of the catalog at the first call.
func (s *Session) objects() *objects {
	s.once.Do(func() {
		if s.known = s.Cache.objects(s.Catalog); s.known == nil {
			s.known = collect(s.Catalog)
			s.Cache.keep(s.known)
		}
		path, err := s.setting("search_path")
		if err != nil {
			path = "public"
		}
		s.path = SearchPath(path, s.user())
	})
	return s.known
}

// SearchPath returns the schemas that a value of search_path names, except pg_catalog.
func SearchPath(value, user string) []string {
	out := []string{}
	for _, name := range strings.Split(value, ",") {
		name = strings.TrimSpace(name)
		if strings.HasPrefix(name, `"`) {
			name = strings.Trim(name, `"`)
		} else {
			name = strings.ToLower(name)
		}
		if name == "$user" {
			name = user
		}
		if name != "" && name != "pg_catalog" {
			out = append(out, name)
		}
	}
	return out
}

// setting returns the value of a setting.
func (s *Session) setting(name string) (string, error) {
	switch {
	case s.Client != nil && s.Client.Setting != nil:
		return s.Client.Setting(name)
	case s.Settings != nil:
		return s.Settings.Setting(name)
	}
	return "", fmt.Errorf("unrecognized configuration parameter %q", name)
}

// find returns the object with this schema and name, or nil. Without a schema it looks among temporary tables, in
// pg_catalog, then in the schemas of search_path.
func (s *Session) find(schema, name string) *object {
	o := s.objects()
	if schema == "pg_temp" {
		schema = cmp.Or(s.temporary(), schema)
	}
	if schema != "" {
		return o.byName[[2]string{schema, name}]
	}
	x := cmp.Or(o.byName[[2]string{s.temporary(), name}], o.byName[[2]string{"pg_catalog", name}])
	for i := 0; x == nil && i < len(s.path); i++ {
		x = o.byName[[2]string{s.path[i], name}]
	}
	return x
}

// temporary returns the schema of the session's temporary tables; "" if it has none.
func (s *Session) temporary() string {
	if s.Settings == nil {
		return ""
	}
	return s.Settings.TemporarySchema()
}

// visible reports whether the name of x without a schema means x.
func (s *Session) visible(x *object) bool { return s.find("", x.name) == x }

// Cache keeps the objects of a catalog from one statement to the next. The zero Cache works.
type Cache struct{ kept atomic.Pointer[objects] }

// objects returns the cached objects if the definitions in c have not changed, otherwise nil. A nil Cache keeps nothing.
func (k *Cache) objects(c *catalog.Catalog) *objects {
	if k == nil {
		return nil
	}
	o := k.kept.Load()
	if o == nil || !slices.Equal(o.tables, c.Tables()) || !slices.Equal(o.views, append(c.Views(), c.Sequences()...)) {
		return nil
	}
	return o
}

func (k *Cache) keep(o *objects) {
	if k != nil {
		k.kept.Store(o)
	}
}

func (s *Session) user() string {
	if s.Client != nil && s.Client.User != "" {
		return s.Client.User
	}
	return ownerName
}

func (s *Session) database() string {
	if s.Client != nil && s.Client.Database != "" {
		return s.Client.Database
	}
	return Database
}

func (s *Session) mayWrite() bool {
	return s.Client == nil || s.Client.MayWrite == nil || s.Client.MayWrite()
}

// roles returns the owner of all objects, the user, and the other users that may connect.
func (s *Session) roles() []role {
	taken := map[uint32]bool{}
	out := []role{{owner, ownerName}}
	names := []string{s.user()}
	if s.Client != nil {
		names = append(names, s.Client.Roles...)
	}
	for _, n := range names {
		if !slices.ContainsFunc(out, func(r role) bool { return r.name == n }) {
			out = append(out, role{number("u"+n, taken), n})
		}
	}
	return out
}

type role struct {
	oid  uint32
	name string
}

// statistics returns the result of ANALYZE, or nil.
func (s *Session) statistics(t *catalog.Table) *stats.Table {
	if t == nil {
		return nil
	}
	return s.Planner.TableStatistics(t)
}

// Function finds a function of the catalog by its name in upper case, or returns nil. The result is the same at each
// call.
func (s *Session) Function(name string) *expr.Function {
	sig := signatures()[name]
	if sig == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.functions[name]; f != nil {
		return f
	}
	if s.functions == nil {
		s.functions = map[string]*expr.Function{}
	}
	f := sig.function(s)
	s.functions[name] = f
	return f
}

// RelationOID returns the OID of the table or view with this name in hql; 0 if there is none.
func (s *Session) RelationOID(name string) uint32 {
	schema, rest, ok := strings.Cut(name, ":")
	if !ok {
		schema, rest = "public", name
	}
	if x := s.objects().byName[[2]string{schema, rest}]; x != nil {
		return x.oid
	}
	return 0
}

// null is the NULL that functions return.
var null types.Value

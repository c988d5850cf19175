package exec

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/hql-db/hql/parser"
)

// createTemporary runs CREATE TEMPORARY TABLE. The table is defined under a name that no other session uses; Place finds it.
func (r *run) createTemporary(ctx context.Context, s *parser.CreateTable) (*Rows, error) {
	if strings.Contains(s.Name, ":") {
		return nil, parser.Errorf(s.NamePos, "cannot create temporary relation in non-temporary schema").WithHint("leave out the schema")
	}
	r.session.mu.Lock()
	if r.session.temporary == "" {
		r.session.temporary = "pg_temp_" + strings.ToLower(rand.Text()[:10]) + "_"
	}
	prefix := r.session.temporary
	r.session.mu.Unlock()
	def := *s
	def.Name, def.Temporary = prefix+strings.ToLower(s.Name), false
	return r.createTable(ctx, &def)
}

// temporaryTables returns what begins the names of the session's temporary tables; "" if it has made none.
func (s *Session) temporaryTables() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.temporary
}

// DropTemporary drops the temporary tables of s, with the views that read them.
func (e *Engine) DropTemporary(ctx context.Context, s *Session) (err error) {
	prefix := s.temporaryTables()
	if prefix == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, dropTime)
	defer stop()
	for _, t := range e.catalog.Tables() {
		if strings.HasPrefix(t.Name, prefix) {
			_, failed := e.newRun(Args{Session: s}, now(e.client)).dropTable(ctx, &parser.Drop{Name: t.Name, IfExists: true, Cascade: true})
			err = errors.Join(err, failed)
		}
	}
	return err
}

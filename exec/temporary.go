package exec

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"github.com/hql-db/hql/parser"
)

// temporaryName returns the name, in the session's schema of temporary tables, that a statement defines as name at pos. No other
// session uses that schema; Place finds it.
func (s *Session) temporaryName(name string, pos parser.Pos) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.temporary == "" {
		s.temporary = temporary + strings.ToLower(rand.Text()[:10]) + ":"
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, s.temporary), "pg_temp:")
	if strings.Contains(name, ":") {
		return "", parser.Errorf(pos, "cannot create temporary relation in non-temporary schema").WithHint("leave out the schema")
	}
	return s.temporary + name, nil
}

// temporary begins the names of the schemas of temporary tables.
const temporary = "pg_temp_"

// createTemporary runs CREATE TEMPORARY TABLE.
func (r *run) createTemporary(ctx context.Context, s *parser.CreateTable) (_ *Rows, err error) {
	def := *s
	if def.Name, err = r.session.temporaryName(s.Name, s.NamePos); err != nil {
		return nil, err
	}
	if def.Temporary = false; def.StoredIn == nil { // HBase needs no namespace of that name
		def.StoredIn = parser.StoredIn(strings.ReplaceAll(def.Name, ":", "_"))
	}
	return r.createTable(ctx, &def)
}

// TemporarySchema returns the schema of the session's temporary tables; "" if it has made none.
func (s *Session) TemporarySchema() string { return strings.TrimSuffix(s.temporaryTables(), ":") }

// temporaryTables returns what begins the names of the session's temporary tables; "" if it has made none.
func (s *Session) temporaryTables() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.temporary
}

// named returns text with the names of temporary tables as the session writes them.
func (s *Session) named(text string) string { return strings.ReplaceAll(text, s.temporaryTables(), "") }

// shown returns err with such names.
func (s *Session) shown(err error) error {
	if own, ok := errors.AsType[*parser.Error](err); ok && s.temporaryTables() != "" {
		own.Msg, own.Hint = s.named(own.Msg), s.named(own.Hint)
	}
	return err
}

// DropTemporary drops the temporary tables and views of s, with the views that read them.
func (e *Engine) DropTemporary(ctx context.Context, s *Session) (err error) {
	schema := s.temporaryTables()
	if schema == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, dropTime)
	defer stop()
	r := e.newRun(Args{Session: s}, now(e.client))
	for _, v := range slices.Backward(e.catalog.Views()) {
		if strings.HasPrefix(v.Name, schema) {
			err = errors.Join(err, r.dropView(ctx, &parser.Drop{Name: v.Name, View: true, IfExists: true, Cascade: true}))
		}
	}
	for _, t := range e.catalog.Tables() {
		if strings.HasPrefix(t.Name, schema) {
			_, failed := r.dropTable(ctx, &parser.Drop{Name: t.Name, IfExists: true, Cascade: true})
			err = errors.Join(err, failed)
		}
	}
	for _, v := range e.catalog.Sequences() {
		if strings.HasPrefix(v.Name, schema) {
			err = errors.Join(err, r.dropView(ctx, &parser.Drop{Name: v.Name, View: true, Sequence: true, IfExists: true, Cascade: true}))
		}
	}
	return err
}

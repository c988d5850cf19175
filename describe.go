package hql

import (
	"context"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Parse reads one statement, without a look at the tables that it names: what Prepare would say of them the statement says when it runs.
func (db *DB) Parse(sql string) (*Stmt, error) { return db.statement(sql) }

// Statement is the statement's tree, which must not be changed.
func (s *Stmt) Statement() parser.Statement { return s.parsed }

// Description is what is known of a statement before it runs.
type Description struct {
	Parameters []ParameterType // ? and $n in their order
	Columns    []ColumnType    // nil: it gives no rows
}

// ParameterType is the type that a parameter's place wants; Null where any will do.
type ParameterType = exec.ParameterType

// Describe finds out the types of the statement's parameters, those of given first (Null: not given), and of its columns. It reads
// nothing.
func (s *Stmt) Describe(ctx context.Context, given []types.Type) (*Description, error) {
	if err := s.db.open(); err != nil {
		return nil, err
	}
	params, columns, err := s.db.engine.Describe(ctx, s.parsed, exec.Args{Session: s.db.session}, s.params.count, given)
	if err != nil {
		return nil, located(err, s.sql)
	}
	return &Description{params, columnTypes(columns)}, nil
}

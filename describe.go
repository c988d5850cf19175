package hql

import (
	"context"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Parse parses one statement and does not check the tables that it names: errors that Prepare would return, the statement
// returns when it runs.
func (db *DB) Parse(sql string) (*Stmt, error) { return db.statement(sql) }

// Statement is the statement's tree, which must not be changed.
func (s *Stmt) Statement() parser.Statement { return s.parsed }

// Description describes a statement before it runs.
type Description struct {
	Parameters []ParameterType // ? and $n in their order
	Columns    []ColumnType    // nil: it gives no rows
}

// ParameterType is the type that a parameter's position needs; Null if any type will do.
type ParameterType = exec.ParameterType

// Describe returns the types of the statement's parameters and columns. given has the known types of the first parameters
// (Null: unknown). Describe reads no table.
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

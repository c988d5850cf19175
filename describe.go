package hql

import (
	"context"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Parse parses one statement without checking the tables that it names. Errors that Prepare would return are returned when
// the statement runs.
func (db *DB) Parse(sql string) (*Stmt, error) { return db.statement(sql) }

// Statement returns the statement's syntax tree, which must not be changed.
func (s *Stmt) Statement() parser.Statement { return s.parsed }

// Copied returns the query for the rows of the table or query that s, a COPY, names.
func (s *Stmt) Copied() *Stmt {
	out := s.db.parsed(exec.Copied(s.parsed.(*parser.Copy)), s.sql)
	out.placed, out.copied = s.placed, true
	return out
}

// Description describes a statement before it runs.
type Description struct {
	Parameters []ParameterType // ? and $n in their order
	Columns    []ColumnType    // nil for a statement without rows
}

// ParameterType is the type that the context of a parameter expects. Fields ([expr.ParameterType]): Type is the type, Null if
// any type is allowed; List is true if the parameter takes several values of it, as in ANY (?).
type ParameterType = exec.ParameterType

// Describe returns the types of the statement's parameters and columns. given has the known types of the first parameters;
// Null means unknown. Describe reads no table.
func (s *Stmt) Describe(ctx context.Context, given []types.Type) (*Description, error) {
	if err := s.db.open(); err != nil {
		return nil, err
	}
	s, err := s.now(false)
	if err != nil {
		return nil, err
	}
	params, columns, err := s.db.engine.Describe(ctx, s.parsed, exec.Args{Session: s.db.session}, s.params.count, given)
	if err != nil {
		return nil, located(err, s.sql)
	}
	return &Description{params, columnTypes(columns)}, nil
}

package sqldriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/types"
)

func init() { sql.Register("hql", Driver{}) }

// ErrTransactions is the error of BeginTx.
var ErrTransactions = errors.New("hql: HBase has no transactions over several rows")

// Driver opens connections for database/sql.
type Driver struct{}

// Open opens a store for this connection alone; sql.Open uses OpenConnector instead.
func (d Driver) Open(name string) (driver.Conn, error) {
	db, err := hql.Open(context.Background(), name)
	if err != nil {
		return nil, err
	}
	return &conn{db: db}, nil
}

// OpenConnector makes a connector that opens the store at its first connection.
func (d Driver) OpenConnector(name string) (driver.Connector, error) {
	return &connector{name: name, turn: make(chan struct{}, 1)}, nil
}

// NewConnector makes a connector on db, which stays open when the sql.DB is closed.
func NewConnector(db *hql.DB) driver.Connector {
	return &connector{db: db, turn: make(chan struct{}, 1)}
}

// connector shares one hql.DB among all connections; each connection is a session of that DB.
type connector struct {
	name string
	turn chan struct{} // held while db and own are used: waiting for it ends with the context
	db   *hql.DB
	own  bool
}

func (c *connector) Driver() driver.Driver { return Driver{} }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.db == nil {
		db, err := hql.Open(ctx, c.name)
		if err != nil {
			return nil, err
		}
		c.db, c.own = db, true
	}
	if c.db.Closed() {
		return nil, hql.ErrClosed
	}
	return &conn{db: c.db.Session()}, nil
}

// Close closes the store if the connector opened it; sql.DB.Close calls it.
func (c *connector) Close() error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	if !c.own {
		return nil
	}
	return c.db.Close()
}

// conn is a session of the shared DB; a conn of Driver.Open has its own DB. The pool passes on a connection with the settings
// that SET changed, as with other drivers; sql.DB.Conn reserves one.
type conn struct{ db *hql.DB }

var _ interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.QueryerContext
	driver.ExecerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
} = (*conn)(nil)

// Close ends the session, or closes the store of Driver.Open.
func (c *conn) Close() error { return c.db.Close() }

func (c *conn) Begin() (driver.Tx, error)          { return nil, ErrTransactions }
func (c *conn) ResetSession(context.Context) error { return nil }
func (c *conn) IsValid() bool                      { return !c.db.Closed() }
func (c *conn) Ping(ctx context.Context) error     { return c.db.Ping(ctx) }
func (c *conn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return nil, ErrTransactions
}

// CheckNamedValue accepts every value: hql converts the arguments, and takes slices for IN lists.
func (c *conn) CheckNamedValue(*driver.NamedValue) error { return nil }

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.db.Prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return &stmt{s}, nil
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return queried(args, func(args ...any) (*hql.Rows, error) { return c.db.Query(ctx, query, args...) })
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return executed(args, func(args ...any) (hql.Result, error) { return c.db.Exec(ctx, query, args...) })
}

func queried(in []driver.NamedValue, run func(...any) (*hql.Rows, error)) (driver.Rows, error) {
	args, err := arguments(in)
	if err != nil {
		return nil, err
	}
	rows, err := run(args...)
	if err != nil {
		return nil, err
	}
	return &resultRows{rows, rows.ColumnTypes()}, nil
}

func executed(in []driver.NamedValue, run func(...any) (hql.Result, error)) (driver.Result, error) {
	args, err := arguments(in)
	if err != nil {
		return nil, err
	}
	r, err := run(args...)
	if err != nil {
		return nil, err
	}
	return result(r.RowsAffected), nil
}

// arguments turns sql.Named arguments into hql.NamedArgs.
func arguments(in []driver.NamedValue) ([]any, error) {
	var out []any
	named := hql.NamedArgs{}
	positional := false
	for _, a := range in {
		if a.Name != "" {
			named[a.Name] = a.Value
			continue
		}
		if _, ok := a.Value.(hql.QueryOptions); !ok {
			positional = true
		}
		out = append(out, a.Value)
	}
	if len(named) == 0 {
		return out, nil
	}
	if positional {
		return nil, errors.New("hql: a statement cannot have named and positional arguments")
	}
	return append(out, named), nil
}

// result is the number of rows written.
type result int64

func (result) LastInsertId() (int64, error) {
	return 0, errors.New("hql: rows have no insert id")
}

func (r result) RowsAffected() (int64, error) { return max(0, int64(r)), nil }

// stmt is a prepared statement.
type stmt struct{ s *hql.Stmt }

var _ interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	driver.NamedValueChecker
} = (*stmt)(nil)

func (s *stmt) Close() error                             { return s.s.Close() }
func (s *stmt) NumInput() int                            { return -1 } // hql checks the number; names fill @name
func (s *stmt) CheckNamedValue(*driver.NamedValue) error { return nil }

func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), numbered(args))
}

func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), numbered(args))
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return executed(args, func(args ...any) (hql.Result, error) { return s.s.Exec(ctx, args...) })
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return queried(args, func(args ...any) (*hql.Rows, error) { return s.s.Query(ctx, args...) })
}

func numbered(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

// resultRows are the rows of a query.
type resultRows struct {
	rows  *hql.Rows
	types []hql.ColumnType
}

var _ interface {
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
} = (*resultRows)(nil)

// Columns must not be nil: a statement without rows has no column.
func (r *resultRows) Columns() []string { return append([]string{}, r.rows.Columns()...) }
func (r *resultRows) Close() error      { return r.rows.Close() }

func (r *resultRows) Next(dest []driver.Value) error {
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	for i, v := range r.rows.Values() {
		switch raw := v.(type) {
		case json.RawMessage:
			v = []byte(raw)
		case []any: // an array is returned as text
			v = r.rows.Raw()[i].String()
		}
		dest[i] = v
	}
	return nil
}

// ColumnTypeDatabaseTypeName returns the SQL type: BIGINT, TIMESTAMP ...
func (r *resultRows) ColumnTypeDatabaseTypeName(i int) string { return r.types[i].Type.String() }

// ColumnTypeNullable returns true: every column may be NULL.
func (r *resultRows) ColumnTypeNullable(int) (nullable, ok bool) { return true, true }

// ColumnTypeLength returns n for a column of VARCHAR(n) or CHAR(n), and math.MaxInt64 for other text, bytes and JSON. For all
// other types ok is false.
func (r *resultRows) ColumnTypeLength(i int) (length int64, ok bool) {
	switch r.types[i].Type {
	case types.String, types.Bytes, types.JSON, types.JSONB:
		if n, _, ok := r.types[i].Limit.Size(); ok {
			return n, true
		}
		return math.MaxInt64, true
	}
	return 0, false
}

// ColumnTypePrecisionScale returns p and s for a column of DECIMAL(p, s), and math.MaxInt64 for other DECIMALs. For all other
// types ok is false.
func (r *resultRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if r.types[i].Type != types.Decimal {
		return 0, 0, false
	}
	if precision, scale, ok = r.types[i].Limit.Size(); ok {
		return precision, scale, true
	}
	return math.MaxInt64, math.MaxInt64, true
}

// ColumnTypeScanType returns a Go type that takes the column's values, including NULL.
func (r *resultRows) ColumnTypeScanType(i int) reflect.Type {
	switch t := r.types[i].Type; {
	case t.IsInteger():
		return reflect.TypeFor[sql.NullInt64]()
	case t == types.Float || t == types.Double:
		return reflect.TypeFor[sql.NullFloat64]()
	case t == types.Boolean:
		return reflect.TypeFor[sql.NullBool]()
	case t == types.Bytes, t.IsJSON():
		return reflect.TypeFor[[]byte]()
	case t == types.Date, t.IsTimestamp():
		return reflect.TypeFor[sql.NullTime]()
	}
	return reflect.TypeFor[sql.NullString]()
}

// Package sqldriver makes hql a driver of database/sql, by the name "hql":
//
//	import _ "github.com/hql-db/hql/sqldriver"
//	db, err := sql.Open("hql", "hbase://zk1,zk2:2181/hbase?catalog=tables.sql")
//
// A data source name is what hql.Open takes. A sql.DB on an hql.DB that is open
// already comes from sql.OpenDB(sqldriver.NewConnector(db)). HBase has no transactions: BeginTx is an error.
package sqldriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"sync"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/types"
)

func init() { sql.Register("hql", Driver{}) }

// ErrTransactions is what BeginTx gives.
var ErrTransactions = errors.New("hql: HBase has no transactions over several rows")

// Driver opens connections for database/sql.
type Driver struct{}

// Open opens a connection of its own; sql.Open uses OpenConnector instead.
func (d Driver) Open(name string) (driver.Conn, error) {
	c, err := d.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

// OpenConnector makes a connector that opens the store at its first connection.
func (d Driver) OpenConnector(name string) (driver.Connector, error) {
	return &connector{name: name}, nil
}

// NewConnector makes a connector on db, which stays open when the sql.DB is closed.
func NewConnector(db *hql.DB) driver.Connector { return &connector{db: db} }

// connector shares one hql.DB among all connections: a connection is a light handle.
type connector struct {
	name string
	mu   sync.Mutex
	db   *hql.DB
	own  bool
}

func (c *connector) Driver() driver.Driver { return Driver{} }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db == nil {
		db, err := hql.Open(ctx, c.name)
		if err != nil {
			return nil, err
		}
		c.db, c.own = db, true
	}
	return &conn{db: c.db}, nil
}

// Close closes the store when the connector opened it; sql.DB.Close calls it.
func (c *connector) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.own {
		return nil
	}
	c.own = false
	return c.db.Close()
}

// conn is a handle on the shared DB.
type conn struct{ db *hql.DB }

func (c *conn) Close() error                       { return nil }
func (c *conn) Begin() (driver.Tx, error)          { return nil, ErrTransactions }
func (c *conn) ResetSession(context.Context) error { return nil }
func (c *conn) IsValid() bool                      { return true }
func (c *conn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return nil, ErrTransactions
}

// Ping asks the store for something small.
func (c *conn) Ping(ctx context.Context) error {
	_, err := c.db.Client().Tables(ctx, "hql_catalog")
	return err
}

// CheckNamedValue leaves the conversion of arguments to hql: it takes slices for IN lists.
func (c *conn) CheckNamedValue(*driver.NamedValue) error { return nil }

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.db.Prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return &stmt{c, s}, nil
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.db.Query(ctx, query, arguments(args)...)
	if err != nil {
		return nil, err
	}
	return &resultRows{rows}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	r, err := c.db.Exec(ctx, query, arguments(args)...)
	if err != nil {
		return nil, err
	}
	return result(r.RowsAffected), nil
}

// arguments turns sql.Named arguments into hql.NamedArgs.
func arguments(in []driver.NamedValue) []any {
	var out []any
	named := hql.NamedArgs{}
	for _, a := range in {
		if a.Name != "" {
			named[a.Name] = a.Value
		} else {
			out = append(out, a.Value)
		}
	}
	if len(named) > 0 {
		out = append(out, named)
	}
	return out
}

// result is the number of rows written.
type result int64

func (result) LastInsertId() (int64, error) {
	return 0, errors.New("hql: rows have no insert id")
}

func (r result) RowsAffected() (int64, error) { return max(0, int64(r)), nil }

// stmt is a prepared statement.
type stmt struct {
	conn *conn
	s    *hql.Stmt
}

func (s *stmt) Close() error                             { return s.s.Close() }
func (s *stmt) NumInput() int                            { return -1 } // hql counts, and names fill @name
func (s *stmt) CheckNamedValue(*driver.NamedValue) error { return nil }

func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), numbered(args))
}

func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), numbered(args))
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.s.Exec(ctx, arguments(args)...)
	if err != nil {
		return nil, err
	}
	return result(r.RowsAffected), nil
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.s.Query(ctx, arguments(args)...)
	if err != nil {
		return nil, err
	}
	return &resultRows{rows}, nil
}

func numbered(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

// resultRows are the rows of a query.
type resultRows struct{ rows *hql.Rows }

func (r *resultRows) Columns() []string { return r.rows.Columns() }
func (r *resultRows) Close() error      { return r.rows.Close() }

func (r *resultRows) Next(dest []driver.Value) error {
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	for i, v := range r.rows.Values() {
		if raw, ok := v.(json.RawMessage); ok {
			v = []byte(raw)
		}
		dest[i] = v
	}
	return nil
}

// ColumnTypeDatabaseTypeName is the SQL type: BIGINT, TIMESTAMP ...
func (r *resultRows) ColumnTypeDatabaseTypeName(i int) string {
	return r.rows.ColumnTypes()[i].Type.String()
}

// ColumnTypeNullable tells that any column may be NULL.
func (r *resultRows) ColumnTypeNullable(int) (nullable, ok bool) { return true, true }

// ColumnTypeScanType is the Go type of the values.
func (r *resultRows) ColumnTypeScanType(i int) reflect.Type {
	switch t := r.rows.ColumnTypes()[i].Type; {
	case t.IsInteger():
		return reflect.TypeFor[int64]()
	case t == types.Float || t == types.Double:
		return reflect.TypeFor[float64]()
	case t == types.Boolean:
		return reflect.TypeFor[bool]()
	case t == types.Bytes, t == types.JSON:
		return reflect.TypeFor[[]byte]()
	case t == types.Date, t == types.Timestamp:
		return reflect.TypeFor[time.Time]()
	}
	return reflect.TypeFor[string]()
}

package write

import (
	"context"
	"errors"

	"github.com/hql-db/hql/hbase"
)

// ErrReadOnly marks, for errors.Is, the refusal of a write on a read-only connection.
var ErrReadOnly = errors.New("the connection is read-only: open it with writes allowed (--write, hql.WithWrites)")

// ReadOnlyClient is a client without the calls that write: they fail with ErrReadOnly and send nothing.
type ReadOnlyClient struct{ hbase.Client }

// Mutate fails.
func (ReadOnlyClient) Mutate(context.Context, string, []hbase.Mutation) error { return ErrReadOnly }

// Increment fails.
func (ReadOnlyClient) Increment(context.Context, string, []byte, string, string, int64) (int64, error) {
	return 0, ErrReadOnly
}

// PutIf fails.
func (ReadOnlyClient) PutIf(context.Context, string, []byte, hbase.Mutation) (bool, error) {
	return false, ErrReadOnly
}

// CreateTable fails.
func (ReadOnlyClient) CreateTable(context.Context, string, []hbase.Family, [][]byte) error {
	return ErrReadOnly
}

// DropTable fails.
func (ReadOnlyClient) DropTable(context.Context, string, func(context.Context) error) error {
	return ErrReadOnly
}

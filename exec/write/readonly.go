package write

import (
	"context"
	"errors"

	"github.com/hql-db/hql/hbase"
)

// ErrReadOnly marks, for errors.Is, a write that a read-only connection refuses.
var ErrReadOnly = errors.New("the connection is read-only: open it with writes allowed (--write, hql.WithWrites)")

// ReadOnlyClient is a client whose writing calls fail with ErrReadOnly and send nothing.
type ReadOnlyClient struct{ hbase.Client }

func (ReadOnlyClient) Mutate(context.Context, string, []hbase.Mutation) error { return ErrReadOnly }

func (ReadOnlyClient) Increment(context.Context, string, []byte, string, string, int64) (int64, error) {
	return 0, ErrReadOnly
}

func (ReadOnlyClient) PutIf(context.Context, string, []byte, hbase.Mutation) (bool, error) {
	return false, ErrReadOnly
}

func (ReadOnlyClient) CreateTable(context.Context, string, []hbase.Family, [][]byte) error {
	return ErrReadOnly
}

func (ReadOnlyClient) DropTable(context.Context, string, func(context.Context) error) error {
	return ErrReadOnly
}

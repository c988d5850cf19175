package exec

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// lookupStatement implements lookup.Statement for a run.
type lookupStatement struct{ *run }

// Query reads the rows of q. It may run in the middle of another read of the statement.
func (r lookupStatement) Query(ctx context.Context, q *parser.SelectCore, args []types.Value, f func(rows [][]types.Value) error) error {
	env := *r.env
	env.Args = args
	p, err := r.resolved(ctx, func() (*plan.Plan, error) {
		return env.Select(&parser.Select{Cores: []*parser.SelectCore{q}, AllowFullScan: true})
	})
	if err != nil {
		return err
	}
	st := *r.statement
	st.allowFull, st.Guard = true, &st
	st.Slots = make(chan struct{}, cap(r.Slots)) // the caller may hold a slot of the statement
	op, err := operator.New(ctx, p.Root, st.scan, r.Opt)
	if err != nil {
		return err
	}
	return operator.Drain(ctx, op, f)
}

// Count reads a counter, which is a row of hql_catalog.
func (r lookupStatement) Count(ctx context.Context, name string) (n int64, ok bool, err error) {
	if err := r.ensureCatalogTable(ctx); err != nil {
		return 0, false, err
	}
	rows, err := r.Client.Get(ctx, catalogTable, [][]byte{[]byte(counterPrefix + name)}, &hbase.ReadOptions{Families: []string{catalogFamily}})
	if err != nil {
		return 0, false, err
	}
	for _, cell := range rows[0].Cells {
		if string(cell.Qualifier) == counterQualifier {
			if len(cell.Value) != 8 {
				return 0, false, fmt.Errorf("the counter of %s has %d bytes, not 8", name, len(cell.Value))
			}
			return int64(binary.BigEndian.Uint64(cell.Value)), true, nil
		}
	}
	return 0, false, nil
}

// Begin writes a counter's cell if there is none.
func (r lookupStatement) Begin(ctx context.Context, name string, n int64) error {
	_, err := r.Client.PutIf(ctx, catalogTable, nil, hbase.Mutation{Kind: hbase.Put, Key: []byte(counterPrefix + name), Timestamp: r.engine.clock.Next(),
		Cells: []hbase.Cell{{Family: []byte(catalogFamily), Qualifier: []byte(counterQualifier), Value: binary.BigEndian.AppendUint64(nil, uint64(n))}}})
	return err
}

// Add increments a counter on the server and returns its new value.
func (r lookupStatement) Add(ctx context.Context, name string, n int64) (int64, error) {
	return r.Client.Increment(ctx, catalogTable, []byte(counterPrefix+name), catalogFamily, counterQualifier, n)
}

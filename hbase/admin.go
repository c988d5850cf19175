package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/types"
)

// masterCall is any method of HBase's MasterService.
type masterCall struct {
	*hrpc.ListTableNames
	name      string
	req, resp proto.Message
}

func (m *masterCall) Name() string               { return m.name }
func (m *masterCall) Description() string        { return m.name }
func (m *masterCall) ToProto() proto.Message     { return m.req }
func (m *masterCall) NewResponse() proto.Message { return m.resp }

// callMaster calls a method of the master that may safely be called twice. It repeats the call while the master is
// starting, does not answer, or is being replaced.
func (c *client) callMaster(ctx context.Context, name string, req, resp proto.Message) (proto.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, metaTimeout)
	defer cancel()
	began := time.Now()
	var b backoff
	for d := callAttempt; ; d = metaTimeout { // a master that is only slow answers the second attempt
		m, err := c.tryMaster(ctx, d, name, req, proto.Clone(resp))
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("the master did not answer in %v: %w", time.Since(began).Round(10*time.Millisecond), err)
		}
		if err == nil || ctx.Err() != nil || !repeatable(err) {
			return m, err
		}
		if err := b.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// tryMaster sends one attempt that lasts at most d. If the master does not answer, the next attempt looks up the active
// master again.
func (c *client) tryMaster(ctx context.Context, d time.Duration, name string, req, resp proto.Message) (proto.Message, error) {
	admin := c.master.current()
	actx, cancel := context.WithTimeout(ctx, c.timeout(d))
	defer cancel()
	if own, ok := admin.(*ownClient); ok { // gohbase would wait for a connection
		defer context.AfterFunc(own.conns.ended, cancel)()
	}
	a := newAttempt(actx, noLimit)
	l, err := hrpc.NewListTableNames(a)
	if err != nil {
		return nil, err
	}
	if ctx.Value(asideKey{}) == nil {
		c.stats.rpcs.Add(1)
	}
	began := time.Now()
	call := &masterCall{l, name, req, resp}
	m, err := a.send(admin, call, watch{c, call})
	switch {
	case err == nil:
		c.master.late.Store(0)
	case errors.Is(actx.Err(), context.DeadlineExceeded):
		if c.master.late.Add(int64(time.Since(began))) >= int64(c.timeout(callAttempt)) {
			c.replace(&c.master, admin)
		}
		if ctx.Err() == nil {
			err = errAttempt
		}
	case actx.Err() != nil && ctx.Err() == nil:
		if err = gohbase.ErrClientClosed; c.master.current() != admin {
			err = errReplaced
		}
	}
	return m, err
}

// nonce returns a number by which the master recognizes a repeated call, for example after the answer to the first one
// was lost.
func nonce() *uint64 { return proto.Uint64(1 + rand.Uint64N(math.MaxInt64)) }

// tableName splits "ns:t".
func tableName(table string) *pb.TableName {
	ns, name, ok := strings.Cut(table, ":")
	if !ok {
		ns, name = "default", table
	}
	return &pb.TableName{Namespace: []byte(ns), Qualifier: []byte(name)}
}

// fullName is tableName's inverse.
func fullName(t *pb.TableName) string {
	if ns := string(t.Namespace); ns != "default" {
		return ns + ":" + string(t.Qualifier)
	}
	return string(t.Qualifier)
}

// Tables reads hbase:meta. The master's own list lacks the tables that the user may not read, and the rows of such a
// region table would be missed silently.
func (c *client) Tables(ctx context.Context, prefix string) ([]string, error) {
	var out []string
	for row, err := range Rows(ctx, c, ScanRange{Table: "hbase:meta", Start: []byte(prefix), Stop: types.PrefixEnd([]byte(prefix))}, &ReadOptions{Families: []string{"table"}}) {
		if err != nil {
			return nil, explain(err, "list tables", prefix)
		}
		if !bytes.HasPrefix(row.Key, []byte("hbase:")) {
			out = append(out, string(row.Key))
		}
	}
	return out, nil
}

func (c *client) PermittedTables(ctx context.Context) ([]string, error) {
	msg, err := c.callMaster(ctx, "GetTableNames", &pb.GetTableNamesRequest{Regex: proto.String(".*")}, &pb.GetTableNamesResponse{})
	if err != nil {
		return nil, explain(err, "list", "tables")
	}
	var out []string
	for _, t := range msg.(*pb.GetTableNamesResponse).GetTableNames() {
		out = append(out, fullName(t))
	}
	slices.Sort(out)
	return out, nil
}

// describe asks the master for the descriptions of tables; tables that do not exist have none. It needs at least one
// name.
func (c *client) describe(ctx context.Context, tables ...string) ([]*pb.TableSchema, error) {
	req := &pb.GetTableDescriptorsRequest{}
	for _, t := range tables {
		req.TableNames = append(req.TableNames, tableName(t))
	}
	msg, err := c.callMaster(ctx, "GetTableDescriptors", req, &pb.GetTableDescriptorsResponse{})
	if err != nil {
		return nil, explain(err, "describe", tables[0])
	}
	return msg.(*pb.GetTableDescriptorsResponse).TableSchema, nil
}

func (c *client) Families(ctx context.Context, table string) ([]Family, error) {
	schemas, err := c.describe(ctx, table)
	if err != nil {
		return nil, err
	}
	if len(schemas) == 0 {
		return nil, fmt.Errorf("%s: %w", table, ErrNoTable)
	}
	var out []Family
	for _, f := range schemas[0].ColumnFamilies {
		fam := Family{Name: string(f.Name), Attributes: map[string]string{}}
		for _, a := range append(f.Attributes, pairs(f.Configuration)...) {
			fam.Attributes[string(a.First)] = string(a.Second)
		}
		out = append(out, fam)
	}
	return out, nil
}

func pairs(in []*pb.NameStringPair) []*pb.BytesBytesPair {
	out := make([]*pb.BytesBytesPair, len(in))
	for i, p := range in {
		out[i] = &pb.BytesBytesPair{First: []byte(p.GetName()), Second: []byte(p.GetValue())}
	}
	return out
}

func createTable(table string, families []Family, splits [][]byte) *pb.CreateTableRequest {
	schema := &pb.TableSchema{TableName: tableName(table)}
	for _, f := range families {
		s := &pb.ColumnFamilySchema{Name: []byte(f.Name)}
		for k, v := range f.Attributes {
			s.Attributes = append(s.Attributes, &pb.BytesBytesPair{First: []byte(k), Second: []byte(v)})
		}
		schema.ColumnFamilies = append(schema.ColumnFamilies, s)
	}
	return &pb.CreateTableRequest{TableSchema: schema, SplitKeys: splits, NonceGroup: nonce(), Nonce: nonce()}
}

func (c *client) CreateTable(ctx context.Context, table string, families []Family, splits [][]byte) error {
	missing := func(err error) bool { return err != nil && strings.Contains(err.Error(), "NamespaceNotFoundException") }
	msg, err := c.callMaster(ctx, "CreateTable", createTable(table, families, splits), &pb.CreateTableResponse{})
	if missing(err) { // it is not said when the namespace is there
		_, err = c.callMaster(ctx, "CreateNamespace", &pb.CreateNamespaceRequest{NamespaceDescriptor: &pb.NamespaceDescriptor{Name: tableName(table).Namespace}}, &pb.CreateNamespaceResponse{})
		if err != nil && !strings.Contains(err.Error(), "NamespaceExistException") {
			return explain(err, "create the namespace of", table)
		}
		began := time.Now()
		var b backoff
		for again := true; again; again = missing(err) && time.Since(began) < metaTimeout {
			if err := b.wait(ctx); err != nil {
				return explain(err, "create", table)
			}
			msg, err = c.callMaster(ctx, "CreateTable", createTable(table, families, splits), &pb.CreateTableResponse{})
		}
	}
	if err != nil {
		return explain(err, "create", table)
	}
	c.regions.drop(table)
	return c.procedure(ctx, msg.(*pb.CreateTableResponse).GetProcId(), "create", table)
}

func (c *client) DropTable(ctx context.Context, table string, still func(context.Context) error) error {
	c.regions.drop(table)
	msg, err := c.callMaster(ctx, "DisableTable", &pb.DisableTableRequest{TableName: tableName(table), NonceGroup: nonce(), Nonce: nonce()}, &pb.DisableTableResponse{})
	if err == nil {
		err = c.procedure(ctx, msg.(*pb.DisableTableResponse).GetProcId(), "disable", table)
	} else if strings.Contains(err.Error(), "TableNotEnabledException") {
		err = nil // an interrupted drop left it disabled
	}
	if err != nil {
		return explain(err, "drop", table)
	}
	if still != nil {
		if err := still(ctx); err != nil {
			return errors.Join(err, c.enable(context.WithoutCancel(ctx), table))
		}
	}
	msg, err = c.callMaster(ctx, "DeleteTable", &pb.DeleteTableRequest{TableName: tableName(table), NonceGroup: nonce(), Nonce: nonce()}, &pb.DeleteTableResponse{})
	if err == nil {
		err = c.procedure(ctx, msg.(*pb.DeleteTableResponse).GetProcId(), "drop", table)
	}
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "TableNotDisabledException"):
		return c.DropTable(ctx, table, still) // since then the table was dropped and created again, or another drop enabled it
	}
	return explain(err, "drop", table)
}

// enable enables a table again that DropTable disabled and then did not drop. If another client has dropped or enabled
// the table, enable does nothing.
func (c *client) enable(ctx context.Context, table string) error {
	msg, err := c.callMaster(ctx, "EnableTable", &pb.EnableTableRequest{TableName: tableName(table), NonceGroup: nonce(), Nonce: nonce()}, &pb.EnableTableResponse{})
	if err == nil {
		err = c.procedure(ctx, msg.(*pb.EnableTableResponse).GetProcId(), "enable", table)
	}
	if err == nil || strings.Contains(err.Error(), "TableNotDisabledException") {
		return nil
	}
	if err = explain(err, "enable", table); errors.Is(err, ErrNoTable) {
		return nil
	}
	return err
}

// procedure waits until the master has finished a procedure. The master searches the finished procedures and then the
// running ones (ProcedureExecutor.getResultOrProcedure), so it misses a procedure that ends between the two searches:
// procedure ignores the first answer "not found".
func (c *client) procedure(ctx context.Context, id uint64, doing, table string) error {
	ctx, cancel := context.WithTimeout(ctx, metaTimeout)
	defer cancel()
	var b backoff
	for missed := false; ; {
		msg, err := c.callMaster(ctx, "getProcedureResult", &pb.GetProcedureResultRequest{ProcId: proto.Uint64(id)}, &pb.GetProcedureResultResponse{})
		if err != nil {
			return explain(err, doing, table)
		}
		res := msg.(*pb.GetProcedureResultResponse)
		switch res.GetState() {
		case pb.GetProcedureResultResponse_FINISHED:
			if e := res.GetException().GetGenericException(); e != nil {
				return explain(fmt.Errorf("HBase Java exception %s: %s", e.GetClassName(), e.GetMessage()), doing, table)
			}
			return nil
		case pb.GetProcedureResultResponse_NOT_FOUND:
			if missed {
				return fmt.Errorf("%s %s: the master no longer knows the procedure, so it may or may not have finished: check the table before you repeat the statement", doing, table)
			}
			missed = true
		}
		if err := b.wait(ctx); err != nil {
			return explain(err, doing, table)
		}
	}
}

package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// master sends a method and tries again while the master is starting, or another one takes its place.
func (c *client) master(ctx context.Context, name string, req, resp proto.Message) (proto.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, metaTimeout)
	defer cancel()
	began := time.Now()
	var b backoff
	for {
		l, err := hrpc.NewListTableNames(ctx)
		if err != nil {
			return nil, err
		}
		c.stats.rpcs.Add(1)
		call := &masterCall{l, name, req, proto.Clone(resp)}
		m, err := sendAnd(ctx, c.admin, call, watch{c, call}, nil)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("the master did not answer in %v: %w", time.Since(began).Round(10*time.Millisecond), err)
		}
		if err == nil || ctx.Err() != nil || classify(err) != retry {
			return m, err
		}
		if err := b.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// tableName splits "ns:t".
func tableName(table string) *pb.TableName {
	ns, name, ok := strings.Cut(table, ":")
	if !ok {
		ns, name = "default", table
	}
	return &pb.TableName{Namespace: []byte(ns), Qualifier: []byte(name)}
}

// Tables reads hbase:meta: the master leaves out tables that the user may not read, whose rows would be missing from a table of many unnoticed.
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
	msg, err := c.master(ctx, "GetTableNames", &pb.GetTableNamesRequest{Regex: proto.String(".*")}, &pb.GetTableNamesResponse{})
	if err != nil {
		return nil, explain(err, "list", "tables")
	}
	var out []string
	for _, t := range msg.(*pb.GetTableNamesResponse).GetTableNames() {
		name := string(t.Qualifier)
		if ns := string(t.Namespace); ns != "default" {
			name = ns + ":" + name
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out, nil
}

func (c *client) Families(ctx context.Context, table string) ([]Family, error) {
	msg, err := c.master(ctx, "GetTableDescriptors", &pb.GetTableDescriptorsRequest{TableNames: []*pb.TableName{tableName(table)}}, &pb.GetTableDescriptorsResponse{})
	if err != nil {
		return nil, explain(err, "describe", table)
	}
	schemas := msg.(*pb.GetTableDescriptorsResponse).TableSchema
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

func (c *client) CreateTable(ctx context.Context, table string, families []Family, splits [][]byte) error {
	schema := &pb.TableSchema{TableName: tableName(table)}
	for _, f := range families {
		s := &pb.ColumnFamilySchema{Name: []byte(f.Name)}
		for k, v := range f.Attributes {
			s.Attributes = append(s.Attributes, &pb.BytesBytesPair{First: []byte(k), Second: []byte(v)})
		}
		schema.ColumnFamilies = append(schema.ColumnFamilies, s)
	}
	msg, err := c.master(ctx, "CreateTable", &pb.CreateTableRequest{TableSchema: schema, SplitKeys: splits}, &pb.CreateTableResponse{})
	if err != nil {
		return explain(err, "create", table)
	}
	c.regions.drop(table)
	return c.procedure(ctx, msg.(*pb.CreateTableResponse).GetProcId(), "create", table)
}

func (c *client) DropTable(ctx context.Context, table string) error {
	c.regions.drop(table)
	msg, err := c.master(ctx, "DisableTable", &pb.DisableTableRequest{TableName: tableName(table)}, &pb.DisableTableResponse{})
	if err == nil {
		err = c.procedure(ctx, msg.(*pb.DisableTableResponse).GetProcId(), "disable", table)
	} else if strings.Contains(err.Error(), "TableNotEnabledException") {
		err = nil // a drop that was cut short left it disabled
	}
	if err != nil {
		return explain(err, "drop", table)
	}
	msg, err = c.master(ctx, "DeleteTable", &pb.DeleteTableRequest{TableName: tableName(table)}, &pb.DeleteTableResponse{})
	if err != nil {
		return explain(err, "drop", table)
	}
	return c.procedure(ctx, msg.(*pb.DeleteTableResponse).GetProcId(), "drop", table)
}

// procedure waits for the master to finish one.
func (c *client) procedure(ctx context.Context, id uint64, doing, table string) error {
	ctx, cancel := context.WithTimeout(ctx, metaTimeout)
	defer cancel()
	var b backoff
	for {
		msg, err := c.master(ctx, "getProcedureResult", &pb.GetProcedureResultRequest{ProcId: proto.Uint64(id)}, &pb.GetProcedureResultResponse{})
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
			return fmt.Errorf("%s %s: the master forgot the procedure", doing, table)
		}
		if err := b.wait(ctx); err != nil {
			return explain(err, doing, table)
		}
	}
}

package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// door is a store or cluster whose servers take messages as they are.
type door interface {
	// send sends a message to the region server. busy, if not nil, names a region that is too busy to write: one of a store
	// never is but by a fault.
	send(busy []byte, method string, req, resp proto.Message) (proto.Message, error)
	// procedure has the master do something and waits until it is done.
	procedure(method string, req proto.Message) error
	// locate gives the name of the region that holds a key.
	locate(table, key string) []byte
	split(table string, region []byte, key string) error
	merge(table string, a, b []byte) error
}

// embeddedDoor is that of a store.
type embeddedDoor struct{ *Store }

func (d embeddedDoor) send(busy []byte, _ string, req, _ proto.Message) (proto.Message, error) {
	i := &injection{}
	if t, g, ok := d.catalog.regionByName(busy); ok {
		i = &injection{from: &d.faults, tooBusy: true}
		if err := d.before(context.Background(), t, g, req, i); err != nil {
			return nil, err
		}
	}
	msg, b, err := d.execute(context.Background(), req, i)
	if err == nil && b != nil && len(b.buf) > 0 {
		inlineAll(msg, b)
	}
	return msg, err
}

func (d embeddedDoor) procedure(_ string, req proto.Message) error {
	_, err := d.master(req)
	return err
}

func (d embeddedDoor) locate(table, key string) []byte {
	t, _ := d.catalog.lookup(table)
	return t.region([]byte(key)).name
}

func (d embeddedDoor) split(table string, _ []byte, key string) error {
	return d.Split(table, []byte(key))
}
func (d embeddedDoor) merge(table string, _, _ []byte) error { return d.Merge(table, nil) }

// realDoor is that of an HBase of one server.
type realDoor struct {
	server
	caller gohbase.Client // whose calls are answered
}

func info(c gohbase.Client, table, key string) hrpc.RegionInfo {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	g := must(hrpc.NewGetStr(ctx, table, key, hrpc.SkipBatch()))
	must(c.Get(g))
	return g.Region()
}

func (d realDoor) locate(table, key string) []byte { return info(d, table, key).Name() }

func (d realDoor) send(_ []byte, method string, req, resp proto.Message) (proto.Message, error) {
	server := info(d.caller, "hbase:meta", "a").Client()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	call := &rawCall{must(hrpc.NewGetStr(ctx, "", "", hrpc.SkipBatch())), method, req, resp}
	server.QueueRPC(call)
	select {
	case r := <-call.ResultChan():
		return r.Msg, r.Error
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (d realDoor) master(method string, req, resp proto.Message) (proto.Message, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return d.admin.(gohbase.RPCClient).SendRPC(&rawCall{must(hrpc.NewGetStr(ctx, "", "", hrpc.SkipBatch())), method, req, resp})
}

func (d realDoor) procedure(method string, req proto.Message) error {
	msg, err := d.master(method, req, &pb.EnableTableResponse{}) // the answers to all of them are alike
	for err == nil {
		id := msg.(*pb.EnableTableResponse).ProcId
		var done proto.Message
		if done, err = d.master("getProcedureResult", &pb.GetProcedureResultRequest{ProcId: id}, &pb.GetProcedureResultResponse{}); err != nil {
			break
		}
		r := done.(*pb.GetProcedureResultResponse)
		if e := r.GetException().GetGenericException(); e != nil {
			return fmt.Errorf("%s: %s", e.GetClassName(), e.GetMessage())
		}
		if r.GetState() == pb.GetProcedureResultResponse_FINISHED {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

func (d realDoor) split(table string, region []byte, key string) error {
	name := strings.Split(string(region), ",")
	id, err := strconv.ParseUint(strings.Split(name[2], ".")[0], 10, 64)
	if err != nil {
		return err
	}
	stop := info(d, table, "a").StopKey()
	parent := must(proto.Marshal(&pb.RegionInfo{RegionId: &id, TableName: tableNameOf(table), StartKey: []byte(name[1]), EndKey: stop}))
	return d.procedure("SplitRegion", fields(parent, 2, []byte(key)))
}

func (d realDoor) merge(_ string, a, b []byte) error {
	encoded := func(name []byte) []byte {
		return must(proto.Marshal(&pb.RegionSpecifier{Type: pb.RegionSpecifier_ENCODED_REGION_NAME.Enum(), Value: []byte(strings.Split(string(name), ".")[1])}))
	}
	return d.procedure("MergeTableRegions", fields(encoded(a), 1, encoded(b)))
}

// fields is a message of a type that gohbase lacks: its field 1, and another.
func fields(first []byte, n protowire.Number, second []byte) proto.Message {
	raw := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), first)
	raw = protowire.AppendBytes(protowire.AppendTag(raw, n, protowire.BytesType), second)
	m := &pb.IsMasterRunningRequest{}
	m.ProtoReflect().SetUnknown(raw)
	return m
}

// rawCall is a message as it is; the Get stands for what a call needs beside.
type rawCall struct {
	*hrpc.Get
	method    string
	req, resp proto.Message
}

func (c *rawCall) Name() string               { return c.method }
func (c *rawCall) Description() string        { return c.method }
func (c *rawCall) ToProto() proto.Message     { return c.req }
func (c *rawCall) NewResponse() proto.Message { return proto.Clone(c.resp) }
func (c *rawCall) DeserializeCellBlocks(_ proto.Message, b []byte) (uint32, error) {
	return uint32(len(b)), nil
}

func tableNameOf(table string) *pb.TableName {
	return &pb.TableName{Namespace: []byte("default"), Qualifier: []byte(table)}
}

func specifier(region []byte) *pb.RegionSpecifier {
	return &pb.RegionSpecifier{Type: pb.RegionSpecifier_REGION_NAME.Enum(), Value: region}
}

package store

import (
	"context"
	"errors"
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
	// send sends a message to the region server. The fault befalls it if it is about that region of a store.
	send(region []byte, fault injection, method string, req, resp proto.Message) (proto.Message, error)
	// procedure has the master do something and waits until it is done.
	procedure(method string, req proto.Message) error
	// locate gives the name of the region that holds a key.
	locate(table, key string) []byte
	split(table string, region []byte, key string) error
	merge(table string, a, b []byte) error
	// gather sees to it that send's server has the regions of these keys, and move that another server has one.
	gather(table string, keys ...string) error
	move(table, key string) error
	// stranger gives the name of a region of the table, which was just made, that send's server does not have; nil where it has all of these keys.
	stranger(table string, keys ...string) []byte
	// throttle refuses calls on a table, one of whose regions is named.
	throttle(table string, region []byte) error
}

// embeddedDoor is that of a store.
type embeddedDoor struct{ *Store }

func (d embeddedDoor) send(region []byte, fault injection, _ string, req, _ proto.Message) (proto.Message, error) {
	if t, g, ok := d.catalog.regionByName(region); ok {
		fault.from = &d.faults
		if err := d.before(context.Background(), t, g, req, &fault); err != nil {
			return nil, err
		}
	}
	msg, b, err := d.execute(context.Background(), req, &fault)
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
func (d embeddedDoor) gather(string, ...string) error        { return nil }
func (d embeddedDoor) move(table, key string) error          { return d.Move(table, []byte(key)) }
func (d embeddedDoor) throttle(string, []byte) error         { return nil }
func (d embeddedDoor) stranger(table string, keys ...string) []byte {
	return d.locate(table, keys[0])
}

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

func (d realDoor) send(_ []byte, _ injection, method string, req, resp proto.Message) (proto.Message, error) {
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

func (d realDoor) gather(table string, keys ...string) error {
	for _, key := range keys {
		if info(d, table, key).Client().Addr() == info(d, "hbase:meta", "a").Client().Addr() {
			continue
		}
		if err := d.move(table, key); err != nil {
			return err
		}
	}
	return nil
}

func (d realDoor) stranger(table string, keys ...string) []byte {
	for _, key := range keys {
		if g := info(d, table, key); g.Client().Addr() != info(d, "hbase:meta", "a").Client().Addr() {
			return g.Name()
		}
	}
	return nil
}

func (d realDoor) move(table, key string) error {
	encoded := strings.Split(string(d.locate(table, key)), ".")[1]
	_, err := d.master("MoveRegion", &pb.MoveRegionRequest{Region: specifier([]byte(encoded))}, &pb.MoveRegionResponse{})
	return err
}

// throttle gives the table a quota of a request a day, and uses it up.
func (d realDoor) throttle(table string, region []byte) error {
	quota := &pb.ThrottleRequest{Type: pb.ThrottleType_REQUEST_NUMBER.Enum(), TimedQuota: &pb.TimedQuota{TimeUnit: pb.TimeUnit_DAYS.Enum(), SoftLimit: proto.Uint64(1)}}
	if _, err := d.master("SetQuota", &pb.SetQuotaRequest{TableName: tableNameOf(table), Throttle: quota}, &pb.SetQuotaResponse{}); err != nil {
		return err
	}
	get := &pb.GetRequest{Region: specifier(region), Get: &pb.Get{Row: []byte("a")}}
	for range 600 { // servers look for quotas once in a while
		if _, err := d.send(nil, injection{}, "Get", get, &pb.GetResponse{}); err != nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("the quota is not kept")
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

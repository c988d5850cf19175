package hbase

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/hbase/hbasetest"
)

// onlyMaster is the server of an empty hbase:meta, and of the master: itself or another one. It loses the first answer
// to each call that creates or drops a table.
type onlyMaster struct {
	t    *testing.T
	addr string

	mu     sync.Mutex
	active string            // the address of the active master
	done   map[string]uint64 // the nonces of what was done, by method
	lost   int               // so many more answers tell that no procedure was found
}

func (m *onlyMaster) listen() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { l.Close() })
	m.addr, m.done = l.Addr().String(), map[string]uint64{}
	m.active = m.addr
	go serveAll(l, func(conn net.Conn) { serveCalls(conn, m.answer) })
}

func (m *onlyMaster) setActive(addr string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active = addr
}

// request reads a call's message.
func request[M proto.Message](t *testing.T, frame []byte, message M) M {
	_, n := protowire.ConsumeBytes(frame)
	body, _ := protowire.ConsumeBytes(frame[max(n, 0):])
	if err := proto.Unmarshal(body, message); err != nil {
		t.Error(err)
	}
	return message
}

func (m *onlyMaster) answer(call *pb.RequestHeader, frame []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	head := &pb.ResponseHeader{CallId: call.CallId}
	raw := func(b []byte) []byte { return answer(m.t, head, unknown(b), nil) }
	// change does what may be done once.
	change := func(nonce uint64, again string, done proto.Message) []byte {
		switch before, twice := m.done[call.GetMethodName()]; {
		case !twice:
			m.done[call.GetMethodName()] = nonce
			return nil
		case before == 0 || before != nonce:
			head.Exception = &pb.ExceptionResponse{ExceptionClassName: &again, StackTrace: &again}
			return answer(m.t, head, nil, nil)
		}
		return answer(m.t, head, done, nil)
	}
	switch call.GetMethodName() {
	case "GetClusterId":
		return raw(field(1, []byte("c")))
	case "GetMetaRegionLocations":
		return raw(field(1, append(field(1, marshal(m.t, &pb.RegionInfo{RegionId: proto.Uint64(1), TableName: tableName("hbase:meta")})), field(2, serverAt(m.t, m.addr))...)))
	case "GetActiveMaster":
		return raw(field(1, serverAt(m.t, m.active)))
	case "Scan":
		return answer(m.t, head, &pb.ScanResponse{MoreResults: proto.Bool(false)}, nil)
	case "CreateTable":
		return change(request(m.t, frame, &pb.CreateTableRequest{}).GetNonce(), "org.apache.hadoop.hbase.TableExistsException", &pb.CreateTableResponse{ProcId: proto.Uint64(1)})
	case "DisableTable":
		return change(request(m.t, frame, &pb.DisableTableRequest{}).GetNonce(), "org.apache.hadoop.hbase.TableNotFoundException", &pb.DisableTableResponse{ProcId: proto.Uint64(1)})
	case "DeleteTable":
		return change(request(m.t, frame, &pb.DeleteTableRequest{}).GetNonce(), "org.apache.hadoop.hbase.TableNotFoundException", &pb.DeleteTableResponse{ProcId: proto.Uint64(1)})
	case "getProcedureResult":
		if m.lost > 0 {
			m.lost--
			return answer(m.t, head, &pb.GetProcedureResultResponse{State: pb.GetProcedureResultResponse_NOT_FOUND.Enum()}, nil)
		}
		return answer(m.t, head, &pb.GetProcedureResultResponse{State: pb.GetProcedureResultResponse_FINISHED.Enum()}, nil)
	case "GetTableDescriptors":
		return answer(m.t, head, &pb.GetTableDescriptorsResponse{TableSchema: []*pb.TableSchema{{TableName: tableName("t"), ColumnFamilies: []*pb.ColumnFamilySchema{{
			Name: []byte("f"), Attributes: []*pb.BytesBytesPair{{First: []byte("VERSIONS"), Second: []byte("3")}},
			Configuration: []*pb.NameStringPair{{Name: proto.String("hbase.store.engine.class"), Value: proto.String("Stripes")}}}}}}}, nil)
	case "GetTableNames":
		return answer(m.t, head, &pb.GetTableNamesResponse{TableNames: []*pb.TableName{tableName("t")}}, nil)
	}
	return raw(nil)
}

// dialMaster gives a cluster of a master alone, and a client of it.
func dialMaster(t *testing.T) (*onlyMaster, Client) {
	t.Helper()
	m := &onlyMaster{t: t}
	m.listen()
	c, err := Dial(t.Context(), Config{Servers: m.addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return m, c
}

// unknown is a message of these bytes.
func unknown(b []byte) proto.Message {
	m := &pb.GetClusterStatusRequest{}
	m.ProtoReflect().SetUnknown(b)
	return m
}

// A table is made, and dropped, once, whatever becomes of the answers: what is asked again is known again.
func TestLostAnswerOfMaster(t *testing.T) {
	m, c := dialMaster(t)
	if err := c.CreateTable(within(t), "t", []Family{{Name: "f"}}, nil); err != nil {
		t.Error(err)
	}
	if err := c.DropTable(within(t), "t", nil); err != nil {
		t.Error(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.done) != 3 {
		t.Errorf("%v", m.done)
	}
}

// A procedure that ends while the master looks for it is not found once. Not found again, nobody knows what became of it.
func TestProcedureNotFound(t *testing.T) {
	for lost := range 3 {
		m, c := dialMaster(t)
		m.mu.Lock()
		m.lost = lost
		m.mu.Unlock()
		err := c.CreateTable(within(t), "t", []Family{{Name: "f"}}, nil)
		if lost < 2 && err != nil || lost == 2 && (err == nil || !strings.Contains(err.Error(), "no longer knows the procedure")) {
			t.Errorf("%d: %v", lost, err)
		}
	}
}

// The description of a family includes its configuration, in addition to its attributes.
func TestConfigurationOfFamily(t *testing.T) {
	_, c := dialMaster(t)
	families, err := c.Families(within(t), "t")
	if got := fmt.Sprint(families); err != nil || got != "[{f map[VERSIONS:3 hbase.store.engine.class:Stripes]}]" {
		t.Errorf("%s, %v", got, err)
	}
}

// A master that does not answer is asked once: it may be master no longer.
func TestMasterThatDoesNotAnswer(t *testing.T) {
	m := &onlyMaster{t: t}
	m.listen()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan struct{}, 100)
	go serveAll(l, func(conn net.Conn) {
		serveCalls(conn, func(*pb.RequestHeader, []byte) []byte { asked <- struct{}{}; return []byte{} })
	})
	m.setActive(l.Addr().String())
	c, err := Dial(t.Context(), Config{Servers: m.addr, AttemptTimeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	listed := make(chan error, 1)
	go func() {
		names, err := c.PermittedTables(within(t))
		if err == nil && len(names) != 1 {
			err = errors.New("no names")
		}
		listed <- err
	}()
	<-asked
	m.setActive(m.addr)
	select {
	case err := <-listed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the master of before is waited for")
	}
}

// On an HBase: a call that makes a table is known again.
func TestHBaseKnowsCallAgain(t *testing.T) {
	c, err := Dial(t.Context(), Config{Quorum: hbasetest.Quorum(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	req := createTable("known_again", []Family{{Name: "f"}}, nil)
	var procedures []uint64
	for range 2 {
		msg, err := c.(*client).callMaster(within(t), "CreateTable", req, &pb.CreateTableResponse{})
		if err != nil {
			t.Fatal(err)
		}
		procedures = append(procedures, msg.(*pb.CreateTableResponse).GetProcId())
	}
	if procedures[0] != procedures[1] {
		t.Errorf("it is made by %v", procedures)
	}
	if err := c.(*client).procedure(within(t), procedures[0], "create", "known_again"); err != nil {
		t.Error(err)
	}
	if err := c.DropTable(within(t), "known_again", nil); err != nil {
		t.Error(err)
	}
}

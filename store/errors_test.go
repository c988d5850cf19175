package store

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/tsuna/gohbase"
	hfilter "github.com/tsuna/gohbase/filter"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/race"
)

// TestErrors runs testdata/errors on the store, and TestErrorsOfHBase on a real HBase, from which the file was recorded with
//
//	go test ./store -run TestErrorsOfHBase -rewrite
//
// Each of its situations is brought about, and then calls of all kinds are sent to the region server as they are, so that no
// client hides what it says. A line tells of a call what it was answered: its class, after "call:" where the whole call failed,
// after "region:" where all of a region's part of a Multi did, and else in the place of its action. Rows that were stored
// although something was refused are named behind.
func TestErrors(t *testing.T) {
	if flag.Lookup("rewrite").Value.String() == "true" {
		t.Skip("the real HBase is what is recorded")
	}
	s := embedded(t).Client.(*Store)
	s.SetFaults(Faults{})
	runErrors(t, "errors", embeddedDoor{s}, situations)
}

func TestErrorsOfHBase(t *testing.T) {
	race.Skip(t) // asks a server, and runs nothing of ours
	s := realServer(t)
	runErrors(t, "errors", realDoor{s, s}, situations)
}

// The answers of a region server if the region has moved, or the table has a quota.
func TestErrorsOfServers(t *testing.T) {
	if flag.Lookup("rewrite").Value.String() == "true" {
		t.Skip("the real HBase is what is recorded")
	}
	s := embedded(t).Client.(*Store)
	s.SetFaults(Faults{})
	runErrors(t, "errors_servers", embeddedDoor{s}, ofServers)
}

// pairTakes is the largest request, in bytes, that the servers of startPair accept.
const pairTakes = 1 << 20

// startPair starts an HBase of two region servers with quotas, and stops it after the test. It takes half a minute and skips
// unless HQL_TEST_GUARDED is set.
func startPair(tb testing.TB) (quorum string) {
	tb.Helper()
	if os.Getenv("HQL_TEST_GUARDED") == "" {
		tb.Skip("set HQL_TEST_GUARDED=1 to check against an HBase of two region servers")
	}
	return hbasetest.Several(tb, 2, [2]string{"hbase.quota.enabled", "true"}, [2]string{"hbase.quota.refresh.period", "200"}, [2]string{"hbase.ipc.max.request.size", fmt.Sprint(pairTakes)})
}

// TestErrorsOfHBaseServers records errors_servers, and what HBase answers to a request that is too large for it; the store has
// no such bound. The server closes the connection then, which no other situation shares.
func TestErrorsOfHBaseServers(t *testing.T) {
	race.Skip(t) // as TestErrorsOfHBase
	s := serverAt(t, startPair(t))
	runErrors(t, "errors_servers", realDoor{s, s}, ofServers)
	runErrors(t, "errors_too_large", realDoor{s, s}, []situation{{name: "the request is too large", part: func(p *part) { p.value = make([]byte, pairTakes) },
		only: []string{"put", "check and put", "multi put", "multi checked"}}})
}

// The answers of an HBase with permissions to a user who has none; the store has no users.
func TestErrorsNotPermitted(t *testing.T) {
	race.Skip(t) // as TestErrorsOfHBase
	quorum := hbasetest.Guarded(t)
	nobody := serverAt(t, quorum, gohbase.EffectiveUser("nobody"))
	owner := serverAt(t, quorum, gohbase.EffectiveUser(must(user.Current()).Username))
	runErrors(t, "errors_not_permitted", realDoor{owner, nobody}, []situation{{name: "the user may do nothing", schema: func(*pb.TableSchema) {}}})
}

func runErrors(t *testing.T, file string, d door, situations []situation) {
	shared := wrong{t: t, door: d}
	shared.newTable(nil)
	defer shared.drop()
	answers := make([]string, len(situations))
	var wg sync.WaitGroup
	for i, s := range situations { // all at once, as a cluster takes its time to change regions
		w := shared
		w.situation, w.rows = s, fmt.Sprintf("k%02d", i)
		wg.Go(func() { answers[i] = w.answers() })
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	datadriven.RunTest(t, filepath.Join("testdata", file), func(t *testing.T, td *datadriven.TestData) string {
		i := slices.IndexFunc(situations, func(s situation) bool { return s.name == td.Input })
		if i < 0 {
			td.Fatalf(t, "no such situation")
		}
		return answers[i]
	})
}

// situation is what is wrong.
type situation struct {
	name string
	// schema makes the table of its own that the situation has; it has one, too, when broken is set.
	schema func(*pb.TableSchema)
	// broken changes the region after a client learned its name.
	broken func(w *wrong) error
	// fault is what then befalls calls on the region of a store, where it is no state that a store can be in.
	fault injection
	// part makes a part of a call wrong: the only one, or the middle one of a Multi.
	part func(p *part)
	// scanner makes a call on an open scanner wrong.
	scanner func(w *wrong, m *pb.ScanRequest)
	only    []string // the calls that it can be wrong with; nil: all
}

// part is what calls are made of.
type part struct {
	row, family  string
	value, delta []byte // delta is of increments
	time         *uint64
	times        *pb.TimeRange
	filter       string // its class
	noCells      bool
	checked      struct{ row, family, comparator string }
}

var situations = []situation{
	{name: "nothing is wrong", part: func(*part) {}},
	{name: "the region was split", broken: func(w *wrong) error { return w.split(w.table, w.region, "g") }},
	{name: "the region was merged", broken: func(w *wrong) error { return w.merge(w.table, w.region, w.locate(w.table, "z")) }},
	{name: "the table is disabled", broken: (*wrong).disable},
	{name: "the table is disabled and enabled again", broken: func(w *wrong) error { return errors.Join(w.disable(), w.enable()) }},
	{name: "the table was dropped", broken: func(w *wrong) error { return errors.Join(w.disable(), w.delete()) }},
	{name: "the table was dropped and created again", broken: func(w *wrong) error {
		return errors.Join(w.disable(), w.delete(), w.create(nil))
	}},
	{name: "the name is none of a region", broken: func(w *wrong) error {
		w.region = []byte("never,,1700000000000.0123456789abcdef0123456789abcdef.")
		return nil
	}},
	{name: "the table is read-only", schema: func(s *pb.TableSchema) {
		s.Attributes = []*pb.BytesBytesPair{{First: []byte("READONLY"), Second: []byte("true")}}
	}},
	{name: "the region is too busy", schema: func(s *pb.TableSchema) { // no memory is little enough
		s.Configuration = []*pb.NameStringPair{{Name: proto.String("hbase.hregion.memstore.block.multiplier"), Value: proto.String("-1")}}
	}, fault: injection{tooBusy: true}, only: writing},
	{name: "there is no such family", part: func(p *part) { p.family = "x" }},
	{name: "there is no such family to check", part: func(p *part) { p.checked.family = "x" }, only: comparing},
	{name: "the row is another region's", part: func(p *part) { p.row, p.checked.row = "z"+p.row, "z"+p.row }},
	{name: "the checked row is another", part: func(p *part) { p.checked.row += "0" }, only: checking},
	{name: "the checked row is another region's", part: func(p *part) { p.checked.row = "z" }, only: checking},
	{name: "the row is empty", part: func(p *part) { p.row, p.checked.row = "", "" }},
	{name: "the row is too long", part: func(p *part) {
		p.row = strings.Repeat("k", math.MaxInt16+1)
		p.checked.row = p.row
	}},
	{name: "the time is negative", part: func(p *part) {
		p.time = proto.Uint64(math.MaxUint64)
		p.times = &pb.TimeRange{From: p.time}
	}},
	{name: "the times end before they begin", part: func(p *part) { p.times = &pb.TimeRange{From: proto.Uint64(2), To: proto.Uint64(1)} }, only: reading},
	{name: "there is no such filter", part: func(p *part) { p.filter = "org.example.Filter" }, only: reading},
	{name: "there is no such comparator", part: func(p *part) { p.checked.comparator = "org.example.Comparator" }, only: comparing},
	{name: "the cell is too large", part: func(p *part) { p.value = make([]byte, maxCellSize) },
		only: []string{"put", "check and put", "multi put", "multi checked"}},
	{name: "the counter is no number", part: func(p *part) { p.delta = []byte("abc") }, only: counting},
	{name: notCounted, part: func(p *part) { p.family = "g" }, only: counting},
	{name: "there are no cells", part: func(p *part) { p.noCells = true }, only: []string{"put", "increment", "check and put", "multi put", "multi checked"}},
	{name: "the scanner was never opened", scanner: func(_ *wrong, m *pb.ScanRequest) { m.ScannerId = proto.Uint64(1 << 40) }},
	{name: "the scanner was closed", scanner: func(w *wrong, m *pb.ScanRequest) {
		_, err := w.send("Scan", &pb.ScanRequest{ScannerId: m.ScannerId, CloseScanner: proto.Bool(true)}, &pb.ScanResponse{})
		w.fail(err)
	}},
	{name: "the call on the scanner is out of order", scanner: func(_ *wrong, m *pb.ScanRequest) { m.NextCallSeq = proto.Uint64(7) }},
}

var ofServers = []situation{
	{name: "the region moved to another server", broken: func(w *wrong) error { return w.move(w.table, "a") }, fault: injection{move: true}},
	{name: "the region was never on the server", broken: (*wrong).stray, fault: injection{stray: true}, only: withoutScanner},
	{name: "the table has a quota", broken: func(w *wrong) error { return w.throttle(w.table, w.region) }, fault: injection{throttle: true}},
}

const notCounted = "the stored counter is no number"

var (
	reading   = []string{"get", "scan", "multi get"}
	checking  = []string{"check and put", "multi checked"}
	comparing = []string{"check and put"}
	writing   = []string{"put", "delete", "increment", "check and put", "multi put", "multi delete", "multi checked"}
	counting  = []string{"increment"}
	// The scanners of a server are of its own regions.
	withoutScanner = append([]string{"get", "scan", "multi get"}, writing...)
)

// wrong is a situation that was brought about.
type wrong struct {
	t *testing.T
	door
	situation
	table  string
	region []byte // the name of its first region as a client had learned it
	began  bool   // the situation is there
	next   []byte // a region of another table that is well; nil where the region is
	rows   string // what the rows of its calls begin with
	calls  int
	opened []uint64 // the scanners for the calls on scanners
}

// fail ends the situation.
func (w *wrong) fail(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", w.name, err)
	}
}

var tables atomic.Int32

// newTable makes the table of the situation, of two regions.
func (w *wrong) newTable(schema func(*pb.TableSchema)) {
	w.table = fmt.Sprintf("errors%d_%d", os.Getpid(), tables.Add(1))
	w.fail(w.create(schema))
	w.region = w.locate(w.table, "a")
}

// create makes the table, on the server that calls are sent to.
func (w *wrong) create(schema func(*pb.TableSchema)) error {
	if err := w.spread(schema); err != nil {
		return err
	}
	return w.gather(w.table, "a", "z")
}

// stray finds a region of a new table that is on another server.
func (w *wrong) stray() error {
	for range 10 {
		if err := errors.Join(w.disable(), w.delete(), w.spread(nil)); err != nil {
			return err
		}
		if w.region = w.stranger(w.table, "a", "z"); w.region != nil {
			return nil
		}
	}
	return errors.New("all regions are on one server")
}

// spread makes the table, on the servers that the master chooses.
func (w *wrong) spread(schema func(*pb.TableSchema)) error {
	versions := []*pb.BytesBytesPair{{First: []byte("VERSIONS"), Second: []byte("1")}}
	s := &pb.TableSchema{TableName: tableNameOf(w.table), ColumnFamilies: []*pb.ColumnFamilySchema{
		{Name: []byte("f"), Attributes: versions}, {Name: []byte("g"), Attributes: versions}}}
	if schema != nil {
		schema(s)
	}
	return w.procedure("CreateTable", &pb.CreateTableRequest{TableSchema: s, SplitKeys: [][]byte{[]byte("m")}})
}

func (w *wrong) disable() error {
	return w.procedure("DisableTable", &pb.DisableTableRequest{TableName: tableNameOf(w.table)})
}

func (w *wrong) enable() error {
	return w.procedure("EnableTable", &pb.EnableTableRequest{TableName: tableNameOf(w.table)})
}

func (w *wrong) delete() error {
	return w.procedure("DeleteTable", &pb.DeleteTableRequest{TableName: tableNameOf(w.table)})
}

// drop leaves nothing of the table, whatever became of it.
func (w *wrong) drop() {
	_ = w.disable()
	_ = w.delete()
}

func (w *wrong) send(method string, req, resp proto.Message) (proto.Message, error) {
	fault := injection{}
	if w.began {
		fault = w.fault
	}
	return w.door.send(w.region, fault, method, req, resp)
}

// answers brings the situation about and gives a line for each call.
func (w *wrong) answers() string {
	if w.broken != nil || w.schema != nil {
		w.next = w.region
		w.newTable(w.schema)
		defer w.drop()
	}
	if w.broken != nil || w.scanner != nil {
		for range 3 {
			req := &pb.ScanRequest{Region: specifier(w.region), Scan: &pb.Scan{}, NumberOfRows: proto.Uint32(0)}
			msg, err := w.send("Scan", req, &pb.ScanResponse{})
			w.fail(err)
			w.opened = append(w.opened, msg.(*pb.ScanResponse).GetScannerId())
		}
	}
	if w.broken != nil {
		w.fail(w.broken(w))
	}
	w.began = true
	var b strings.Builder
	for _, c := range calls {
		if c.scanner && w.opened == nil || !c.scanner && w.situation.scanner != nil || w.only != nil && !slices.Contains(w.only, c.name) {
			continue
		}
		fmt.Fprintf(&b, "%-16s %s\n", c.name, c.run(w))
	}
	return b.String()
}

// parts gives the parts of a new call, the middle one wrong, or the only one.
func (w *wrong) parts(n int) []part {
	w.calls++
	out := make([]part, n)
	for i := range out {
		p := &out[i]
		p.row, p.family, p.value, p.delta = fmt.Sprintf("%s%02d%c", w.rows, w.calls, 'a'+i), "f", []byte("v"), binary.BigEndian.AppendUint64(nil, 1)
		p.checked.row, p.checked.family, p.checked.comparator = p.row, "f", filterPackage+"BinaryComparator"
		if i == n/2 && w.part != nil {
			w.part(p)
		}
	}
	return out
}

func (p *part) get() *pb.Get {
	g := &pb.Get{Row: []byte(p.row), Column: []*pb.Column{{Family: []byte(p.family)}}, TimeRange: p.times}
	if p.filter != "" {
		g.Filter = &pb.Filter{Name: &p.filter}
	}
	return g
}

func (p *part) scan() *pb.Scan {
	g := p.get()
	return &pb.Scan{StartRow: g.Row, Column: g.Column, TimeRange: g.TimeRange, Filter: g.Filter}
}

func (p *part) mutation(kind pb.MutationProto_MutationType) *pb.MutationProto {
	m := &pb.MutationProto{Row: []byte(p.row), MutateType: &kind, Timestamp: p.time}
	if p.noCells {
		return m
	}
	q := &pb.MutationProto_ColumnValue_QualifierValue{Qualifier: []byte("q"), Value: p.value, Timestamp: p.time}
	switch kind {
	case pb.MutationProto_INCREMENT:
		q.Value = p.delta
	case pb.MutationProto_DELETE:
		q.Value, q.DeleteType = nil, pb.MutationProto_DELETE_MULTIPLE_VERSIONS.Enum()
	}
	m.ColumnValue = []*pb.MutationProto_ColumnValue{{Family: []byte(p.family), QualifierValue: []*pb.MutationProto_ColumnValue_QualifierValue{q}}}
	return m
}

// condition is that a cell is absent.
func (p *part) condition() *pb.Condition {
	empty := must(proto.Marshal(&pb.BinaryComparator{Comparable: &pb.ByteArrayComparable{Value: []byte{}}}))
	return &pb.Condition{Row: []byte(p.checked.row), Family: []byte(p.checked.family), Qualifier: []byte("absent"), CompareType: pb.CompareType_EQUAL.Enum(),
		Comparator: &pb.Comparator{Name: &p.checked.comparator, SerializedComparator: empty}}
}

// caller is a kind of call.
type caller struct {
	name    string
	scanner bool // it continues a scanner
	run     func(w *wrong) string
}

var calls = []caller{
	{name: "get", run: (*wrong).get},
	{name: "scan", run: (*wrong).open},
	{name: "renew a scanner", scanner: true, run: func(w *wrong) string { return w.onScanner(&pb.ScanRequest{Renew: proto.Bool(true)}) }},
	{name: "next of a scan", scanner: true, run: func(w *wrong) string { return w.onScanner(&pb.ScanRequest{NumberOfRows: proto.Uint32(1)}) }},
	{name: "close a scanner", scanner: true, run: func(w *wrong) string {
		return w.onScanner(&pb.ScanRequest{NumberOfRows: proto.Uint32(0), CloseScanner: proto.Bool(true)})
	}},
	{name: "put", run: mutate(pb.MutationProto_PUT)},
	{name: "delete", run: mutate(pb.MutationProto_DELETE)},
	{name: "increment", run: mutate(pb.MutationProto_INCREMENT)},
	{name: "check and put", run: (*wrong).checkAndPut},
	{name: "multi get", run: func(w *wrong) string {
		return w.multi(func(p *part) *pb.Action { return &pb.Action{Get: p.get()} })
	}},
	{name: "multi put", run: multiOf(pb.MutationProto_PUT)},
	{name: "multi delete", run: multiOf(pb.MutationProto_DELETE)},
	{name: "multi checked", run: (*wrong).multiChecked},
}

func (w *wrong) one(method string, req, resp proto.Message, p part) string {
	_, err := w.send(method, req, resp)
	return place("call", err) + w.stored([]part{p}, err != nil)
}

func (w *wrong) get() string {
	p := w.parts(1)[0]
	return w.one("Get", &pb.GetRequest{Region: specifier(w.region), Get: p.get()}, &pb.GetResponse{}, p)
}

func (w *wrong) open() string {
	p := w.parts(1)[0]
	req := &pb.ScanRequest{Region: specifier(w.region), Scan: p.scan(), NumberOfRows: proto.Uint32(1), CloseScanner: proto.Bool(true)}
	return w.one("Scan", req, &pb.ScanResponse{}, p)
}

// onScanner goes on with the scanner that was opened before.
func (w *wrong) onScanner(req *pb.ScanRequest) string {
	req.ScannerId, w.opened = &w.opened[0], w.opened[1:]
	if w.situation.scanner != nil {
		w.situation.scanner(w, req)
	}
	_, err := w.send("Scan", req, &pb.ScanResponse{})
	return place("call", err)
}

func mutate(kind pb.MutationProto_MutationType) func(w *wrong) string {
	return func(w *wrong) string {
		p := w.parts(1)[0]
		w.prepare([]part{p})
		return w.one("Mutate", &pb.MutateRequest{Region: specifier(w.region), Mutation: p.mutation(kind)}, &pb.MutateResponse{}, p)
	}
}

func (w *wrong) checkAndPut() string {
	p := w.parts(1)[0]
	req := &pb.MutateRequest{Region: specifier(w.region), Mutation: p.mutation(pb.MutationProto_PUT), Condition: p.condition()}
	return w.one("Mutate", req, &pb.MutateResponse{}, p)
}

func multiOf(kind pb.MutationProto_MutationType) func(w *wrong) string {
	return func(w *wrong) string {
		return w.multi(func(p *part) *pb.Action { return &pb.Action{Mutation: p.mutation(kind)} })
	}
}

// prepare stores a counter that is none where the situation says so.
func (w *wrong) prepare(ps []part) {
	for _, p := range ps {
		if w.name == notCounted && p.family == "g" {
			_, err := w.send("Mutate", &pb.MutateRequest{Region: specifier(w.region), Mutation: p.mutation(pb.MutationProto_PUT)}, &pb.MutateResponse{})
			w.fail(err)
		}
	}
}

// multi sends three actions to the region, and one to another table's where it is the region that is wrong.
func (w *wrong) multi(action func(p *part) *pb.Action) string {
	ps := w.parts(3)
	w.prepare(ps)
	ra := &pb.RegionAction{Region: specifier(w.region)}
	for i := range ps {
		a := action(&ps[i])
		a.Index = proto.Uint32(uint32(i))
		ra.Action = append(ra.Action, a)
	}
	req := &pb.MultiRequest{RegionAction: []*pb.RegionAction{ra}}
	if w.next != nil {
		p := w.parts(1)[0]
		a := action(&p)
		a.Index = proto.Uint32(0)
		req.RegionAction = append(req.RegionAction, &pb.RegionAction{Region: specifier(w.next), Action: []*pb.Action{a}})
	}
	return w.sendMulti(req, ps)
}

// multiChecked sends a Put whose condition, that a filter keeps a cell of the row, is not met.
func (w *wrong) multiChecked() string {
	ps := w.parts(1)
	a := &pb.Action{Mutation: ps[0].mutation(pb.MutationProto_PUT), Index: proto.Uint32(0)}
	ra := &pb.RegionAction{Region: specifier(w.region), Atomic: proto.Bool(true), Action: []*pb.Action{a}}
	ra.ProtoReflect().SetUnknown(conditionOf([]byte(ps[0].checked.row), must(hfilter.NewFirstKeyOnlyFilter().ConstructPBFilter())))
	return w.sendMulti(&pb.MultiRequest{RegionAction: []*pb.RegionAction{ra}}, ps)
}

func (w *wrong) sendMulti(req *pb.MultiRequest, ps []part) string {
	msg, err := w.send("Multi", req, &pb.MultiResponse{})
	if err != nil {
		return place("call", err) + w.stored(ps, true)
	}
	var b strings.Builder
	failed := false
	for i, rar := range msg.(*pb.MultiResponse).RegionActionResult {
		if i > 0 {
			b.WriteString("; the next region: ")
		}
		if rar.Exception != nil {
			failed = true
			b.WriteString(place("region", pairError(rar.Exception)))
			if len(rar.ResultOrException) > 0 {
				b.WriteString(" and ")
			}
		}
		for j, roe := range rar.ResultOrException {
			if j > 0 {
				b.WriteString(", ")
			}
			if int(roe.GetIndex()) != j {
				fmt.Fprintf(&b, "%d:", roe.GetIndex())
			}
			if roe.Exception != nil {
				failed = true
				b.WriteString(place("", pairError(roe.Exception)))
			} else {
				b.WriteString("ok")
			}
		}
		if rar.Exception == nil && len(rar.ResultOrException) == 0 {
			b.WriteString("ok")
		}
	}
	return b.String() + w.stored(ps, failed)
}

// stored names the rows of a refused call that are there.
func (w *wrong) stored(ps []part, refused bool) string {
	if !refused || w.next != nil {
		return ""
	}
	var there []string
	for i, p := range ps {
		if p.row == "" || len(p.row) > math.MaxInt16 {
			continue
		}
		g := &pb.Get{Row: []byte(p.row), Column: []*pb.Column{{Family: []byte("f"), Qualifier: [][]byte{[]byte("q")}}}}
		msg, err := w.send("Get", &pb.GetRequest{Region: specifier(w.locate(w.table, p.row)), Get: g}, &pb.GetResponse{})
		w.fail(err)
		if len(msg.(*pb.GetResponse).GetResult().GetCell()) > 0 {
			there = append(there, strconv.Itoa(i))
		}
	}
	if len(there) == 0 {
		return ""
	}
	return "; stored: " + strings.Join(there, ", ")
}

var javaClass = regexp.MustCompile(`HBase Java exception ([\w.$]+):`)

// place tells where an error was, and its class.
func place(where string, err error) string {
	if err == nil {
		return "ok"
	}
	m := javaClass.FindStringSubmatch(err.Error())
	if m == nil {
		return "error " + err.Error()
	}
	if where != "" {
		where += ": "
	}
	return where + m[1][strings.LastIndexByte(m[1], '.')+1:]
}

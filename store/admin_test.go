package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// masterCall sends any message to the master.
type masterCall struct {
	*hrpc.ListTableNames
	name string
	req  proto.Message
}

func (m masterCall) Name() string           { return m.name }
func (m masterCall) ToProto() proto.Message { return m.req }

func (w *world) master(name string, req proto.Message) (proto.Message, error) {
	return w.Admin().SendRPC(masterCall{must(hrpc.NewListTableNames(context.Background())), name, req})
}

func TestAdmin(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	a := w.Admin()
	fam := map[string]map[string]string{"f": nil}
	create := func(name string, fam map[string]map[string]string, splits ...string) string {
		var keys [][]byte
		for _, s := range splits {
			keys = append(keys, []byte(s))
		}
		err := a.CreateTable(hrpc.NewCreateTable(ctx, []byte(name), fam, hrpc.SplitKeys(keys)))
		return class(err)
	}
	for _, c := range []struct {
		name   string
		fam    map[string]map[string]string
		splits []string
		want   string
	}{
		{"t2", fam, nil, ""},
		{"t2", fam, nil, "TableExistsException"},
		{"ns:t", fam, nil, "IOException"}, // a namespace has a field of its own
		{"bad table", fam, nil, "IOException"},
		{"t3", nil, nil, "DoNotRetryIOException"},
		{"t3", fam, []string{"a", "a"}, "IOException"},
		{"t3", fam, []string{""}, "IOException"},
		{"t3", map[string]map[string]string{"f:g": nil}, nil, "IOException"},
		{"t3", fam, []string{"b", "a"}, ""},
	} {
		if got := create(c.name, c.fam, c.splits...); got != c.want {
			t.Errorf("create %q %v: %q, want %q", c.name, c.splits, got, c.want)
		}
	}
	table := []byte("t2")
	w.want("delete enabled", class(a.DeleteTable(hrpc.NewDeleteTable(ctx, table))), "TableNotDisabledException")
	w.want("disable", class(a.DisableTable(hrpc.NewDisableTable(ctx, table))), "")
	w.want("disable again", class(a.DisableTable(hrpc.NewDisableTable(ctx, table))), "TableNotEnabledException")
	w.want("enable", class(a.EnableTable(hrpc.NewEnableTable(ctx, table))), "")
	w.want("enable again", class(a.EnableTable(hrpc.NewEnableTable(ctx, table))), "TableNotDisabledException")
	w.want("no table", class(a.DisableTable(hrpc.NewDisableTable(ctx, []byte("no")))), "TableNotFoundException")
	w.want("names", w.tables(), "t t2 t3")
	w.want("names by pattern", w.tables(hrpc.ListRegex("t.+")), "t2 t3")
	w.want("system", w.tables(hrpc.ListSysTables(true)), "hbase:meta t t2 t3")
	if err := a.DisableTable(hrpc.NewDisableTable(ctx, table)); err != nil {
		t.Fatal(err)
	}
	w.want("delete", class(a.DeleteTable(hrpc.NewDeleteTable(ctx, table))), "")
	w.want("deleted", w.tables(), "t t3")
	if s := must(a.ClusterStatus()); len(s.GetLiveServers()) != 1 {
		t.Error(s)
	}
	for name, req := range map[string]proto.Message{
		"GetTableNames":       &pb.GetTableNamesRequest{Regex: proto.String("(")},
		"GetTableDescriptors": &pb.GetTableDescriptorsRequest{Regex: proto.String("(")},
	} {
		if _, err := w.master(name, req); class(err) != "IOException" {
			t.Errorf("%s by a pattern that is none: %v", name, err)
		}
	}
	if _, err := w.master("Nonsense", &pb.RunCatalogScanRequest{}); err == nil {
		t.Error("nonsense served")
	}
	w.Close()
	if _, err := a.ClusterStatus(); !errors.Is(err, gohbase.ErrClientClosed) {
		t.Errorf("status of a closed store: %v", err)
	}
}

func class(err error) string {
	if err == nil {
		return ""
	}
	return answer(nil, err)
}

func (w *world) tables(o ...func(hrpc.Call) error) string {
	var out []string
	for _, n := range must(w.Admin().ListTableNames(must(hrpc.NewListTableNames(context.Background(), o...)))) {
		out = append(out, nameOf(n))
	}
	return strings.Join(out, " ")
}

// A description returns the attributes given at creation, also in namespaces.
func TestDescribe(t *testing.T) {
	w := newWorld(t)
	name := &pb.TableName{Namespace: []byte("ns"), Qualifier: []byte("d")}
	pairs := func(kv ...string) (out []*pb.BytesBytesPair) {
		for i := 0; i < len(kv); i += 2 {
			out = append(out, &pb.BytesBytesPair{First: []byte(kv[i]), Second: []byte(kv[i+1])})
		}
		return out
	}
	schema := &pb.TableSchema{TableName: name, Attributes: pairs("OWNER", "me"), ColumnFamilies: []*pb.ColumnFamilySchema{
		{Name: []byte("a"), Attributes: pairs("VERSIONS", "7", "BLOOMFILTER", "ROWCOL", "ODD", "\x00"),
			Configuration: []*pb.NameStringPair{{Name: proto.String("k"), Value: proto.String("v")}}},
		{Name: []byte("b")}}}
	if _, err := w.master("CreateTable", &pb.CreateTableRequest{TableSchema: schema}); err != nil {
		t.Fatal(err)
	}
	msg, err := w.master("GetTableDescriptors", &pb.GetTableDescriptorsRequest{TableNames: []*pb.TableName{
		name, {Namespace: []byte("default"), Qualifier: []byte("none")}}})
	if err != nil {
		t.Fatal(err)
	}
	got := msg.(*pb.GetTableDescriptorsResponse).TableSchema
	if len(got) != 1 || !proto.Equal(got[0], schema) {
		t.Errorf("got %v\nwant %v", got, schema)
	}
	put := must(hrpc.NewPutStr(context.Background(), "ns:d", "r", map[string]map[string][]byte{"b": {"q": nil}}))
	if _, err := w.Put(put); err != nil {
		t.Error(err)
	}
	if g := put.Region(); string(g.Namespace()) != "ns" || string(g.Table()) != "d" || !strings.HasPrefix(string(g.Name()), "ns:d,,") {
		t.Errorf("region %v", g)
	}
}

// A raw multi-get answers action by action and names the region that it does not serve.
func TestMulti(t *testing.T) {
	w := newWorld(t, "m")
	w.put("a", 1, "f:x=1", "f:y=2")
	g := must(hrpc.NewGetStr(context.Background(), "t", "a"))
	tbl, _ := w.catalog.lookup("t")
	get := func(row string) *pb.Action { return &pb.Action{Get: &pb.Get{Row: []byte(row)}} }
	spec := func(name []byte) *pb.RegionSpecifier {
		return &pb.RegionSpecifier{Type: pb.RegionSpecifier_REGION_NAME.Enum(), Value: name}
	}
	call := &multiCall{Call: g, ctx: g.Context(), req: &pb.MultiRequest{RegionAction: []*pb.RegionAction{
		{Region: spec(tbl.regions[0].name), Action: []*pb.Action{get("a"), get("b"), get("z")}},
		{Region: spec([]byte("t,gone,1.x.")), Action: []*pb.Action{get("a")}},
	}}}
	msg, err := w.SendRPC(call)
	if err != nil {
		t.Fatal(err)
	}
	r := msg.(*pb.MultiResponse).RegionActionResult
	var out []string
	for _, roe := range r[0].ResultOrException {
		out = append(out, fmt.Sprintf("%d:%d%s", roe.GetIndex(), len(roe.GetResult().GetCell()), roe.GetException().GetName()))
	}
	if want := []string{"0:2", "1:0", "2:0" + classWrongRegion}; !slices.Equal(out, want) {
		t.Errorf("got %v, want %v", out, want)
	}
	if r[1].GetException().GetName() != classNotServing {
		t.Error(r[1])
	}
}

func TestRegexes(t *testing.T) {
	message := func(pattern, charset string) *pb.RegexStringComparator {
		return &pb.RegexStringComparator{Pattern: &pattern, PatternFlags: proto.Int32(javaDotAll), Charset: &charset, Engine: proto.String("JAVA")}
	}
	for _, c := range []struct {
		pattern string
		yes, no string // separated by blanks
	}{
		{`b`, "abc b", "ac"},
		{`\Aa.*c\z`, "ac abbc a\nc", "bac acd"},
		{`a\.b`, "a.b", "aab"},
		{`\Aa.{2}(?:\x41|[\x62-\x63])`, "aaaA a\n\nbc", "aaad aA"},
		{`[a-c\]]\x31`, "a1 ]1", "d1"},
	} {
		cmp, err := newRegexComparator(message(c.pattern, "UTF-8"))
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for s := range strings.SplitSeq(c.yes, " ") {
			if cmp.compare([]byte(s)) != 0 {
				t.Errorf("%s does not match %q", c.pattern, s)
			}
		}
		for s := range strings.SplitSeq(c.no, " ") {
			if cmp.compare([]byte(s)) == 0 {
				t.Errorf("%s matches %q", c.pattern, s)
			}
		}
	}
	for _, p := range []string{`(?=a)`, `(?<!a)b`, `(a)\1`, `a*+`, `\Ga`, `a\s`, `a$`, `^a`, `\`, `\\\`, `[a`, `(`, `\x`, `\x4`, `\x{41}`, `\u0041`} {
		if _, err := newRegexComparator(message(p, "UTF-8")); err == nil {
			t.Errorf("%s was compiled", p)
		}
	}
	other := message("a", "UTF-8")
	other.PatternFlags = proto.Int32(0)
	if _, err := newRegexComparator(other); err == nil {
		t.Error("a pattern with other flags was compiled")
	}
	if c := must(newRegexComparator(message(`\A.é\z`, "ISO-8859-1"))); c.compare([]byte("\xff\xe9")) != 0 || c.compare([]byte("é")) == 0 {
		t.Error("ISO-8859-1")
	}
}

// Nothing remains of a deleted table, and other tables, older or newer, keep everything.
func TestDeletedTable(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	for _, name := range []string{"before", "gone", "after"} {
		w.create(name, map[string]map[string]string{"f": nil, "g": nil})
		for _, family := range []string{"f", "g"} {
			must(w.Put(must(hrpc.NewPutStr(ctx, name, "a", map[string]map[string][]byte{family: {"q": nil}}))))
		}
	}
	gone, _ := w.catalog.lookup("gone")
	a := w.Admin()
	if err := errors.Join(a.DisableTable(hrpc.NewDisableTable(ctx, []byte("gone"))), a.DeleteTable(hrpc.NewDeleteTable(ctx, []byte("gone")))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"before", "after"} {
		w.want(name, format(must(w.Get(must(hrpc.NewGetStr(ctx, name, "a"))))), "a f:q@1000000= g:q@1000000=")
	}
	it := must(w.db.NewIter(&pebble.IterOptions{LowerBound: appendPrefix(nil, gone.id, 0), UpperBound: appendPrefix(nil, gone.id+1, 0)}))
	defer it.Close()
	if it.First() {
		t.Errorf("%x stays", it.Key())
	}
}

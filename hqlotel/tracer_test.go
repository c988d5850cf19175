package hqlotel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hqlotel"
)

// open gives a DB of one table and the exporter that gets its spans.
func open(t *testing.T, options ...hqlotel.Option) (*hql.DB, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	tracer := hqlotel.New(append(options, hqlotel.WithTracerProvider(provider))...)
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithTracer(tracer), hql.WithFullScan(hql.FullScanDeny))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(ctx, "CREATE TABLE t (id INT PRIMARY KEY, name STRING); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')"); err != nil {
		t.Fatal(err)
	}
	spans.Reset()
	return db, spans
}

// tree draws spans below their parents, with their kinds and attributes.
func tree(spans tracetest.SpanStubs, parent trace.SpanID, indent string) string {
	var b strings.Builder
	for _, s := range spans {
		if s.Parent.SpanID() != parent {
			continue
		}
		var attrs []string
		for _, a := range s.Attributes {
			if a.Key != "hql.bytes" {
				attrs = append(attrs, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
			}
		}
		slices.Sort(attrs)
		fmt.Fprintf(&b, "%s%s (%s) %s\n", indent, s.Name, s.SpanKind, strings.Join(attrs, " "))
		b.WriteString(tree(spans, s.SpanContext.SpanID(), indent+"  "))
	}
	return b.String()
}

func TestSpans(t *testing.T) {
	db, spans := open(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM t WHERE id > 0 AND REPLACE(name, 'x', '') <> 'b'", `
SELECT (client) db.operation.name=SELECT db.response.returned_rows=2 db.system.name=hbase hql.access=scan hql.gets=0 hql.retries=0 hql.rows_read=3 hql.rpcs=1 hql.scans=1
  scan t (internal) db.collection.name=t db.system.name=hbase hql.access=scan hql.gets=0 hql.layout=primary hql.ranges=1 hql.rows_kept=2 hql.rows_read=3 hql.scans=1
    hbase Scan (client) db.collection.name=t db.system.name=hbase hql.rows_read=3 rpc.method=Scan
`},
		{"UPSERT INTO t VALUES (3, 'd')", `
INSERT (client) db.operation.name=INSERT db.response.returned_rows=0 db.system.name=hbase hql.gets=0 hql.retries=0 hql.rows_read=0 hql.rows_written=1 hql.rpcs=1 hql.scans=0
  hbase Multi (client) db.collection.name=t db.system.name=hbase hql.rows_read=0 rpc.method=Multi
`},
		{"SELECT * FROM t WHERE name = 'secret'", `
SELECT (client) db.operation.name=SELECT db.response.returned_rows=0 db.system.name=hbase error.type=refused hql.access=full scan hql.gets=0 hql.retries=0 hql.rows_read=0 hql.rpcs=0 hql.scans=0
`},
	} {
		spans.Reset()
		_, _ = db.Exec(context.Background(), c.sql)
		if got := "\n" + tree(spans.GetSpans(), trace.SpanID{}, ""); got != c.want {
			t.Errorf("%s:%s\nwant%s", c.sql, got, c.want)
		}
	}
}

// The texts of statements and errors are told only when asked for.
func TestQueryText(t *testing.T) {
	const sql = "SELECT * FROM t WHERE id = 1 AND nothing = 'secret'"
	for _, wanted := range []bool{false, true} {
		var options []hqlotel.Option
		if wanted {
			options = append(options, hqlotel.WithQueryText())
		}
		db, spans := open(t, options...)
		if _, err := db.Exec(context.Background(), sql); err == nil {
			t.Fatal("no error")
		}
		got := spans.GetSpans()
		if len(got) != 1 || got[0].Status.Code != codes.Error {
			t.Fatalf("%+v", got)
		}
		if all := fmt.Sprintf("%+v", got[0]); strings.Contains(all, "secret") != wanted || strings.Contains(got[0].Status.Description, "nothing") != wanted {
			t.Errorf("wanted %v: %s", wanted, all)
		}
	}
}

// A statement's span is a child of the caller's.
func TestParent(t *testing.T) {
	db, spans := open(t)
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	ctx, span := provider.Tracer("service").Start(context.Background(), "request")
	rows, err := db.Query(ctx, "SELECT * FROM t WHERE id = 1")
	if err != nil {
		t.Fatal(err)
	}
	if len(spans.GetSpans()) != 0 {
		t.Error("the span ended before the rows")
	}
	rows.Close()
	span.End()
	want := "request\n  SELECT\n"
	var got strings.Builder
	for line := range strings.Lines(tree(spans.GetSpans(), trace.SpanID{}, "")) {
		if !strings.HasPrefix(line, "    ") { // whether it got to the table is the reader's luck
			name, _, _ := strings.Cut(line, " (")
			got.WriteString(name + "\n")
		}
	}
	if got.String() != want {
		t.Errorf("%s", got.String())
	}
}

// A call tells which server answered, and a failed one why.
func TestCalls(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracer := hqlotel.New(hqlotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))))
	for _, d := range []hql.RPCEnd{{Region: hbase.Region{Server: "rs1.example.com:16020"}, Rows: 2}, {Err: context.DeadlineExceeded}, {Err: fmt.Errorf("refused by %s", "rs1")}} {
		tracer.TraceRPCEnd(tracer.TraceRPCStart(context.Background(), hql.RPCStart{Method: "Get", Table: "ns:t"}), d)
	}
	const want = `
hbase Get (client) db.collection.name=ns:t db.system.name=hbase hql.rows_read=2 rpc.method=Get server.address=rs1.example.com server.port=16020
hbase Get (client) db.collection.name=ns:t db.system.name=hbase error.type=timeout hql.rows_read=0 rpc.method=Get
hbase Get (client) db.collection.name=ns:t db.system.name=hbase error.type=failed hql.rows_read=0 rpc.method=Get
`
	if got := "\n" + tree(spans.GetSpans(), trace.SpanID{}, ""); got != want {
		t.Errorf("%s", got)
	}
}

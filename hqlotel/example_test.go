package hqlotel_test

import (
	"context"
	"fmt"
	"log"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hqlotel"
)

func Example() {
	ctx := context.Background()
	spans := tracetest.NewInMemoryExporter() // a service has an OTLP exporter here
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	db, err := hql.Open(ctx, "mem:", hql.WithTracer(hqlotel.New(hqlotel.WithTracerProvider(provider))),
		hql.WithCatalog("CREATE TABLE t (day DATE, id INT) STORED IN ('t_', day AS TEXT('yyyyMMdd')) ROW KEY (id AS INT32)"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, "SELECT * FROM t WHERE id = 1 AND day = DATE '2026-01-01'"); err != nil {
		log.Fatal(err)
	}
	for _, s := range spans.GetSpans() { // the innermost end first
		fmt.Println(s.Name)
	}
	// Output:
	// hbase Get
	// get t
	// SELECT
}

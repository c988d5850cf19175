package hqlprom_test

import (
	"context"
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hqlprom"
)

func Example() {
	registry := prometheus.NewRegistry() // promhttp.HandlerFor(registry, ...) serves it
	tracer, err := hqlprom.New(registry)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithTracer(tracer), hql.WithFullScan(hql.FullScanDeny), hql.WithCatalog("CREATE TABLE t (id INT PRIMARY KEY, name STRING)"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec(ctx, "SELECT * FROM t WHERE name = 'x'")
	fmt.Println(err != nil)
	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "hql_full_scans_refused_total" {
			fmt.Println(f.GetName(), f.Metric[0].GetCounter().GetValue())
		}
	}
	// Output:
	// true
	// hql_full_scans_refused_total 1
}

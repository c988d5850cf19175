package hqlprom_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/hqlprom"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	tracer, err := hqlprom.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithTracer(tracer), hql.WithFullScan(hql.FullScanDeny))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, sql := range []string{
		"CREATE TABLE t (id INT PRIMARY KEY, name STRING)",
		"INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
		"SELECT * FROM t WHERE id = 1",
		"SELECT * FROM t WHERE id > 0 AND REPLACE(name, 'x', '') <> 'b'",
		"SELECT * FROM t ALLOW FULL SCAN",
		"SELECT 1",
	} {
		if _, err := db.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if _, err := db.Exec(ctx, "SELECT * FROM t"); !errors.Is(err, hql.ErrFullScan) {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, "SELECT nothing FROM t"); err == nil {
		t.Fatal("no error")
	}
	const want = `
# HELP hql_full_scans_refused_total Statements that the full-scan policy stopped.
# TYPE hql_full_scans_refused_total counter
hql_full_scans_refused_total 1
# HELP hql_queries_total Statements that ended.
# TYPE hql_queries_total counter
hql_queries_total{access="full scan",operation="SELECT",outcome="ok"} 1
hql_queries_total{access="full scan",operation="SELECT",outcome="refused"} 1
hql_queries_total{access="get",operation="SELECT",outcome="ok"} 1
hql_queries_total{access="none",operation="CREATE TABLE",outcome="ok"} 1
hql_queries_total{access="none",operation="INSERT",outcome="ok"} 1
hql_queries_total{access="none",operation="SELECT",outcome="invalid"} 1
hql_queries_total{access="none",operation="SELECT",outcome="ok"} 1
hql_queries_total{access="scan",operation="SELECT",outcome="ok"} 1
# HELP hql_rows_kept_total Rows that servers sent and the client's filter kept.
# TYPE hql_rows_kept_total counter
hql_rows_kept_total{access="full scan",table="t"} 3
hql_rows_kept_total{access="get",table="t"} 1
hql_rows_kept_total{access="scan",table="t"} 2
# HELP hql_rows_read_total Rows that servers sent.
# TYPE hql_rows_read_total counter
hql_rows_read_total{access="full scan",table="t"} 3
hql_rows_read_total{access="get",table="t"} 1
hql_rows_read_total{access="scan",table="t"} 3
# HELP hql_rows_returned_total Rows given to callers.
# TYPE hql_rows_returned_total counter
hql_rows_returned_total{operation="CREATE TABLE"} 0
hql_rows_returned_total{operation="INSERT"} 0
hql_rows_returned_total{operation="SELECT"} 7
# HELP hql_rows_written_total Rows written.
# TYPE hql_rows_written_total counter
hql_rows_written_total{operation="INSERT"} 3
`
	err = testutil.GatherAndCompare(registry, strings.NewReader(want), "hql_full_scans_refused_total", "hql_queries_total",
		"hql_rows_kept_total", "hql_rows_read_total", "hql_rows_returned_total", "hql_rows_written_total")
	if err != nil {
		t.Error(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]uint64{}
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if l.GetName() == "method" {
					seen[f.GetName()+" "+l.GetValue()] += m.GetHistogram().GetSampleCount() + uint64(m.GetCounter().GetValue())
				}
			}
			if f.GetName() == "hql_query_duration_seconds" {
				seen["durations"] += m.GetHistogram().GetSampleCount()
				if m.GetHistogram().GetSampleSum() <= 0 {
					t.Error("a duration of 0")
				}
			}
		}
	}
	// A Get of the query; one of CREATE TABLE, for the definition.
	if seen["durations"] != 8 || seen["hql_rpcs_total Get"] != 2 || seen["hql_rpc_duration_seconds Scan"] != seen["hql_rpcs_total Scan"] || seen["hql_rpcs_total Scan"] < 2 {
		t.Error(seen)
	}
	if _, err := hqlprom.New(registry); err == nil {
		t.Error("registered twice")
	}
}

package design_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/demo"
	"github.com/hql-db/hql/design"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/stats"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// testdata: tables, their rows, workloads, and what is proposed. With "plans" the statements and plans are printed too.
func TestWorkloads(t *testing.T) {
	ctx := context.Background()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		db, err := hql.Open(ctx, "mem:")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "exec":
				for _, sql := range strings.Split(d.Input, ";\n") {
					if _, err := db.Exec(ctx, sql); err != nil {
						d.Fatalf(t, "%v", err)
					}
				}
				return ""
			case "design":
				rows := 0
				o := design.Options{Now: now, Statistics: func(t *catalog.Table) *stats.Table { return db.Statistics(ctx, t) }}
				d.MaybeScanArgs(t, "table", &o.Table)
				d.MaybeScanArgs(t, "regions", &o.Regions)
				d.MaybeScanArgs(t, "written-by", &o.WrittenBy)
				d.MaybeScanArgs(t, "rows", &rows)
				o.Rows = float64(rows)
				o.KeepOrder = d.HasArg("keep-order")
				r, err := design.Workload(db.Catalog(), d.Input, o)
				if err != nil {
					return fmt.Sprintf("error: %v\n", err)
				}
				if !d.HasArg("plans") {
					for i := range r.Tables {
						for j := range r.Tables[i].Proposals {
							r.Tables[i].Proposals[j].Plans = nil
						}
					}
				}
				return r.String()
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// What is proposed works: the statements make the table and fill it, and queries give the same rows there, by the prefix.
func TestProposalsHold(t *testing.T) {
	ctx := context.Background()
	db, err := demo.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{
		"SELECT name, category FROM files WHERE name LIKE '中国好声音%' ORDER BY name",
		"SELECT file_id FROM files WHERE category = '综艺' AND create_time >= DATE '2012-09-10' ORDER BY file_id",
		"SELECT file_id FROM files WHERE name LIKE '%期' ORDER BY file_id",
		"SELECT host, message FROM log_bucketed WHERE event = 'e1' AND host = 'b' ORDER BY message",
		"SELECT uid FROM user_ops WHERE op = 'login' ORDER BY uid",
		"SELECT order_id FROM trades WHERE amount BETWEEN 10 AND 50 ORDER BY order_id",
		"SELECT message_id, sent FROM messages_md5 WHERE sent >= TIMESTAMP '2023-06-11 06:31:00' ORDER BY message_id",
	} {
		t.Run(query, func(t *testing.T) {
			r, err := design.Workload(db.Catalog(), query, design.Options{Now: now})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Tables) != 1 || r.Tables[0].Fine {
				t.Fatalf("nothing is proposed: %s", r)
			}
			of := r.Tables[0]
			if p := of.Proposals[0]; p.Hits != 1 {
				t.Errorf("the prefix is not hit: %s", r)
			}
			for _, sql := range []string{of.Proposals[0].Create, of.Proposals[0].Copy} {
				if _, err := db.Exec(ctx, strings.TrimSuffix(sql, ";")); err != nil {
					t.Fatalf("%v: %s", err, sql)
				}
			}
			designed := strings.Replace(query, " "+of.Name+" ", " "+of.Name+"_designed ", 1)
			plan, err := db.Explain(ctx, designed)
			if err != nil || !plan.HitsPrefix() {
				t.Errorf("%v\n%s", err, plan)
			}
			want, got := rows(t, db, query+" ALLOW FULL SCAN"), rows(t, db, designed)
			if got != want || want == "" {
				t.Errorf("got %q, want %q", got, want)
			}
			if _, err := db.Exec(ctx, "DROP TABLE "+of.Name+"_designed"); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// rows are a query's rows as text.
func rows(t *testing.T, db *hql.DB, sql string) string {
	t.Helper()
	rs, err := db.Query(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for row, err := range rs.All() {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, row.Values())
	}
	return b.String()
}

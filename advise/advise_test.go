package advise_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/advise"
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/demo"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/stats"
)

// testdata/*.txt: catalogs and workloads, and what is advised.
func TestWorkloads(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		c := catalog.New()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "catalog":
				c = catalog.New()
				if err := c.Load(d.Input); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return ""
			case "advise":
				r, err := advise.Workload(c, d.Input, now)
				if err != nil {
					return fmt.Sprintf("error: %v\n", err)
				}
				return r.String()
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// What is advised works: with the index the same query gives the same rows, by the index.
func TestAdviceHolds(t *testing.T) {
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
			r, err := advise.Workload(db.Catalog(), query, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Layouts) != 1 {
				t.Fatalf("%d layouts: %s", len(r.Layouts), r)
			}
			l := r.Layouts[0]
			table, _ := db.Catalog().Table(l.Table)
			for _, def := range []string{l.Def, l.Copy} {
				stmt, err := parser.ParseStatement("CREATE TABLE x (c INT) ROW KEY (c AS INT32) " + def)
				if err != nil {
					t.Fatal(err)
				}
				added := stmt.(*parser.CreateTable).Layouts[1]
				create := *table.Def
				create.Name, create.StoredIn = l.Table+"_advised", nil
				create.Layouts = append([]parser.LayoutDef{{Name: "main", Parts: create.Layouts[0].Parts}}, added)
				for _, sql := range []string{create.String(), "INSERT INTO " + create.Name + " SELECT * FROM " + l.Table + " ALLOW FULL SCAN"} {
					if _, err := db.Exec(ctx, sql); err != nil {
						t.Fatalf("%v: %s", err, sql)
					}
				}
				advised := strings.Replace(query, " "+l.Table+" ", " "+create.Name+" ", 1)
				plan, err := db.Explain(ctx, advised)
				if err != nil || !plan.HitsPrefix() || !strings.Contains(plan.String(), added.Name) {
					t.Errorf("%s: %v\n%s", def, err, plan)
				}
				want, got := rows(t, db, query+" ALLOW FULL SCAN"), rows(t, db, advised)
				if got != want || want == "" {
					t.Errorf("%s: got %q, want %q", def, got, want)
				}
				if _, err := db.Exec(ctx, "DROP TABLE "+create.Name); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// By figures an index is proposed where it saves more than it is worth, with what it saves and what it costs to keep; where most rows are
// wanted it is not.
func TestAdviceByFigures(t *testing.T) {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(sql string) {
		t.Helper()
		if _, err := db.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE orders (id BIGINT, status STRING FROM d:status, note STRING FROM d:note) ROW KEY (id AS INT64)")
	for from := 0; from < 5000; from += 1000 {
		var rows []string
		for i := range 1000 {
			status := "done"
			if (from+i)%500 == 0 {
				status = "lost"
			}
			rows = append(rows, fmt.Sprintf("(%d, '%s', 'a note')", from+i, status))
		}
		exec("INSERT INTO orders VALUES " + strings.Join(rows, ","))
	}
	known := advise.WithStatistics(func(t *catalog.Table) *stats.Table { return db.Statistics(ctx, t) })
	for _, c := range []struct {
		status  string
		figures bool // ANALYZE was run
		advised bool
	}{{"lost", false, true}, {"done", false, true}, {"lost", true, true}, {"done", true, false}} {
		if c.figures {
			exec("ANALYZE orders")
		}
		r, err := advise.Workload(db.Catalog(), "SELECT note FROM orders WHERE status = '"+c.status+"'", time.Now(), known)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Layouts) == 1 != c.advised {
			t.Errorf("%+v:\n%s", c, r)
			continue
		}
		if !c.advised {
			continue
		}
		l, text := r.Layouts[0], r.String()
		s := l.Serves[0]
		if told := s.Was != nil && s.Now != nil && l.Entries >= 0; told != c.figures || strings.Contains(text, "saves") != told || strings.Contains(text, "keeps") != told {
			t.Errorf("%+v:\n%s", c, text)
		} else if told && (s.Now.Cost > s.Was.Cost/3 || l.Entries != 5000 || l.EntryBytes < 30 || l.EntryBytes > 60) {
			t.Errorf("%+v: %v in place of %v, %d entries of %d bytes", c, s.Now.Cost, s.Was.Cost, l.Entries, l.EntryBytes)
		}
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

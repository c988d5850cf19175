package service

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Each query of the service reads a prefix of the key. No store is needed to know: the plan tells.
func TestQueriesHitThePrefix(t *testing.T) {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithCatalog(Tables))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	args := map[string]hql.NamedArgs{
		"latest": {"user": 7, "before": noon, "n": 20},
		"unread": {"user": 7},
		"one":    {"user": 7, "sent": noon, "id": 1},
	}
	access := map[string]string{"latest": "scan", "unread": "scan", "one": "get"}
	for name, sql := range queries {
		plan, err := db.Explain(ctx, sql, args[name])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !plan.HitsPrefix() || plan.Access != access[name] || plan.Ranges() != 1 {
			t.Errorf("%s reads too much:\n%s", name, plan)
		}
	}
}

// The embedded store stands in for the cluster.
func TestMailboxes(t *testing.T) {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithFullScan(hql.FullScanDeny))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// EXTERNAL maps tables that exist; here they are made as well.
	if _, err := db.Exec(ctx, strings.ReplaceAll(Tables, "EXTERNAL ", "")); err != nil {
		t.Fatal(err)
	}
	for i, subject := range []string{"first", "second", "third"} {
		_, err := db.Exec(ctx, "INSERT INTO messages VALUES (?, ?, ?, 'inbox', ?, ?)", 7, noon.Add(time.Duration(i)*time.Hour), i, subject, i > 0)
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := New(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Latest(ctx, 7, noon.Add(90*time.Minute), 10)
	if err != nil || len(got) != 2 || got[0].Subject != "second" || !got[0].Unread || !got[1].Sent.Equal(noon) {
		t.Errorf("%v %+v", err, got)
	}
	if n, err := m.Unread(ctx, 7); err != nil || n != 2 {
		t.Error(err, n)
	}
	if one, err := m.One(ctx, 7, noon, 0); err != nil || one.Subject != "first" {
		t.Errorf("%v %+v", err, one)
	}
	if _, err := m.One(ctx, 8, noon, 0); !errors.Is(err, hql.ErrNoRows) {
		t.Error(err)
	}
}

package infer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/infer"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/testdata"
	"github.com/hql-db/hql/types"
)

// The keys that infer finds again in the tables of layouts.sql, loaded with 300 rows.
// Names are its own, and so is what bytes alone cannot tell: TEXT(8) or two parts of it.
var found = map[string]string{}

// values makes a column's values: as people fill such columns, from a fixed seed.
func value(r *rand.Rand, name, typ string) types.Value {
	hosts := []string{"web01", "web02", "db1", "cache-7", "gateway"}
	switch name {
	case "ts", "sent":
		ms := int64(1_767_225_600_000 + r.IntN(40*86_400_000))
		if name == "sent" {
			ms -= ms % 1000
		}
		return types.NewTimestamp(ms)
	case "sold", "create_time":
		return types.NewDate(int64(20_454 + r.IntN(90)))
	case "host":
		return types.NewString(hosts[r.IntN(5)])
	case "event":
		return types.NewString([]string{"login", "logout", "error"}[r.IntN(3)])
	case "domain":
		return types.NewString([]string{"www", "mail", "shop", "api"}[r.IntN(4)] + fmt.Sprintf(".site%d", r.IntN(200)) + []string{".com", ".org", ".net"}[r.IntN(3)])
	case "phone", "tel":
		return types.NewString(fmt.Sprintf("13%09d", r.IntN(1e9)))
	case "user":
		return types.NewString([]string{"alice", "bob", "carol", "dave"}[r.IntN(4)])
	case "seller_id", "buyer_id", "uid", "device":
		return types.NewString(fmt.Sprintf("U%07d", r.IntN(100)))
	case "car_id":
		return types.NewString(fmt.Sprintf("LSVAA4182E2%06d", r.IntN(30)))
	case "customer":
		return types.NewString(fmt.Sprintf("C%09d", r.IntN(50)))
	case "message_id":
		return types.NewString(fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()))
	case "order_no":
		return types.NewString(fmt.Sprintf("A-%d", r.IntN(100000)))
	case "user_id":
		return types.NewIntOf(types.Int, int64(r.IntN(500)))
	case "loc_no", "item_no", "page":
		return types.NewIntOf(types.Int, int64(r.IntN(12)))
	case "kind":
		return types.NewString([]string{"h", "e"}[r.IntN(2)])
	case "profile", "doc":
		return types.NewJSON(`{"n": 1}`)
	case "ext":
		return types.NewBytes(fmt.Sprintf("x%d", r.IntN(1000)))
	}
	switch t, _ := types.ParseType(typ); t {
	case types.String:
		return types.NewString(fmt.Sprintf("%s%04d", name, r.IntN(10000)))
	case types.Double:
		return types.NewDouble(float64(r.IntN(10000)) / 4)
	default:
		return types.NewIntOf(t, int64(r.IntN(100000)))
	}
}

// load creates a table of layouts.sql, and those it needs, with n rows.
func load(t *testing.T, db *hql.DB, def *parser.CreateTable, n int) {
	t.Helper()
	ctx := context.Background()
	if _, err := db.Exec(ctx, def.String()); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	fmt.Fprintf(&b, "UPSERT INTO %s VALUES ", def.Name)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("(")
		for j, c := range def.Columns {
			if j > 0 {
				b.WriteString(", ")
			}
			b.WriteString(value(r, c.Name, c.Type).SQL())
		}
		b.WriteString(")")
	}
	if _, err := db.Exec(ctx, b.String()); err != nil {
		t.Fatal(err)
	}
}

func TestExplore(t *testing.T) {
	stmts, err := parser.Parse(testdata.Layouts)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, s := range stmts {
		def := s.(*parser.CreateTable)
		if def.External || def.Name == "staff3" || def.Name == "log_types" || def.StoredIn != nil && len(def.StoredIn.Parts) > 1 {
			continue
		}
		t.Run(def.Name, func(t *testing.T) {
			db, err := hql.Open(ctx, "mem:")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if strings.Contains(def.String(), "LOOKUP(") {
				if _, err := db.Exec(ctx, "CREATE TABLE log_types (kind STRING, name STRING, id BIGINT) ROW KEY (kind AS TEXT(1), name AS TEXT)"); err != nil {
					t.Fatal(err)
				}
			}
			load(t, db, def, 300)
			table, _ := db.Catalog().Table(def.Name)
			name := string(table.Layouts[0].Stored.Parts[0].Literal)
			rows, err := infer.Sample(ctx, db.Client(), name, 1000)
			if err != nil {
				t.Fatal(err)
			}
			ps, err := infer.Propose(name, rows, 3)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("WANT %v", def.Layouts[0].Parts)
			for _, p := range ps[:1] {
				t.Logf("%s", p)
			}
		})
	}
}

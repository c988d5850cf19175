package scan_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/types"
)

func TestLimitsStore(t *testing.T) {
	t.Parallel()
	_, c := NewStore(t)
	checkLimits(t, c)
}

func testLimitsHBase(t *testing.T) {
	race.Skip(t)
	checkLimits(t, DialHBase(t))
}

// checkLimits reads and writes what is as long, wide and large as HBase takes it.
func checkLimits(t *testing.T, client hbase.Client) {
	w := NewWorld(t, client, Config{FullScan: AllowFullScan})
	prefix := fmt.Sprintf("limits%d_", time.Now().UnixNano())
	table := func(name, def string) string {
		w.Do("CREATE TABLE " + prefix + name + " " + def)
		t.Cleanup(func() {
			if err := client.DropTable(context.Background(), prefix+name, nil); err != nil {
				t.Error(err)
			}
		})
		return prefix + name
	}
	t.Run("keys", func(t *testing.T) { checkLongKeys(w, table) })
	t.Run("columns", func(t *testing.T) {
		n := 10_000
		if Large() {
			n = 100_000
		}
		wide := table("wide", "(user STRING, id BIGINT, v STRING FROM f:[id AS UINT64]) ROW KEY (user AS TEXT(8))")
		w.Fill(wide, n, func(i int) string { return fmt.Sprintf("('u', %d, 'v%d')", i, i) })
		w.Expect(fmt.Sprintf("%d|%d", n, n-1), "SELECT count(*), max(id) FROM "+wide)
		w.Expect(fmt.Sprintf("v%d", n/2), fmt.Sprintf("SELECT v FROM %s WHERE user = 'u' AND id = %d", wide, n/2))
		w.Expect(fmt.Sprintf("%d", n/10), fmt.Sprintf("SELECT count(*) FROM %s WHERE user >= 'a' AND id >= %d", wide, n-n/10))
	})
	t.Run("cells", func(t *testing.T) {
		cells := table("cells", "(id STRING, v STRING) ROW KEY (id AS TEXT)")
		most := hbase.MaxCellSize - len("kfv") - 24 // with names, timestamp and lengths
		for _, n := range []int{most, most - 1} {
			w.Do("UPSERT INTO "+cells+" VALUES ('k', ?)", types.NewString(strings.Repeat("x", n)))
			w.Expect(fmt.Sprintf("%d", n), "SELECT length(v) FROM "+cells+" WHERE id = 'k'")
			w.Expect(fmt.Sprintf("%d", n), "SELECT length(v) FROM "+cells+" WHERE v LIKE 'xx%'")
		}
		if _, _, err := w.Try("UPSERT INTO "+cells+" VALUES ('k', ?)", types.NewString(strings.Repeat("x", most+1))); err == nil || !strings.Contains(err.Error(), "10 MiB") {
			t.Errorf("a cell above the limit: %.200v", err)
		}
	})
}

// checkLongKeys reads keys of 32767 bytes, before and after which the next
// possible ones are longer, on either side of a split.
func checkLongKeys(w *World, table func(name, def string) string) {
	keys := table("keys", "(id STRING, n BIGINT) ROW KEY (id AS TEXT) SPLIT AT ('l')")
	long := func(first, last string) types.Value {
		return types.NewString(first + strings.Repeat("x", hbase.MaxKeyLength-2) + last)
	}
	a, b, z := long("k", "a"), long("k", "b"), long("z", "z")
	for i, k := range []types.Value{a, b, z} {
		w.Do("INSERT INTO "+keys+" VALUES (?, ?)", k, types.NewInt(int64(i)))
	}
	w.Do("INSERT INTO " + keys + " VALUES ('m', 9)")
	for _, q := range []struct {
		want, where string
		args        []types.Value
	}{
		{"0", "WHERE id = ?", []types.Value{a}},
		{"0\n2", "WHERE id IN (?, ?) ORDER BY id", []types.Value{a, z}},
		{"1\n9\n2", "WHERE id > ? ORDER BY id", []types.Value{a}},
		{"0\n1", "WHERE id <= ? ORDER BY id", []types.Value{b}},
		{"0", "WHERE id < ? ORDER BY id DESC", []types.Value{b}},
		{"1\n0", "WHERE id <= ? ORDER BY id DESC LIMIT 5", []types.Value{b}},
		{"2\n9\n1", "WHERE id > ? ORDER BY id DESC", []types.Value{a}},
		{"2\n9\n1\n0", "ORDER BY id DESC", nil},
		{"", "WHERE id = ?", []types.Value{types.NewString(a.Text() + "a")}},
		{"1\n9\n2", "WHERE id > ? ORDER BY id", []types.Value{types.NewString(a.Text() + "a")}},
		{"1\n2", "WHERE id > ? AND id < 'l' OR id >= 'n' AND id < 'o' OR id >= 'p' AND id < 'q' OR id >= 'r' AND id < 's' OR id >= 't' AND id <= ? ORDER BY id", []types.Value{a, z}},
		{"0\n1", "WHERE id > 'a' AND id < 'b' OR id >= 'c' AND id < 'd' OR id >= 'e' AND id < 'f' OR id >= 'h' AND id <= ? OR id > ? AND id < 'l' ORDER BY id", []types.Value{a, a}},
		{"0\n1", "WHERE id LIKE 'kx%' ORDER BY id", nil},
	} {
		got, _, err := w.Try("SELECT n FROM "+keys+" "+q.where, q.args...)
		if err != nil || got != q.want {
			w.T.Errorf("%s: %q, want %q; %.300v", q.where, got, q.want, err)
		}
	}
	cfg := Config{FullScan: AllowFullScan, Tuning: scan.DefaultTuning()}
	cfg.Tuning.FirstRows = 1 // go on behind each key
	each := Of(w.T, New(w.Client(), w.Catalog(), cfg))
	each.Expect("9", "SELECT n FROM "+keys+" WHERE n > 2 LIMIT 1")
	each.Expect("0", "SELECT n FROM "+keys+" WHERE n < 1 ORDER BY id DESC LIMIT 1")
	if _, _, err := w.Try("INSERT INTO "+keys+" VALUES (?, 1)", types.NewString(a.Text()+"a")); err == nil || !strings.Contains(err.Error(), "32767") {
		w.T.Errorf("a key above the limit: %.200v", err)
	}
	w.Do("DELETE FROM "+keys+" WHERE id = ?", a)
	w.Do("DELETE FROM "+keys+" WHERE id >= ? AND id < 'l'", b)
	w.Expect("9\n2", "SELECT n FROM "+keys+" ORDER BY id")
}

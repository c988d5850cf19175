package scan

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Of a long key the first 64 bytes are printed.
func TestHexBytes(t *testing.T) {
	for n, want := range map[int]string{
		0:   "x''",
		64:  "x'" + strings.Repeat("6b", 64) + "'",
		65:  "x'" + strings.Repeat("6b", 64) + "...'",
		200: "x'" + strings.Repeat("6b", 64) + "...'",
	} {
		if got := HexBytes(bytes.Repeat([]byte("k"), n)); got != want {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
}

// Rows of which nothing is wanted have nothing in them, also when keys of others are checked behind them.
func TestRowsOfNothing(t *testing.T) {
	table, _ := given.Tables(t, "CREATE TABLE t (id TEXT, n INT) ROW KEY (id AS TEXT)").Table("t")
	d := NewDecoder(&Reads{}, &plan.Scan{Table: table, Needed: make([]bool, len(table.Columns)+2)}, table.Layouts[0])
	for _, key := range []string{"a", "b"} {
		rows, err := d.Rows(t.Context(), "t", &hbase.Row{Key: []byte(key)}, time.Now())
		if err != nil || len(rows) != 1 || slices.ContainsFunc(rows[0], func(v types.Value) bool { return !v.IsNull() }) {
			t.Errorf("%v, %v", rows, err)
		}
	}
}

package infer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/infer"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/types"
)

// Keys of known truth, written by the definition: the key that is found. Names are infer's, and a text of fixed form is cut finer.
func TestKeys(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(5, 6))
	now := int64(1_767_225_600_000)
	user := func() types.Value {
		return types.NewString(fmt.Sprintf("%c%cser-%d", 'a'+r.IntN(26), 'a'+r.IntN(26), r.IntN(1000)))
	}
	word := func() types.Value {
		return types.NewString([]string{"germany0", "denmark0", "finland0", "hungary0", "iceland0"}[r.IntN(5)])
	}
	number := func(lo, hi int64) func() types.Value {
		return func() types.Value { return types.NewInt(lo + r.Int64N(hi-lo)) }
	}
	moment := func() types.Value { return types.NewTimestamp(now + r.Int64N(40*86_400_000)) }
	id := func(width int, n uint64) func() types.Value {
		return func() types.Value {
			b := make([]byte, width)
			for i, x := width-1, 1+r.Uint64N(n); i >= 0; i, x = i-1, x>>8 {
				b[i] = byte(x)
			}
			return types.NewBytes(string(b))
		}
	}
	for _, c := range []struct {
		columns, truth, want string
		values               []func() types.Value
	}{
		{"a STRING", "FLOORMOD(JAVA_HASH(a), 10) AS UINT8, a AS TEXT", "FLOORMOD(JAVA_HASH(id), 10) AS UINT8, id AS TEXT", []func() types.Value{user}},
		{"a STRING, ts TIMESTAMP", "FLOORMOD(JAVA_HASH(a), 10) AS TEXT(1), '_', a AS TEXT, '_', ts AS TEXT(13)", "FLOORMOD(JAVA_HASH(id), 10) AS TEXT(1), '_', id AS TEXT, '_', ts AS TEXT(13)", []func() types.Value{user, moment}},
		{"a STRING, ts TIMESTAMP", "FLOORMOD(JAVA_HASH(a), 4) AS UINT8, a AS TEXT(8), ts AS INT64", "FLOORMOD(JAVA_HASH(id), 4) AS UINT8, id AS TEXT(8), ts AS INT64", []func() types.Value{word, moment}},
		{"n INT, s STRING", "n AS INT32, s AS TEXT", "n AS INT32, id AS TEXT(5), '-', n2 AS TEXT", []func() types.Value{number(-5000, 5000), user}},
		{"n INT, s STRING", "n AS ORDERED INT32, s AS TEXT", "n AS ORDERED INT32, id AS TEXT(5), '-', n2 AS TEXT", []func() types.Value{number(-5000, 5000), user}},
		{"n INT, s STRING", "n AS ORDERED INT32, s AS TEXT", "n AS ORDERED INT32, id AS TEXT(5), '-', n2 AS TEXT", []func() types.Value{number(0, 1<<30), user}},
		{"n BIGINT, s STRING", "n AS LITTLE INT64, s AS TEXT", "n AS LITTLE INT64, id AS TEXT(5), '-', n2 AS TEXT", []func() types.Value{number(0, 1<<30), user}},
		{"s STRING, n BIGINT", "s AS COUNT16 TEXT, n AS INT64", "id AS COUNT16 TEXT, n AS INT64", []func() types.Value{user, number(0, 1<<20)}},
		{"s STRING, n BIGINT", "s AS TEXT, '|', n AS TEXT(19)", "id AS TEXT(5), '-', n AS TEXT, '|', ts_ns AS TEXT(19)", []func() types.Value{user, number(now*1_000_000, (now+86_400_000)*1_000_000)}},
		{"m BYTES, ts TIMESTAMP, k BYTES, v BYTES", "m AS BYTES(3), ts AS EPOCH32, k AS BYTES(3), v AS BYTES(3)", "n AS UINT24, ts AS EPOCH32, n2 AS UINT24, n3 AS UINT24", []func() types.Value{id(3, 40), func() types.Value { return types.NewTimestamp(now + r.Int64N(40*24)*3_600_000) }, id(3, 3), id(3, 300)}},
		{"m BYTES, ts TIMESTAMP, k BYTES, v BYTES", "m AS BYTES(3), ts AS EPOCH32, k AS BYTES(3), v AS BYTES(3)", "n AS UINT24, ts AS EPOCH32, n2 AS UINT24, n3 AS UINT24", []func() types.Value{id(3, 1), func() types.Value { return types.NewTimestamp(now + r.Int64N(40)*3_600_000) }, id(3, 3), id(3, 300)}},
		{"m BYTES", "m AS BYTES(8)", "id AS BYTES(8)", []func() types.Value{func() types.Value { u := r.Uint64() &^ 0xff; return id8(u) }}},
		{"n BIGINT", "n % 8 AS UINT8, n AS INT64", "n % 8 AS UINT8, n AS INT64", []func() types.Value{func() types.Value { return types.NewInt(24*r.Int64N(1<<30) + r.Int64N(8)) }}},
		{"n INT", "n AS INT32", "n AS INT32", []func() types.Value{number(-200, 200)}},
		{"n INT", "n AS ORDERED INT32", "n AS ORDERED INT32", []func() types.Value{number(-200, 200)}},
		{"n BIGINT", "n AS TEXT(26)", "n AS TEXT(26)", []func() types.Value{number(0, 3000)}},                   // PerformanceEvaluation
		{"n BIGINT", "MD5(n), '-', n AS TEXT", "MD5(n), '-', n AS TEXT", []func() types.Value{number(0, 3000)}}, // LoadTestTool
	} {
		defs := given.Tables(t, "CREATE EXTERNAL TABLE t ("+c.columns+") ROW KEY ("+c.truth+")")
		var rows []hbase.Row
		for range 300 {
			row := make([]types.Value, len(c.values)+2)
			for i, v := range c.values {
				row[i] = v()
			}
			key, err := defs.Tables()[0].Layouts[0].Key.Append(nil, row, &expr.Env{})
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, hbase.Row{Key: key})
		}
		ps, err := infer.Propose("t", &infer.Sampled{Rows: rows}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if sql := ps[0].Table.SQL(); !strings.HasSuffix(sql, "ROW KEY ("+c.want+")") {
			t.Errorf("%s: %s", c.truth, ps[0])
		}
		if strings.HasPrefix(c.truth, "MD5") && len(ps) > 1 {
			t.Errorf("%s: a twin is no second way to read the keys: %s", c.truth, ps[1])
		}
	}
}

func id8(u uint64) types.Value {
	var b []byte
	for i := 7; i >= 0; i-- {
		b = append(b, byte(u>>(8*i)))
	}
	return types.NewBytes(string(b))
}

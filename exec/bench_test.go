package exec

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// benchWorld has rows of five cells under eight salts.
func benchWorld(b *testing.B, rows int) *world {
	_, c := NewStore(b)
	w := newWorld(b, c, Config{FullScan: AllowFullScan, Planner: planner.Options{}})
	w.Do("CREATE TABLE events (host STRING, ts BIGINT, level STRING, msg STRING, val DOUBLE, cnt BIGINT) ROW KEY (CRC32(host) % 8 AS UINT8, host AS TEXT, X'00', ts AS INT64)")
	var values []string
	for i := range rows {
		values = append(values, fmt.Sprintf("('host%03d', %d, 'INFO', 'a message of about sixty bytes, number %d, to be read back', %d.5, %d)", i%200, i/200, i, i%100, i))
		if len(values) == 1000 || i == rows-1 {
			w.Do("INSERT INTO events VALUES " + strings.Join(values, ","))
			values = values[:0]
		}
	}
	b.ResetTimer()
	b.ReportAllocs()
	return w
}

// count runs sql and gives the number of rows.
func (w *world) count(sql string, args ...types.Value) (n int) {
	s, err := parser.ParseStatement(sql)
	if err != nil {
		w.T.Fatal(err)
	}
	ctx := context.Background()
	rows, err := w.Run(ctx, s, Args{Positional: args})
	if err != nil {
		w.T.Fatal(err)
	}
	defer rows.Close()
	for {
		batch, err := rows.Next()
		if err == io.EOF {
			return n
		}
		if err != nil {
			w.T.Fatal(err)
		}
		n += len(batch)
	}
}

func BenchmarkGet(b *testing.B) {
	w := benchWorld(b, 2000)
	for i := range b.N {
		if n := w.count("SELECT * FROM events WHERE host = ? AND ts = ?", types.NewString(fmt.Sprintf("host%03d", i%200)), types.NewInt(5)); n != 1 {
			b.Fatal(n)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	w := benchWorld(b, 50_000)
	for range b.N {
		if n := w.count("SELECT * FROM events"); n != 50_000 {
			b.Fatal(n)
		}
	}
	b.ReportMetric(50_000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkCount(b *testing.B) {
	w := benchWorld(b, 50_000)
	for range b.N {
		w.count("SELECT COUNT(*) FROM events")
	}
	b.ReportMetric(50_000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkReverseLimit(b *testing.B) {
	w := benchWorld(b, 20_000)
	for range b.N {
		if n := w.count("SELECT ts, msg FROM events WHERE host IN ('host001', 'host002', 'host003') ORDER BY ts DESC LIMIT 10"); n != 10 {
			b.Fatal(n)
		}
	}
}

func BenchmarkInsert(b *testing.B) {
	w := benchWorld(b, 1)
	for i := range b.N {
		w.Do("INSERT INTO events VALUES (?, ?, 'INFO', 'message', 1.5, 7)", types.NewString("h"), types.NewInt(int64(i)))
	}
}

// BenchmarkUpdate updates rows by their keys: to constants, and by what they hold.
func BenchmarkUpdate(b *testing.B) {
	for name, set := range map[string]string{"constant": "cnt = 8", "computed": "cnt = cnt + 1"} {
		b.Run(name, func(b *testing.B) {
			w := benchWorld(b, 5000)
			stmt := MustParse(b, "UPDATE events SET "+set+" WHERE host = ? AND ts = ?")
			for i := 0; b.Loop(); i++ {
				args := Args{Positional: []types.Value{types.NewString(fmt.Sprintf("host%03d", i%200)), types.NewInt(int64(i / 200 % 25))}}
				rows, err := w.Run(context.Background(), stmt, args)
				if err != nil || rows.Affected != 1 {
					b.Fatal(rows, err)
				}
			}
		})
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/hql-db/hql"
)

// BenchmarkPiece reads one piece of 50,000 rows through the API, each value into a variable, and as `hql piece` writes it: Arrow is not to
// take more than 1.2 of the CPU, which says more than the time does where others run.
func BenchmarkPiece(b *testing.B) {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithFullScan(hql.FullScanAllow), hql.WithCatalog("CREATE TABLE events (host STRING, ts BIGINT, level STRING, msg STRING, val DOUBLE, cnt BIGINT) ROW KEY (host AS TEXT, X'00', ts AS ORDERED INT64)"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	const n = 50_000
	if _, err := db.Exec(ctx, fmt.Sprintf("INSERT INTO events SELECT 'host' || g %% 20, g, 'INFO', 'a message of about sixty bytes, to be read back', g * 0.5, g FROM generate_series(1, %d) AS s(g)", n)); err != nil {
		b.Fatal(err)
	}
	cut, err := db.Pieces(ctx, "SELECT * FROM events")
	if err != nil || len(cut.Pieces) != 1 {
		b.Fatal(len(cut.Pieces), err)
	}
	piece := func(b *testing.B) *hql.Rows {
		rows, err := db.Piece(ctx, cut.Pieces[0].Text)
		if err != nil {
			b.Fatal(err)
		}
		return rows
	}
	measured := func(b *testing.B) func() {
		began := cpu(b)
		return func() { b.ReportMetric(float64(cpu(b)-began)/float64(b.N)/n, "cpu-ns/row") }
	}
	b.Run("rows", func(b *testing.B) {
		defer measured(b)()
		for b.Loop() {
			rows, got := piece(b), 0
			for rows.Next() {
				var host, level, msg string
				var ts, cnt int64
				var val float64
				if err := rows.Scan(&host, &ts, &level, &msg, &val, &cnt); err != nil {
					b.Fatal(err)
				}
				got++
			}
			if rows.Err() != nil || got != n {
				b.Fatal(got, rows.Err())
			}
		}
	})
	b.Run("arrow", func(b *testing.B) {
		defer measured(b)()
		for b.Loop() {
			s := &session{db: db, conf: &config{}, stdout: io.Discard, stderr: io.Discard, format: "arrow", inPiece: true}
			if got, err := s.print(io.Discard, piece(b)); err != nil || got != n {
				b.Fatal(got, err)
			}
		}
	})
}

// cpu is what this process took so far.
func cpu(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

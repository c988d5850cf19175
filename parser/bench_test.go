package parser

import (
	"fmt"
	"strings"
	"testing"
)

func benchmarkParse(b *testing.B, src string) {
	b.ReportAllocs()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := ParseStatement(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPointSelect(b *testing.B) {
	benchmarkParse(b, "SELECT * FROM contacts WHERE uid = 111 AND phone = '123' AND name = 'iteblog'")
}

func BenchmarkRangeSelect(b *testing.B) {
	benchmarkParse(b, "SELECT seller_id, ts, amount FROM trades WHERE seller_id = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT 10")
}

func BenchmarkAggregate(b *testing.B) {
	benchmarkParse(b, `SELECT t.host AS h, COUNT(*), SUM(CASE WHEN level IN ('a', 'b') THEN 1 ELSE 0 END) FROM log_data t
		LEFT JOIN hosts h ON h.name = t.host WHERE (t.ts >= TIMESTAMP '2026-01-01' OR t.ts IS NULL) GROUP BY 1 HAVING COUNT(*) > 3 ORDER BY 2 DESC NULLS LAST LIMIT 5`)
}

func BenchmarkIn10000(b *testing.B) {
	var s strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&s, ", %d", 1000000+i)
	}
	benchmarkParse(b, "SELECT * FROM t WHERE id IN ("+s.String()[2:]+")")
}

func BenchmarkInsert1000Rows(b *testing.B) {
	benchmarkParse(b, "INSERT INTO t (a, b, c) VALUES "+strings.TrimSuffix(strings.Repeat("(1, 'two', TIMESTAMP '2026-01-01'), ", 1000), ", "))
}

func BenchmarkPrint(b *testing.B) {
	s, err := ParseStatement("SELECT seller_id, ts, amount FROM trades WHERE seller_id = ? AND ts BETWEEN ? AND ? ORDER BY ts DESC LIMIT 10")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = s.String()
	}
}

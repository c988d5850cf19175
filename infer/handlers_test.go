package infer_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/infer"
)

// Tables of Hive's storage handler, in text with a struct as key and in binary, and of Spark's connector, whose key parts stand one behind the other.
func TestConnectors(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	city := func() string { return []string{"Oslo", "Rome", "Lima", "Quito"}[r.IntN(4)] }
	for _, c := range []struct {
		name string
		row  func(i int) (key []byte, cells []string)
		want []string
	}{
		{"Hive, text", func(i int) ([]byte, []string) {
			return fmt.Appendf(nil, "%s\x02%d", city(), i*31-500), []string{"visits", fmt.Sprint(math.MinInt64 + i<<58), "age", fmt.Sprint(18 + i%60), "score", fmt.Sprint(float64(i) / 8), "price", fmt.Sprintf("%d.%02d", i, i%100),
				"member", fmt.Sprint(i%3 == 0), "born", fmt.Sprintf("19%02d-0%d-11", i, 1+i%9), "seen", fmt.Sprintf("2026-01-05 12:%02d:00.%d", i%60, i%10), "tags", "a\x02b",
				"phone", fmt.Sprintf("13%09d", i*977), "zip", fmt.Sprintf("%05d", i*731), "version", fmt.Sprintf("1.%d.2", i)}
		}, []string{"ROW KEY (id AS TEXT, X'02', n AS TEXT)", "as in a struct of Hive's", "n BIGINT", "visits BIGINT FROM f:visits AS TEXT", "age BIGINT FROM f:age AS TEXT", "score DOUBLE FROM f:score AS TEXT", "price DECIMAL FROM f:price AS TEXT",
			"member BOOLEAN FROM f:member AS TEXT", "born DATE FROM f:born AS TEXT", "seen TIMESTAMP FROM f:seen AS TEXT", "tags BYTES FROM f:tags",
			"phone STRING FROM f:phone", "zip STRING FROM f:zip", "version STRING FROM f:version"}},
		{"Hive, binary", func(i int) ([]byte, []string) {
			return binary.BigEndian.AppendUint32(nil, uint32(i*37)), []string{"n", string(binary.BigEndian.AppendUint64(nil, uint64(i*i))), "small", string([]byte{0, byte(i)}), "member", string([]byte{byte(i % 2)}), "name", city()}
		}, []string{"member TINYINT FROM f:member", "as Hive writes BOOLEAN in binary", "ROW KEY (n2 AS INT32)", "n BIGINT FROM f:n", "small SMALLINT FROM f:small", "name STRING FROM f:name"}},
		{"Spark", func(i int) ([]byte, []string) { // "rowkey":"col0:col1:col2": an int, a string of 4 bytes, a long
			return binary.BigEndian.AppendUint64(append(binary.BigEndian.AppendUint32(nil, uint32(i%9)), fmt.Sprintf("%-4s", city()[:4])...), uint64(1_767_225_600_000+i*86_400_123)),
				[]string{"flag", string([]byte{byte(-(i % 2))}), "d", string(binary.BigEndian.AppendUint64(nil, 0x4000000000000000+uint64(i)<<45))}
		}, []string{"ROW KEY (n AS INT32, id AS TEXT(4), ts AS INT64)", "flag BOOLEAN FROM f:flag", "d DOUBLE FROM f:d"}},
	} {
		var rows []hbase.Row
		for i := range 90 {
			key, cells := c.row(i)
			row := hbase.Row{Key: key}
			for pair := range slices.Chunk(cells, 2) {
				row.Cells = append(row.Cells, hbase.Cell{Family: []byte("f"), Qualifier: []byte(pair[0]), Value: []byte(pair[1]), Timestamp: 1_780_000_000_000})
			}
			rows = append(rows, row)
		}
		slices.SortFunc(rows, func(a, b hbase.Row) int { return bytes.Compare(a.Key, b.Key) })
		ps, err := infer.Propose("t", &infer.Sampled{Rows: rows}, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(ps[0].String(), want) {
				t.Errorf("%s: no %s in\n%s", c.name, want, ps[0])
			}
		}
	}
}

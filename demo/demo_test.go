package demo

import (
	"context"
	"strings"
	"testing"
)

func TestDemo(t *testing.T) {
	ctx := context.Background()
	db, err := Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	query := func(sql string) string {
		t.Helper()
		rows, err := db.Query(ctx, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		var lines []string
		for row, err := range rows.All() {
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			var f []string
			for _, v := range row.Raw() {
				f = append(f, v.String())
			}
			lines = append(lines, strings.Join(f, "|"))
		}
		return strings.Join(lines, "\n")
	}
	for _, c := range [][2]string{
		{"SELECT file_id FROM files WHERE user_id = 1 AND create_time BETWEEN DATE '2012-09-01' AND DATE '2012-10-01' AND name LIKE '中国好声音%' AND category LIKE '综艺%'", "1\n2\n3\n4\n5\n7"},
		{"SELECT COUNT(*) FROM messages_random", "34"},
		{"SELECT COUNT(*) FROM messages_random WHERE sent BETWEEN TIMESTAMP '2018-12-18 03:50:00' AND TIMESTAMP '2018-12-18 03:51:00'", "34"},
		{"SELECT _key, name, age FROM messages_random WHERE message_id = 'b998a8dfc05a4a819284213d4e727a85' ALLOW FULL SCAN", "00041545105001972b998a8dfc05a4a819284213d4e727a85|name2|12"},
		{"SELECT _key FROM messages_ring WHERE message_id = 'b998a8dfc05a4a819284213d4e727a85'", "00021545105001972b998a8dfc05a4a819284213d4e727a85"},
		{"SELECT _key FROM messages_md5 WHERE message_id = '1231231'", "8D4646EB2D7067126EB08ADB0672F7BB:230611:063031:1231231"},
		{"SELECT _key FROM sites ORDER BY _key", "gro.elpmaxe\nmoc.golbeti.atadnobrac\nmoc.golbeti.fed\nmoc.golbeti.knilf\nmoc.golbeti.www"},
		{"SELECT _key FROM foo_hashed ORDER BY id", "95f18cfoo0001\n6ccc20foo0002\nb61d00foo0003\n1a7475foo0004"},
		{"SELECT v FROM foo_salted WHERE id = 'foo0003' ORDER BY v", "under a\nunder c"},
		{"SELECT COUNT(*) FROM log_bucketed WHERE ts BETWEEN TIMESTAMP '2026-01-01' AND TIMESTAMP '2026-01-02'", "86"},
		{"SELECT price FROM prices FOR SYSTEM_TIME ALL WHERE sku = 'sku-1' ORDER BY _ts", "9.99\n8.49\n7.99"},
		{"SELECT uid FROM profiles WHERE tel = '13800000000' ORDER BY uid", "u-1\nu-3"},
	} {
		if got := query(c[0]); got != c[1] {
			t.Errorf("%s\n got %q\nwant %q", c[0], got, c[1])
		}
	}
	for _, table := range tables() {
		if query("SELECT COUNT(*) FROM "+table+" ALLOW FULL SCAN") == "0" {
			t.Errorf("%s is empty", table)
		}
	}
	plan, err := db.Explain(ctx, "SELECT * FROM messages_random WHERE sent BETWEEN ? AND ?", "2018-12-18 03:50:00", "2018-12-18 03:50:10")
	if err != nil || !plan.HitsPrefix() || plan.Access != "scan" {
		t.Errorf("%v %v", err, plan)
	}
}

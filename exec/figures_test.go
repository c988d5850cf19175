package exec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
)

// If figures favour another access than the rules choose, it is used. The answer stays, and without statistics the plan
// is as before.
func TestFiguresChoose(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: DenyFullScan, Alone: true})
	const n = 6000
	w.Do(`CREATE TABLE orders (id BIGINT, status STRING FROM d:status, note STRING FROM d:note, amount BIGINT FROM d:amount) ROW KEY (id AS INT64) INDEX by_status (status AS TEXT, X'00', id AS INT64);
		CREATE TABLE sensors (host STRING, ts BIGINT, v BIGINT FROM d:v) ROW KEY (host AS TEXT, X'00', ts AS INT64);
		CREATE TABLE loners (host STRING, ts BIGINT, v BIGINT FROM d:v) ROW KEY (host AS TEXT, X'00', ts AS INT64);
		CREATE TABLE levels (site BIGINT, floor INT, seq INT, v BIGINT FROM d:v) ROW KEY (site AS INT64, floor AS INT32, seq AS INT32);
		CREATE TABLE scans (parcel STRING, ts TIMESTAMP, v BIGINT FROM d:v) ROW KEY (CRC32(parcel) % 4 AS UINT8, 9223372036854775807 - ts AS INT64, parcel AS TEXT);
		CREATE TABLE people (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64)`)
	w.Fill("orders", n, func(i int) string {
		status := "done"
		if i%500 == 0 {
			status = "lost"
		}
		return fmt.Sprintf("(%d, '%s', 'a note', %d)", i, status, i%10)
	})
	w.Fill("sensors", n, func(i int) string { return fmt.Sprintf("('host%d', %d, %d)", i%3, i, i) })
	w.Fill("loners", n, func(i int) string { return fmt.Sprintf("('host%05d', %d, %d)", i, i, i) })
	w.Fill("levels", n, func(i int) string { return fmt.Sprintf("(1, %d, %d, %d)", i%3, i, i) })
	w.Fill("scans", n, func(i int) string {
		return fmt.Sprintf("('p%d', TIMESTAMP '2026-01-01 00:00:00' + INTERVAL '%d minutes', %d)", i%1000, i, i)
	})
	w.Fill("people", n, func(i int) string { return fmt.Sprintf("(%d, 'name%d')", i, i) })
	for _, q := range []choice{
		{"SELECT * FROM orders WHERE status = 'done'", "scan orders (by_status)", "full scan orders"},
		{"SELECT * FROM orders WHERE status = 'lost'", "scan orders (by_status)", "scan orders (by_status)"},
		{"SELECT * FROM sensors WHERE ts = 17", "full scan sensors", "skip scan sensors"},
		{"SELECT * FROM sensors WHERE ts BETWEEN 17 AND 20", "sensors from value to value of host", "sensors from value to value of host"},
		{"SELECT * FROM loners WHERE ts BETWEEN 17 AND 20", "loners from value to value of host", "loners all of it"},
		{"SELECT * FROM levels WHERE site = 1 AND seq = 17", "1 scan,", "hops"},
		// Servers seek each row that they read backwards: that pays only for a few rows.
		{"SELECT * FROM scans WHERE parcel = 'p7' ORDER BY ts", "reverse (ts)", "sort by ts"},
		{"SELECT * FROM scans WHERE parcel IN ('p7', 'p8') ORDER BY ts", "merge", "sort by ts"},
		{"SELECT * FROM people WHERE id BETWEEN 7 AND 5000 ORDER BY id DESC LIMIT 3", "reverse (id DESC)", "reverse (id DESC)"},
		{"SELECT * FROM people WHERE id IN (" + Multiples(3000, 2) + ")", "get people", "scan people"},
		{"SELECT * FROM people WHERE id IN (" + Multiples(30, 200) + ")", "get people", "get people"},
	} {
		t.Run("", func(t *testing.T) {
			w.T = t
			defer func() { clear(w.stats.stored) }()
			forced := strings.Replace(q.sql, " ALLOW FULL SCAN", "", 1) + " ALLOW FULL SCAN"
			before := w.Do("EXPLAIN " + q.sql)
			answer := w.Sorted(forced)
			for _, table := range []string{"orders", "sensors", "loners", "levels", "scans", "people"} {
				if strings.Contains(q.sql, table) {
					w.Do("ANALYZE " + table)
				}
			}
			run := q.sql
			if q.without == "full scan sensors" {
				run = forced
			}
			q.check(w, before, run, answer)
		})
	}
}

// Figures choose which side of a join is read first, and whether the other one is looked up by key or read once; the answer stays.
func TestFiguresChooseJoins(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do(`CREATE TABLE visits (id BIGINT, item BIGINT FROM d:item, shop BIGINT FROM d:shop) ROW KEY (id AS INT64);
		CREATE TABLE items (k BIGINT, name STRING FROM d:name) ROW KEY (SALT HEX(2), k AS INT64);
		CREATE TABLE shops (id BIGINT, town STRING FROM d:town) ROW KEY (id AS INT64);
		CREATE TABLE chosen (id BIGINT, visit BIGINT FROM d:visit) ROW KEY (id AS INT64)`)
	w.Fill("visits", 3000, func(i int) string { return fmt.Sprintf("(%d, %d, %d)", i, i*7919%2000, i%50) })
	w.Fill("items", 1000, func(i int) string { return fmt.Sprintf("(%d, 'item%d')", 2*i, i) })
	w.Fill("shops", 2000, func(i int) string { return fmt.Sprintf("(%d, 'town%d')", i, i%9) })
	w.Fill("chosen", 4, func(i int) string { return fmt.Sprintf("(%d, %d)", i, i*100) })
	for _, q := range []choice{
		// 256 Gets for each item, or all of the items once.
		{"SELECT v.id, i.name FROM visits v JOIN items i ON i.k = v.item WHERE v.id < 1000", "look-up by key", "join, hash"},
		{"SELECT v.id, i.name FROM visits v LEFT JOIN items i ON i.k = v.item WHERE v.id < 1000", "look-up by key", "join, hash"},
		{"SELECT v.id, s.town FROM visits v JOIN shops s ON s.id = v.shop WHERE v.id BETWEEN 1000 AND 1010", "look-up by key", "look-up by key"},
		// Few rows lead to few of the others, whichever stands first.
		{"SELECT v.id, v.item FROM visits v JOIN chosen c ON v.id = c.visit", "look-up by key", "look-up by key"},
		{"SELECT v.id, v.item FROM chosen c JOIN visits v ON v.id = c.visit", "look-up by key", "look-up by key"},
		{"SELECT v.id, v.item FROM visits v JOIN chosen c ON v.id = c.visit LIMIT 100", "look-up by key", "look-up by key"},
		// A table of which most rows are wanted is read whole.
		{"SELECT v.id, s.town FROM visits v JOIN shops s ON s.id = v.id", "look-up by key", "join, hash"},
	} {
		t.Run("", func(t *testing.T) {
			w.T = t
			defer func() { clear(w.stats.stored) }()
			clear(w.stats.stored)
			before, answer := w.Do("EXPLAIN "+q.sql), w.Sorted(q.sql)
			for _, table := range []string{"visits", "items", "shops", "chosen"} {
				w.Do("ANALYZE " + table)
			}
			q.check(w, before, q.sql, answer)
		})
	}
}

// choice is a query, a part of its plan without statistics, and a part of its plan with them.
type choice struct{ sql, without, with string }

// check expects the plan that q has with statistics, after the plan before without them, and for run the same answer.
func (q choice) check(w *world, before, run string, answer []string) {
	w.T.Helper()
	after := w.Do("EXPLAIN " + q.sql)
	if !strings.Contains(before, q.without) || !strings.Contains(after, q.with) || strings.Contains(before, "by statistics") {
		w.T.Errorf("%.200s\n%.3000s\nis with statistics\n%.3000s", q.sql, before, after)
	}
	others := 0
	if q.with != q.without {
		others = 1
	}
	if n := strings.Count(after, "it is what is done without statistics"); n != others || strings.Contains(after, "costs hardly less") {
		w.T.Errorf("%d ways are said to be what is done without statistics, want %d; none costs less:\n%s", n, others, after)
	}
	if got := w.Sorted(run); !slices.Equal(got, answer) {
		w.T.Errorf("%.200s: %d rows, want %d", q.sql, len(got), len(answer))
	}
}

// Under a LIMIT as many rows are asked for at first as are likely to be enough.
func TestFiguresChooseFirstRows(t *testing.T) {
	_, c := NewStore(t)
	tuning := scan.DefaultTuning()
	tuning.FirstRows = 1 // many small reads, of which one or two more by reading ahead do not hide how many are spared
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true, Tuning: tuning})
	w.Do("CREATE TABLE people (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64)")
	w.Fill("people", 6000, func(i int) string { return fmt.Sprintf("(%d, 'name%d')", i, (i+500)%1000) })
	for _, sql := range []string{
		"SELECT id, name FROM people WHERE length(name) = 5 AND id >= 0 ORDER BY id LIMIT 10",            // one in a hundred
		"SELECT id, name FROM people WHERE length(name) * id % 1000 = 6 AND id >= 0 ORDER BY id LIMIT 4", // one in five hundred, or so
	} {
		answer := w.Do(sql)
		_, without := w.Read(sql)
		w.Do("ANALYZE people")
		rows, with := w.Read(sql)
		if got := w.Do(sql); got != answer || rows == 0 {
			t.Errorf("%s:\n%s\nwas\n%s", sql, got, answer)
		}
		if with.Scans >= without.Scans {
			t.Errorf("%s: %d scans with statistics, %d without\n%s", sql, with.Scans, without.Scans, w.Do("EXPLAIN "+sql))
		}
		if got := w.Do("EXPLAIN " + sql); !strings.Contains(got, "first    asks for ") {
			t.Errorf("%s", got)
		}
		clear(w.stats.stored)
	}
}

// If most cells of a row are wanted, all are read: the servers' filter for the wanted ones costs more than it saves. If
// few are wanted, or the others are long, the filter is used.
func TestFiguresChooseWholeRows(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	var definitions, values, most []string
	for i := range 10 {
		definitions = append(definitions, fmt.Sprintf("c%d STRING FROM d:c%[1]d", i))
		values = append(values, fmt.Sprintf("'value%d of %%[1]d'", i))
		most = append(most, fmt.Sprintf("max(c%d)", i))
	}
	for _, table := range []string{"narrow", "wide"} {
		w.Do("CREATE TABLE " + table + " (id BIGINT, " + strings.Join(definitions, ", ") + ") ROW KEY (id AS INT64)")
		w.Fill(table, 1000, func(i int) string { return fmt.Sprintf("(%[1]d, "+strings.Join(values, ", ")+")", i) })
		w.Do("INSERT INTO " + table + " (id, c9) VALUES (2001, 'alone')")
		values[9] = "'" + strings.Repeat("wide ", 1000) + "%[1]d'"
	}
	of := func(n int) string { return strings.Join(most[:n], ", ") }
	for _, q := range []struct {
		sql   string
		whole bool
	}{
		{"SELECT count(*), " + of(9) + " FROM narrow", true},
		{"SELECT count(*), " + of(9) + " FROM narrow WHERE id BETWEEN 100 AND 2100", true},
		{"SELECT count(*), " + of(2) + " FROM narrow", false},
		{"SELECT count(*), " + of(9) + " FROM wide", false},
	} {
		clear(w.stats.stored)
		before, answer := w.Do("EXPLAIN "+q.sql), w.Sorted(q.sql)
		w.Do("ANALYZE narrow; ANALYZE wide")
		after := w.Do("EXPLAIN " + q.sql)
		if strings.Contains(before, "all of d") || !strings.Contains(after, "by statistics") || strings.Contains(after, "(all of d)") != q.whole {
			t.Errorf("%s\n%s\nis with statistics\n%s", q.sql, before, after)
		}
		if got := w.Sorted(q.sql); !slices.Equal(got, answer) {
			t.Errorf("%s: %v, want %v", q.sql, got, answer)
		}
	}
}

// Statistics that tell nothing of a plan leave it as it is without them.
func TestFiguresThatTellNothing(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE people (id BIGINT, name STRING FROM d:name, age INT FROM d:age) ROW KEY (id AS INT64)")
	w.Fill("people", 50, func(i int) string { return fmt.Sprintf("(%d, 'name%d', %d)", i, i, i) })
	for _, sql := range []string{"SELECT name FROM people WHERE age > 7", "SELECT id, name FROM people WHERE id IN (1, 2, 3)", "SELECT count(*), max(age) FROM people"} {
		clear(w.stats.stored)
		before := w.Do("EXPLAIN (FORMAT JSON) " + sql)
		w.Do("ANALYZE people")
		w.stats.stored["people"].Unscaled = true
		if after := w.Do("EXPLAIN (FORMAT JSON) " + sql); after != before {
			t.Errorf("%s\nis\n%s\nwas\n%s", sql, after, before)
		}
	}
}

// A region that holds much is read in several parts at a time, in the order that is wanted, and not under a LIMIT.
func TestFiguresChoosePieces(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE sales (shop BIGINT, id BIGINT, name STRING FROM d:name) ROW KEY (shop AS UINT32, id AS UINT64) SPLIT AT (X'00000001')")
	w.Fill("sales", 5000, func(i int) string { return fmt.Sprintf("(%d, %d, 'name%d')", 1+i%3, i, i) })
	w.Do("ANALYZE sales")
	large := func(times float64) { // the same as if there were so many times as many rows
		s := w.stats.stored["sales"]
		for i := range s.Keys {
			s.Keys[i].Rows *= times
			for j := range s.Keys[i].Stored {
				s.Keys[i].Stored[j].Rows *= times
			}
		}
	}
	for _, q := range []struct {
		sql    string
		pieces bool
	}{
		{"SELECT * FROM sales", true},
		{"SELECT count(*), max(name) FROM sales", true},
		{"SELECT shop, id FROM sales ORDER BY shop, id", true},
		{"SELECT shop, id FROM sales ORDER BY shop DESC, id DESC", true},
		{"SELECT id FROM sales WHERE shop IN (1, 3) AND id > 700 ORDER BY shop, id", true},
		{"SELECT shop, id FROM sales ORDER BY shop, id LIMIT 7", false},
		{"SELECT * FROM sales WHERE shop = 2 AND id = 7", false},
		{"SELECT DISTINCT shop FROM sales", false},
		{"SELECT id, shop FROM sales WHERE shop IN (1, 3) ORDER BY id", false},
	} {
		rows := func() []string {
			if strings.Contains(q.sql, "ORDER BY") {
				return strings.Split(w.Do(q.sql), "\n")
			}
			return w.Sorted(q.sql)
		}
		answer := rows()
		_, without := w.Read(q.sql)
		if got := w.Do("EXPLAIN " + q.sql); strings.Contains(got, "pieces") {
			t.Errorf("of few rows: %s", got)
		}
		large(10_000)
		_, with := w.Read(q.sql)
		got, explain := rows(), w.Do("EXPLAIN "+q.sql)
		large(1. / 10_000)
		if !slices.Equal(got, answer) {
			t.Errorf("%s: %d rows, want %d", q.sql, len(got), len(answer))
		}
		if pieces := strings.Contains(explain, "pieces"); pieces != q.pieces || pieces && with.Scans < without.Scans+4 || !pieces && with.Scans != without.Scans {
			t.Errorf("%s: %d scans, %d of few rows\n%s", q.sql, with.Scans, without.Scans, explain)
		}
	}
}

package hql_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql"
)

// writerEnv makes this test binary a process that writes to the directory named until it is killed.
const writerEnv = "HQL_TEST_WRITE_TO"

// TestWriterProcess is not a test but the process that TestKilledProcess kills. It prints
// the first id after those that were acknowledged.
func TestWriterProcess(t *testing.T) {
	dir := os.Getenv(writerEnv)
	if dir == "" {
		t.Skip("runs as a child of TestKilledProcess")
	}
	db, err := hql.Open(t.Context(), "dir:"+dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `CREATE TABLE IF NOT EXISTS acked (id BIGINT, code STRING, v STRING)
		ROW KEY by_id (id AS TEXT(10)) STORED IN 'acked' INDEX by_code (code AS TEXT, '|', id AS TEXT(10)) STORED IN 'acked_by_code'`); err != nil {
		t.Fatal(err)
	}
	var next int
	if err := db.QueryRow(t.Context(), "SELECT coalesce(max(id) + 1, 0) FROM acked").Scan(&next); err != nil {
		t.Fatal(err)
	}
	for { // until killed
		n := 1 + rand.IntN(20)
		var vs []string
		for id := next; id < next+n; id++ {
			vs = append(vs, fmt.Sprintf("(%d,'c%d','%s')", id, id%10, value(id)))
		}
		if _, err := db.Exec(t.Context(), "INSERT INTO acked VALUES "+strings.Join(vs, ",")); err != nil {
			t.Fatal(err)
		}
		next += n
		fmt.Println("acked", next)
	}
}

func value(id int) string { return strings.Repeat(strconv.Itoa(id), 1+id%50) }

// A process that is killed while it writes leaves a directory that can be opened, with
// every row that was acknowledged, whole, and found by the index too.
func TestKilledProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		child := osexec.Command(os.Args[0], "-test.run=^TestWriterProcess$")
		child.Env = append(os.Environ(), writerEnv+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		acked := 0
		var kill *time.Timer
		for sc := bufio.NewScanner(out); sc.Scan(); {
			n, ok := strings.CutPrefix(sc.Text(), "acked ")
			if !ok {
				t.Log(sc.Text())
				continue
			}
			if acked, err = strconv.Atoi(n); err != nil {
				t.Fatal(err)
			}
			if kill == nil {
				kill = time.AfterFunc(50*time.Millisecond+rand.N(500*time.Millisecond), func() { _ = child.Process.Kill() })
			}
		}
		if err := child.Wait(); err == nil || kill == nil {
			t.Fatalf("the process ended by itself: %v", err)
		}
		check(t, dir, acked)
	}
}

func check(t *testing.T, dir string, acked int) {
	t.Helper()
	db, err := hql.Open(t.Context(), "dir:"+dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(t.Context(), "SELECT id, v FROM acked ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	for r, err := range rows.All() {
		if err != nil {
			t.Fatal(err)
		}
		var id int
		var v string
		if err := r.Scan(&id, &v); err != nil {
			t.Fatal(err)
		}
		if id < acked && id != next || v != value(id) {
			t.Fatalf("row %d %q, want row %d of %d acknowledged", id, v, next, acked)
		}
		next = id + 1
	}
	if next < acked {
		t.Fatalf("%d rows, %d were acknowledged", next, acked)
	}
	var byCode int
	if err := db.QueryRow(t.Context(), "SELECT count(*) FROM acked WHERE code IN ('c0','c1','c2','c3','c4','c5','c6','c7','c8','c9') AND id < ?", acked).Scan(&byCode); err != nil {
		t.Fatal(err)
	}
	if byCode != acked {
		t.Fatalf("the index gives %d rows, %d were acknowledged", byCode, acked)
	}
	t.Logf("%d rows acknowledged, %d stored", acked, next)
}

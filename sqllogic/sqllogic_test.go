package sqllogic

import (
	"bufio"
	"context"
	"crypto/md5"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dolthub/sqllogictest/go/logictest/parser"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/types"
)

func TestMain(m *testing.M) { os.Exit(poison.Tests(m).Run()) }

// The corpus is next to the project: it is public domain, but too large to be part of it.
const corpus = "../../shared/sqllogictest"

// engine selects the records that follow PostgreSQL's semantics.
const engine = "postgresql"

var update = flag.Bool("update", false, "write testdata/counts.txt anew, with HQL_CORPUS=whole")

// whole asks all queries; without it the test asks every third one of a file with more than smallFile records.
var whole = os.Getenv("HQL_CORPUS") == "whole"

const smallFile = 2000

// count counts the results of the queries of one file.
type count struct {
	passed, wrong, unsupported int
	reasons                    map[string]int
	examples                   []string // of wrong answers
}

// TestCorpus runs every file. It fails for a wrong answer, and if more queries are refused than testdata/counts.txt says.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus, "*.test"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		if os.Getenv("HQL_REQUIRE_HBASE") != "" {
			t.Fatalf("the corpus is not in %s", corpus)
		}
		t.Skipf("the corpus is not in %s", corpus)
	}
	var mu sync.Mutex
	counts := map[string]*count{}
	t.Run("files", func(t *testing.T) {
		for _, f := range files {
			name := strings.TrimSuffix(filepath.Base(f), ".test")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := runFile(t, f)
				mu.Lock()
				counts[name] = c
				mu.Unlock()
			})
		}
	})
	want := readCounts(t)
	total := &count{reasons: map[string]int{}}
	var lines []string
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".test")
		c := counts[name]
		lines = append(lines, fmt.Sprintf("%s %d %d %d", name, c.passed, c.wrong, c.unsupported))
		total.passed, total.wrong, total.unsupported = total.passed+c.passed, total.wrong+c.wrong, total.unsupported+c.unsupported
		for r, n := range c.reasons {
			total.reasons[r] += n
		}
		for _, e := range c.examples {
			t.Errorf("%s: %s", name, e)
		}
		if refused, known := want[name]; c.unsupported > refused || !known {
			t.Errorf("%s: %d queries are refused, not %d", name, c.unsupported, refused)
		}
	}
	t.Logf("%d queries: %d pass, %d wrong, %d unsupported", total.passed+total.wrong+total.unsupported, total.passed, total.wrong, total.unsupported)
	var reasons []string
	for r := range total.reasons {
		reasons = append(reasons, r)
	}
	slices.SortFunc(reasons, func(a, b string) int { return total.reasons[b] - total.reasons[a] })
	for _, r := range reasons[:min(len(reasons), 25)] {
		t.Logf("%6d  %s", total.reasons[r], r)
	}
	if *update && whole {
		text := "# file, queries that pass, are wrong, are not supported\n" + strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile("testdata/counts.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readCounts returns the number of queries of each file that were refused before.
func readCounts(t *testing.T) map[string]int {
	out := map[string]int{}
	f, err := os.Open("testdata/counts.txt")
	if err != nil {
		if *update {
			return out
		}
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if w := strings.Fields(sc.Text()); len(w) == 4 && w[0] != "#" {
			out[w[0]], _ = strconv.Atoi(w[3])
		}
	}
	return out
}

func runFile(t *testing.T, file string) *count {
	records, err := parser.ParseTestFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db, err := hql.Open(t.Context(), "mem:", hql.WithFullScan(hql.FullScanAllow))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := &count{reasons: map[string]int{}}
	astray := false   // the table is not as the file thinks
	if race.Enabled { // a tenth of the speed: the beginning of each file
		records = records[:min(len(records), 800)]
	}
	for i, r := range records {
		if !r.ShouldExecuteForEngine(engine) || r.Type() == parser.Query && i%3 > 0 && len(records) > smallFile && !whole {
			continue
		}
		if r.Type() == parser.Halt {
			break
		}
		if r.Type() == parser.Statement {
			_, err := db.Exec(t.Context(), r.Query())
			switch {
			case err != nil && !r.ExpectError():
				c.reasons["statement: "+reason(err)]++
				astray = astray || !strings.HasPrefix(r.Query(), "CREATE")
			case err == nil && r.ExpectError():
				c.reasons["statement accepted that others refuse"]++
			}
			continue
		}
		got, err := query(t.Context(), db, r)
		switch {
		case err != nil:
			c.unsupported++
			c.reasons[reason(err)]++
		case astray && !right(r, got):
			c.unsupported++
			c.reasons["after a statement that was refused"]++
		case !right(r, got):
			c.wrong++
			if len(c.examples) < 5 {
				c.examples = append(c.examples, fmt.Sprintf("line %d: %s\ngot %.300q\nwant %.300q %s", r.LineNum(), r.Query(), got, r.Result(), r.HashResult()))
			}
		default:
			c.passed++
		}
	}
	return c
}

var particulars = regexp.MustCompile(`"[^"]*"|'[^']*'|\d+`)

// reason returns an error without the details of one statement.
func reason(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return particulars.ReplaceAllString(line, "_")
}

// query returns the values of the result, row by row, in the corpus's text form.
func query(ctx context.Context, db *hql.DB, r *parser.Record) ([]string, error) {
	rows, err := db.Query(ctx, r.Query())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		for i, v := range rows.Raw() {
			out = append(out, print(v, r.Schema()[i%len(r.Schema())]))
		}
	}
	return out, rows.Err()
}

func print(v types.Value, kind byte) string {
	if v.IsNull() {
		return "NULL"
	}
	switch kind {
	case 'R':
		if f, err := types.Cast(v, types.Double, nil); err == nil {
			return strconv.FormatFloat(f.Double(), 'f', 3, 64)
		}
	case 'I':
		if v.Type() == types.Boolean {
			return map[bool]string{false: "0", true: "1"}[v.Bool()]
		}
		if v.Type() == types.Decimal || v.Type() == types.Double {
			if n, err := strconv.ParseFloat(v.String(), 64); err == nil {
				return strconv.FormatInt(int64(n), 10)
			}
		}
	}
	if v.String() == "" {
		return "(empty)"
	}
	return v.String()
}

// right compares results as the record requires.
func right(r *parser.Record, got []string) bool {
	if len(got) != r.NumResults() {
		return false
	}
	got = r.SortResults(got)
	if !r.IsHashResult() {
		return slices.Equal(got, r.Result())
	}
	h := md5.New()
	for _, v := range got {
		h.Write([]byte(v + "\n"))
	}
	return fmt.Sprintf("%x", h.Sum(nil)) == r.HashResult()
}

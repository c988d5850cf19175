package exec

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/importer"
)

// live reads and writes tables while Phoenix creates, alters and drops them: hql goes by what they are when a statement begins.
func (pw *phoenixWorld) live(t *testing.T) {
	defer func(was time.Duration) { foreignAge = was }(foreignAge)
	foreignAge = time.Hour // what is seen is not seen because of it
	config := Config{FullScan: AllowFullScan, Definitions: func(ctx context.Context, c hbase.Client) (Foreign, error) { return importer.ReadPhoenix(ctx, c) }}
	w := &phoenixWorld{world: worldOf(t, New(pw.c, catalog.New(), config)), c: pw.c, query: pw.query}
	pw.world = w.world
	w.phoenix = pw.phoenix
	// insert is refused if it would be by a definition that is none any more, and again by the one of now.
	readOnly := func(why, sql string) {
		t.Helper()
		if _, _, err := w.Try(sql); err == nil {
			t.Errorf("%s: it is not refused, for %s", sql, why)
		}
		w.Refused(why, sql)
	}

	w.phoenix("CREATE TABLE LV (ID VARCHAR NOT NULL PRIMARY KEY, A VARCHAR, B INTEGER) COLUMN_ENCODED_BYTES=NONE")
	w.phoenix("UPSERT INTO LV VALUES ('p', 'one', 1)")
	w.Expect("p|one|1", "SELECT * FROM lv")
	w.phoenix("ALTER TABLE LV ADD C BIGINT")
	w.phoenix("UPSERT INTO LV VALUES ('q', 'two', 2, 20)")
	w.Expect("20", "SELECT c FROM lv WHERE id = 'q'")
	w.Expect("p|one|1|NULL\nq|two|2|20", "SELECT * FROM lv")
	w.phoenix("ALTER TABLE LV DROP COLUMN A")
	w.Refused(`unknown column "a"`, "SELECT a FROM lv")
	w.phoenix("ALTER TABLE LV ADD A INTEGER") // under the qualifier of the other one
	w.phoenix("UPSERT INTO LV (ID, A) VALUES ('p', 258)")
	w.Expect("p|258\nq|NULL", "SELECT id, a FROM lv")

	w.phoenix("CREATE INDEX LV_X ON LV (C) INCLUDE (B)")
	readOnly("Phoenix keeps the indexes of LV", "INSERT INTO lv (id, c) VALUES ('r', 30)")
	w.Expect("q", "SELECT /*+ LAYOUT(lv_x) */ id FROM lv WHERE c = 20")
	w.phoenix("DROP INDEX LV_X ON LV")
	w.phoenix("CREATE INDEX LV_X ON LV (B)")
	w.Expect("q", "SELECT /*+ LAYOUT(lv_x) */ id FROM lv WHERE b = 2")
	w.Expect("q", "SELECT id FROM lv WHERE c = 20")
	w.phoenix("DROP INDEX LV_X ON LV")
	w.Expect("q", "SELECT id FROM lv WHERE b = 2")
	w.Do("INSERT INTO lv (id, b, c) VALUES ('r', 3, 30)")
	if got := w.phoenix("SELECT B, C FROM LV WHERE ID = 'r'"); got != "3|30" {
		t.Errorf("Phoenix reads %q of hql's row", got)
	}

	// An index of a view is kept by who writes the table.
	w.phoenix("CREATE VIEW LV_V (X VARCHAR) AS SELECT * FROM LV WHERE ID = 'q'")
	w.Expect("2|20", "SELECT b, c FROM lv_v")
	w.Do("INSERT INTO lv (id, b) VALUES ('r', 4)")
	w.phoenix("CREATE INDEX LV_VX ON LV_V (B)")
	readOnly("Phoenix keeps the indexes of LV_V", "INSERT INTO lv (id, b) VALUES ('r', 5)")
	w.Expect("r|4", "SELECT id, b FROM lv WHERE id = 'r'")
	w.phoenix("DROP INDEX LV_VX ON LV_V")
	w.phoenix("DROP VIEW LV_V")
	w.Refused(`unknown table "lv_v"`, "SELECT * FROM lv_v")
	w.Do("SELECT * FROM lv")
	w.Do("INSERT INTO lv (id, b) VALUES ('r', 6)")

	w.phoenix("DROP TABLE LV")
	w.Refused(`unknown table "lv"`, "SELECT * FROM lv")
	w.phoenix("CREATE TABLE LV (ID INTEGER NOT NULL PRIMARY KEY, B DOUBLE)")
	w.phoenix("UPSERT INTO LV VALUES (7, 1.5)")
	w.Expect("7|1.5", "SELECT * FROM lv")
	w.phoenix("DROP TABLE LV")
	w.phoenix("CREATE TABLE LV (ID BIGINT NOT NULL PRIMARY KEY, B BIGINT, C VARCHAR) IMMUTABLE_ROWS=true")
	w.phoenix("UPSERT INTO LV VALUES (7, 8, 'c')")
	w.Expect("7|8|c", "SELECT * FROM lv")
	w.phoenix("DROP TABLE LV")
	w.readsBeside(t)
}

// readsBeside reads a table again and again while Phoenix makes it anew in other ways: k is 5 and v is 6 whatever their bytes are.
func (w *phoenixWorld) readsBeside(t *testing.T) {
	ways := []string{
		"(K VARCHAR NOT NULL PRIMARY KEY, V VARCHAR) COLUMN_ENCODED_BYTES=NONE",
		"(K INTEGER NOT NULL PRIMARY KEY, V BIGINT) COLUMN_ENCODED_BYTES=NONE",
		"(K INTEGER NOT NULL, V SMALLINT CONSTRAINT PK PRIMARY KEY (K DESC)) SALT_BUCKETS=2",
		"(K UNSIGNED_INT NOT NULL PRIMARY KEY, V DECIMAL) IMMUTABLE_ROWS=true",
	}
	type seen struct {
		rows, errors int
		wrong        []string
	}
	end, done := make(chan struct{}), make(chan seen)
	go func() {
		var s seen
		defer func() { done <- s }()
		for {
			select {
			case <-end:
				return
			default:
			}
			got, _, err := w.Try("SELECT k, v FROM lb")
			switch {
			case err == nil && got == "5|6":
				s.rows++
			case err == nil && got == "":
			case err == nil:
				s.wrong = append(s.wrong, got)
			case strings.Contains(err.Error(), "run it again") || strings.Contains(err.Error(), "unknown table") || errors.Is(err, hbase.ErrNoTable):
				s.errors++
			default:
				s.wrong = append(s.wrong, err.Error())
			}
		}
	}()
	for i := range 3 * len(ways) {
		w.phoenix("CREATE TABLE LB " + ways[i%len(ways)])
		v := []string{"'5', '6'", "5, 6"}[min(i%len(ways), 1)]
		w.phoenix("UPSERT INTO LB VALUES (" + v + ")")
		w.Expect("5|6", "SELECT k, v FROM lb")
		w.phoenix("DROP TABLE LB")
	}
	close(end)
	s := <-done
	if len(s.wrong) > 0 || s.rows == 0 || s.errors == 0 {
		t.Errorf("%d times rows, %d errors, wrong %q", s.rows, s.errors, s.wrong)
	}
	t.Logf("figures: rows %d, refused %d, wrong %d", s.rows, s.errors, len(s.wrong))
}

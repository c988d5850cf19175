package differential

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
)

// TestArrays compares expressions, one on each line, with PostgreSQL. If PostgreSQL returns an error, hql must too.
// Before an expression for which the two differ there is a line "-- why" with the reason, and hql's answer.
func TestArrays(t *testing.T) {
	pg, db, lines := askedOfBoth(t, "testdata/arrays")
	reason := ""
	for _, x := range lines {
		if rest, ok := strings.CutPrefix(x, "-- "); ok {
			reason = rest
			continue
		}
		want := "error"
		r := pg.ExecParams(context.Background(), "SELECT CAST(("+x+") AS text)", nil, nil, nil, nil).Read()
		if r.Err == nil && r.Rows[0][0] == nil {
			want = "NULL"
		} else if r.Err == nil {
			want = string(r.Rows[0][0])
		}
		got := textOf(db, "SELECT CAST(("+x+") AS text)")
		if reason != "" {
			if want == got {
				t.Errorf("%s: both say %s: it is no difference", x, got)
			}
			if !strings.HasSuffix(reason, ": "+strings.SplitN(got, ":", 2)[0]) {
				t.Errorf("%s: %s, where the file says %q", x, got, reason)
			}
		} else if got != want && (want != "error" || !strings.HasPrefix(got, "error")) {
			t.Errorf("%s\nhql        %s\nPostgreSQL %s (%v)", x, got, want, r.Err)
		}
		reason = ""
	}
}

// askedOfBoth returns a PostgreSQL, an empty hql, and the lines of a file to run on both.
func askedOfBoth(t *testing.T, file string) (*pgconn.PgConn, *hql.DB, []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db, err := hql.Open(context.Background(), "mem:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return connect(t), db, strings.Split(strings.TrimSpace(string(b)), "\n")
}

// textOf returns the one value of a query, or its error.
func textOf(db *hql.DB, sql string, args ...any) string {
	rows, err := db.Query(context.Background(), sql, args...)
	if err != nil {
		return "error: " + err.Error()
	}
	all, err := hql.Collect[*string](rows)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case len(all) != 1:
		return "error: not one row"
	case all[0] == nil:
		return "NULL"
	}
	return *all[0]
}

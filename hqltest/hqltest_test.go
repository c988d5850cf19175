package hqltest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hql-db/hql/demo"
	"github.com/hql-db/hql/hqltest"
)

// recorder is a test that notes what it fails with.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestAssertHits(t *testing.T) {
	db, err := demo.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for sql, want := range map[string]string{
		"SELECT name FROM files WHERE user_id = ? AND create_time >= ?": "",
		"DELETE FROM files WHERE user_id = @user":                       "",
		"SELECT count(*) FROM files ALLOW FULL SCAN":                    "",
		"SELECT * FROM files LIMIT 10":                                  "",
		"SELECT name FROM files WHERE name = $1":                        "miss: full scan files: MISSES the rowkey prefix; add user_id = ... (or a range of it)",
		"SELECT nam FROM files":                                         `error: unknown column "nam"; did you mean name?`,
	} {
		r := &recorder{TB: t}
		hqltest.AssertHits(r, db, sql)
		if want != "" {
			want += "\n" + sql
		}
		if got := strings.Join(r.failures, "|"); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}

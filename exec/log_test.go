package exec

import (
	"log/slog"
	"testing"

	"github.com/hql-db/hql/hbase"
)

// A read that fails is logged and fails.
func TestLoggedGetFails(t *testing.T) {
	_, c := newStore(t)
	l := Logged(c, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})))
	if rows, err := l.Get(t.Context(), "nosuch", [][]byte{[]byte("k")}, &hbase.ReadOptions{}); err == nil {
		t.Errorf("%v and no error", rows)
	}
}

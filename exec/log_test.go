package exec

import (
	"context"
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

// closedTables opens no scan.
type closedTables struct{ hbase.Client }

func (closedTables) Scan(context.Context, hbase.ScanRange, *hbase.ReadOptions) (hbase.Scanner, error) {
	return nil, errCall
}

func TestLoggedScanFails(t *testing.T) {
	l := Logged(closedTables{}, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})))
	if s, err := l.Scan(t.Context(), hbase.ScanRange{Table: "t"}, &hbase.ReadOptions{}); err != errCall || s != nil {
		t.Errorf("%v, %v", s, err)
	}
}

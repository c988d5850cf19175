package hbase

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

var errCall = errors.New("the call failed")

// failing is a client whose reads fail.
type failing struct{ Client }

func (failing) Get(context.Context, string, [][]byte, *ReadOptions) ([]Row, error) {
	return nil, errCall
}

func (failing) Scan(context.Context, ScanRange, *ReadOptions) (Scanner, error) { return nil, errCall }

// A Get that fails is logged and fails. A scan that does not open is not one.
func TestLoggedReadsFail(t *testing.T) {
	var log strings.Builder
	l := Logged(failing{}, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if rows, err := l.Get(t.Context(), "t", [][]byte{[]byte("k")}, &ReadOptions{}); err != errCall || rows != nil {
		t.Errorf("%v, %v", rows, err)
	}
	if !strings.Contains(log.String(), `msg=get table=t keys=1 first=6b rows=0`) || !strings.Contains(log.String(), "the call failed") {
		t.Error(log.String())
	}
	if s, err := l.Scan(t.Context(), ScanRange{Table: "t"}, &ReadOptions{}); err != errCall || s != nil {
		t.Errorf("%v, %v", s, err)
	}
}

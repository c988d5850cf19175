package hbase

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Logged returns a client that logs each read of c to l at the debug level: the table, the keys in hexadecimal, the
// number of rows, the time it took and its error. Keys may be personal data; no other level logs them.
func Logged(c Client, l *slog.Logger) Client { return loggedClient{c, l} }

type loggedClient struct {
	Client
	log *slog.Logger
}

func (c loggedClient) Get(ctx context.Context, table string, keys [][]byte, o *ReadOptions) ([]Row, error) {
	if len(keys) == 0 || !c.log.Enabled(ctx, slog.LevelDebug) {
		return c.Client.Get(ctx, table, keys, o)
	}
	start := time.Now()
	rows, err := c.Client.Get(ctx, table, keys, o)
	found := 0
	for i := range rows {
		if rows[i].Key != nil {
			found++
		}
	}
	c.log.LogAttrs(ctx, slog.LevelDebug, "get", logged(table, found, start, err,
		slog.Int("keys", len(keys)), hexadecimal("first", keys[0]))...)
	return rows, err
}

func (c loggedClient) Scan(ctx context.Context, r ScanRange, o *ReadOptions) (Scanner, error) {
	s, err := c.Client.Scan(ctx, r, o)
	if err != nil || !c.log.Enabled(ctx, slog.LevelDebug) {
		return s, err
	}
	return &loggedScanner{Scanner: s, ctx: ctx, log: c.log, r: r, start: time.Now()}, nil
}

// loggedScanner logs its scan once, when it is closed.
type loggedScanner struct {
	Scanner
	ctx    context.Context // for the log's handler
	log    *slog.Logger
	r      ScanRange
	start  time.Time
	rows   int
	err    error
	closed bool
}

func (s *loggedScanner) Next(ctx context.Context) ([]Row, error) {
	rows, err := s.Scanner.Next(ctx)
	s.rows, s.err = s.rows+len(rows), err
	return rows, err
}

func (s *loggedScanner) Close() error {
	err := s.Scanner.Close()
	if s.closed {
		return err
	}
	s.closed = true
	if s.err == nil || s.err == io.EOF {
		s.err = err
	}
	s.log.LogAttrs(s.ctx, slog.LevelDebug, "scan", logged(s.r.Table, s.rows, s.start, s.err,
		hexadecimal("start", s.r.Start), hexadecimal("stop", s.r.Stop), slog.Bool("reversed", s.r.Reversed))...)
	return err
}

func hexadecimal(name string, key []byte) slog.Attr { return slog.String(name, fmt.Sprintf("%x", key)) }

// logged returns the attributes that are logged for each read.
func logged(table string, rows int, start time.Time, err error, more ...slog.Attr) []slog.Attr {
	out := append([]slog.Attr{slog.String("table", table)}, more...)
	out = append(out, slog.Int("rows", rows), slog.Duration("elapsed", time.Since(start)))
	if err != nil {
		out = append(out, slog.Any("error", err))
	}
	return out
}

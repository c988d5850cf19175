package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"

	"github.com/hql-db/hql/pgwire"
)

// serveMetrics answers GET /metrics and /health on l, at most 16 requests at a time, until ctx ends.
func serveMetrics(ctx context.Context, l net.Listener, srv *pgwire.Server) {
	mux := http.NewServeMux()
	answer := func(path string, write func(w io.Writer) error) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			_ = write(w)
		})
	}
	answer("/metrics", srv.WriteMetrics)
	answer("/health", func(w io.Writer) error { _, err := io.WriteString(w, "ok\n"); return err })
	const limit = 5 * time.Second
	s := &http.Server{Handler: mux, ReadTimeout: limit, WriteTimeout: limit, MaxHeaderBytes: 4096, ErrorLog: log.New(io.Discard, "", 0)}
	s.SetKeepAlivesEnabled(false)
	_ = serveHTTP(ctx, s, netutil.LimitListener(l, 16))
}

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, s *http.Server, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { s.Close() })()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

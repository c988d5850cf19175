package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hql-db/hql/pgwire"
)

// serveMetrics answers GET /metrics and /health on l until ctx ends. net/http would make the program a megabyte larger.
func serveMetrics(ctx context.Context, l net.Listener, srv *pgwire.Server) {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	slots := make(chan struct{}, 16)
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			answerHTTP(c, srv)
		}()
	}
}

// answerHTTP answers one request.
func answerHTTP(c net.Conn, srv *pgwire.Server) {
	in := bufio.NewReaderSize(c, 4096)
	request, err := in.ReadSlice('\n')
	fields := strings.Fields(string(request))
	if err != nil || len(fields) < 2 {
		return
	}
	for { // the headers, as far as they are short
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		if len(strings.TrimSpace(string(line))) == 0 {
			break
		}
	}
	status, body := "200 OK", &strings.Builder{}
	switch path, _, _ := strings.Cut(fields[1], "?"); {
	case fields[0] != "GET" && fields[0] != "HEAD":
		status = "405 Method Not Allowed"
	case path == "/metrics":
		_ = srv.WriteMetrics(body)
	case path == "/health":
		body.WriteString("ok\n")
	default:
		status = "404 Not Found"
	}
	fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", status, body.Len())
	if fields[0] == "GET" {
		fmt.Fprint(c, body.String())
	}
}

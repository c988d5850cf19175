package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hql-db/hql/cmd/hql/mcpserver"
	"github.com/hql-db/hql/exec"
)

// assistant are the flags of hql mcp.
type assistant struct {
	listen, bytes string
	opts          mcpserver.Options
}

func (a *assistant) flags(fs *flag.FlagSet, c *config) {
	fs.StringVar(&a.listen, "listen", "", "")
	fs.StringVar(&a.bytes, "max-bytes", "", "")
	fs.IntVar(&a.opts.MaxRows, "max-rows", 0, "")
	fs.StringVar(&c.given.FullScan, "full-scan", "", "")
	fs.Int64Var(&c.given.MaxScanRows, "max-scan-rows", 0, "")
	fs.StringVar(&c.given.MaxScanBytes, "max-scan-bytes", "", "")
	fs.DurationVar(&c.given.Timeout, "timeout", 0, "")
	fs.BoolVar(&c.given.Write, "write", false, "")
}

func (a *assistant) check([]string) error {
	if a.listen != "" {
		host, _, err := net.SplitHostPort(a.listen)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fmt.Errorf("--listen %s is not a loopback address such as 127.0.0.1:8765: hql mcp has no users, so only this host may reach it", a.listen)
		}
	}
	if a.bytes != "" {
		n, err := exec.ParseScanLimit(a.bytes)
		if err != nil || n <= 0 || n > 1<<30 {
			return fmt.Errorf("--max-bytes %s is not a size such as 64KB", a.bytes)
		}
		a.opts.MaxBytes = int(n)
	}
	return nil
}

// run serves a client until it disconnects. With --listen, it serves until SIGTERM or ^C.
func (a *assistant) run(ctx context.Context, c *config, _ []string, stdin io.Reader, stdout, stderr io.Writer) error {
	a.opts.FullScans, a.opts.Timeout, a.opts.ScanLimit.Rows = c.FullScan == "allow", c.Timeout, c.MaxScanRows
	if c.MaxScanBytes != "" {
		var err error
		if a.opts.ScanLimit.Bytes, err = exec.ParseScanLimit(c.MaxScanBytes); err != nil {
			return err
		}
	}
	c.Write, c.readOnly, c.Restricted, c.FullScan, c.MaxScanRows, c.MaxScanBytes = false, true, true, "deny", 0, ""
	db, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer db.Close()
	a.opts.Version = version()
	a.opts.Infer = func(ctx context.Context, table string, w io.Writer) error {
		_, err := propose(ctx, db, table, inferredFrom, proposed, w, io.Discard)
		return err
	}
	server := mcpserver.New(db, a.opts)
	ctx, stop := untilSignal(ctx)
	defer stop()
	if a.listen != "" {
		l, err := net.Listen("tcp", a.listen)
		if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "listening on http://%s\n", l.Addr())
		return serveHTTP(ctx, &http.Server{Handler: mcpserver.Handler(server), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}, l)
	}
	err = server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(stdin), Writer: nopCloser{stdout}, MaxLineLength: mcpserver.MaxMessage})
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	return cmp.Or(context.Cause(ctx), fmt.Errorf("the session ended: %w (each line is a JSON-RPC message of at most 1 MB)", err))
}

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/pgwire"
)

// server are the flags of hql serve.
type server struct {
	listen, users, password, cert, key string
	metrics                            string
	memory                             string
	opts                               pgwire.Options
	impersonate                        bool
	grace                              time.Duration
}

func (s *server) flags(fs *flag.FlagSet, c *config) {
	fs.StringVar(&s.listen, "listen", "127.0.0.1:5432", "")
	fs.StringVar(&s.users, "users", "", "")
	fs.StringVar(&s.metrics, "metrics", "", "")
	fs.StringVar(&s.password, "password", "", "")
	fs.StringVar(&s.cert, "tls-cert", "", "")
	fs.StringVar(&s.key, "tls-key", "", "")
	fs.StringVar(&c.given.FullScan, "full-scan", "", "")
	fs.Int64Var(&c.given.MaxScanRows, "max-scan-rows", 0, "")
	fs.StringVar(&c.given.MaxScanBytes, "max-scan-bytes", "", "")
	fs.DurationVar(&c.given.Timeout, "timeout", 0, "")
	fs.StringVar(&c.given.Timezone, "timezone", "", "")
	fs.BoolVar(&c.given.Write, "write", false, "")
	fs.IntVar(&s.opts.MaxConnections, "max-connections", 0, "")
	fs.IntVar(&s.opts.MaxStatements, "max-statements", 0, "")
	fs.IntVar(&s.opts.MaxQueue, "max-queue", 0, "")
	fs.StringVar(&s.memory, "memory", "", "")
	fs.BoolVar(&s.impersonate, "impersonate", false, "")
	fs.BoolVar(&s.opts.LogStatements, "log-statements", false, "")
	fs.DurationVar(&s.grace, "grace", 10*time.Second, "")
}

func (s *server) check([]string) error {
	if (s.cert == "") != (s.key == "") {
		return errors.New("--tls-cert and --tls-key go together: a certificate and its key, PEM")
	}
	if s.memory != "" {
		n, err := exec.ParseScanLimit(s.memory)
		if err != nil || n == 0 {
			return fmt.Errorf("--memory %s is not a size such as 2GB", s.memory)
		}
		s.opts.Memory = n
	}
	return nil
}

// run serves until SIGTERM or ^C.
func (s *server) run(ctx context.Context, c *config, _ []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if s.password != "" {
		return s.printUser(stdin, stdout, stderr)
	}
	if err := s.load(); err != nil {
		return err
	}
	s.opts.Write, s.opts.StatementTimeout = c.Write, c.Timeout
	s.opts.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	c.Restricted = true
	if c.FullScan == "" {
		c.FullScan = "deny"
	}
	db, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer db.Close()
	if s.impersonate {
		s.opts.Open = func(ctx context.Context, user string) (*hql.DB, error) { return openAs(ctx, c, user) }
	}
	srv, err := pgwire.NewServer(db, s.opts)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "listening on %s: psql -h %s\n", l.Addr(), strings.Replace(l.Addr().String(), ":", " -p ", 1))
	return s.serve(ctx, srv, l, stderr)
}

// serve accepts clients of l until ^C or SIGTERM. Running statements then have s.grace to end.
func (s *server) serve(ctx context.Context, srv *pgwire.Server, l net.Listener, stderr io.Writer) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	if s.metrics != "" {
		m, err := net.Listen("tcp", s.metrics)
		if err != nil {
			return errors.Join(fmt.Errorf("--metrics: %w", err), l.Close())
		}
		go serveMetrics(ctx, m, srv)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return errors.Join(err, srv.Close())
	case <-ctx.Done():
	}
	fmt.Fprintf(stderr, "stopping: running statements have %v\n", s.grace)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// load reads the files that flags name.
func (s *server) load() (err error) {
	if s.users != "" {
		if s.opts.Users, err = pgwire.ReadUsers(s.users); err != nil {
			return fmt.Errorf("--users: %w", err)
		}
	}
	if s.cert != "" {
		pair, err := tls.LoadX509KeyPair(s.cert, s.key)
		if err != nil {
			return fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
		s.opts.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	return nil
}

// printUser prints a user's line for the users' file.
func (s *server) printUser(stdin io.Reader, stdout, stderr io.Writer) error {
	var password string
	if f, ok := stdin.(interface{ Fd() uintptr }); ok && isTerminal(stdin) {
		fmt.Fprint(stderr, "password: ")
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(stderr)
		if err != nil {
			return err
		}
		password = string(b)
	} else {
		line, err := bufio.NewReader(stdin).ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		password = strings.TrimRight(line, "\r\n")
	}
	if password == "" {
		return errors.New("the password is empty")
	}
	v, err := pgwire.Verifier(password)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s %s\n", s.password, v)
	return err
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hot"
)

// heated are the flags of hql hot.
type heated struct {
	every, long time.Duration
	format      string
}

func (h *heated) flags(fs *flag.FlagSet, _ *config) {
	fs.DurationVar(&h.every, "every", 5*time.Second, "")
	fs.DurationVar(&h.long, "for", time.Minute, "")
	fs.StringVar(&h.format, "format", "text", "")
}

func (h *heated) check([]string) error {
	if h.every < time.Second || h.long < h.every || h.long > 24*time.Hour {
		return errors.New("--every must be at least 1s, and --for at least as long as --every and at most 24h")
	}
	return reportFormat(h.format)
}

func (h *heated) run(ctx context.Context, c *config, args []string, _ io.Reader, stdout, stderr io.Writer) error {
	if at := c.address(); c.demo || at == "mem:" || strings.HasPrefix(at, "dir:") {
		return fmt.Errorf("the embedded store (%s) has no region servers whose load could be uneven: hql hot needs --connect to a cluster", at)
	}
	db, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer db.Close()
	tables := db.Tables()
	if len(args) == 1 {
		t, ok := db.Catalog().Table(args[0])
		if !ok {
			return fmt.Errorf("unknown table %q", args[0])
		}
		tables = []*catalog.Table{t}
	}
	if len(tables) == 0 {
		return errors.New("no table is defined: --catalog FILE names the definitions")
	}
	var progress func(time.Duration)
	if isTerminal(stderr) {
		progress = func(done time.Duration) {
			fmt.Fprintf(stderr, "\r\x1b[K%s of %s; ^C ends it", done.Round(time.Second), h.long)
		}
	}
	r, err := hot.Watch(ctx, db.Client(), tables, h.every, h.long, progress)
	if progress != nil {
		fmt.Fprint(stderr, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	return writeReport(stdout, h.format, r, r.HTML)
}

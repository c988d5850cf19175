package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/design"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/stats"
)

// designing are the flags of hql design.
type designing struct {
	file, format, writes string
	opts                 design.Options
}

func (d *designing) flags(fs *flag.FlagSet, _ *config) {
	fs.StringVar(&d.file, "f", "", "")
	fs.StringVar(&d.format, "format", "text", "")
	fs.StringVar(&d.opts.Table, "table", "", "")
	fs.Float64Var(&d.opts.Rows, "rows", 0, "")
	fs.StringVar(&d.writes, "writes", "", "")
	fs.IntVar(&d.opts.Regions, "regions", 0, "")
	fs.StringVar(&d.opts.WrittenBy, "written-by", "", "")
	fs.BoolVar(&d.opts.KeepOrder, "keep-order", false, "")
}

func (d *designing) check([]string) error {
	if d.file == "" {
		return errors.New("-f FILE is missing: the statements that the table is to serve")
	}
	if d.opts.Regions != 0 && (d.opts.Regions < 2 || d.opts.Regions > 10000) {
		return errors.New("--regions takes a number from 2 to 10000")
	}
	if d.writes != "" {
		n, err := strconv.ParseFloat(strings.TrimSuffix(d.writes, "/s"), 64)
		if err != nil || !(n > 0 && n < 1e12) {
			return fmt.Errorf("--writes takes a number of rows, such as 2000/s, not %s", printable(d.writes))
		}
		d.opts.Writes = n
	}
	return reportFormat(d.format)
}

// reportFormat returns an error if the commands design and hot do not know the --format.
func reportFormat(format string) error {
	switch format {
	case "text", "json", "html":
		return nil
	}
	return fmt.Errorf("unknown format %q (text, json or html)", format)
}

func (d *designing) run(ctx context.Context, c *config, _ []string, stdin io.Reader, stdout, stderr io.Writer) error {
	src, err := readInput(d.file, stdin)
	if err != nil {
		return err
	}
	db, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer db.Close()
	known := map[string]*stats.Table{}
	d.opts.Statistics = func(t *catalog.Table) *stats.Table {
		if _, ok := known[t.Name]; !ok {
			known[t.Name] = sampled(ctx, db, t, stderr)
		}
		return known[t.Name]
	}
	d.opts.Now, d.opts.Stop = time.Now(), ctx.Err
	if isTerminal(stderr) {
		d.opts.Progress = func(table string, tried int) { fmt.Fprintf(stderr, "\r\x1b[K%s: %s", table, count(tried, "layout")) }
	}
	r, err := design.Workload(db.Catalog(), src, d.opts)
	if d.opts.Progress != nil {
		fmt.Fprint(stderr, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	return writeReport(stdout, d.format, r, r.HTML)
}

// writeReport writes r as text or JSON, or the page.
func writeReport(w io.Writer, format string, r fmt.Stringer, page func() string) error {
	text := ""
	switch format {
	case "json":
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		text = string(b) + "\n"
	case "html":
		text = page()
	default:
		text = r.String()
	}
	_, err := io.WriteString(w, text)
	return err
}

// sampled returns the statistics of a table. If there are none it runs ANALYZE; it returns nil if ANALYZE fails.
func sampled(ctx context.Context, db *hql.DB, t *catalog.Table, stderr io.Writer) *stats.Table {
	if known := db.Statistics(ctx, t); known != nil {
		return known
	}
	fmt.Fprintf(stderr, "note: %s has no statistics: ANALYZE reads a sample of it\n", printable(t.Name))
	if _, err := db.Exec(ctx, "ANALYZE "+parser.QuoteName(t.Name)); err != nil {
		fmt.Fprintf(stderr, "note: no sample of %s: %v\n", printable(t.Name), err)
		return nil
	}
	return db.Statistics(ctx, t)
}

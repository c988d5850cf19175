package exec

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/internal/copytext"
	"github.com/hql-db/hql/parser"
)

// copy runs COPY, between a file and a table, or from a query to a file. The ending of the file's name determines the
// format: .csv and .tsv with a header line, .jsonl with an object on each line, .arrow and .parquet. WITH (FORMAT =
// 'csv') overrides it.
func (r *run) copy(ctx context.Context, s *parser.Copy) (*Rows, error) {
	if r.args.Source != nil {
		return r.copyRows(ctx, s)
	}
	format, header := fileFormat(s.File), true
	switch {
	case s.File != "":
	case s.To || r.args.Options.Stdin != nil: // in PostgreSQL's text format
		format, header = "tsv", false
	default:
		return nil, parser.Errorf(s.Pos, "COPY FROM needs the name of a file").WithHint("QueryOptions.Stdin has the rows of STDIN")
	}
	if r.engine.cfg.NoFiles && (s.File != "" || s.To && r.args.Options.Stdout == nil) {
		return nil, parser.Errorf(s.Pos, "COPY: %v", ErrNoFiles).Of(ErrNoFiles)
	}
	_, readOnly := r.engine.client.(write.ReadOnlyClient)
	overwrite := !readOnly
	var text copytext.Format
	var null *string
	var only *parser.Option // of csv and tsv
	headed := false
	for i, o := range s.Options {
		var v string
		if x, ok := o.Value.(*parser.Literal); ok {
			v = x.Text
		}
		low := strings.ToLower(v)
		letter := map[string]*byte{"DELIMITER": &text.Delimiter, "QUOTE": &text.Quote, "ESCAPE": &text.Escape}[o.Key]
		switch {
		case o.Key == "FORMAT" && low == "text": // PostgreSQL's name
			format, header = "tsv", header && headed
			continue
		case o.Key == "FORMAT":
			format = low
			continue
		case letter != nil && (len(v) != 1 || v[0] >= utf8.RuneSelf):
			return nil, parser.Errorf(o.Pos, "%s is one byte of ASCII", o.Key)
		case o.Key == "DELIMITER" && strings.Contains("\"\\\r\n.abcdefghijklmnopqrstuvwxyz0123456789", low):
			return nil, parser.Errorf(o.Pos, "DELIMITER is one byte: no letter, digit, dot, quote, backslash or line break")
		case letter != nil:
			*letter = v[0]
		case o.Key == "NULL":
			null = &v
		case o.Key == "ENCODING":
			if _, err := ParseEncoding(v); err != nil {
				return nil, parser.Errorf(o.Pos, "ENCODING %v", err)
			}
		case o.Key == "OVERWRITE" && s.To && (low == "true" || low == "false"):
			overwrite = low == "true"
			continue
		case o.Key == "OVERWRITE" && s.To:
			return nil, parser.Errorf(o.Pos, "OVERWRITE is TRUE or FALSE")
		case o.Key == "HEADER" && (o.Value == nil || low == "true" || low == "false"):
			header, headed = low != "false", true
		case o.Key == "HEADER":
			return nil, parser.Errorf(o.Pos, "HEADER must be TRUE or FALSE")
		case strings.HasPrefix(o.Key, "FORCE_"):
			return nil, parser.Errorf(o.Pos, "%s is for clients of hql serve", o.Key)
		case s.To:
			return nil, parser.Errorf(o.Pos, "unknown option %s of COPY TO: FORMAT, HEADER, DELIMITER, NULL, QUOTE, ESCAPE, ENCODING or OVERWRITE", o.Key)
		default:
			return nil, parser.Errorf(o.Pos, "unknown option %s of COPY FROM: FORMAT, HEADER, DELIMITER, NULL, QUOTE, ESCAPE or ENCODING", o.Key)
		}
		only = &s.Options[i]
	}
	switch format {
	case "csv", "tsv":
		text.CSV = format == "csv"
		if err := text.Complete(null); err != nil {
			return nil, parser.Errorf(s.Pos, "%v", err)
		}
	case "jsonl", "arrow", "parquet":
		if only != nil {
			return nil, parser.Errorf(only.Pos, "%s is for csv and tsv, not for %s", only.Key, format)
		}
	default:
		return nil, parser.Errorf(s.Pos, "COPY reads and writes csv, tsv, jsonl, arrow and parquet, not %q", format)
	}
	if s.To {
		return r.copyTo(ctx, s, format, text, header, overwrite)
	}
	return r.copyFrom(ctx, s, format, text, header)
}

// fileFormat returns the format for the ending of a file's name.
func fileFormat(name string) string {
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
}

// maxSample bounds the number of keys from which SPLIT FROM FILE chooses regions: a random choice of the file's keys.
const maxSample = 100_000

// sampleKeys returns keys, at most maxSample, that the rows of a file would have under l.
func (r *run) sampleKeys(ctx context.Context, t *catalog.Table, l *catalog.Layout, file string) ([][]byte, error) {
	b, err := r.engine.cfg.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	seen, random := 0, rand.New(rand.NewPCG(1, 2)) // fixed: the same file gives the same regions
	c := &copier{run: r, table: t, pos: l.Split.Pos, layout: l, take: func(key []byte) {
		if seen++; len(keys) < maxSample {
			keys = append(keys, key)
		} else if i := random.IntN(seen); i < maxSample {
			keys[i] = key
		}
	}}
	from := endingReader{ctx, bytes.NewReader(b), &atomic.Int64{}}
	switch format := fileFormat(file); format {
	case "csv":
		err = c.records(ctx, from, copytext.CSV)
	case "tsv":
		err = c.records(ctx, from, copytext.Text)
	case "jsonl":
		err = c.lines(ctx, from)
	case "arrow", "parquet":
		err = c.batches(ctx, bytes.NewReader(b), format)
	default:
		err = fmt.Errorf("its rows must be csv, tsv, jsonl, arrow or parquet, not %q", format)
	}
	return keys, err
}

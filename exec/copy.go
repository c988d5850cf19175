package exec

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"

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
	format, header, delimiter := fileFormat(s.File), true, ""
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
	headed := parser.Pos(-1)
	for _, o := range s.Options {
		var v string
		switch x := o.Value.(type) {
		case *parser.Literal:
			v = strings.ToLower(x.Text)
		case *parser.ColumnRef:
			v = strings.ToLower(x.Name)
		}
		switch {
		case o.Key == "FORMAT" && v == "text": // PostgreSQL's name
			format, header = "tsv", header && headed >= 0
		case o.Key == "FORMAT":
			format = v
		case o.Key == "DELIMITER":
			if delimiter = v; len(v) != 1 || strings.Contains("\"\\\r\n.abcdefghijklmnopqrstuvwxyz0123456789", v) {
				return nil, parser.Errorf(o.Pos, "DELIMITER is one byte: no letter, digit, dot, quote, backslash or line break")
			}
		case o.Key == "OVERWRITE" && s.To && (v == "true" || v == "false"):
			overwrite = v == "true"
		case o.Key == "OVERWRITE" && s.To:
			return nil, parser.Errorf(o.Pos, "OVERWRITE is TRUE or FALSE")
		case o.Key == "HEADER" && (o.Value == nil || v == "true" || v == "false"):
			header, headed = v != "false", o.Pos
		case o.Key == "HEADER":
			return nil, parser.Errorf(o.Pos, "HEADER must be TRUE or FALSE")
		case s.To:
			return nil, parser.Errorf(o.Pos, "unknown option %s of COPY TO: FORMAT, HEADER, DELIMITER or OVERWRITE", o.Key)
		default:
			return nil, parser.Errorf(o.Pos, "unknown option %s of COPY FROM: FORMAT, HEADER or DELIMITER", o.Key)
		}
	}
	switch format {
	case "csv", "tsv", "jsonl", "arrow", "parquet":
	default:
		return nil, parser.Errorf(s.Pos, "COPY reads and writes csv, tsv, jsonl, arrow and parquet, not %q", format)
	}
	text := copytext.Text
	switch {
	case format == "csv":
		text = copytext.CSV
	case format == "tsv":
	case delimiter != "": // without parentheses it comes with HEADER
		return nil, parser.Errorf(s.Pos, "DELIMITER is for csv and tsv, not for %s", format)
	case headed >= 0:
		return nil, parser.Errorf(headed, "HEADER is for csv and tsv, not for %s", format)
	}
	if delimiter != "" {
		text.Delimiter = delimiter[0]
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

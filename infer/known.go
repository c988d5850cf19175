package infer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Widths of the parts of OpenTSDB's keys, in bytes, unless its configuration differs.
const (
	tsdbID   = 3
	tsdbHour = 4
	tsdbTag  = 2 * tsdbID
)

// openTSDB proposes a definition if the rows are those of a data table of OpenTSDB 2.x; otherwise it returns nil. The keys
// of such a table have an optional salt, the id of a metric, the hour in seconds and, for each tag, the ids of the tag and
// of its value. The cells are in family t.
func openTSDB(name string, rows []hbase.Row) *Proposal {
	for salt := range 2 { // bytes
		tags, ok := tsdbTags(rows, salt)
		if !ok {
			continue
		}
		p := tsdbProposal(name, rows, salt, tags)
		if p != nil && tsdbCells(p.Table, rows) {
			return p
		}
	}
	return nil
}

// tsdbTags reports whether all keys are OpenTSDB's, and returns the ids of their tags if all keys have the same.
func tsdbTags(rows []hbase.Row, salt int) (tags []string, ok bool) {
	var all string
	for i, r := range rows {
		if len(r.Key) < salt+tsdbID+tsdbHour+tsdbTag || (len(r.Key)-salt-tsdbID-tsdbHour)%tsdbTag != 0 {
			return nil, false
		}
		var ids strings.Builder
		for rest := r.Key[salt+tsdbID+tsdbHour:]; len(rest) > 0; rest = rest[tsdbTag:] {
			ids.Write(rest[:tsdbID])
		}
		if i > 0 && ids.String() != all {
			return nil, true
		}
		all = ids.String()
	}
	for ; all != ""; all = all[tsdbID:] {
		tags = append(tags, all[:tsdbID])
	}
	return tags, true
}

// tsdbProposal builds the definition; nil if the keys do not fit it.
func tsdbProposal(name string, rows []hbase.Row, salt int, tags []string) *Proposal {
	var columns, parts, bare []string // bare: the key with ids instead of the dictionary's names
	why := []string{}
	add := func(part, without, because string) {
		parts, bare, why = append(parts, part), append(bare, without), append(why, because)
	}
	if salt > 0 {
		const buckets = "OPENTSDB_SALT(20) AS UINT8"
		add(buckets, buckets, "OpenTSDB's salt with its default of 20 buckets: the same bytes in the sampled keys")
	}
	add("OPENTSDB_UID('metrics', metric) AS BYTES(3)", "metric AS BYTES(3)", "the metric's id; tsdb-uid has its name")
	add("DATE_BIN('1 hour', ts) AS EPOCH32", "ts AS EPOCH32", "full hours, in seconds since 1970")
	columns = append(columns, "tags BYTES")
	if tags == nil {
		add("tags AS BYTES", "tags AS BYTES", "ids of tags and of their values; the tags differ between keys")
	} else {
		columns = nil
		for i, id := range tags {
			tag := fmt.Sprintf("tag%d", i+1)
			literal := types.NewBytes(id).SQL()
			columns = append(columns, tag+" STRING")
			add(literal, literal, "the tag's id, in every key")
			add(fmt.Sprintf("OPENTSDB_UID('tagv', %s) AS BYTES(3)", tag), tag+" AS BYTES(3)", "the id of the tag's value")
		}
	}
	read := catalog.New()
	if read.Load(fmt.Sprintf("CREATE EXTERNAL TABLE t (metric BYTES, ts TIMESTAMP, %s) ROW KEY (%s)",
		strings.ReplaceAll(strings.Join(columns, ", "), " STRING", " BYTES"), strings.Join(bare, ", "))) != nil {
		return nil
	}
	v := &verifier{name: name, rows: rows}
	t := read.Tables()[0]
	row := make([]types.Value, len(t.Columns)+2)
	ts, _ := t.Column("ts")
	for _, r := range rows {
		if !v.fits(t, r, row, true) || row[ts.Index].Int()%3_600_000 != 0 || row[ts.Index].Int() < earliest {
			return nil
		}
	}
	defs := catalog.New()
	if defs.Load(fmt.Sprintf("CREATE EXTERNAL TABLE %s (metric STRING, ts TIMESTAMP, %s, value DOUBLE FROM t:[OPENTSDB_QUALIFIER(ts)] AS OPENTSDB_VALUE) STORED IN %s ROW KEY (%s)",
		parser.QuoteName(tableName(name)), strings.Join(columns, ", "), types.NewString(name).SQL(), strings.Join(parts, ", "))) != nil {
		return nil
	}
	p := &Proposal{Table: defs.Tables()[0], Fit: len(rows), Sampled: len(rows), Notes: []string{"a table of OpenTSDB: names are looked up in tsdb-uid"}}
	for i, part := range parts {
		p.Parts = append(p.Parts, Evidence{part, why[i]})
	}
	if tags != nil {
		p.Notes = append(p.Notes, "series with other tags are not rows of this table; a column tags BYTES after the hour would read all series")
	}
	return p
}

// nutchCells are the single-valued cells in a web table of Nutch 2, with the names of its mapping to HBase and the
// encodings of Gora.
var nutchCells = []struct{ cell, definition string }{
	{"f:bas", "base_url STRING FROM f:bas"}, {"f:st", "status INT FROM f:st AS INT32"}, {"f:ts", "fetch_time TIMESTAMP FROM f:ts AS INT64"},
	{"f:pts", "prev_fetch_time TIMESTAMP FROM f:pts AS INT64"}, {"f:fi", "fetch_interval INT FROM f:fi AS INT32"},
	{"f:rsf", "retries INT FROM f:rsf AS INT32"}, {"f:mod", "modified_time TIMESTAMP FROM f:mod AS INT64"}, {"f:typ", "content_type STRING FROM f:typ"},
	{"f:cnt", "content BYTES FROM f:cnt"}, {"p:t", "title STRING FROM p:t"}, {"p:c", "text STRING FROM p:c"}, {"p:sig", "signature BYTES FROM p:sig"},
	{"s:s", "score FLOAT FROM s:s AS FLOAT32"},
}

// nutchKey is a URL in the form of Nutch's keys: the host's labels reversed, a protocol that Nutch can fetch, the port
// unless it is the default, the path.
var nutchKey = regexp.MustCompile(`^[^:/]+:(https?|ftps?|sftp|file|smb|feed)(:[0-9]+)?(/|$)`)

// nutch proposes the definition of a web table of Nutch 2, or returns nil if it is not one.
func nutch(name string, rows []hbase.Row) *Proposal {
	there := map[string]bool{}
	for _, r := range rows {
		if !nutchKey.Match(r.Key) {
			return nil
		}
		for _, c := range r.Cells {
			if !slices.Contains([]string{"p", "f", "s", "il", "ol", "h", "mtdt", "mk"}, string(c.Family)) {
				return nil
			}
			there[string(c.Family)+":"+string(c.Qualifier)] = true
		}
	}
	if !there["f:fi"] && !there["f:ts"] { // the injector writes both
		return nil
	}
	columns := "host STRING, rest STRING"
	for _, c := range nutchCells {
		if there[c.cell] {
			columns += ", " + c.definition
		}
	}
	parts := []Evidence{{"REVERSE_DOMAIN(host) AS TEXT", "the host, its labels reversed"}, {"':'", "ends the host"}, {"rest AS TEXT", "protocol, port if any, path"}}
	defs := catalog.New()
	if defs.Load(fmt.Sprintf("CREATE EXTERNAL TABLE %s (%s) STORED IN %s ROW KEY (%s, %s, %s)", parser.QuoteName(tableName(name)), columns,
		types.NewString(name).SQL(), parts[0].Part, parts[1].Part, parts[2].Part)) != nil {
		return nil
	}
	v := &verifier{name: name, rows: rows}
	t := defs.Tables()[0]
	row := make([]types.Value, len(t.Columns)+2)
	for _, r := range rows {
		if !v.fits(t, r, row, true) || !readable(t, r) {
			return nil
		}
	}
	return &Proposal{Table: t, Fit: len(rows), Sampled: len(rows), Parts: parts,
		Notes: []string{"a web table of Nutch 2: links, headers, markers and metadata are cells of il, ol, h, mk and mtdt, one for each name"}}
}

// readable reports whether the cells of a row fit t's columns.
func readable(t *catalog.Table, r hbase.Row) bool {
	for _, c := range t.Columns {
		for _, cell := range r.Cells {
			if c.KeyPart || string(cell.Family) != c.Family || string(cell.Qualifier) != c.Qualifier {
				continue
			}
			if _, err := c.DecodeCell(cell.Value); err != nil {
				return false
			}
		}
	}
	return true
}

// tsdbCells reports whether all cells are in family t, and are data points or OpenTSDB's other cells.
func tsdbCells(t *catalog.Table, rows []hbase.Row) bool {
	value, _ := t.Column("value")
	points := 0
	for _, r := range rows {
		for _, c := range r.Cells {
			found, err := value.Points(nil, c.Qualifier, c.Value)
			// Annotations, histograms and appended points have a kind, 1 or more, before 2 or 4 bytes of time.
			other := (len(c.Qualifier) == 3 || len(c.Qualifier) == 5) && c.Qualifier[0] < 0x10
			if string(c.Family) != "t" || err != nil || len(found) == 0 && !other {
				return false
			}
			points += len(found)
		}
	}
	return points > 0
}

package infer

import (
	"fmt"
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

// tsdbCells reports whether all cells are in family t, and are data points or OpenTSDB's other cells.
func tsdbCells(t *catalog.Table, rows []hbase.Row) bool {
	value, _ := t.Column("value")
	points := 0
	for _, r := range rows {
		for _, c := range r.Cells {
			found, err := value.Points(nil, c.Qualifier, c.Value)
			// The qualifier of an annotation, a histogram or appended points: a byte for the kind, 1 to 15, then 2 or 4 bytes of time.
			other := (len(c.Qualifier) == 3 || len(c.Qualifier) == 5) && c.Qualifier[0] < 0x10
			if string(c.Family) != "t" || err != nil || len(found) == 0 && !other {
				return false
			}
			points += len(found)
		}
	}
	return points > 0
}

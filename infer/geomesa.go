package infer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// geoMesaName is the end of an index table's name: the kind of index, its attributes, the index's version.
var geoMesaName = regexp.MustCompile(`_(x?z[23]|s[23]|id|attr|join)(_[A-Za-z0-9_]+)?_v[0-9]+$`)

// geoMesaShards is how many shards an index has unless GeoMesa was told otherwise.
const geoMesaShards = 4

// geoPart is a part of a key of GeoMesa's, with its column, "" for none.
type geoPart struct{ column, part, why string }

// geoMesa proposes the definition of an index table of GeoMesa; nil: this is none. Its keys are a shard, where there are several, the
// period of time that is told by two bytes, a place on a curve in eight, and the feature's id, as far as the kind of index has these.
func geoMesa(name string, rows []hbase.Row) *Proposal {
	kind := geoMesaName.FindStringSubmatch(name)
	cell, ok := geoMesaCell(rows)
	if kind == nil || !ok {
		return nil
	}
	curve := geoPart{"z BIGINT", "z AS INT64", "place and time on a space-filling curve, in no column that hql could compute"}
	period := geoPart{"period INT", "period AS INT16", ""}
	var keys [][]geoPart
	switch strings.TrimRight(kind[1], "23") {
	case "id":
		keys = [][]geoPart{{}}
	case "attr", "join":
		value := []geoPart{
			{"value STRING", "value AS TEXT", "the attribute's value; of numbers and dates hex digits that sort as these do"},
			{"", "X'00'", "ends the value"},
		}
		moment := geoPart{"ts TIMESTAMP", "ts AS ORDERED INT64", "8 bytes with the sign bit flipped, milliseconds since 1970"}
		keys = [][]geoPart{value, append(slices.Clip(value), moment), append(slices.Clip(value), curve), append(slices.Clip(value), period, curve)}
	default:
		keys = [][]geoPart{{curve}}
		if strings.HasSuffix(kind[1], "3") {
			keys = [][]geoPart{{period, curve}}
		}
	}
	for _, key := range keys {
		for _, shards := range []int{1, geoMesaShardsOf(rows)} {
			for _, id := range []string{"TEXT", "UUID"} {
				if p := geoMesaProposal(name, rows, shards, key, id, cell); p != nil {
					p.Notes = append(p.Notes, fmt.Sprintf("an index of GeoMesa, %s: the attributes are serialized in the cells, which hql reads as bytes only", kind[1]))
					return p
				}
			}
		}
	}
	return nil
}

// geoMesaCell is the one cell that each row has, a serialized feature, which is no text.
func geoMesaCell(rows []hbase.Row) (definition string, ok bool) {
	texts := 0
	for _, r := range rows {
		if len(r.Cells) != 1 || string(r.Cells[0].Qualifier) != "" && string(r.Cells[0].Qualifier) != "d" {
			return "", false
		}
		if isText(r.Cells[0].Value) {
			texts++
		}
		definition = fmt.Sprintf("feature BYTES FROM %s:%s", parser.QuoteName(string(r.Cells[0].Family)), parser.QuoteQualifier(string(r.Cells[0].Qualifier)))
	}
	return definition, definition != "" && 2*texts < len(rows)
}

// geoMesaShardsOf is how many shards the first bytes of the keys can be of.
func geoMesaShardsOf(rows []hbase.Row) int {
	n := geoMesaShards
	for _, r := range rows {
		n = max(n, int(r.Key[0])+1)
	}
	return n
}

// geoMesaProposal builds the definition; nil where a key is not as it has them.
func geoMesaProposal(name string, rows []hbase.Row, shards int, key []geoPart, id, cell string) *Proposal {
	if shards > 127 {
		return nil
	}
	if shards > 1 {
		key = append([]geoPart{{"", fmt.Sprintf("SALT(0 TO %d) AS UINT8", shards-1), fmt.Sprintf("a shard, of %d unless GeoMesa was told otherwise", geoMesaShards)}}, key...)
	}
	key = append(slices.Clip(key), geoPart{"fid STRING", "fid AS " + id, "the feature's id"})
	var columns, parts []string
	for _, p := range key {
		parts = append(parts, p.part)
		if p.column != "" {
			columns = append(columns, p.column)
		}
	}
	defs := catalog.New()
	if defs.Load(fmt.Sprintf("CREATE EXTERNAL TABLE %s (%s, %s) STORED IN %s ROW KEY (%s)", parser.QuoteName(tableName(name)), strings.Join(columns, ", "), cell,
		types.NewString(name).SQL(), strings.Join(parts, ", "))) != nil {
		return nil
	}
	t := defs.Tables()[0]
	v := &verifier{name: name, rows: rows}
	row := make([]types.Value, len(t.Columns)+2)
	var periods []int64
	for _, r := range rows {
		if !v.fits(t, r, row, false) {
			return nil
		}
		for _, c := range t.Columns {
			switch {
			case !c.KeyPart:
			case c.Type == types.String && !isText([]byte(row[c.Index].Text())):
				return nil
			case c.Type == types.Timestamp && (row[c.Index].Int() < earliest || row[c.Index].Int() >= latest):
				return nil
			case c.Name == "period":
				periods = append(periods, row[c.Index].Int())
			}
		}
	}
	p := &Proposal{Table: t, Fit: len(rows), Sampled: len(rows)}
	for _, g := range key {
		why := g.why
		if strings.HasPrefix(g.column, "period ") {
			if why = geoMesaPeriods(periods); why == "" {
				return nil
			}
		}
		p.Parts = append(p.Parts, Evidence{g.part, why})
	}
	return p
}

// geoMesaPeriods says which periods of time the numbers are of, whose ranges do not meet in the years that are believed; "" for none.
func geoMesaPeriods(ns []int64) string {
	lo, hi := slices.Min(ns), slices.Max(ns)
	for _, unit := range []struct {
		name          string
		years, months int
		days          int
	}{{"days", 0, 0, 1}, {"weeks", 0, 0, 7}, {"months", 0, 1, 0}, {"years", 1, 0, 0}} {
		begin := func(n int64) time.Time {
			return time.Unix(0, 0).UTC().AddDate(unit.years*int(n), unit.months*int(n), unit.days*int(n))
		}
		if begin(lo).UnixMilli() >= earliest-366*types.MillisPerDay && begin(hi).UnixMilli() < latest {
			return fmt.Sprintf("%s since 1970: %d begins on %s, %d on %s", unit.name, lo, begin(lo).Format(time.DateOnly), hi, begin(hi).Format(time.DateOnly))
		}
	}
	return ""
}

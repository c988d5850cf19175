package infer

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// cellColumn is a column made of the cells of one qualifier.
type cellColumn struct {
	name, def string
	source    bool // text that a key may hold a hash of
}

// maxCells is how many qualifiers become columns: a table with more has data in its qualifiers.
const maxCells = 40

// cellColumns gives a column for each qualifier in the sample, with the type that all its values fit.
func cellColumns(rows []hbase.Row) (cols []cellColumn, notes []string) {
	type id struct{ family, qualifier string }
	values := map[id][][]byte{}
	var order []id
	families := map[string]int{}
	for _, r := range rows {
		for _, c := range r.Cells {
			k := id{string(c.Family), string(c.Qualifier)}
			if values[k] == nil {
				order = append(order, k)
				families[k.family]++
			}
			values[k] = append(values[k], c.Value)
		}
	}
	slices.SortFunc(order, func(a, b id) int {
		if a.family != b.family {
			return strings.Compare(a.family, b.family)
		}
		return strings.Compare(a.qualifier, b.qualifier)
	})
	used := map[string]bool{catalog.KeyColumn: true, catalog.TimestampColumn: true}
	wide := map[string]bool{}
	for _, k := range order {
		if families[k.family] > maxCells {
			if !wide[k.family] {
				wide[k.family] = true
				notes = append(notes, fmt.Sprintf("family %s has %d qualifiers in the sample, too many for columns: they may hold data (FROM %s:[column AS encoding])", k.family, families[k.family], k.family))
			}
			continue
		}
		if k.qualifier == "" {
			continue // HBase clients write it to mark a row
		}
		if !isText([]byte(k.qualifier)) {
			notes = append(notes, fmt.Sprintf("family %s has the qualifier %s, which is no text", k.family, types.NewBytes(k.qualifier)))
			continue
		}
		name := strings.ToLower(k.qualifier)
		if used[name] {
			name = strings.ToLower(k.family + "_" + k.qualifier)
		}
		if used[name] {
			continue
		}
		used[name] = true
		typ := cellType(values[k])
		cols = append(cols, cellColumn{name: name, def: typ + " FROM " + parser.QuoteName(k.family) + ":" + parser.QuoteQualifier(k.qualifier), source: typ == "STRING"})
	}
	return cols, notes
}

// cellType is the type whose default encoding all values read back from.
func cellType(values [][]byte) string {
	all := func(f func([]byte) bool) bool {
		return !slices.ContainsFunc(values, func(b []byte) bool { return !f(b) })
	}
	width := func(n int) bool { return all(func(b []byte) bool { return len(b) == n }) }
	number := func(b []byte) int64 { return int64(uint64(bigEndian(string(b)))) }
	switch {
	case all(func(b []byte) bool { return len(b) > 1 && (b[0] == '{' || b[0] == '[') && json.Valid(b) }):
		return "JSON"
	case all(isText):
		return "STRING"
	case width(1) && all(func(b []byte) bool { return b[0] == 0 || b[0] == 0xff }):
		return "BOOLEAN"
	case width(1):
		return "TINYINT"
	case width(2):
		return "SMALLINT"
	case width(4):
		return "INT"
	case width(8) && all(func(b []byte) bool { n := number(b); return n >= earliest && n < latest }):
		return "TIMESTAMP"
	case width(8) && all(func(b []byte) bool { n := number(b); return n > -1<<48 && n < 1<<48 }):
		return "BIGINT"
	case width(8) && all(func(b []byte) bool {
		f := math.Abs(math.Float64frombits(uint64(number(b))))
		return f == 0 || f > 1e-9 && f < 1e15
	}):
		return "DOUBLE"
	}
	return "BYTES"
}

// addCells reads r's cells into the columns of row that the key does not give.
func addCells(t *catalog.Table, r hbase.Row, row []types.Value) {
	for _, c := range t.Columns {
		for _, cell := range r.Cells {
			if !c.KeyPart && string(cell.Family) == c.Family && string(cell.Qualifier) == c.Qualifier {
				if value, err := c.DecodeCell(cell.Value); err == nil {
					row[c.Index] = value
				}
			}
		}
	}
}

package infer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/wire"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// cellColumn is a column made of the cells of one qualifier.
type cellColumn struct {
	name, def string
	why       string // the evidence for the type, if the bytes alone do not determine it
	source    bool   // text whose hash a key may hold
	fixed     string // the encoding of a number whose bytes' hash a key may hold; "" for none
}

// maxCells is the greatest number of qualifiers that become columns: a table with more has data in its qualifiers.
const maxCells = 40

// cellID names the cells of one family and qualifier.
type cellID struct{ family, qualifier string }

// sampledCells are the cells of a sample by qualifier.
type sampledCells struct {
	ids      []cellID // by family and qualifier
	values   map[cellID][][]byte
	written  map[cellID]int64 // when the first of the cells was written
	families map[string]int   // the number of qualifiers of each
}

func cellsOf(rows []hbase.Row) *sampledCells {
	s := &sampledCells{values: map[cellID][][]byte{}, written: map[cellID]int64{}, families: map[string]int{}}
	for _, r := range rows {
		for _, c := range r.Cells {
			k := cellID{string(c.Family), string(c.Qualifier)}
			if s.values[k] == nil {
				s.ids = append(s.ids, k)
				s.families[k.family]++
				s.written[k] = c.Timestamp
			}
			s.written[k] = min(s.written[k], c.Timestamp)
			s.values[k] = append(s.values[k], c.Value)
		}
	}
	slices.SortFunc(s.ids, func(a, b cellID) int {
		return cmp.Or(strings.Compare(a.family, b.family), strings.Compare(a.qualifier, b.qualifier))
	})
	return s
}

// cellColumns returns a column for each qualifier in the sample, with the type that all its values fit.
func cellColumns(rows []hbase.Row) (cols []cellColumn, notes []string) {
	cells := cellsOf(rows)
	marker := phoenixMarker(rows)
	switch marker {
	case namedMarker:
		notes = append(notes, "every row has Phoenix's marker cell _0, which is not a column")
	case numberedMarker:
		notes = append(notes, "every row has the cell X'00000000' that Phoenix writes if columns have numbers: hql import phoenix --connect URL finds their names",
			"rows are written WITH (ROW_MARKER = X'00000000')")
	}
	used := map[string]bool{catalog.KeyColumn: true, catalog.TimestampColumn: true}
	wide := map[string]bool{}
	binary := map[string][]string{} // by family: qualifiers that are not text
	for _, k := range cells.ids {
		if n := cells.families[k.family]; n > maxCells {
			if !wide[k.family] {
				wide[k.family] = true
				notes = append(notes, fmt.Sprintf("family %s has %d qualifiers in the sample, too many for columns: they may hold data (FROM %s:[column AS encoding])", k.family, n, k.family))
			}
			continue
		}
		if k.qualifier == "" || k.qualifier == marker {
			continue // Phoenix's marker of a row
		}
		name := strings.ToLower(k.qualifier)
		if marker == numberedMarker && k.qualifier == singleCell {
			notes = append(notes, fmt.Sprintf("the cells of %s:1 hold all columns of an immutable table", k.family))
			continue
		}
		if numbered := marker == numberedMarker && len(k.qualifier) <= 4; numbered {
			name = fmt.Sprintf("q%x", k.qualifier)
		} else if !isText([]byte(k.qualifier)) {
			binary[k.family] = append(binary[k.family], types.NewBytes(k.qualifier).String())
			continue
		}
		if used[name] {
			name = strings.ToLower(k.family) + "_" + name
		}
		if used[name] {
			continue
		}
		used[name] = true
		typ, as, why := cellType(cells.values[k], cells.written[k], marker != "")
		def := typ + " FROM " + parser.QuoteName(k.family) + ":" + parser.QuoteQualifier(k.qualifier)
		if as != "" {
			def += " AS " + as
		}
		col := cellColumn{name: name, def: def, why: why, source: typ == "STRING" || as == "TEXT"}
		if fixed := map[string]string{"INT": "INT32", "BIGINT": "INT64", "TIMESTAMP": "INT64"}[typ]; as == "" {
			col.fixed = fixed
		}
		cols = append(cols, col)
	}
	return cols, append(notes, binaryQualifiers(binary)...)
}

// binaryQualifiers returns notes about qualifiers that are not text, by family.
func binaryQualifiers(byFamily map[string][]string) (notes []string) {
	for _, family := range slices.Sorted(maps.Keys(byFamily)) {
		list := byFamily[family]
		shown := strings.Join(list[:min(len(list), 3)], ", ")
		if len(list) > 3 {
			shown += " ..."
		}
		notes = append(notes, fmt.Sprintf("family %s has %s of bytes that are not text: %s", family, words.Count(len(list), "qualifier"), shown))
	}
	return notes
}

// The cells that Phoenix adds to each row, with named and with numbered columns, and the cell that holds all columns.
const (
	namedMarker    = "_0"
	numberedMarker = "\x00\x00\x00\x00"
	singleCell     = "1"
)

// phoenixMarker returns Phoenix's marker cell if all rows have one, else "".
func phoenixMarker(rows []hbase.Row) string {
	for _, marker := range []string{namedMarker, numberedMarker} {
		if !slices.ContainsFunc(rows, func(r hbase.Row) bool {
			return !slices.ContainsFunc(r.Cells, func(c hbase.Cell) bool { return string(c.Qualifier) == marker })
		}) {
			return marker
		}
	}
	return ""
}

// cellType returns the type and encoding that fit all values, and the evidence for them. The values were written at the
// time written, in milliseconds, or later.
func cellType(values [][]byte, written int64, phoenix bool) (typ, as, why string) {
	all := func(f func([]byte) bool) bool {
		return !slices.ContainsFunc(values, func(b []byte) bool { return !f(b) })
	}
	width := len(values[0])
	switch {
	case all(func(b []byte) bool { return len(b) > 1 && (b[0] == '{' || b[0] == '[') && json.Valid(b) }):
		return "JSON", "", ""
	case all(isText):
		return textCells(values)
	case all(bigDecimal) && !all(func(b []byte) bool { return len(b) == 8 }):
		return "DECIMAL", "BIGDECIMAL", "a scale in 4 bytes and a number in as few bytes as possible, as Bytes.toBytes(BigDecimal) writes them"
	case !all(func(b []byte) bool { return len(b) == width }):
		return "BYTES", "", container(values)
	case width == 1 && phoenix && all(func(b []byte) bool { return b[0] <= 1 }):
		return "BOOLEAN", "PHOENIX BOOLEAN", "0 and 1 only"
	case width == 1 && all(func(b []byte) bool { return b[0] == 0 || b[0] == 0xff }):
		return "BOOLEAN", "", "00 and FF only"
	case width == 1 && all(func(b []byte) bool { return b[0] <= 1 }):
		typ, as, why = readCells(values, written, phoenix)
		return typ, as, why + "; 0 and 1 only, as Hive writes BOOLEAN in binary"
	case width == 1 || width == 2 || width == 4 || width == 8:
		return readCells(values, written, phoenix)
	}
	return "BYTES", "", container(values)
}

// bigDecimal reports whether b is a BigDecimal in bytes, with a usual scale.
func bigDecimal(b []byte) bool {
	if len(b) < 5 || len(b) > 20 || b[0]|b[1]|b[2] != 0 || b[3] > 18 {
		return false
	}
	n := b[4:]
	return len(n) == 1 || n[0] != 0 && n[0] != 0xff || (n[0] == 0) == (n[1] >= 0x80)
}

// container names the format of values that hql does not decode, or returns "".
func container(values [][]byte) string {
	all := func(f func([]byte) bool) bool {
		return !slices.ContainsFunc(values, func(b []byte) bool { return !f(b) })
	}
	begins := func(magic string, least int) bool {
		return all(func(b []byte) bool { return len(b) >= least && bytes.HasPrefix(b, []byte(magic)) })
	}
	switch {
	case begins("Obj\x01", 5):
		return "Avro files"
	case begins("\xc3\x01", 10):
		return "Avro, each value after the fingerprint of its schema"
	case begins("\x00\x00", 6) && distinctOf(firstOf(values, 5)) == 1 && len(values) > 3:
		return "perhaps Avro or another format, after the number of its schema in a registry"
	case begins("\xac\xed\x00\x05", 5):
		return "serialized Java objects"
	case begins("\x1f\x8b", 10):
		return "compressed by gzip"
	case all(isMessage) && len(values) > 3:
		return "probably protocol buffers: each value is a sequence of numbered fields"
	}
	return ""
}

// firstOf returns the first n bytes of each value.
func firstOf(values [][]byte, n int) [][]byte {
	out := make([][]byte, len(values))
	for i, b := range values {
		out[i] = b[:min(n, len(b))]
	}
	return out
}

// isMessage reports whether b is a message of protocol buffers with at least two fields.
func isMessage(b []byte) bool {
	n := 0
	for f, err := range wire.Fields(b) {
		if err != nil || f.Number > 200 {
			return false
		}
		n++
	}
	return n >= 2
}

// Numbers as people, Hive and shells write them: without leading zeros, and with all decimals of a DOUBLE.
var (
	scaledText = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})\.[0-9]+$`)
	momentText = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?Z?$`)
)

// maxDigits is the greatest number of digits of numbers that all have one width: longer ones are more likely phone
// numbers or ids.
const maxDigits = 9

// textCells returns the type of values that are all text. A single value is not enough evidence.
func textCells(values [][]byte) (typ, as, why string) {
	seen, widths, scales := map[string]bool{}, map[int]bool{}, map[int]bool{}
	for _, b := range values {
		seen[string(b)], widths[len(b)], scales[len(b)-bytes.IndexByte(b, '.')] = true, true, true
	}
	all := func(f func(s string) bool) bool {
		for s := range seen {
			if !f(s) {
				return false
			}
		}
		return len(seen) > 1
	}
	kind := "numbers"
	switch {
	case all(func(s string) bool { return strings.EqualFold(s, "true") || strings.EqualFold(s, "false") }):
		typ, kind = "BOOLEAN", "true or false"
	case all(canonical) && (len(widths) > 1 || len(values[0]) <= maxDigits):
		typ = "BIGINT"
	case all(scaledText.MatchString) && len(scales) == 1 && !scales[2]:
		typ = "DECIMAL"
	case all(isDoubleText) && slices.ContainsFunc(values, func(b []byte) bool { return bytes.IndexByte(b, '.') >= 0 }):
		typ = "DOUBLE"
	case all(func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil }):
		typ, kind = "DATE", "days"
	case all(func(s string) bool {
		if !momentText.MatchString(s) {
			return false
		}
		_, err := time.Parse(time.DateTime, strings.Replace(strings.TrimSuffix(s, "Z"), "T", " ", 1))
		return err == nil
	}):
		typ, kind = "TIMESTAMP", "moments"
	default:
		return "STRING", "", ""
	}
	return typ, "TEXT", fmt.Sprintf("%d values, all %s in text, as Hive writes them; STRING reads them too", len(seen), kind)
}

// isDoubleText reports whether s is a DOUBLE as programs print it: the shortest text that reads back as the same
// number.
func isDoubleText(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || !strings.Contains(s, ".") && !canonical(s) {
		return false
	}
	if mantissa, exponent, ok := strings.Cut(s, "E"); ok { // Java's: 1.0E10
		return strings.Contains(mantissa, ".") && canonical(exponent)
	}
	short := strconv.FormatFloat(f, 'f', -1, 64)
	return s == short || s == short+".0"
}

// addCells sets the columns of row that are read from cells of r.
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

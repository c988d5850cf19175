package infer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// verifier builds definitions and reads the sampled rows with them.
type verifier struct {
	name  string
	rows  []hbase.Row // the rows of the search
	all   []hbase.Row // the rows of the search and of the check
	cells []cellColumn
	notes []string
	// prefix is the text before the day in name; nil if name does not end with a day.
	prefix *string
}

// dayTable reports whether an HBase table's name ends with a day, and the text before it.
func dayTable(name string) (prefix string, ok bool) {
	if len(name) < 9 {
		return "", false
	}
	prefix = name[:len(name)-8]
	day, err := time.Parse("20060102", name[len(prefix):])
	return prefix, err == nil && day.UnixMilli() >= earliest && day.UnixMilli() < latest && !isDigits([]byte(prefix[len(prefix)-1:]))
}

// withDay adds to p the column whose day is in the table's name, if the sample agrees.
func (v *verifier) withDay(p parse) parse {
	if v.prefix == nil || p.day != "" {
		return p
	}
	for _, g := range p.segs {
		if g.column == "" || g.typ != "TIMESTAMP" && g.typ != "DATE" {
			continue
		}
		try := p
		try.day = g.column
		if v.holds(try) {
			return try
		}
	}
	return p
}

// sql returns the definition for p.
func (v *verifier) sql(p parse) string {
	var cols, parts []string
	for _, g := range p.segs {
		parts = append(parts, g.sql())
		if g.column != "" {
			cols = append(cols, parser.QuoteName(g.column)+" "+g.typ)
		}
	}
	for _, c := range v.cells {
		if p.same[c.name] {
			continue
		}
		cols = append(cols, parser.QuoteName(c.name)+" "+c.def)
	}
	name, stored := v.name, types.NewString(v.name).SQL()
	if p.day != "" {
		name = strings.TrimRight(*v.prefix, "_-.")
		stored = fmt.Sprintf("(%s, DATE(%s) AS TEXT('yyyyMMdd'))", types.NewString(*v.prefix).SQL(), parser.QuoteName(p.day))
	}
	return fmt.Sprintf("CREATE EXTERNAL TABLE %s (%s) STORED IN %s ROW KEY (%s)", parser.QuoteName(tableName(name)),
		strings.Join(cols, ", "), stored, strings.Join(parts, ", "))
}

// tableName returns the SQL name of an HBase table: its name without the namespace.
func tableName(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

func (v *verifier) build(p parse) *catalog.Table {
	c := catalog.New()
	if c.Load(v.sql(p)) != nil {
		return nil
	}
	return c.Tables()[0]
}

// namedByCells gives a column of the key the name of a cell with the same values, and drops that cell.
func (v *verifier) namedByCells(p parse) parse {
	q := parse{segs: slices.Clone(p.segs), day: p.day}
	for i, g := range q.segs {
		if g.part == "" { // still unknown
			q.segs[i].part = fmt.Sprintf("{} AS BYTES(%d)", segmentWidth(g))
			q.segs[i].column, q.segs[i].typ = "unknown_part", "BYTES"
		}
	}
	t := v.build(q)
	if t == nil {
		return p
	}
	var rows [][]types.Value
	for i := 0; i < len(v.rows); i += max(1, len(v.rows)/64) {
		row := make([]types.Value, len(t.Columns)+2)
		if v.fits(t, v.rows[i], row, false) {
			addCells(t, v.rows[i], row)
			rows = append(rows, row)
		}
	}
	p.same = map[string]bool{}
	for i, g := range p.segs {
		key, ok := t.Column(g.column)
		if !ok || g.column == "" {
			continue
		}
		for _, cell := range v.cells {
			c, ok := t.Column(cell.name)
			if ok && !p.same[cell.name] && alike(rows, key.Index, c.Index) {
				p.segs[i].column = cell.name
				p.segs[i].why += "; the cell " + c.Family + ":" + c.Qualifier + " holds the same"
				p.same[cell.name] = true
				if p.day == g.column {
					p.day = cell.name
				}
				break
			}
		}
	}
	return p
}

// alike reports whether two columns are equal in all rows, and not constant.
func alike(rows [][]types.Value, a, b int) bool {
	values := map[string]bool{}
	for _, row := range rows {
		if row[b].IsNull() || row[a].String() != row[b].String() {
			return false
		}
		values[row[a].String()] = true
	}
	return len(values) > 1
}

// verify reads every row with p. It returns nil if no definition can be built from p, or if it fits less than half of
// the keys.
func (v *verifier) verify(p parse) *Proposal {
	t := v.build(p)
	if t == nil {
		return nil
	}
	out := &Proposal{Table: t, Sampled: len(v.all), Checked: len(v.all) - len(v.rows), Notes: v.notes, Doubts: p.doubts(), bits: p.bits}
	if p.day != "" {
		out.Notes = append(slices.Clone(v.notes), fmt.Sprintf("the day in the table's name is the day of %s: one definition for all tables %syyyyMMdd", p.day, *v.prefix))
	}
	l := t.Layouts[0]
	for i, part := range l.Key.Parts {
		out.Parts = append(out.Parts, Evidence{part.Source, p.segs[i].why})
	}
	for _, c := range v.cells {
		if c.why != "" && !p.same[c.name] {
			out.Cells = append(out.Cells, Evidence{c.name + " " + c.def, c.why})
		}
	}
	row := make([]types.Value, len(t.Columns)+2)
	for _, r := range v.all {
		if !v.fits(t, r, row, p.hasCells()) {
			out.found = append(out.found, 0)
			if len(out.Misfits) < maxMisfits {
				out.Misfits = append(out.Misfits, r.Key)
			}
			continue
		}
		out.Fit++
		out.found = append(out.found, hashOf(t, row))
		if out.Key == nil {
			out.Key = r.Key
			for _, c := range t.Columns {
				if c.KeyPart {
					out.Values = append(out.Values, c.Name+" = "+row[c.Index].SQL())
				}
			}
		}
	}
	if 2*out.Fit < out.Sampled {
		return nil
	}
	if out.Fit < out.Sampled {
		out.Doubts = append(out.Doubts, words.Plural(out.Sampled-out.Fit, "1 key does not fit: its row is", fmt.Sprintf("%d keys do not fit: their rows are", out.Sampled-out.Fit))+" not in this table")
	}
	return out
}

// maxMisfits is the number of keys shown that do not fit.
const maxMisfits = 3

// doubts returns the assumptions that the bytes do not prove.
func (p parse) doubts() (out []string) {
	if g := p.segs[0]; len(p.segs) == 1 && (g.part == "{} AS BYTES" || g.part == "{} AS TEXT" && g.typ == "STRING") {
		return []string{"nothing separates parts in the keys, so each key is read as one part"}
	}
	for i, g := range p.segs {
		part := g.sql()
		switch {
		case i == 0 && g.column != "" && slices.Contains([]string{"{} AS UINT8", "{} AS TEXT(1)", "{} AS TEXT(2)", "{} AS TEXT(3)"}, g.part):
			out = append(out, part+" may be a salt, or a bucket computed from a value that is not in the sample")
		case i == 0 && g.small:
			out = append(out, part+" may be a bucket computed from a value that the definition does not have as one column")
		case g.column == "" && i > 0 && strings.ContainsAny(g.part, "0123456789") && !g.computed && strings.HasPrefix(g.part, "'"):
			out = append(out, part+" is in every sampled key: keys with another text there are not in this table")
		case strings.HasPrefix(g.part, "SALT"):
			out = append(out, part+" is a salt if the program draws it at random; or it is computed from a value that is not in the sample")
		case g.lead != noLead && !g.computed:
			out = append(out, part+" looks like a hash of a value that is not in the sample")
		case g.part == "{} AS BYTES":
			out = append(out, part+" may be several parts")
		case strings.HasPrefix(g.part, "{} AS TEXT(") && g.typ == "STRING" || strings.HasPrefix(g.part, "{} AS BYTES("):
			out = append(out, part+" may be several parts of fixed width")
		case g.part == "{} AS TEXT" && g.typ == "STRING" && i+1 < len(p.segs) && p.segs[i+1].column != "":
			out = append(out, part+" may be several parts with delimiters")
		}
		if last, bytes := p.number(i); bytes > 0 {
			out = append(out, fmt.Sprintf("%s to %s may be one number of %d bytes", part, p.segs[last].sql(), bytes))
		}
	}
	return out
}

// number returns the last of the parts, from part i on, that are numbers of 2 and 4 bytes and together as wide as a
// longer number. bytes is their width, 0 if there are none. A number whose high bytes are always the same looks like
// two numbers.
func (p parse) number(i int) (last, bytes int) {
	short := false
	for last = i; last < len(p.segs); last++ {
		switch p.segs[last].part {
		case "{} AS INT16", "{} AS UINT16":
			short, bytes = true, bytes+2
		case "{} AS INT32", "{} AS UINT32":
			bytes += 4
		default:
			return 0, 0
		}
		if short && last > i && (bytes == 4 || bytes == 8) {
			return last, bytes
		}
	}
	return 0, 0
}

// fits reads r's key into row, and reports whether that succeeds. If cells is set, the key must also be computable from
// the row with its cells.
func (v *verifier) fits(t *catalog.Table, r hbase.Row, row []types.Value, cells bool) bool {
	clear(row)
	l := t.Layouts[0]
	if l.DecodeRow(v.name, r.Key, nil, row) != nil {
		return false
	}
	if !cells {
		return true
	}
	addCells(t, r, row)
	key, err := l.Key.Append(nil, row, &expr.Env{})
	return err == nil && bytes.Equal(key, r.Key)
}

// relate replaces the parts of p that look random by a function of other columns that gives the same bytes for nearly
// all keys; ok reports whether it found one.
func (v *verifier) relate(p parse) (_ parse, ok bool) {
	for i := range p.segs {
		if p.segs[i].lead == noLead {
			continue
		}
		found := false
		for _, h := range v.hypotheses(p, i) {
			try := p.with(i, h)
			if v.holds(try) {
				p, ok, found = try, true, true
				break
			}
		}
		if !found && p.segs[i].part == "" {
			return p, false
		}
	}
	return p, ok
}

// holds reports whether the definition built from p fits most of a few keys spread over the sample.
func (v *verifier) holds(p parse) bool {
	t := v.build(p)
	if t == nil {
		return false
	}
	row := make([]types.Value, len(t.Columns)+2)
	n, fit := 0, 0
	for i := 0; i < len(v.rows); i += max(1, len(v.rows)/24) {
		n++
		if v.fits(t, v.rows[i], row, p.hasCells()) {
			fit++
		}
	}
	return n >= 3 && 10*fit >= 8*n
}

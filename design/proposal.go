package design

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// proposal describes a trial; whole includes plans.
func (s *search) proposal(t *trial, whole bool) Proposal {
	out := Proposal{Today: t == s.today, Key: t.key(), Why: t.why, Of: len(s.reading), Rows: -1, Calls: -1, Micros: -1, Share: t.share, IndexShare: t.indexShare, Bytes: t.bytes,
		Puts: t.puts, Cost: t.total, Split: t.split, Splits: t.splits}
	for i, x := range t.indexes {
		bytes := ""
		if k := t.known.Key(t.table.Layouts[len(t.table.Layouts)-len(t.indexes)+i].Name); k != nil {
			bytes = fmt.Sprintf(": about %.0f bytes a row more", k.Bytes+cellBytes+float64(len(s.table.Families[0].Name)))
		}
		out.Indexes = append(out.Indexes, x+bytes)
	}
	if t.stored != "" {
		out.Key += " STORED IN (" + t.stored + ")"
	}
	weights, rows, calls, micros, all := 0.0, 0.0, 0.0, 0.0, len(s.reading) > 0
	for n, i := range s.reading {
		w, p := s.stmts[i].Weight, t.prices[n]
		if len(p.misses) == 0 {
			out.Hits++
		} else {
			out.Misses = append(out.Misses, fmt.Sprintf("statement %d: %s", i+1, cmp.Or(p.misses[0], "no prefix is bound")))
		}
		if p.known == nil {
			all = false
			continue
		}
		weights, rows, calls, micros = weights+w, rows+w*p.known.Rows, calls+w*p.known.RPCs, micros+w*p.known.Cost
	}
	if all && weights > 0 {
		out.Rows, out.Calls, out.Micros = rows/weights, calls/weights, micros/weights
	}
	out.Notes = s.notesOn(t)
	if !out.Today {
		out.Create, out.Copy = s.statements(t)
	}
	if !whole {
		return out
	}
	for _, st := range s.stmts {
		text := ""
		if st.Error == "" && slices.Contains(st.reads, s.table.Name) {
			if p, err := s.plan(t.catalog, st.ast, t.find(s)); err == nil && p != nil {
				text = explain.String(p)
			}
		}
		out.Plans = append(out.Plans, text)
	}
	return out
}

// statements returns the statements that create the table and fill it.
func (s *search) statements(t *trial) (create, fill string) {
	def := *t.table.Def
	def.Name, def.External, def.IfNotExists, def.StoredIn = def.Name+designed, false, false, nil
	def.Layouts = slices.Clone(def.Layouts)
	for i := range def.Layouts {
		if t.stored == "" {
			def.Layouts[i].StoredIn = nil
		}
	}
	def.Split, def.Splits = t.split, t.splits
	return def.String() + ";", fmt.Sprintf("INSERT INTO %s SELECT * FROM %s ALLOW FULL SCAN;", parser.QuoteName(def.Name), parser.QuoteName(s.table.Name))
}

// notes returns notes about problems of today's key.
func (s *search) notes() (out []string) {
	if len(s.rows) == 0 {
		out = append(out, fmt.Sprintf("no sample of %d rows or more is known: load rows and run ANALYZE %s; until then reads are judged by rules, and writes by the first part of the key", leastSample, parser.QuoteName(s.table.Name)))
	} else if s.written == nil {
		out = append(out, "no column holds when a row was written, so that the share of the busiest region is that of all rows; --written-by names one")
	}
	for _, c := range s.identity {
		if c.Type == types.String && len(s.rows) > 0 && !slices.ContainsFunc(s.rows, func(row []types.Value) bool {
			text := row[c.Index].Text()
			return text == "" || strings.Trim(text, "0123456789") != "" || len(text) > 18 || text[0] == '0' && len(text) > 1
		}) {
			out = append(out, fmt.Sprintf("%s holds numbers alone: as BIGINT it takes 8 bytes of the key, and sorts by value", c.Name))
		}
	}
	return out
}

// notesOn returns notes to read before a layout is used.
func (s *search) notesOn(t *trial) (out []string) {
	layout := t.table.Layouts[0]
	for _, n := range layout.KeyNotes(s.Regions) {
		out = append(out, n.Text)
	}
	if t.bytes > 16 && layout.Key.Parts[0].Width() == catalog.Variable {
		out = append(out, fmt.Sprintf("the key has %.0f bytes, which each cell repeats: 16 are a good bound", math.Round(t.bytes)))
	}
	for _, l := range t.table.Layouts[1:] {
		for _, c := range l.Sparse {
			if !c.NotNull && t != s.today {
				out = append(out, fmt.Sprintf("%s has no entry for a row in which %s is NULL: statements use it if their WHERE rules NULL out, or if %s is declared NOT NULL", l.Name, c.Name, c.Name))
			}
		}
	}
	if t == s.today {
		return out
	}
	if t.key() == s.today.key() && t.stored == "" {
		out = append(out, fmt.Sprintf("the key stays, and nothing is copied: ALTER TABLE %s ADD INDEX makes and fills each INDEX; CHECK TABLE ... REPAIR fills one that is added to a catalog file", parser.QuoteName(s.table.Name)))
	}
	var moved, fixed, small []string
	for _, c := range t.columns {
		name := parser.QuoteName(c.Name)
		switch {
		case !slices.Contains(s.identity, c):
			moved = append(moved, c.Name)
		case strings.Contains(s.today.key(), name+" AS TEXT("):
		case strings.Contains(t.key(), fmt.Sprintf("%s AS TEXT(%d)", name, max(1, s.fixedLength(c)))) && c.Type == types.String:
			fixed = append(fixed, c.Name)
		}
		if strings.Contains(t.key(), name+" AS UINT32") && c.Type == types.BigInt && !strings.Contains(s.today.key(), name+" AS UINT32") {
			small = append(small, c.Name)
		}
	}
	for _, n := range []struct {
		of   []string
		text string
	}{{moved, "not in today's key: two rows may differ in it alone, and an UPDATE of it becomes DELETE and INSERT"},
		{fixed, "of one length in all of the sample: a longer text would be refused"},
		{small, "small in all of the sample: numbers from 4,294,967,296 on would be refused"}} {
		if len(n.of) > 0 {
			out = append(out, strings.Join(n.of, ", ")+": "+n.text)
		}
	}
	return out
}

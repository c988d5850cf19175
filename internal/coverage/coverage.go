// Package coverage counts the features of SQL that random tests draw. It reads the features of a statement from its
// syntax tree, and the possible features from the grammar, the functions and the catalog. So it also reports features
// that no generator knows.
package coverage

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
)

// Env names the directory in which tests leave their counts; nothing is counted without it.
const Env = "HQL_COVERAGE"

// counts are the numbers of statements of this process with a feature, and with a pair of features.
var counts = struct {
	sync.Mutex
	single map[string]int
	pairs  map[[2]string]int
	tables map[*parser.CreateTable][]string // features of earlier tables
}{single: map[string]int{}, pairs: map[[2]string]int{}, tables: map[*parser.CreateTable][]string{}}

// On reports whether statements are counted.
func On() bool { return os.Getenv(Env) != "" }

// Add counts a statement about the table def, which may be nil. also are further features, such as the time zone.
func Add(def *parser.CreateTable, s parser.Statement, also ...string) {
	if !On() {
		return
	}
	counts.Lock()
	defer counts.Unlock()
	table, known := counts.tables[def]
	if !known && def != nil {
		if len(counts.tables) > 100 { // tables of earlier seeds
			clear(counts.tables)
		}
		table = Of(def)
		counts.tables[def] = table
	}
	all := slices.Concat(table, also)
	if s != nil {
		all = append(all, Of(s)...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i, a := range all {
		counts.single[a]++
		for _, b := range all[i+1:] {
			counts.pairs[[2]string{a, b}]++
		}
	}
}

// Write writes the counts into the directory, each on a line; a test that calls Add calls it at its end.
func Write() {
	if !On() {
		return
	}
	counts.Lock()
	defer counts.Unlock()
	var b strings.Builder
	for k, n := range counts.single {
		fmt.Fprintf(&b, "%d\t%s\n", n, k)
	}
	for p, n := range counts.pairs {
		fmt.Fprintf(&b, "%d\t%s\t%s\n", n, p[0], p[1])
	}
	if err := os.WriteFile(filepath.Join(os.Getenv(Env), fmt.Sprintf("%s-%d", filepath.Base(os.Args[0]), os.Getpid())), []byte(b.String()), 0o644); err != nil {
		panic(err)
	}
}

// Of lists the features of a statement: each kind of node of its tree, each field of a node that is set, the names of
// functions, encodings and operators. Features in a key, an index, a table's name and a qualifier have different names.
func Of(s parser.Statement) []string {
	w := walker{seen: map[string]bool{}}
	w.value(reflect.ValueOf(s), "")
	return slices.Sorted(maps.Keys(w.seen))
}

type walker struct{ seen map[string]bool }

func (w *walker) note(format string, args ...any) { w.seen[fmt.Sprintf(format, args...)] = true }

// value walks v, which is in one of the places "", "key ", "index ", "name ", "qualifier " or "cell ".
func (w *walker) value(v reflect.Value, place string) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			w.value(v.Elem(), place)
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.value(v.Index(i), place)
		}
	case reflect.Struct:
		w.node(v, place)
	}
}

func (w *walker) node(v reflect.Value, place string) {
	kind := v.Type().Name()
	if place == "" {
		w.note("%s", kind)
	}
	switch n := v.Interface().(type) {
	case parser.EncodingDef:
		w.note("%sencoding %s", place, encodingName(&n))
		return
	case parser.Call:
		name := n.Name
		if f := expr.Builtins().Lookup(name); f != nil {
			name = f.Name
		}
		w.note("%sfunction %s", place, name)
	case parser.LayoutDef:
		place = "key "
		if n.Index {
			place = "index "
		}
		w.delimiters(n.Parts)
	case parser.PartList:
		place = "name "
		if len(n.Parts) > 1 {
			w.note("computed name")
		}
	case parser.ColumnSource:
		place = "qualifier "
	case parser.ColumnDef:
		place = "cell "
		w.note("column %s", n.Type)
	case parser.SelectCore:
		w.note("SELECT")
	}
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if name == "Pos" || strings.HasSuffix(name, "Pos") {
			continue
		}
		if enum(kind, name) {
			if text := fmt.Sprint(f.Interface()); text != "" {
				w.note("%s%s.%s %s", place, kind, name, text)
			}
		} else if optional(f) && !f.IsZero() && (kind == "LayoutDef" || place != "index " && place != "key ") {
			w.note("%s.%s", kind, name)
		}
		w.value(f, place)
	}
}

// enum reports whether a field has few values, each of them a feature.
func enum(kind, field string) bool {
	return field == "Op" || field == "What" || field == "Kind" || field == "Format" || kind == "Cast" && field == "Type" || kind == "Hint" && field == "Name"
}

// optional reports whether a node without this field is still complete.
func optional(f reflect.Value) bool {
	switch f.Kind() {
	case reflect.Bool, reflect.Slice, reflect.Pointer, reflect.Interface:
		return true
	}
	return false
}

// delimiters records the literals that end parts of varying width.
func (w *walker) delimiters(parts []parser.PartDef) {
	for i, p := range parts[:len(parts)-1] {
		if p.Encoding == nil || len(p.Encoding.Args) > 0 || p.Encoding.Name != "TEXT" && p.Encoding.Name != "BYTES" {
			continue
		}
		if l, ok := parts[i+1].Expr.(*parser.Literal); ok && parts[i+1].Encoding == nil {
			w.note("delimiter of %d", len(l.Text))
		} else {
			w.note("no delimiter")
		}
	}
}

// encodingName returns an encoding's name, without the width of integers.
func encodingName(e *parser.EncodingDef) string {
	name := e.Name
	if _, of, ok := strings.Cut(name, "INT"); ok && of != "" {
		name = strings.TrimRight(name, "0123456789")
	}
	switch {
	case len(e.Args) == 0:
		return name
	case e.Args[0].(*parser.Literal).Kind == parser.StringLiteral:
		return name + "('...')"
	}
	return name + "(n)"
}

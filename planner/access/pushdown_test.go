package access

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/types"
)

// cellEncodings are the encodings of cells by type; "" is the type's own.
var cellEncodings = map[string][]string{
	"BOOLEAN":  {"", "TEXT", "PHOENIX BOOLEAN", "INVERTED PHOENIX BOOLEAN", "NULLABLE PHOENIX BOOLEAN", "INVERTED TEXT", "DEFAULT(TRUE, 'PHOENIX BOOLEAN')"},
	"TINYINT":  {"", "TEXT", "TEXT(3)", "VINT"},
	"SMALLINT": {"", "TEXT", "ORDERED INT16", "UINT8", "LITTLE INT32"},
	"INT": {"", "TEXT", "TEXT(4)", "INT64", "UINT32", "UINT24", "ORDERED INT32", "LITTLE INT32", "HEX(4)", "UPPER HEX(4)", "BASE36(3)", "REVERSED TEXT(4)", "VINT",
		"INVERTED INT32", "INVERTED ORDERED INT32", "INVERTED TEXT", "NULLABLE ORDERED INT32", "NULLABLE TEXT", "DEFAULT(-1, 'ORDERED INT32')"},
	"BIGINT":    {"", "TEXT", "TEXT(19)", "INT8", "UINT64", "ORDERED INT40", "LITTLE INT64", "CROCKFORD(5)", "VINT"},
	"FLOAT":     {"", "TEXT", "ORDERED FLOAT32", "FLOAT64", "PHOENIX FLOAT", "INVERTED PHOENIX FLOAT"},
	"DOUBLE":    {"", "TEXT", "ORDERED FLOAT64", "ORDERED FLOAT32", "PHOENIX DOUBLE", "INVERTED ORDERED FLOAT64"},
	"DECIMAL":   {"", "BIGDECIMAL", "PHOENIX DECIMAL", "INVERTED PHOENIX DECIMAL", "NULLABLE PHOENIX DECIMAL", "PHOENIX TIMESTAMP"},
	"STRING":    {"", "TEXT(4)", "NUL TEXT(4)", "BYTES", "BYTES(2)", "COUNT8 TEXT", "COUNT16 TEXT", "VINT TEXT", "UUID", "INVERTED TEXT", "INVERTED TEXT(4)", "NULLABLE TEXT", "NULLABLE INVERTED TEXT", "DEFAULT('ab', 'TEXT')"},
	"BYTES":     {"", "TEXT(2)", "BYTES(2)", "COUNT8 TEXT", "COUNT32 TEXT", "VINT TEXT", "INVERTED BYTES"},
	"DATE":      {"", "TEXT('yyyyMMdd')", "TEXT('ddMMyyyy')", "TEXT('yyyyMM')", "INT32", "ORDERED INT64", "UINT16", "INVERTED ORDERED INT64", "INVERTED TEXT('yyyyMMdd')", "NULLABLE ORDERED INT64"},
	"TIME":      {"", "TEXT('HHmmss')", "TEXT('mmHHss')", "INT32", "UINT32", "ORDERED INT32"},
	"TIMESTAMP": {"", "TEXT", "TEXT(13)", "TEXT('yyyyMMddHHmmssSSS')", "TEXT('yyMMdd:HHmmss')", "TEXT('yyyy')", "INT64", "UINT48", "ORDERED INT64", "EPOCH32", "VINT", "INVERTED ORDERED INT64", "PHOENIX TIMESTAMP", "INVERTED PHOENIX TIMESTAMP"},
	"JSON":      {""},
}

// spelled are texts that are read as values of some type, most not as hql writes them, and such as are not.
var spelled = []string{"", " ", "0", "-0", "+0", "00", "0.0", "-0.0", "1", " 1", "1 ", "+1", "01", "1.0", "1.50", "1.5", "15e-1", "1e0", "-1", "127", "128", "-128", "255", "256", "32767", "65535", "65536",
	"2147483647", "2147483648", "-2147483648", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "NaN", "nan", "Infinity", "inf", "-Infinity", "1e400", "1e-400", "5e-324",
	"t", "T", "true", "TRUE", "yes", "on", "f", "false", "FALSE", "no", "off", "o", "tru",
	"2024-01-05", "20240105", "2024-1-5", " 2024-01-05", "2024-01-05 00:00:00", "2024-01-05T10:00:00Z", "2024-01-05 10:00", "2024-01-05T23:30:00-05:00", "2024-01-06", "2024-01-05x", "2024-13-05", "202401", "2024",
	"10:00", "10:00:00", "10:00:00.000", "10:00:00.5", " 10:00:00", "100000", "000000", "24:00:00", "1704412800000", "1704412800001", "2024-01-05 00:00:00.0004",
	"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "a", "ab", "abc", "abcd", "abcde", "a ", "a\x00", "é", "\x00", "\x01", "\xff", "\xff\xff", "{}", `{"a": 1}`, "%", "_", "a.b", "a\nb", "É1", "xÉ", "\u212a", "aB", "a-b", "ab-abcd"}

// constants are literals by type, those at the ends of the type among them.
var constants = map[types.Type][]string{
	types.Boolean: {"TRUE", "FALSE"}, types.TinyInt: {"0", "1", "-1", "127", "-128", "1.5"},
	types.SmallInt: {"0", "1", "-1", "255", "32767", "-32768"},
	types.Int:      {"0", "1", "-1", "99", "2147483647", "-2147483648", "9000000000", "1.5", "1e0::double"},
	types.BigInt:   {"0", "1", "-1", "255", "9223372036854775807", "-9223372036854775807", "1e30", "-0.5"},
	types.Float:    {"0", "-0.0::double", "1.5", "-1", "'NaN'::double", "'Infinity'::double", "1e300::double"},
	types.Double:   {"0", "-0.0::double", "1.5", "-1", "'NaN'::double", "'-Infinity'::double", "1e300::double", "5e-324::double"},
	types.Decimal:  {"0", "1.5", "1.50", "-1", "255", "1e30"},
	types.String:   {"''", "'a'", "'ab'", "'abcd'", "'abcde'", "E'a\\x00'", "'a '", "'é'", "'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'", "'1'", "'~'"},
	types.Bytes:    {"X''", "X'61'", "X'6162'", "X'00'", "X'ff'", "X'ffff'", "X'616263'"},
	types.Date:     {"DATE '2024-01-05'", "DATE '2024-01-01'", "DATE '1970-01-01'", "DATE '9999-12-31'", "TIMESTAMP '2024-01-05 10:00:00'"},
	types.Time:     {"TIME '10:00:00'", "TIME '00:00:00'", "TIME '10:00:00.5'", "TIME '23:59:59.999'"},
	types.Timestamp: {"TIMESTAMP '2024-01-05'", "TIMESTAMP '2024-01-05 10:00:00'", "TIMESTAMP '1970-01-01'", "TIMESTAMP '2024-01-05 10:00:00.001'", "DATE '2024-01-05'",
		"TIMESTAMP '2024-01-01'", "TIMESTAMP '9999-12-31 23:59:59.999'"},
	types.JSON: {"'{}'", `'"a"'`},
}

// A server's filter drops no cell that is read as a value for which the predicate is true, and where it is exact keeps no other:
// every encoding, operator and spelling, and bytes that no value has.
func TestPushDownOfCells(t *testing.T) {
	for typ, encs := range cellEncodings {
		for _, enc := range encs {
			t.Run(typ+" "+enc, func(t *testing.T) {
				as := ""
				if enc != "" {
					as = " AS " + enc
				}
				c := given.Tables(t, "CREATE TABLE t (k STRING PRIMARY KEY, c "+typ+as+")")
				table, _ := c.Table("t")
				seeds.Each(t, 1, func(t *testing.T, seed uint64, fig seeds.Figures) {
					checkPushDown(t, rand.New(rand.NewPCG(seed, 3)), table, fig)
				})
			})
		}
	}
}

func checkPushDown(t *testing.T, r *rand.Rand, table *catalog.Table, fig seeds.Figures) {
	pick := func(xs []string) string { return xs[r.IntN(len(xs))] }
	col := table.Columns[1]
	ks := constants[col.Type]
	var cells [][]byte
	for _, s := range spelled {
		cells = append(cells, []byte(s))
		if v, err := types.Cast(types.NewString(s), col.Type, nil); err == nil {
			if b, err := col.AppendCell(nil, v); err == nil {
				cells = append(cells, b, b[:len(b)/2], append(bytes.Clone(b), 0), append(bytes.Clone(b), ' '), append([]byte{' '}, b...))
				for range 3 {
					changed := bytes.Clone(b)
					if len(b) > 0 {
						changed[r.IntN(len(b))] += byte(1 + r.IntN(255))
					}
					cells = append(cells, changed)
				}
			}
		}
	}
	var atom func(depth int) string
	atom = func(depth int) string {
		if depth > 0 && r.IntN(2) == 0 {
			return fmt.Sprintf("(%s)", strings.Join([]string{atom(depth - 1), atom(depth - 1)}, pick([]string{" AND ", " OR "})))
		}
		switch r.IntN(8) {
		case 0:
			return pick([]string{"c IS NULL", "c IS NOT NULL"})
		case 1:
			return fmt.Sprintf("c %sIN (%s, %s, %s)", pick([]string{"", "NOT "}), pick(ks), pick(ks), pick(ks))
		case 2:
			return fmt.Sprintf("c %sBETWEEN %s AND %s", pick([]string{"", "NOT "}), pick(ks), pick(ks))
		case 3:
			if col.Type == types.String {
				pattern := pick([]string{"a%", "%b", "a_", "a", "%", "", "a%d", "é%", "_", "%É_", "_B%"})
				return pick([]string{"c LIKE '" + pattern + "'", "c NOT LIKE '" + pattern + "'", "c ILIKE '" + pattern + "'", "upper(c) LIKE upper('" + pattern + "')",
					fmt.Sprintf("right(c, %d) = %s", r.IntN(4), pick(ks)), fmt.Sprintf("upper(right(c, 2)) = upper(%s)", pick(ks)), fmt.Sprintf("right(lower(c), 2) IN (%s, 'k')", pick(ks)),
					fmt.Sprintf("substr(c, %d) = %s", r.IntN(4), pick(ks)), fmt.Sprintf("substr(c, 2, %d) = %s", r.IntN(3), pick(ks)), fmt.Sprintf("strpos(c, %s) %s", pick(ks), pick([]string{"> 0", "= 2", ">= 1", "<> 0"})),
					fmt.Sprintf("split_part(c, '%s', %s) = %s", pick([]string{"b", "bc", "", "-", "a"}), pick([]string{"1", "2", "-1", "-2"}), pick(ks))})
			}
		case 4:
			if col.Type == types.Boolean {
				return pick([]string{"c", "NOT c", "c IS TRUE", "c IS NOT FALSE"})
			}
			return "NOT (" + atom(0) + ")"
		}
		return "c " + pick([]string{"=", "<>", "<", "<=", ">", ">="}) + " " + pick(ks)
	}
	for range 80 {
		where := atom(2)
		cond, err := compileWhere(table, where, nil)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		f, exact, ok := pushDown(cond, table)
		if !ok {
			continue
		}
		fig["filters"]++
		row := make([]types.Value, len(table.Columns)+2)
		for i := range len(cells) + 1 {
			var cell []byte // of the last, there is none
			row[1] = types.Value{}
			if i < len(cells) {
				cell = cells[i]
				if v, err := col.DecodeCell(cell); err == nil { // else it is read as NULL
					row[1] = v
				}
			}
			fig["cells"]++
			match, kept := isTrue(t, cond, row, nil), keeps(t, f, cell, i < len(cells))
			if match && !kept || exact && kept != match {
				t.Fatalf("%s AS %s: cell %q is read as %s, for which %s is %v, but %s keeps it: %v (exact: %v)", col.Type, col.Encoding, cell, row[1].SQL(), where, match, f, kept, exact)
			}
		}
	}
}

// keeps evaluates f on the row whose only cell is given, as HBase does.
func keeps(t *testing.T, f filter.Filter, cell []byte, present bool) bool {
	t.Helper()
	switch f := f.(type) {
	case filter.And:
		for _, x := range f {
			if !keeps(t, x, cell, present) {
				return false
			}
		}
		return true
	case filter.Or:
		for _, x := range f {
			if keeps(t, x, cell, present) {
				return true
			}
		}
		return false
	case filter.CellNull:
		return present == f.Not
	case filter.Cell:
		if !present {
			return f.KeepMissing
		}
		c := bytes.Compare(cell, f.Value)
		switch f.Op {
		case filter.Equal:
			return c == 0
		case filter.NotEqual:
			return c != 0
		case filter.Less:
			return c < 0
		case filter.LessOrEqual:
			return c <= 0
		case filter.Greater:
			return c > 0
		case filter.GreaterOrEqual:
			return c >= 0
		case filter.Prefix:
			return bytes.HasPrefix(cell, f.Value)
		}
	case filter.Regex:
		var latin strings.Builder // a character for each byte
		for _, b := range cell {
			latin.WriteRune(rune(b))
		}
		return present && regexp.MustCompile("(?s)"+f.Pattern).MatchString(latin.String())
	}
	t.Fatalf("%T %s", f, f)
	return false
}

package catalog

import (
	"bytes"
	"testing"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Any bytes are a key that encodes again to the same bytes, or malformed; never a panic.
func FuzzDecodeKey(f *testing.F) {
	c := layouts(f)
	tables := c.Tables()
	for i := range tables {
		f.Add(uint8(i), []byte("000111|123|iteblog"))
		f.Add(uint8(i), []byte("a-foo0003"))
		f.Add(uint8(i), []byte("u0000001\x7f\xff\xff\xff\xff\xff\xff\xfe"))
	}
	f.Fuzz(func(t *testing.T, n uint8, key []byte) {
		tab := tables[int(n)%len(tables)]
		l := tab.Layouts[0]
		row := make([]types.Value, len(tab.Columns)+2)
		table := tab.Name
		if !l.Stored.IsLiteral() {
			table = "tx_20120901"
			if tab.Name == "stats" {
				table = "stats_20120901"
			}
		}
		if l.DecodeRow(table, key, nil, row) != nil || l.Packed != nil {
			return
		}
		for _, p := range l.Key.Parts {
			if p.draw != nil || p.Literal == nil && !known(tab, p) {
				return // not all of the key follows from the columns
			}
		}
		back, err := l.Key.Append(nil, row, &expr.Env{})
		if err != nil || !bytes.Equal(back, key) {
			t.Fatalf("%s: %q decodes to %v, which encodes to %q (%v)", tab.Name, key, row, back, err)
		}
	})
}

func known(t *Table, p *Part) bool {
	for _, col := range p.Columns {
		if !t.Columns[col].KeyPart {
			return false
		}
	}
	if c, ok := p.Expr.(*expr.Call); ok && c.Func.Key != nil && c.Func.Key.Lookup {
		return false
	}
	return true
}

// Any text is a catalog or an error with a place.
func FuzzLoad(f *testing.F) {
	f.Add("CREATE TABLE t (a INT, b STRING) ROW KEY (a AS TEXT(3), '|', b AS TEXT)")
	f.Add("CREATE TABLE t (ts TIMESTAMP FROM f:[x AS UINT32]) ROW KEY (SALT HEX(8), DATE(ts) AS TEXT('yyyyMMdd'))")
	f.Fuzz(func(t *testing.T, src string) {
		err := New().Load(src)
		if err == nil {
			return
		}
		if _, ok := err.(*parser.Error); !ok {
			t.Fatalf("%T: %v", err, err)
		}
	})
}

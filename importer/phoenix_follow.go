package importer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"github.com/hql-db/hql/hbase"
)

// Phoenix is the content of Phoenix's catalog at one time.
type Phoenix struct {
	sql     string
	sources map[string][2][]phoenixSource // by the name of a definition, in lower case: those that readers of the table need, and those that only writers need
}

// SQL returns a catalog file, with comments on tables that hql does not read.
func (p *Phoenix) SQL() string { return p.sql }

// Same reports whether Phoenix's catalog is unchanged for the table with this name in SQL: its columns, its indexes,
// and the views and the table on which it is defined. If written is set, Same also compares the views and indexes that
// Phoenix updates with the table's rows.
func (p *Phoenix) Same(ctx context.Context, c hbase.Client, table string, written bool) (bool, error) {
	of := p.sources[strings.ToLower(table)]
	sources := of[0]
	if written {
		sources = slices.Concat(of[0], of[1])
	}
	for _, s := range sources {
		now := digests{}
		if err := readAll(ctx, c, s.span(), now.add); err != nil {
			return false, err
		}
		if now.of(s.object) != s.digest {
			return false, nil
		}
	}
	return true, nil
}

// phoenixSource is an object in one of Phoenix's system tables, with the digest of its rows.
type phoenixSource struct{ table, object, digest string }

// span returns the range of an object's rows: its own row, and the rows of its columns and links.
func (s phoenixSource) span() hbase.ScanRange {
	return hbase.ScanRange{Table: s.table, Start: []byte(s.object), Stop: []byte(s.object + "\x01")}
}

// digests maps the key prefix of each object to the digest of the object's rows.
type digests map[string]hash.Hash

// add adds a row of SYSTEM.CATALOG or SYSTEM.CHILD_LINK. The rows of an object must come in order.
func (d digests) add(r hbase.Row) {
	object := phoenixID{}.key()
	if f := strings.SplitN(string(r.Key), "\x00", 4); len(f) > 2 {
		object = phoenixID{f[0], f[1], f[2]}.key()
	}
	h := d[object]
	if h == nil {
		h = sha256.New()
		d[object] = h
	}
	var b []byte
	put := func(x []byte) {
		b = append(binary.AppendUvarint(b, uint64(len(x))), x...)
	}
	put(r.Key)
	for _, c := range r.Cells {
		put(c.Family)
		put(c.Qualifier)
		put(c.Value)
	}
	h.Write(binary.AppendUvarint(nil, uint64(len(b))))
	h.Write(b)
}

// of returns the digest of an object, or "" if it has no rows.
func (d digests) of(object string) string {
	if h := d[object]; h != nil {
		return string(h.Sum(nil))
	}
	return ""
}

// key returns the prefix of the keys of an object's rows.
func (id phoenixID) key() string { return id.tenant + "\x00" + id.schema + "\x00" + id.name }

// sources returns the objects from which the definition of o was made.
func (s *phoenixSystem) sources(o *phoenixObject) (out [2][]phoenixSource) {
	seen := map[*phoenixObject]bool{}
	object := func(k int, o *phoenixObject) {
		if o != nil && !seen[o] {
			seen[o] = true
			out[k] = append(out[k], phoenixSource{s.table, o.id.key(), s.rows.of(o.id.key())})
		}
	}
	for i, of := 0, o; of != nil && i <= maxViews; i, of = i+1, s.above(of) {
		object(0, of)
		for _, name := range of.links[indexLink] {
			object(0, s.object(phoenixID{of.id.tenant, of.id.schema, name}))
		}
	}
	for _, other := range s.of[s.base(o)] {
		object(1, other)
		if s.links != "" {
			out[1] = append(out[1], phoenixSource{s.links, other.id.key(), s.children.of(other.id.key())})
		}
	}
	return out
}

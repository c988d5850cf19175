package lookup

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// OpenTSDB's UID table has one row per name with its id, and one row per id with its name. Both have the kind (metrics,
// tagk, tagv) as qualifier. A further row has the counters of the kinds.
const (
	uidTable      = expr.UIDTable
	uidFamily     = "id"
	uidNameFamily = "name"
	uidCounterRow = "\x00"
	uidWidth      = 3 // bytes
)

// uids is OpenTSDB's table of ids.
type uids struct{ *Env }

// Some returns an id of zeros.
func (uids) Some() types.Value { return types.NewBytes(string(make([]byte, uidWidth))) }

// ID reads the id of a name.
func (d uids) ID(ctx context.Context, k plan.LookupKey) (types.Value, error) {
	name, ok := latin1(k.Args[0].Text())
	if !ok || name == "" { // such a name cannot have an id
		return types.Value{}, nil
	}
	v, err := d.cell(ctx, name, uidFamily, k.Column)
	if err != nil || len(v) != uidWidth {
		return types.Value{}, err
	}
	return types.NewBytes(string(v)), nil
}

// Names reads the name of one id: there may be millions of ids.
func (d uids) Names(ctx context.Context, call *expr.Call, id types.Value) (names map[string]types.Value, all bool, err error) {
	kind, ok := call.Args[0].(*expr.Const)
	if !ok {
		return nil, false, fmt.Errorf("the names of %s cannot be listed", call)
	}
	v, err := d.cell(ctx, id.Text(), uidNameFamily, kind.Val.Text())
	if err != nil || v == nil {
		return nil, false, err
	}
	name := make([]rune, len(v))
	for i, b := range v {
		name[i] = rune(b)
	}
	return map[string]types.Value{string(id.AppendKey(nil)): types.NewString(string(name))}, false, nil
}

// cell reads a cell of the UID table; nil if it does not exist.
func (d uids) cell(ctx context.Context, key, family, kind string) ([]byte, error) {
	rows, err := d.Client.Get(ctx, uidTable, [][]byte{[]byte(key)}, &hbase.ReadOptions{Families: []string{family}})
	if err != nil {
		return nil, fmt.Errorf("OpenTSDB's table of ids %s: %w", uidTable, err)
	}
	for _, c := range rows[0].Cells {
		if string(c.Qualifier) == kind {
			return c.Value, nil
		}
	}
	return nil, nil
}

// Allocate assigns an id to a name in the same steps as OpenTSDB, so that both may run at the same time: it draws a
// number, writes the name into the number's row, and then the number into the name's row, unless another writer was
// faster.
func (d uids) Allocate(ctx context.Context, k plan.LookupKey) error {
	name, ok := latin1(k.Args[0].Text())
	if !ok || name == "" || strings.ContainsFunc(k.Args[0].Text(), refusedInName) {
		return fmt.Errorf("%s is not a valid name in OpenTSDB: it may have letters of Latin-1, digits and -_./", k.Args[0].SQL())
	}
	put := func(key, family, value string) (bool, error) {
		return d.Client.PutIf(ctx, uidTable, nil, hbase.Mutation{Kind: hbase.Put, Key: []byte(key), Timestamp: d.Clock.Next(),
			Cells: []hbase.Cell{{Family: []byte(family), Qualifier: []byte(k.Column), Value: []byte(value)}}})
	}
	for {
		n, err := d.Client.Increment(ctx, uidTable, []byte(uidCounterRow), uidFamily, k.Column, 1)
		if err == nil && (n <= 0 || n >= 1<<(8*uidWidth)) {
			return fmt.Errorf("OpenTSDB's ids of %s are used up", k.Column)
		}
		id := string(binary.BigEndian.AppendUint64(nil, uint64(n))[8-uidWidth:])
		free := false
		if err == nil {
			free, err = put(id, uidNameFamily, name)
		}
		if err == nil && free {
			_, err = put(name, uidFamily, id)
		}
		if err != nil {
			return fmt.Errorf("OpenTSDB's table of ids %s: %w", uidTable, err)
		}
		if free {
			return nil
		}
	}
}

func refusedInName(c rune) bool {
	return !unicode.IsLetter(c) && (c < '0' || c > '9') && !strings.ContainsRune("-_./", c)
}

// latin1 returns s in ISO-8859-1, as OpenTSDB stores names.
func latin1(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for _, c := range s {
		if c > 0xff {
			return "", false
		}
		b = append(b, byte(c))
	}
	return string(b), true
}

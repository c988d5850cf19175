package hql_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// registerAll makes a function, a salt and two encodings known: an entry each. Nothing else in hql knows of them.
func registerAll(c *catalog.Catalog) error {
	number := func([]expr.Expr) (types.Type, error) { return types.BigInt, nil }
	upTo := func(n int64) types.Set {
		return types.SetOf(types.Interval{Lo: types.NewInt(0), Hi: types.NewInt(n)})
	}
	sum := func(b string) (n int64) {
		for i := range len(b) {
			n += int64(b[i])
		}
		return n
	}
	return errors.Join(
		c.Funcs().Register(expr.Function{Name: "SHARD", Group: "hash", Signature: "shard(text) bigint", Doc: "Sum of the bytes modulo 3.", MinArgs: 1, MaxArgs: 1, Result: number,
			Eval: func(_ *expr.Env, args []types.Value) (types.Value, error) {
				return types.NewInt(sum(args[0].Text()) % 3), nil
			},
			Key: &expr.Algebra{Domain: func(*expr.Call) (types.Set, bool) { return upTo(2), true }}}),
		c.Funcs().Register(expr.Function{Name: "SUM_SALT", Group: "key", Signature: "SUM_SALT()", Doc: "Sum of the key's other bytes modulo 4.", Result: number,
			Eval: func(*expr.Env, []types.Value) (types.Value, error) { return types.Value{}, errors.New("no value") },
			Key: &expr.Algebra{Arg: expr.NoArg, Domain: func(*expr.Call) (types.Set, bool) { return upTo(3), true },
				FromRest: func(_ *expr.Call, rest []byte) (types.Value, error) { return types.NewInt(sum(string(rest)) % 4), nil }}}),
		c.RegisterEncoding(catalog.EncodingType{Name: "bcd", Signature: "BCD(n)", Doc: "n decimal digits, two a byte", Types: []types.Type{types.Int, types.BigInt}, Args: catalog.WidthArg,
			Make: func(t types.Type, args []types.Value) (catalog.Encoding, error) {
				if n := int(args[0].Int()); n%2 == 0 && n <= 8 {
					return bcd{t, n}, nil
				}
				return nil, errors.New("BCD takes an even number of digits up to 8")
			}}),
		c.RegisterEncoding(catalog.EncodingType{Name: "yes no", Doc: "Y or N", Types: []types.Type{types.Boolean},
			Make: func(types.Type, []types.Value) (catalog.Encoding, error) { return yesNo{}, nil }}),
	)
}

// bcd is a number of digits decimal digits, two a byte.
type bcd struct {
	t      types.Type
	digits int
}

func (e bcd) String() string            { return fmt.Sprintf("BCD(%d)", e.digits) }
func (e bcd) Width() int                { return e.digits / 2 }
func (e bcd) Type() types.Type          { return e.t }
func (e bcd) Order() catalog.Order      { return catalog.Ascending }
func (e bcd) most() int64               { return int64(math.Pow10(e.digits)) - 1 }
func (e bcd) value(n int64) types.Value { return types.NewIntOf(e.t, n) }

func (e bcd) Append(dst []byte, v types.Value) ([]byte, error) {
	if v.Int() < 0 || v.Int() > e.most() {
		return dst, fmt.Errorf("%s has not %d digits", v, e.digits)
	}
	for s := fmt.Sprintf("%0*d", e.digits, v.Int()); s != ""; s = s[2:] {
		dst = append(dst, (s[0]-'0')<<4|(s[1]-'0'))
	}
	return dst, nil
}

func (e bcd) Decode(src []byte) (types.Value, error) {
	n := int64(0)
	for _, b := range src {
		if b>>4 > 9 || b&15 > 9 {
			return types.Value{}, errors.New("it has no digit there")
		}
		n = 100*n + 10*int64(b>>4) + int64(b&15)
	}
	return e.value(n), nil
}

func (e bcd) Clip(iv types.Interval) (types.Interval, bool) {
	lo, hi := int64(0), e.most()
	if !iv.Lo.IsNull() {
		lo = max(lo, iv.Lo.Int())
	}
	if !iv.Hi.IsNull() {
		hi = min(hi, iv.Hi.Int())
	}
	return types.Interval{Lo: e.value(lo), Hi: e.value(hi)}, lo <= hi
}

// yesNo is Y or N, and reads y and n.
type yesNo struct{}

func (yesNo) String() string                                { return "YES NO" }
func (yesNo) Width() int                                    { return 1 }
func (yesNo) Type() types.Type                              { return types.Boolean }
func (yesNo) Order() catalog.Order                          { return catalog.Unordered }
func (yesNo) Respells() bool                                { return true }
func (yesNo) Clip(iv types.Interval) (types.Interval, bool) { return iv, true }
func (yesNo) Append(dst []byte, v types.Value) ([]byte, error) {
	if v.Bool() {
		return append(dst, 'Y'), nil
	}
	return append(dst, 'N'), nil
}

func (yesNo) Decode(src []byte) (types.Value, error) {
	switch s := strings.ToUpper(string(src)); s {
	case "Y", "N":
		return types.NewBool(s == "Y"), nil
	}
	return types.Value{}, errors.New("it is neither Y nor N")
}

// A function, a salt or an encoding is one entry: definitions, plans, key order, cells and lists follow from it.
func TestRegisteredPieces(t *testing.T) {
	ctx := t.Context()
	db, err := hql.Open(ctx, "mem:", hql.WithTables(registerAll))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const key = `(SUM_SALT() AS UINT8, SHARD(name) AS UINT8, name AS TEXT, X'00', n AS BCD(6))`
	if _, err := db.Exec(ctx, `CREATE TABLE t (name STRING, n INT, ok BOOLEAN FROM f:ok AS YES NO) ROW KEY `+key+`;
		CREATE EXTERNAL TABLE raw (name STRING, n INT, ok STRING FROM f:ok) STORED IN 't' ROW KEY `+key); err != nil {
		t.Fatal(err)
	}
	for i := range 60 { // each in a spelling of its own
		if _, err := db.Exec(ctx, "INSERT INTO raw VALUES (?, ?, ?)", fmt.Sprint("name", i%5), i*i, []string{"Y", "n", "y", "N"}[i%4]); err != nil {
			t.Fatal(err)
		}
	}
	query := func(sql string) string {
		t.Helper()
		rows, err := db.Query(ctx, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		var out []string
		for row, err := range rows.All() {
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			var s string
			if err := row.Scan(&s); err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ where, access, want string }{
		{"name = 'name1' AND n = 36", "get", "36"},
		{"name = 'name1' AND n = 37", "get", ""},
		{"name = 'name1' AND n = 1000000", "empty", ""},
		{"name = 'name0' AND n > 400 AND n <= 1600", "scan", "625 900 1225 1600"},
		{"name = 'name2' AND n < 200 AND NOT ok", "scan", "49"},
		{"name = 'name2' AND n < 200 AND ok", "scan", "4 144"},
	} {
		sql := "SELECT n FROM t WHERE " + c.where + " ORDER BY n"
		plan, err := db.Explain(ctx, sql)
		if err != nil {
			t.Fatal(err)
		}
		if got := query(sql); got != c.want || plan.Access != c.access {
			t.Errorf("%s: %q by a %s, want %q by a %s\n%s", c.where, got, plan.Access, c.want, c.access, plan)
		}
	}
	if got := query("SELECT COUNT(*) FROM t WHERE ok ALLOW FULL SCAN"); got != "30" {
		t.Errorf("%s rows are true", got)
	}
	for sql, want := range map[string]string{"SHOW CREATE TABLE t": "n AS BCD(6)", "EXPLAIN SELECT n FROM t WHERE name = 'a' AND n = 1": "SHARD(name) AS UINT8"} {
		if got := query(sql); !strings.Contains(got, want) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for sql, want := range map[string]string{
		"CREATE TABLE x (n INT) ROW KEY (n AS BCD(5))":    "1:38: BCD takes an even number of digits up to 8",
		"CREATE TABLE x (n INT) ROW KEY (n AS BCD)":       "1:38: BCD takes a width from 1 to 32767",
		"CREATE TABLE x (n STRING) ROW KEY (n AS BCD(4))": "1:41: STRING cannot be stored AS BCD(4)",
	} {
		if _, err := db.Exec(ctx, sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	c := catalog.New()
	if err := registerAll(c); err != nil {
		t.Fatal(err)
	}
	for _, usage := range []string{"BCD(n)", "TEXT(n)"} { // beside those that are there anyway
		if !slices.ContainsFunc(c.Encodings(), func(e *catalog.EncodingType) bool { return e.Usage() == usage }) {
			t.Errorf("%s is not listed", usage)
		}
	}
	if err := registerAll(c); err == nil {
		t.Error("the same names are registered twice")
	}
}

// A function that tells some of its arguments apart, and not others: what a kept plan finds for one argument is not taken
// for what it would find for another.
func TestRegisteredFunctionOfManyToOne(t *testing.T) {
	ctx := t.Context()
	const most = 100
	capped := func(c *catalog.Catalog) error {
		return c.Funcs().Register(expr.Function{Name: "CAPPED", Group: "number", Signature: "capped(n) bigint", Doc: "100 at most.", MinArgs: 1, MaxArgs: 1,
			Result: func([]expr.Expr) (types.Type, error) { return types.BigInt, nil },
			Eval: func(_ *expr.Env, args []types.Value) (types.Value, error) {
				return types.NewInt(min(args[0].Int(), most)), nil
			},
			Key: &expr.Algebra{Pieces: func(*expr.Call, types.Interval) []expr.Piece { return []expr.Piece{{}} }}})
	}
	db, err := hql.Open(ctx, "mem:", hql.WithTables(capped))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, "CREATE TABLE t (n BIGINT, v STRING) ROW KEY (CAPPED(n) AS INT64); INSERT INTO t VALUES (42, 'a'), (100, 'b')"); err != nil {
		t.Fatal(err)
	}
	found := func(n int64) int {
		t.Helper()
		rows, err := db.Query(ctx, "SELECT v FROM t WHERE n = ?", n)
		if err != nil {
			t.Fatal(err)
		}
		values, err := hql.CollectRows(rows, hql.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return len(values)
	}
	for range 2 { // by a plan that was kept, from the second query on
		for n, want := range map[int64]int{42: 1, 43: 0, 100: 1, 101: 0} {
			if got := found(42); got != 1 {
				t.Errorf("n = 42: %d rows", got)
			}
			if got := found(n); got != want {
				t.Errorf("n = %d: %d rows, want %d", n, got, want)
			}
		}
	}
}

package types

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/hql-db/hql/internal/seeds"
)

// Sets of small integers are checked against sets of numbers.
func TestSetAlgebra(t *testing.T) {
	const n = 48
	random := func(r *rand.Rand) (Set, [n]bool) {
		var ivs []Interval
		var in [n]bool
		most := n
		if r.IntN(4) == 0 {
			most = 2 // so that they are many
		}
		for range r.IntN([]int{n, 4}[Bit(most == n)]) {
			lo := r.IntN(n)
			hi := (lo + r.IntN(most)) % n
			iv := Interval{Lo: NewInt(int64(lo)), Hi: NewInt(int64(hi)), LoOpen: r.IntN(2) == 0, HiOpen: r.IntN(2) == 0}
			if r.IntN(6) == 0 {
				iv.Lo = Value{}
			}
			if r.IntN(6) == 0 {
				iv.Hi = Value{}
			}
			ivs = append(ivs, iv)
			for i := range n {
				above := iv.Lo.IsNull() || i > lo || i == lo && !iv.LoOpen
				below := iv.Hi.IsNull() || i < hi || i == hi && !iv.HiOpen
				in[i] = in[i] || above && below
			}
		}
		return SetOf(ivs...), in
	}
	check := func(what string, s Set, want [n]bool) {
		t.Helper()
		for i := range n {
			if s.Contains(NewInt(int64(i))) != want[i] {
				t.Fatalf("%s: %s and %d", what, s, i)
			}
		}
		for i := 1; i < len(s); i++ {
			if touches(s[i-1], s[i]) {
				t.Fatalf("%s: %s is not merged", what, s)
			}
		}
	}
	seed, _ := seeds.Range(t, 1)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		a, inA := random(r)
		b, inB := random(r)
		check("set", a, inA)
		var or, and, not [n]bool
		subset := true
		for i := range n {
			or[i], and[i], not[i] = inA[i] || inB[i], inA[i] && inB[i], !inA[i]
		}
		check("union", a.Union(b), or)
		check("intersection", a.Intersect(b), and)
		check("complement", a.Complement(), not)
		if !a.Complement().Complement().SubsetOf(a) || !a.SubsetOf(a.Union(b)) || !a.Intersect(b).SubsetOf(b) {
			t.Fatalf("seed %d: %s %s", seed, a, b)
		}
		for i := range n {
			subset = subset && (!inA[i] || inB[i])
		}
		if a.SubsetOf(b) && !subset {
			t.Fatalf("%s is no subset of %s", a, b)
		}
		if vs, ok := a.Values(n); ok {
			for _, v := range vs {
				if !a.Contains(v) {
					t.Fatalf("%s lists %s", a, v)
				}
			}
		}
	}
}

func TestStringIntervals(t *testing.T) {
	s := func(x string) Value { return NewString(x) }
	a := SetOf(Interval{Lo: s("a"), Hi: s("b"), HiOpen: true}, Interval{Lo: s("b"), Hi: s("b\x00"), HiOpen: true})
	if got := a.String(); got != "['a' - 'b\x00')" {
		t.Error(got)
	}
	// (a, b) and (b, c) leave b out and stay apart.
	if got := SetOf(Interval{Lo: s("a"), Hi: s("b"), HiOpen: true}, Interval{Lo: s("b"), Hi: s("c"), LoOpen: true}); len(got) != 2 {
		t.Error(got)
	}
}

// PostgreSQL's order: NaN is the greatest number, and numbers compare by value across types.
func TestCompare(t *testing.T) {
	dec := func(x string) Value { v, err := ParseDecimal(x); _ = err; return v }
	order := []Value{NewDouble(math.Inf(-1)), NewInt(math.MinInt64), dec("-1.5"), NewDouble(-1), NewInt(0), dec("0.1"), NewDouble(0.1), NewInt(1), dec("9007199254740992.5"),
		NewInt(9007199254740993), NewInt(math.MaxInt64), NewDouble(9223372036854775808), NewDouble(math.Inf(1)), NewDouble(math.NaN())}
	for i, a := range order {
		for j, b := range order {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got, err := Compare(a, b); err != nil || got != want {
				t.Errorf("%s and %s: %d %v, want %d", a, b, got, err, want)
			}
		}
	}
	for _, p := range [][2]Value{{NewInt(1), NewString("1")}, {NewBool(true), NewInt(1)}, {NewBytes("a"), NewString("a")}, {NewTimestamp(0), NewInt(0)}, {NewDate(1), NewTimestamp(MillisPerDay)}} {
		if _, err := Compare(p[0], p[1]); err == nil {
			t.Errorf("%s and %s compare", p[0].Type(), p[1].Type())
		}
	}
}

// What floats tell of two numbers is what their exact forms say.
func TestCompareAbout(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	number := func(near float64) Value {
		switch r.IntN(3) {
		case 0:
			return NewDouble(math.Nextafter(near, math.Inf(r.IntN(2)*2-1)))
		case 1:
			if math.Abs(near) < 1<<63 {
				return NewInt(int64(near) + int64(r.IntN(3)) - 1)
			}
		}
		digits := r.IntN(18)
		d, err := ParseDecimal(strconv.FormatFloat(near, 'e', digits, 64))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	told := 0
	for range 20_000 {
		near := (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(40)-20))
		switch r.IntN(8) {
		case 0:
			near = math.Round(near)
		case 1:
			near *= math.Pow(10, float64(r.IntN(560)-280))
		}
		a, b := number(near), number(near)
		if c, ok := compareAbout(a, b); ok {
			told++
			if want := a.exact().Cmp(b.exact()); c != want {
				t.Fatalf("%s and %s: %d, want %d", a.SQL(), b.SQL(), c, want)
			}
		}
	}
	if told < 1000 {
		t.Errorf("%d are told apart", told)
	}
}

func TestCast(t *testing.T) {
	for _, c := range []struct {
		in   Value
		to   Type
		want string // "" for an error
	}{
		{NewString(" 12 "), Int, "12"}, {NewString("12.5"), Int, ""}, {NewInt(1 << 40), Int, ""}, {NewInt(200), TinyInt, ""}, {NewInt(-128), TinyInt, "-128"},
		{NewDouble(2.5), BigInt, "2"}, {NewDouble(3.5), BigInt, "4"}, {NewDouble(math.NaN()), BigInt, ""}, {NewDouble(1e300), BigInt, ""},
		{NewString("1e3"), Decimal, "1000"}, {NewString("NaN"), Decimal, ""}, {NewString("1e99999"), Decimal, ""},
		{NewString("2012-09-01"), Date, "2012-09-01"}, {NewString("2012-02-30"), Date, ""}, {NewString("2018-12-18 03:50:00.5"), Timestamp, "2018-12-18T03:50:00.500Z"},
		{NewString("2018-12-18T03:50:00+08:00"), Timestamp, "2018-12-17T19:50:00.000Z"}, {NewTimestamp(-1), Date, "1969-12-31"}, {NewDate(-1), Timestamp, "1969-12-31T00:00:00.000Z"},
		{NewInt(1545105001972), Timestamp, "2018-12-18T03:50:01.972Z"}, {NewString("yes"), Boolean, "true"}, {NewString("maybe"), Boolean, ""},
		{NewString("{"), JSON, ""}, {NewString(`{"a":1}`), JSON, `{"a":1}`}, {NewBool(true), String, "true"}, {NewString("25:00"), Time, ""}, {NewString("23:59:59.999"), Time, "23:59:59.999"},
		{NewBytes("\xff"), Int, ""}, {Value{}, Int, "NULL"},
	} {
		got, err := Cast(c.in, c.to, nil)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s to %s: %s", c.in.SQL(), c.to, got)
			}
			continue
		}
		if err != nil || got.String() != c.want {
			t.Errorf("%s to %s: %s %v, want %s", c.in.SQL(), c.to, got, err, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		v                  Value
		display, sql, json string
	}{
		{NewString("it's\n\x01é"), "it's\n\x01é", "'it''s\n\x01é'", `"it's\n\u0001é"`},
		{NewString("\xff"), "\xff", "'\xff'", `"\udcff"`},
		{NewBytes("a\x00\\\xff"), `a\x00\x5C\xFF`, "X'61005CFF'", `"a\\x00\\x5C\\xFF"`},
		{NewTimestamp(1545105001972), "2018-12-18T03:50:01.972Z", "TIMESTAMP '2018-12-18 03:50:01.972'", `"2018-12-18T03:50:01.972Z"`},
		{NewDate(0), "1970-01-01", "DATE '1970-01-01'", `"1970-01-01"`},
		{NewDouble(0.1), "0.1", "0.1", "0.1"},
		{NewDouble(1e21), "1e+21", "1e+21", "1e+21"},
		{NewDouble(math.Inf(1)), "Infinity", "CAST('Infinity' AS DOUBLE)", `"Infinity"`},
		{NewJSON(`{"a": [1, "x y"]}`), `{"a": [1, "x y"]}`, `CAST('{"a": [1, "x y"]}' AS JSON)`, `{"a":[1,"x y"]}`},
		{NewJSON(`{`), `{`, `CAST('{' AS JSON)`, `"{"`},
		{Value{}, "NULL", "NULL", "null"},
	} {
		if got := []string{c.v.String(), c.v.SQL(), string(c.v.AppendJSON(nil))}; !slices.Equal(got, []string{c.display, c.sql, c.json}) {
			t.Errorf("got %q", got)
		}
	}
}

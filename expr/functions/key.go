package functions

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// keyFunctions are functions that are allowed only in key parts.
var keyFunctions = []expr.Function{
	{Name: "SALT", Group: "key", Signature: "SALT(a, b, ...) or SALT(a TO b)", Doc: "One of the values, drawn at random for each new row.", MinArgs: 1, MaxArgs: -1, Volatile: true,
		Result: saltResult, Eval: noValue, Key: &expr.Algebra{Arg: expr.NoArg,
			Domain: func(c *expr.Call) (types.Set, bool) { return types.Points(constants(c.Args)...), true },
			Width:  func(c *expr.Call) int { return commonWidth(c.Args) },
			Draw: func(c *expr.Call, env *expr.Env) (types.Value, error) {
				return c.Args[random(env)%uint64(len(c.Args))].(*expr.Const).Val, nil
			}}},
	{Name: "SALT_HEX", Group: "key", Signature: "SALT HEX(n)", Doc: "n hexadecimal digits that nothing in the row determines; drawn at random for each new row.", MinArgs: 1, MaxArgs: 1, Volatile: true,
		Result: func(args []expr.Expr) (types.Type, error) {
			if k, ok := args[0].(*expr.Const); !ok || !k.Typ.IsInteger() || k.Val.Int() < 1 || k.Val.Int() > 16 {
				return 0, errors.New("SALT HEX takes a number of digits from 1 to 16")
			}
			return types.String, nil
		}, Eval: noValue, Key: &expr.Algebra{Arg: expr.NoArg, HexDigits: true,
			Domain: func(c *expr.Call) (types.Set, bool) {
				n, _ := c.ConstInt(0)
				if n > 2 {
					return nil, false
				}
				var vs []types.Value
				for i := range 1 << (4 * n) {
					vs = append(vs, types.NewString(fmt.Sprintf("%0*x", n, i)))
				}
				return types.Points(vs...), true
			},
			Width: func(c *expr.Call) int { n, _ := c.ConstInt(0); return int(n) },
			Draw: func(c *expr.Call, env *expr.Env) (types.Value, error) {
				n, _ := c.ConstInt(0)
				return types.NewString(fmt.Sprintf("%016x", random(env))[:n]), nil
			}}},
	{Name: "RING", Group: "key", Signature: "RING(key, nodes ..., replicas)", Doc: "The node of a consistent-hash ring that the key belongs to.", MinArgs: 3, MaxArgs: -1,
		Result: func(args []expr.Expr) (types.Type, error) {
			n := len(args) - 1
			if k, ok := args[n].(*expr.Const); !ok || !k.Typ.IsInteger() || k.Val.Int() < 1 || k.Val.Int() > 100_000 {
				return 0, errors.New("RING takes the number of replicas last")
			}
			for _, a := range args[1:n] {
				if k, ok := a.(*expr.Const); !ok || !k.Typ.IsText() {
					return 0, errors.New("RING takes text constants for its nodes")
				}
			}
			return types.String, nil
		},
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			n := len(a) - 1
			nodes := make([]string, 0, n-1)
			for _, v := range a[1:n] {
				nodes = append(nodes, v.Text())
			}
			return types.NewString(ringNode(nodes, int(a[n].Int()), string(hashed(a[0])))), nil
		},
		Key: &expr.Algebra{
			Domain: func(c *expr.Call) (types.Set, bool) {
				return types.Points(constants(c.Args[1 : len(c.Args)-1])...), true
			},
			Width: func(c *expr.Call) int { return commonWidth(c.Args[1 : len(c.Args)-1]) }}},
	ofPhoenix(restSalt("PHOENIX_SALT(buckets)", "Phoenix's salt byte, computed from the key bytes after it.", nil, signedSalt)),
	restSalt("HBASEWD_SALT(buckets)", "The byte that HBaseWD's OneByteSimpleHash puts before a key, computed from the key bytes after it.", nil, signedSalt),
	restSalt("OPENTSDB_SALT(buckets)", "OpenTSDB's salt, computed from the ids of the metric, of 3 bytes, and of the tags after it.", nil,
		func(c *expr.Call, rest []byte, n int64) (int64, error) {
			const metric, tags = 3, 7 // the hash omits the time between them
			if len(rest) < tags {
				return 0, errors.New("the key is too short")
			}
			return signedSalt(c, slices.Concat(rest[:metric], rest[tags:]), n)
		}),
	restSalt("PINPOINT_SALT(buckets, from, to)", "The byte that Pinpoint's RangeOneByteSimpleHash puts before a key, computed from the bytes from up to to, from 0, of those after it.",
		func(c *expr.Call) int { to, _ := c.ConstInt(2); return int(to) },
		func(c *expr.Call, rest []byte, n int64) (int64, error) {
			from, _ := c.ConstInt(1)
			to, _ := c.ConstInt(2)
			to = min(to, int64(len(rest)))
			return int64(javaBytesHash(rest[min(from, to):to])&math.MaxInt32) % n, nil
		}),
	{Name: "LOOKUP", Group: "key", Signature: "LOOKUP(table.column, value, ...)", Doc: "The number that a look-up table gives to a name.", MinArgs: 2, MaxArgs: -1, Volatile: true,
		Result: returns(types.BigInt, isText, func(t types.Type) bool { return isBytes(t) || isInt(t) }), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			table, column, _ := strings.Cut(a[0].Text(), ".")
			if env.Lookup != nil {
				if v, ok := env.Lookup(table, column, slices.Clone(a[1:])); ok {
					return v, nil
				}
			}
			return types.Value{}, fmt.Errorf("the number of %s in %s is not known", a[len(a)-1].SQL(), table)
		}, Key: &expr.Algebra{Arg: expr.AnyArg, Lookup: expr.TableDictionary, Injective: always(true)}},
	{Name: "OPENTSDB_UID", Group: "key", Signature: "OPENTSDB_UID(kind, name)", Doc: "The id that OpenTSDB's UID table gives to a name.", MinArgs: 2, MaxArgs: 2, Volatile: true,
		Result: returns(types.Bytes, isText), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			if env.Lookup != nil {
				if v, ok := env.Lookup(expr.UIDTable, a[0].Text(), slices.Clone(a[1:])); ok {
					return v, nil
				}
			}
			return types.Value{}, fmt.Errorf("the id of %s is not known", a[1].SQL())
		}, Key: &expr.Algebra{Arg: 1, Lookup: expr.UIDDictionary, Injective: always(true), Width: fixed(3)}},
	{Name: "OPENTSDB_QUALIFIER", Group: "key", Signature: "OPENTSDB_QUALIFIER(timestamp)", Doc: "OpenTSDB's qualifier for a value in an hour's row.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.Bytes, isMoment), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewBytes(tsdbQualifier(types.FloorMod(millis(a[0]), tsdbRow))), nil
		}, Key: &expr.Algebra{ManyForms: true, OpenTSDB: true, Inverse: tsdbInverse}},
}

// restSalt returns a function whose result is a number below its first argument, computed from the key bytes after the
// part. length is Algebra.RestLength.
func restSalt(signature, doc string, length func(*expr.Call) int, salt func(c *expr.Call, rest []byte, buckets int64) (int64, error)) expr.Function {
	name, args, _ := strings.Cut(signature, "(")
	n := 1 + strings.Count(args, ",")
	return expr.Function{Name: name, Group: "key", Signature: signature, Doc: doc, MinArgs: n, MaxArgs: n,
		Result: func(args []expr.Expr) (types.Type, error) {
			ks := make([]int64, n)
			for i, a := range args {
				k, ok := a.(*expr.Const)
				if !ok || !k.Typ.IsInteger() {
					return 0, fmt.Errorf("%s takes constant numbers", name)
				}
				ks[i] = k.Val.Int()
			}
			if ks[0] < 1 || ks[0] > 256 {
				return 0, fmt.Errorf("%s takes a number of buckets from 1 to 256", name)
			}
			if n == 3 && (ks[1] < 0 || ks[1] >= ks[2] || ks[2] > math.MaxInt16) {
				return 0, fmt.Errorf("%s takes a range of bytes as its last two arguments: 0 <= from < to <= 32767", name)
			}
			return types.BigInt, nil
		}, Eval: noValue, Key: &expr.Algebra{Arg: expr.NoArg, RestLength: length,
			Domain: func(c *expr.Call) (types.Set, bool) {
				n, _ := c.ConstInt(0)
				return types.SetOf(span{0, n - 1}.interval(types.BigInt)), true
			},
			FromRest: func(c *expr.Call, rest []byte) (types.Value, error) {
				n, _ := c.ConstInt(0)
				s, err := salt(c, rest, n)
				return types.NewInt(s), err
			}}}
}

func ofPhoenix(f expr.Function) expr.Function {
	f.Key.Phoenix = true
	return f
}

// signedSalt returns |hash % n| of the bytes.
func signedSalt(_ *expr.Call, b []byte, n int64) (int64, error) {
	r := int64(javaBytesHash(b)) % n
	return max(r, -r), nil
}

// javaBytesHash is Java's Arrays.hashCode(byte[]).
func javaBytesHash(b []byte) int32 {
	h := int32(1)
	for _, c := range b {
		h = 31*h + int32(int8(c))
	}
	return h
}

func noValue(*expr.Env, []types.Value) (types.Value, error) {
	return types.Value{}, errors.New("it has a value only as a part of a key")
}

func constants(args []expr.Expr) []types.Value {
	vs := make([]types.Value, len(args))
	for i, a := range args {
		vs[i] = a.(*expr.Const).Val
	}
	return vs
}

// commonWidth returns the width of all texts, or 0 if they differ.
func commonWidth(args []expr.Expr) int {
	w := len(args[0].(*expr.Const).Val.Text())
	for _, v := range constants(args) {
		if len(v.Text()) != w {
			return 0
		}
	}
	return w
}

func saltResult(args []expr.Expr) (types.Type, error) {
	t := args[0].Type()
	for _, a := range args {
		if _, ok := a.(*expr.Const); !ok || a.Type() != t || t != types.BigInt && t != types.String && t != types.Bytes {
			return 0, errors.New("SALT takes constants of one type: numbers or texts")
		}
	}
	return t, nil
}

// ringHash is the hash of a consistent-hash ring (as in the layout messages_ring): FNV in 32-bit two's complement with a
// final mix, without its sign.
func ringHash(s string) int32 {
	const start = 216613626111 & 0xffffffff
	h := int32(uint32(start))
	for _, u := range utf16.Encode([]rune(s)) {
		h = (h ^ int32(u)) * 1677761999
	}
	h += h << 13
	h ^= h >> 8
	h += h << 3
	h ^= h >> 18
	h += h << 5
	if h < 0 {
		h = -h
	}
	return h
}

type ringPlace struct {
	hash int32
	node string
}

// rings caches rings by their definition.
var rings kept[[]ringPlace]

// ringNode returns the node at or after the key's hash; after the last node comes the first.
func ringNode(nodes []string, replicas int, key string) string {
	id := strconv.Itoa(replicas) + "\x00" + strings.Join(nodes, "\x00")
	ring, _ := rings.get(id, func() ([]ringPlace, error) {
		at := map[int32]string{}
		for _, n := range nodes {
			for i := range replicas {
				at[ringHash(n+strconv.Itoa(i))] = n
			}
		}
		ring := make([]ringPlace, 0, len(at))
		for h, n := range at {
			ring = append(ring, ringPlace{h, n})
		}
		slices.SortFunc(ring, func(a, b ringPlace) int { return int(int64(a.hash) - int64(b.hash)) })
		return ring, nil
	})
	h := ringHash(key)
	i, _ := slices.BinarySearchFunc(ring, h, func(p ringPlace, h int32) int { return int(int64(p.hash) - int64(h)) })
	if i == len(ring) {
		i = 0
	}
	return ring[i].node
}

// tsdbRow is the time span of one OpenTSDB row in milliseconds.
const tsdbRow = 3_600_000

// tsdbQualifier returns the qualifier of an 8-byte floating-point value at an offset in milliseconds. It has two bytes for
// whole seconds, otherwise four (OpenTSDB 2.x).
func tsdbQualifier(ms int64) string {
	const flags = 0xf // floating point, eight bytes
	if ms%1000 == 0 {
		q := ms/1000<<4 | flags
		return string([]byte{byte(q >> 8), byte(q)})
	}
	q := 0xf000_0000 | ms<<6 | flags
	return string([]byte{byte(q >> 24), byte(q >> 16), byte(q >> 8), byte(q)})
}

// OpenTSDBOffset returns the offset in milliseconds in the qualifier of a single OpenTSDB data point; ok is false for
// other qualifiers.
func OpenTSDBOffset(q string) (ms int64, ok bool) {
	switch {
	case len(q) == 2:
		return int64(q[0])<<4*1000 + int64(q[1]>>4)*1000, true
	case len(q) == 4 && q[0]&0xf0 == 0xf0:
		u := int64(q[0])<<24 | int64(q[1])<<16 | int64(q[2])<<8 | int64(q[3])
		return u >> 6 & 0x3f_ffff, true
	}
	return 0, false
}

func tsdbInverse(_ *expr.Call, out types.Set, window expr.Window) (pre types.Set, exact, ok bool) {
	within := window.In()
	if len(within) != 1 || within[0].Lo.IsNull() || within[0].Hi.IsNull() {
		return within, false, true
	}
	w := spanOf(within[0])
	base := types.FloorDiv(w.lo, tsdbRow) * tsdbRow
	if types.FloorDiv(w.hi, tsdbRow)*tsdbRow != base {
		return within, false, true
	}
	var vs []types.Value
	for _, iv := range out {
		if !iv.IsPoint() {
			return within, false, true
		}
		if ms, ok := OpenTSDBOffset(iv.Lo.Text()); ok && ms < tsdbRow {
			vs = append(vs, types.NewTimestamp(base+ms))
		}
	}
	return types.Points(vs...).Intersect(within), false, true
}

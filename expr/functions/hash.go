package functions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"hash/adler32"
	"hash/crc32"
	"math"
	"math/bits"
	"strings"
	"unicode/utf16"

	"github.com/cespare/xxhash/v2"
	"github.com/twmb/murmur3"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// hexHash makes a SQL function whose value is n bytes of a hash, as lower-case hexadecimal digits.
func hexHash(name, doc string, n int, sum func([]byte) []byte) expr.Function {
	return expr.Function{Name: name, Group: "hash", Unknown: "a hash keeps no order", Signature: strings.ToLower(name) + "(value) text", Doc: doc, MinArgs: 1, MaxArgs: 1, Result: returns(types.String, hashable),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewString(hex.EncodeToString(sum(hashed(a[0])))), nil
		}, Key: &expr.Algebra{Width: fixed(2 * n), HexDigits: true}}
}

// hashed returns the bytes that a hash function hashes: the bytes of text or BYTES, the decimal text of a number, the
// milliseconds of a TIMESTAMP as text.
func hashed(v types.Value) []byte {
	switch {
	case v.Type().IsText() || v.Type() == types.Bytes:
		return []byte(v.Text())
	case v.Type() == types.Timestamp:
		v = types.NewInt(v.Int())
	}
	return []byte(v.String())
}

// numberHash returns a function that returns a hash as a number in values. The function has a second argument if name
// ends with "[, seed]".
func numberHash(name, doc string, values span, sum func(b []byte, seed int64) int64) expr.Function {
	name, seeded := strings.CutSuffix(name, "[, seed]")
	f := expr.Function{Name: name, Group: "hash", Unknown: "a hash keeps no order", Signature: strings.ToLower(name) + "(value) bigint", Doc: doc, MinArgs: 1, MaxArgs: 1, Result: returns(types.BigInt, hashable),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			seed := int64(0)
			if len(a) > 1 {
				seed = a[1].Int()
			}
			return types.NewInt(sum(hashed(a[0]), seed)), nil
		}, Key: &expr.Algebra{Domain: func(*expr.Call) (types.Set, bool) { return types.SetOf(values.interval(types.BigInt)), true }}}
	if seeded {
		f.Signature, f.MaxArgs, f.Result = strings.ToLower(name)+"(value [, seed]) bigint", 2, returns(types.BigInt, hashable, isInt)
	}
	return f
}

// The ranges of hashes with 16, 32 and 64 bits; in Java all are signed.
var (
	unsigned16 = span{0, 1<<16 - 1}
	unsigned32 = span{0, 1<<32 - 1}
	signed32   = span{-1 << 31, 1<<31 - 1}
	signed64   = span{math.MinInt64, math.MaxInt64}
)

// iterated returns a 32-bit hash that applies step to each byte.
func iterated(start int32, step func(h int32, b byte) int32) func([]byte, int64) int64 {
	return func(bs []byte, _ int64) int64 {
		h := start
		for _, b := range bs {
			h = step(h, b)
		}
		return int64(h)
	}
}

// unsigned returns the value of a 32-bit hash as a number that is not negative.
func unsigned(sum func([]byte, int64) int64) func([]byte, int64) int64 {
	return func(b []byte, seed int64) int64 { return int64(uint32(sum(b, seed))) }
}

// crc16 is CRC-16/XMODEM, the hash of Redis' slots.
func crc16(bs []byte, _ int64) int64 {
	var crc uint16
	for _, b := range bs {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
	}
	return int64(crc)
}

func murmur2(b []byte, seed int64) int64 {
	const m = 0x5bd1e995
	h := uint32(seed) ^ uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		k := binary.LittleEndian.Uint32(b) * m
		h = h*m ^ (k^k>>24)*m
	}
	for i := len(b) - 1; i >= 0; i-- {
		h ^= uint32(b[i]) << (8 * i)
	}
	if len(b) > 0 {
		h *= m
	}
	h = (h ^ h>>13) * m
	return int64(h ^ h>>15)
}

func xxHash32(b []byte, seed int64) int64 {
	const p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	h, n := uint32(seed)+p5, uint32(len(b))
	if len(b) >= 16 {
		p1 := uint32(p1)
		v := [4]uint32{uint32(seed) + p1 + p2, uint32(seed) + p2, uint32(seed), uint32(seed) - p1}
		for ; len(b) >= 16; b = b[16:] {
			for i := range v {
				v[i] = bits.RotateLeft32(v[i]+binary.LittleEndian.Uint32(b[4*i:])*p2, 13) * p1
			}
		}
		h = bits.RotateLeft32(v[0], 1) + bits.RotateLeft32(v[1], 7) + bits.RotateLeft32(v[2], 12) + bits.RotateLeft32(v[3], 18)
	}
	for h += n; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(b)*p3, 17) * p4
	}
	for _, c := range b {
		h = bits.RotateLeft32(h+uint32(c)*p5, 11) * p1
	}
	h = (h ^ h>>15) * p2
	h = (h ^ h>>13) * p3
	return int64(h ^ h>>16)
}

var hashFunctions = []expr.Function{
	{Name: "GEN_RANDOM_UUID", Group: "hash", Unknown: "it differs each time", Signature: "gen_random_uuid() uuid", Doc: "A random UUID, of version 4.", Volatile: true, Result: returns(types.UUID),
		Eval: func(env *expr.Env, _ []types.Value) (types.Value, error) {
			var b [16]byte
			binary.BigEndian.PutUint64(b[:8], random(env))
			binary.BigEndian.PutUint64(b[8:], random(env))
			b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
			return types.NewUUID(string(b[:])), nil
		}},
	hexHash("MD5", "MD5 in lower-case hexadecimal digits.", md5.Size, func(b []byte) []byte { s := md5.Sum(b); return s[:] }),
	hexHash("SHA1", "SHA-1 in lower-case hexadecimal digits.", sha1.Size, func(b []byte) []byte { s := sha1.Sum(b); return s[:] }),
	hexHash("SHA224", "SHA-224 in lower-case hexadecimal digits.", sha256.Size224, func(b []byte) []byte { s := sha256.Sum224(b); return s[:] }),
	hexHash("SHA384", "SHA-384 in lower-case hexadecimal digits.", sha512.Size384, func(b []byte) []byte { s := sha512.Sum384(b); return s[:] }),
	hexHash("SHA512", "SHA-512 in lower-case hexadecimal digits.", sha512.Size, func(b []byte) []byte { s := sha512.Sum512(b); return s[:] }),
	hexHash("SHA256", "SHA-256 in lower-case hexadecimal digits.", sha256.Size, func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }),
	numberHash("CRC32", "CRC-32 (IEEE), unsigned.", unsigned32, func(b []byte, _ int64) int64 { return int64(crc32.ChecksumIEEE(b)) }),
	numberHash("CRC16", "CRC-16/XMODEM, as Redis has it for its slots.", unsigned16, crc16),
	numberHash("ADLER32", "Adler-32, unsigned.", unsigned32, func(b []byte, _ int64) int64 { return int64(adler32.Checksum(b)) }),
	numberHash("MURMUR2[, seed]", "MurmurHash2, 32 bits, unsigned; the seed is 0 by default, in Kafka 2538058380.", unsigned32, murmur2),
	numberHash("MURMUR3[, seed]", "MurmurHash3, 32 bits, unsigned; the seed is 0 by default.", unsigned32, func(b []byte, seed int64) int64 { return int64(murmur3.SeedSum32(uint32(seed), b)) }),
	numberHash("XXHASH32[, seed]", "XXH32, unsigned; the seed is 0 by default.", unsigned32, xxHash32),
	numberHash("XXHASH64", "XXH64 with seed 0, as Java's long.", signed64, func(b []byte, _ int64) int64 { return int64(xxhash.Sum64(b)) }),
	numberHash("FNV1_32", "FNV-1, 32 bits, unsigned.", unsigned32, unsigned(iterated(fnvStart, func(h int32, b byte) int32 { return h*fnvPrime ^ int32(b) }))),
	numberHash("FNV1A_32", "FNV-1a, 32 bits, unsigned.", unsigned32, unsigned(iterated(fnvStart, func(h int32, b byte) int32 { return (h ^ int32(b)) * fnvPrime }))),
	numberHash("DJB2", "Bernstein's hash h * 33 + byte from 5381 on, 32 bits, unsigned.", unsigned32, unsigned(iterated(5381, func(h int32, b byte) int32 { return 33*h + int32(b) }))),
	numberHash("JAVA_HASH", "Java's String.hashCode: signed 32 bits over UTF-16 units.", signed32, func(b []byte, _ int64) int64 {
		var h int32
		for _, u := range utf16.Encode([]rune(string(b))) {
			h = 31*h + int32(u)
		}
		return int64(h)
	}),
	numberHash("JAVA_BYTES_HASH", "Java's Arrays.hashCode of bytes, which HBase's Bytes.hashCode is too: signed 32 bits.", signed32, iterated(1, func(h int32, b byte) int32 { return 31*h + int32(int8(b)) })),
	{Name: "JAVA_LONG_HASH", Group: "hash", Unknown: "a hash keeps no order", Signature: "java_long_hash(n) bigint", Doc: "Java's Long.hashCode: signed 32 bits.", MinArgs: 1, MaxArgs: 1, Result: returns(types.BigInt, isInt),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			n := a[0].Int()
			return types.NewInt(int64(int32(n ^ int64(uint64(n)>>32)))), nil
		}},
	{Name: "JAVA_INT", Group: "hash", Unknown: "a hash keeps no order", Signature: "java_int(n) bigint", Doc: "The lowest 32 bits of a number as Java's int, which may be negative: `ABS(JAVA_INT(MURMUR3(id))) % 16`.", MinArgs: 1, MaxArgs: 1, Result: returns(types.BigInt, isInt),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewInt(int64(int32(a[0].Int()))), nil
		}},
}

const (
	fnvStart = 2166136261 - 1<<32
	fnvPrime = 16777619
)

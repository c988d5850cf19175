package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"unicode/utf16"

	"github.com/twmb/murmur3"

	"github.com/hql-db/hql/types"
)

// hexHash is a function that gives n bytes of hash as lower-case hex.
func hexHash(name, doc string, n int, sum func([]byte) []byte) Function {
	return Function{Name: name, Group: "hash", Unknown: "a hash keeps no order", Signature: strings.ToLower(name) + "(value) text", Doc: doc, MinArgs: 1, MaxArgs: 1, Result: returns(types.String, hashable),
		Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			return types.NewString(hex.EncodeToString(sum(hashed(a[0])))), nil
		}, Key: &Algebra{Width: fixed(2 * n), HexDigits: true}}
}

// hashed gives what a hash function takes: the bytes of text or BYTES, a number as
// its decimal text, a TIMESTAMP as its milliseconds'.
func hashed(v types.Value) []byte {
	switch {
	case v.Type().IsText() || v.Type() == types.Bytes:
		return []byte(v.Text())
	case v.Type() == types.Timestamp:
		v = types.NewInt(v.Int())
	}
	return []byte(v.String())
}

// within32 is the domain of an unsigned 32-bit hash.
func within32(*Call) (types.Set, bool) {
	return types.SetOf(span{0, 1<<32 - 1}.interval(types.BigInt)), true
}

var hashFunctions = []Function{
	hexHash("MD5", "MD5 in lower-case hexadecimal digits.", md5.Size, func(b []byte) []byte { s := md5.Sum(b); return s[:] }),
	hexHash("SHA1", "SHA-1 in lower-case hexadecimal digits.", sha1.Size, func(b []byte) []byte { s := sha1.Sum(b); return s[:] }),
	hexHash("SHA224", "SHA-224 in lower-case hexadecimal digits.", sha256.Size224, func(b []byte) []byte { s := sha256.Sum224(b); return s[:] }),
	hexHash("SHA384", "SHA-384 in lower-case hexadecimal digits.", sha512.Size384, func(b []byte) []byte { s := sha512.Sum384(b); return s[:] }),
	hexHash("SHA512", "SHA-512 in lower-case hexadecimal digits.", sha512.Size, func(b []byte) []byte { s := sha512.Sum512(b); return s[:] }),
	hexHash("SHA256", "SHA-256 in lower-case hexadecimal digits.", sha256.Size, func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }),
	{Name: "CRC32", Group: "hash", Unknown: "a hash keeps no order", Signature: "crc32(value) bigint", Doc: "CRC-32 (IEEE), unsigned.", MinArgs: 1, MaxArgs: 1, Result: returns(types.BigInt, hashable),
		Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			return types.NewInt(int64(crc32.ChecksumIEEE(hashed(a[0])))), nil
		}, Key: &Algebra{Domain: within32}},
	{Name: "MURMUR3", Group: "hash", Unknown: "a hash keeps no order", Signature: "murmur3(value) bigint", Doc: "MurmurHash3, 32 bits, seed 0, unsigned.", MinArgs: 1, MaxArgs: 1, Result: returns(types.BigInt, hashable),
		Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			return types.NewInt(int64(murmur3.Sum32(hashed(a[0])))), nil
		}, Key: &Algebra{Domain: within32}},
	{Name: "JAVA_HASH", Group: "hash", Unknown: "a hash keeps no order", Signature: "java_hash(value) bigint", Doc: "Java's String.hashCode: signed 32 bits over UTF-16 units.", MinArgs: 1, MaxArgs: 1, Result: returns(types.BigInt, hashable),
		Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			var h int32
			for _, u := range utf16.Encode([]rune(string(hashed(a[0])))) {
				h = 31*h + int32(u)
			}
			return types.NewInt(int64(h)), nil
		}, Key: &Algebra{Domain: func(*Call) (types.Set, bool) {
			return types.SetOf(span{-1 << 31, 1<<31 - 1}.interval(types.BigInt)), true
		}}},
}

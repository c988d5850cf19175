package infer_test

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/murmur3"
)

// This file writes the tables of testdata/corpus.sql as Java programs do: with ByteBuffer, Bytes.toBytes, MessageDigest and String.format.

// program draws what keys are made of.
type program struct{ *rand.Rand }

// start is the first moment of the tables, in milliseconds since 1970.
const start = 1_767_225_600_000

func be64(n int64) string    { return string(binary.BigEndian.AppendUint64(nil, uint64(n))) }
func be32(n int64) string    { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }
func be16(n int64) string    { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }
func one(n int64) string     { return string([]byte{byte(n)}) }
func md5sum(s string) string { h := md5.Sum([]byte(s)); return string(h[:]) }
func sha(s string) string    { h := sha1.Sum([]byte(s)); return string(h[:]) }
func hexOf(s string) string  { return hex.EncodeToString([]byte(s)) }
func crc(s string) int64     { return int64(crc32.ChecksumIEEE([]byte(s))) }

// hashCode is String.hashCode for ASCII, or with first 1 Arrays.hashCode.
func hashCode(first int32, s string) int64 {
	for _, b := range []byte(s) {
		first = 31*first + int32(int8(b))
	}
	return int64(first)
}

func abs(n int64) int64 { return max(n, -n) }

func (p program) millis() int64 { return start + p.Int64N(40*86_400_000) }

func (p program) at(layout string) string { return time.UnixMilli(p.millis()).UTC().Format(layout) }

// uid is an id as databases count them, of a long that has grown.
func (p program) uid() int64 { return 1_000_000 + p.Int64N(50_000) }

func (p program) user() string {
	names := []string{"alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "mallory", "niaj", "olivia", "peggy", "rupert", "sybil", "trent", "victor", "walter", "zoe"}
	return names[p.IntN(len(names))] + []string{"", "smith", "jones", "meyer", "li", "garcia"}[p.IntN(6)] + strconv.Itoa(p.IntN(90))
}

func (p program) word() string {
	b := make([]byte, 3+p.IntN(8))
	for i := range b {
		b[i] = "etaoinshrdlucmfw"[p.IntN(16)]
	}
	return string(b)
}

func (p program) from(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[p.IntN(len(alphabet))]
	}
	return string(b)
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func (p program) device() string {
	return fmt.Sprintf("%s-%d", []string{"pump", "valve", "fan", "sensor"}[p.IntN(4)], p.IntN(120))
}

// host is a domain name, its labels from the right.
func (p program) host() string {
	return []string{"com", "org", "net", "de"}[p.IntN(4)] + "." + p.word() + "." + []string{"www", "shop", "api", "blog"}[p.IntN(4)]
}

func (p program) path() string {
	s := "/" + p.word()
	for range p.IntN(3) {
		s += "/" + p.word()
	}
	return s + []string{"", ".html", "/"}[p.IntN(3)]
}

func (p program) uuid() string {
	b := []byte(be64(int64(p.Uint64())) + be64(int64(p.Uint64())))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return string(b)
}

func dashed(uuid string) string {
	h := hexOf(uuid)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// written is a row: its key, then qualifiers of the family f and their values.
type written []string

func key(parts ...string) written { return written{strings.Join(parts, "")} }

// salted puts f of the rest of a key before it.
func salted(f func(rest string) string, parts ...string) written {
	rest := strings.Join(parts, "")
	return key(f(rest), rest)
}

// corpus gives a row of each table.
var corpus = map[string]func(p program, i int) written{
	"md5_of_long": func(p program, _ int) written {
		u := be64(p.uid())
		return key(md5sum(u)[:4], u, be64(math.MaxInt64-p.millis()))
	},
	"md5_hex_of_long": func(p program, _ int) written {
		u := be64(p.uid())
		return key(hexOf(md5sum(u))[:6], u, be64(p.millis()))
	},
	"md5_hex_of_digits": func(p program, _ int) written {
		u := strconv.Itoa(p.IntN(40_000))
		return key(hexOf(md5sum(u))[:8], "_", u, "_", fmt.Sprint(p.millis()))
	},
	"sha1_of_long":  func(p program, i int) written { u := be64(int64(i) * 7); return key(sha(u)[:4], u) },
	"crc32_of_long": func(p program, _ int) written { u := be64(p.uid()); return key(be32(crc(u)), u, be32(p.millis()/1000)) },
	"murmur_bucket": func(p program, _ int) written {
		u := be64(p.uid())
		return key(one(int64(murmur3.Sum32([]byte(u))%16)), u, be64(p.millis()))
	},
	"md5_one_byte":  func(p program, _ int) written { u := be64(p.uid()); return key(md5sum(u)[:1], u, be64(p.millis())) },
	"md5_two_bytes": func(p program, _ int) written { u := p.user(); return key(md5sum(u)[:2], u, "\x00", be64(p.millis())) },
	"md5_of_cell": func(p program, _ int) written {
		u := p.user()
		return append(key(md5sum(u), be64(p.millis())), "user", u)
	},
	"md5_hex_of_cell": func(p program, i int) written {
		u := fmt.Sprint(p.word(), i, "@example.com")
		return append(key(hexOf(md5sum(u))), "mail", u)
	},
	"sha256_of_url": func(p program, i int) written {
		u := fmt.Sprint("http://", p.word(), ".com", p.path(), "?", i)
		h := sha256.Sum256([]byte(u))
		return append(key(hexOf(string(h[:]))), "url", u)
	},
	"md5_of_int": func(p program, i int) written {
		u := be32(int64(p.IntN(3000)))
		return key(md5sum(u)[:2], u, be32(int64(i%50)))
	},
	"md5_of_both": func(p program, _ int) written {
		return salted(func(s string) string { return hexOf(md5sum(s))[:4] }, p.user(), "|", fmt.Sprint(p.millis()))
	},
	"crc_bucket": func(p program, _ int) written {
		u := p.user()
		return key(be16(crc(u)%1024), u, "\x00", be64(p.millis()))
	},

	"string_hash_digits": func(p program, _ int) written {
		u := p.user()
		return key(fmt.Sprintf("%02d", abs(hashCode(0, u))%20), "_", u, "_", p.at("20060102150405"))
	},
	"string_hash_digit": func(p program, _ int) written {
		u := p.user()
		return key(fmt.Sprint(abs(hashCode(0, u)%8)), "|", u, "|", fmt.Sprint(p.millis()))
	},
	"bytes_hash": func(p program, _ int) written {
		u := p.user()
		return key(one(abs(hashCode(1, u)%32)), u, "\x00", be64(p.millis()))
	},
	"masked_hash": func(p program, _ int) written {
		u := p.user()
		return key(fmt.Sprint((hashCode(0, u)&math.MaxInt32)%10), "-", u, "-", fmt.Sprintf("%05d", p.IntN(3000)))
	},
	"rest_hash": func(p program, _ int) written {
		return salted(func(s string) string { return one(abs(hashCode(1, s) % 16)) }, p.user(), "\x00", be64(p.millis()))
	},
	"modulo_digits": func(p program, _ int) written {
		u := p.uid()
		return key(fmt.Sprintf("%02d%010d", u%100, u), be64(p.millis()))
	},
	"modulo_byte": func(p program, i int) written { u := int64(i) + 7_000_000; return key(one(u%50), be64(u)) },

	"random_byte": func(p program, _ int) written {
		return key(one(p.Int64N(16)), p.from(base62, 12), be32(p.millis()/1000))
	},
	"random_letter": func(p program, i int) written { return key(p.from("abcd", 1), "-", fmt.Sprint(100_000+i)) },
	"random_digits": func(p program, _ int) written {
		return key(fmt.Sprintf("%02d_%d_%04d", p.IntN(32), p.millis(), p.IntN(10_000)))
	},

	"pages_by_hour":   func(p program, _ int) written { return key(p.host(), p.path(), p.at("2006010215")) },
	"path_day":        func(p program, _ int) written { return key(p.path(), p.at("20060102")) },
	"name_ff_seconds": func(p program, _ int) written { return key(p.user(), "\xff", be32(p.millis()/1000)) },
	"name_newest":     func(p program, _ int) written { return key(p.user(), be64(math.MaxInt64-p.millis())) },
	"name_millis":     func(p program, _ int) written { return key(p.user(), be64(p.millis())) },
	"name_counter":    func(p program, _ int) written { return key(p.word(), be32(p.Int64N(2000))) },
	"url_page": func(p program, _ int) written {
		return key("http://", p.word(), ".com", p.path(), "#", fmt.Sprintf("%04d", p.IntN(300)))
	},

	"seconds_of_a_day": func(p program, _ int) written { return key(be32(p.Int64N(300)), be32(start/1000+p.Int64N(36_000))) },
	"seconds_text":     func(p program, _ int) written { return key(p.device(), ":", fmt.Sprint(start/1000+p.Int64N(36_000))) },
	"iso_seconds":      func(p program, _ int) written { return key(p.device(), "|", p.at("2006-01-02T15:04:05Z")) },
	"iso_millis":       func(p program, _ int) written { return key(p.device(), "/", p.at("2006-01-02T15:04:05.000Z")) },
	"time_first": func(p program, _ int) written {
		return key(strings.Replace(p.at("20060102150405.000"), ".", "", 1), p.user())
	},
	"day_first":      func(p program, _ int) written { return key(p.at("2006-01-02"), ":", p.user()) },
	"newest_digits":  func(p program, _ int) written { return key(fmt.Sprint(math.MaxInt64-p.millis()), "_", p.user()) },
	"newest_seconds": func(p program, _ int) written { return key(be64(p.uid()), be32(math.MaxInt32-p.millis()/1000)) },
	"order_numbers": func(p program, _ int) written {
		return key("ORD", p.at("20060102"), fmt.Sprintf("%06d", p.IntN(40_000)))
	},

	"code_hash": func(p program, _ int) written {
		return key(p.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 8), be32(int64(p.Uint32())))
	},
	"code_long":      func(p program, _ int) written { return key(p.from("ABCDEFGH", 6), be64(p.Int64N(100_000))) },
	"uuid_time":      func(p program, _ int) written { return key(p.uuid(), be64(p.millis())) },
	"uuid_int":       func(p program, i int) written { return key(p.uuid(), be32(int64(i%40))) },
	"uuid_text_time": func(p program, _ int) written { return key(dashed(p.uuid()), "_", fmt.Sprint(p.millis())) },
	"three_ints": func(p program, _ int) written {
		return key(be32(p.Int64N(20)), be32(p.Int64N(1000)), be32(p.Int64N(70_000)))
	},
	"two_longs":    func(p program, _ int) written { return key(be64(p.uid()), be64(p.Int64N(400))) },
	"int_long_int": func(p program, _ int) written { return key(be32(p.Int64N(90)), be64(p.uid()), be32(p.Int64N(500))) },
	"short_int_byte": func(p program, _ int) written {
		return key(be16(p.Int64N(3000)), be32(p.Int64N(1_000_000)), one(p.Int64N(5)))
	},
	"writeutf_long": func(p program, _ int) written {
		u := p.user()
		return key(be16(int64(len(u))), u, be64(p.Int64N(100_000)))
	},

	"base62_time": func(p program, _ int) written { return key(p.from(base62, 7), be64(p.millis())) },
	"base62_page": func(p program, _ int) written {
		return key(p.from(base62, 5+p.IntN(4)), ":", fmt.Sprintf("%06d", p.IntN(400)))
	},
	"page_numbers": func(_ program, i int) written { return key(fmt.Sprintf("page:%06d", i*3)) },
	"reversed_phone": func(p program, _ int) written {
		return key(p.from("0123456789", 9), "31", be64(math.MaxInt64-p.millis()))
	},
	"mail_time": func(p program, _ int) written {
		return key(p.user(), "@", []string{"example.com", "mail.org", "test.net"}[p.IntN(3)], "|", fmt.Sprint(p.millis()))
	},
	"tab_separated": func(p program, _ int) written {
		return key([]string{"de", "fr", "usa", "brazil"}[p.IntN(4)], "\t", p.word(), "\t", fmt.Sprint(p.IntN(5000)))
	},
	"nul_separated": func(p program, _ int) written {
		return key(p.word(), "\x00", []string{"web", "db", "cache"}[p.IntN(3)], "\x00", be64(p.millis()))
	},
	"city_padded": func(p program, _ int) written {
		return key([]string{"DE", "FR", "US"}[p.IntN(3)], fmt.Sprintf("%-20s", p.word()), be32(p.Int64N(9000)))
	},

	"cell_formats": func(p program, i int) written {
		id := p.Int64N(1 << 20)
		proto := "\x08" + one(1+p.Int64N(100)) + "\x12" + one(5) + p.from("abcdef", 5) + "\x18" + one(p.Int64N(2))
		avro := "\xc3\x01" + "\x12\x34\x56\x78\x9a\xbc\xde\xf0" + one(2*p.Int64N(60)) + "\x0a" + p.from("abcdef", 5)
		return append(key(be64(int64(i))), "amount", be32(2)+be16(200+p.Int64N(32_000)), "doc", fmt.Sprintf(`{"id": %d}`, id), "at", p.at("2006-01-02T15:04:05Z"), "proto", proto, "avro", avro)
	},
	"cell_numbers": func(p program, i int) written {
		return append(key(fmt.Sprint(p.word(), i)), "n", be32(p.Int64N(1000)), "l", be64(p.uid()), "d", be64(int64(math.Float64bits(float64(p.IntN(9000))/100))), "t", be64(p.millis()), "s", p.word())
	},
}

// others gives a row of each table of testdata/corpus_others.sql.
var others = map[string]func(p program, i int) written{
	"hash_unpadded": func(p program, _ int) written {
		name := fmt.Sprintf("%s-%d", p.user(), p.IntN(3000))
		return key(fmt.Sprint(abs(hashCode(0, name))%100), "_", name, "_", fmt.Sprint(p.millis()/1000))
	},
	"masked_unpadded": func(p program, _ int) written {
		code := fmt.Sprintf("c%s%d", p.user(), p.IntN(3000))
		return key(fmt.Sprint(hashCode(0, code)&255), ":", code)
	},
	"id_month": func(p program, _ int) written {
		id := p.Int64N(300_000)
		return key(fmt.Sprintf("%02d|%d|", id%12, id), time.UnixMilli(start+p.Int64N(200*86_400_000)).UTC().Format("2006-01"))
	},
	"last_digit_first": func(p program, _ int) written {
		digits := []byte(fmt.Sprint(p.millis()))
		slices.Reverse(digits)
		return key(p.user(), "-", string(digits))
	},
	"crc_hex": func(p program, _ int) written {
		id := strconv.FormatInt(p.uid(), 10)
		return key(fmt.Sprintf("%08x", crc(id)), id)
	},
	"interleaved": func(p program, i int) written {
		var z int64
		for x, y, b := p.Int64N(60_000), p.Int64N(60_000), 0; b < 16; b++ {
			z |= x>>b&1<<(2*b) | y>>b&1<<(2*b+1)
		}
		return key(be32(z), be32(int64(i)))
	},
	"customer_order": func(p program, i int) written {
		return key(p.at("200601"), be32(p.Int64N(100_000)), be64(1<<58+int64(i)<<22+p.Int64N(4096)))
	},
	"tenant_user_newest": func(p program, _ int) written {
		return key(fmt.Sprintf("t%02d|", p.IntN(20)), p.user(), "|", be64(math.MaxInt64-p.millis()))
	},
	"crc16_slot": func(p program, _ int) written {
		u := p.user()
		return key(be16(crc16(u)%16384), u, ":", be64(p.millis()))
	},
	"sha256_of_long": func(p program, i int) written {
		u := be64(p.uid())
		h := sha256.Sum256([]byte(u))
		return key(string(h[:8]), u, be32(int64(i%90)))
	},
	"kafka_partition": func(p program, _ int) written {
		u := p.user()
		return key(one((murmur2(u)&math.MaxInt32)%12), u, "|", be64(p.Int64N(9000)))
	},
	"djb_digits": func(p program, i int) written {
		u, h := fmt.Sprint(p.user(), ".", i), uint32(5381)
		for _, c := range []byte(u) {
			h = h<<5 + h + uint32(c)
		}
		return key(fmt.Sprintf("%03d-", h%128), u)
	},
	"fnv_byte": func(p program, _ int) written {
		u := fmt.Sprintf("10.%d.%d.%d", p.IntN(4), p.IntN(256), p.IntN(256))
		h := fnv.New32a()
		h.Write([]byte(u))
		return key(one(int64(h.Sum32()%64)), u, "\x00", be64(p.millis()))
	},
	"ip_time":             func(p program, _ int) written { return key(be32(int64(p.Uint32())), be64(p.millis())) },
	"tenant_name_version": func(p program, _ int) written { return key(be32(1+p.Int64N(40)), p.word(), "\x00", be32(p.Int64N(20))) },
	"user_order": func(p program, _ int) written {
		return key("user:", fmt.Sprint(p.uid()), ":order:", fmt.Sprint(p.IntN(4000)))
	},
	"region_day": func(p program, _ int) written {
		return key([]string{"DE", "US", "FR"}[p.IntN(3)], "/", []string{"BY", "Texas", "NRW", "Ohio"}[p.IntN(4)], "/", time.Unix(start/1000+86_400*p.Int64N(3000), 0).UTC().Format("2006/01/02"))
	},
	"mail_by_domain":  func(p program, _ int) written { return key(p.host(), "@", p.user()) },
	"hex_id_sequence": func(p program, i int) written { return key(hexOf(p.uuid()), "-", fmt.Sprintf("%04d", i%37)) },
	"long_tag":        func(p program, _ int) written { return key(be64(p.uid()), p.word()) },
	"month_number": func(p program, _ int) written {
		return key(time.Unix(start/1000-86_400*p.Int64N(1500), 0).UTC().Format("200601"), fmt.Sprintf("%06d", p.IntN(50_000)), []string{"a", "bc", "def"}[p.IntN(3)])
	},
	"device_newest": func(p program, _ int) written { return key(p.device(), "_", fmt.Sprint(9999999999999-p.millis())) },
	"geohash_time": func(p program, _ int) written {
		return key("u", p.from("0123456789bcdefghjkmnpqrstuvwxyz", 8), fmt.Sprint(p.millis()))
	},
	"digit_newest": func(p program, _ int) written {
		u := p.uid()
		return key(fmt.Sprintf("%d-%012d-%d", u%10, u, math.MaxInt64-p.millis()))
	},
	"sha1_prefix": func(p program, _ int) written {
		u := p.user()
		return key(hexOf(sha(u))[:8], "_", u, "#", fmt.Sprint(p.millis()/1000))
	},
	"ulid": func(p program, _ int) written { return key("01KDV", p.from("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 21)) },
	"user_type_newest": func(p program, _ int) written {
		return key(be64(p.uid()), be16(p.Int64N(6)), be64(math.MaxInt64-p.millis()))
	},
	"tenant_sha1_serial": func(p program, _ int) written {
		u := "SN" + strings.ToUpper(strconv.FormatInt(100_000+p.Int64N(700), 36))
		return key(be32(1+p.Int64N(12)), hexOf(sha(u))[:4], u, "#", be64(math.MaxInt64-p.millis()))
	},
	"uuid_of_session": func(_ program, i int) written {
		session := program{rand.New(rand.NewPCG(uint64(i/9), 2))}.uuid()
		return key("\x95", session[1:], be32(int64(i%9)))
	},
	"hex_bucket": func(p program, _ int) written {
		u := p.word()[:3]
		return key(fmt.Sprintf("%02x:", crc(u)%16), u, ":", strconv.FormatInt(p.Int64N(60_000_000), 36))
	},
	"snowflake_hash": func(p program, i int) written {
		u := (p.millis()-1_288_834_974_657)<<22 | p.Int64N(1<<22)
		return key(one(abs(int64(int32(u^int64(uint64(u)>>32))))%24), be64(u))
	},
}

func crc16(s string) int64 {
	var crc uint32
	for _, b := range []byte(s) {
		crc ^= uint32(b) << 8
		for range 8 {
			if crc <<= 1; crc&0x10000 != 0 {
				crc ^= 0x11021
			}
		}
	}
	return int64(crc)
}

// murmur2 is org.apache.kafka.common.utils.Utils.murmur2.
func murmur2(s string) int64 {
	const m, seed = 0x5bd1e995, 0x9747b28c
	data, h := []byte(s), uint32(seed)^uint32(len(s))
	for i := range len(data) / 4 {
		k := binary.LittleEndian.Uint32(data[4*i:]) * m
		k ^= k >> 24
		h = h*m ^ k*m
	}
	switch tail := data[len(data)&^3:]; len(tail) {
	case 3:
		h ^= uint32(tail[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(tail[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(tail[0])) * m
	}
	h = (h ^ h>>13) * m
	return int64(h ^ h>>15)
}

// rowsOf gives about n distinct rows of a table, in the order of their keys.
func rowsOf(row func(p program, i int) written, n int) []written {
	p := program{rand.New(rand.NewPCG(40, 1))}
	var out []written
	for i := range n {
		out = append(out, row(p, i))
	}
	slices.SortFunc(out, func(a, b written) int { return strings.Compare(a[0], b[0]) })
	return slices.CompactFunc(out, func(a, b written) bool { return a[0] == b[0] })
}

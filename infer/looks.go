package infer

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/types"
)

// printable reports whether the next w bytes are characters in more than one key of four.
func (s *search) printable(at []int, w int) bool {
	n, total := 0, 0
	for i, p := range at {
		if p < 0 {
			continue
		}
		total++
		if isText(s.keys[i][p:min(len(s.keys[i]), p+w)]) {
			n++
		}
	}
	return 4*n > total
}

// looksText reports whether the 4 bytes after the first skip bytes are more likely characters than seconds: the first
// two bytes of seconds are letters in our time, but the last two are arbitrary.
func (s *search) looksText(at []int, skip int) bool {
	n, total := 0, 0
	for i, p := range at {
		if p += skip; p < skip || p+4 > len(s.keys[i]) {
			continue
		}
		for _, c := range s.keys[i][p+2 : p+4] {
			total++
			if c >= ' ' && c < 0x7f {
				n++
			}
		}
	}
	return 4*n > 3*total
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// canonical reports whether s is an integer of BIGINT's range as programs print it, without leading zeros or a plus
// sign.
func canonical(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == s
}

func isDigits(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < '0' || c > '9' })
}

// count returns how many of bs have a property.
func count(bs [][]byte, has func([]byte) bool) (n int) {
	for _, b := range bs {
		if has(b) {
			n++
		}
	}
	return n
}

// reversedDomains reports whether most texts begin like a domain name written backwards.
func reversedDomains(texts [][]byte) bool { return 2*count(texts, reversedDomain) > len(texts) }

func reversedDomain(b []byte) bool {
	tld, _, ok := bytes.Cut(b, []byte("."))
	tld = slices.Clone(tld)
	slices.Reverse(tld)
	return ok && slices.Contains(topLevel[:14], string(tld))
}

// domains reports whether most texts begin like a domain name with its labels from the right.
func domains(texts [][]byte) bool {
	n := count(texts, func(b []byte) bool {
		tld, rest, _ := bytes.Cut(b, []byte("."))
		return len(rest) > 0 && slices.Contains(topLevel, string(tld))
	})
	return 10*n > 9*len(texts)
}

var topLevel = strings.Fields("com org net edu gov io cn de uk jp fr tv app dev info biz eu nl it es pl ru br in au ca us ch at se no fi dk be cz kr")

// describe describes the values of a part.
func describe(what string, bs [][]byte) string {
	lo, hi := math.MaxInt, 0
	for _, b := range bs {
		lo, hi = min(lo, len(b)), max(hi, len(b))
	}
	values, first, last := distinctOf(bs), slices.MinFunc(bs, bytes.Compare), slices.MaxFunc(bs, bytes.Compare)
	size := fmt.Sprintf("%d to %d bytes", lo, hi)
	if lo == hi {
		size = fmt.Sprintf("%d bytes", lo)
	}
	show := func(b []byte) string {
		if len(b) > 40 {
			b = b[:40]
		}
		if isText(b) {
			return types.NewString(string(b)).SQL()
		}
		return types.NewBytes(string(b)).SQL()
	}
	if values == 1 {
		return fmt.Sprintf("%s, %s, always %s", what, size, show(first))
	}
	return fmt.Sprintf("%s, %s, %d values in %d keys: %s to %s", what, size, values, len(bs), show(first), show(last))
}

// textBits returns the entropy of the bytes in bits per text. It is computed by position if all texts have one width.
func textBits(texts [][]byte, byPosition bool) float64 {
	var all [256]int
	total := 0
	for _, b := range texts {
		total += len(b)
		for _, c := range b {
			all[c]++
		}
	}
	bits := entropy(all[:], total) * float64(total) / float64(len(texts))
	if byPosition {
		sum := 0.0
		for i := range texts[0] {
			var here [256]int
			for _, b := range texts {
				here[b[i]]++
			}
			sum += entropy(here[:], len(texts))
			for _, n := range here { // a sample underestimates the entropy (Miller and Madow)
				if n > 0 {
					sum += math.Log2E / float64(2*len(texts))
				}
			}
		}
		bits = min(bits, sum)
	}
	return min(bits, dictionary(distinctOf(texts), len(texts), bits))
}

// numberBits returns the cost in bits of a number written in digits, which is the cost of the same number in bytes.
func numberBits(bs [][]byte) float64 {
	lo, hi := int64(math.MaxInt64), int64(0)
	values := map[int64]bool{}
	for _, b := range bs {
		n, _ := strconv.ParseInt(string(b), 10, 64)
		lo, hi, values[n] = min(lo, n), max(hi, n), true
	}
	bits := rangeBits(lo, hi)
	return min(bits, dictionary(len(values), len(bs), bits))
}

func entropy(counts []int, total int) float64 {
	h := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(total)
			h -= p * math.Log2(p)
		}
	}
	return h
}

// punctuation counts the positions with the same character in all texts, which is neither a letter nor a digit: a
// delimiter.
func punctuation(bs [][]byte) int {
	n := 0
	for i, c := range bs[0] {
		if !isAlnum(c) && c != ' ' && !slices.ContainsFunc(bs, func(b []byte) bool { return b[i] != c }) {
			n++
		}
	}
	return n
}

func isUUID(b []byte) bool {
	return len(b) == 36 && b[8] == '-' && b[13] == '-' && b[18] == '-' && b[23] == '-'
}

// valuesOf returns the bytes between two places in each key, "" for a key that does not fit.
func valuesOf(at, next []int, keys [][]byte) []string {
	out := make([]string, len(at))
	for i := range at {
		if next[i] >= 0 {
			out[i] = string(keys[i][at[i]:next[i]])
		}
	}
	return out
}

var digests = map[int]string{16: "MD5", 20: "SHA-1", 32: "SHA-256"}

// digestOf names the digest that bs look like: they have its width, and no byte or digit is rare.
func digestOf(bs [][]byte) (string, bool) {
	w := len(bs[0])
	if name := digests[w/2]; w%2 == 0 && name != "" && !slices.ContainsFunc(bs, func(b []byte) bool { return !isHex(b) }) {
		if textBits(bs, false) > 0 && letters(bs) {
			return fmt.Sprintf("%d hex digits, like an %s", w, name), true
		}
	}
	if name := digests[w]; (name != "" || len(bs) >= 16 && (w == 4 || w == 8)) && random(bs) && !mostlyText(bs) {
		if name == "" {
			return fmt.Sprintf("%d bytes that look random, like a hash", w), true
		}
		return fmt.Sprintf("%d bytes that look random, like an %s", w, name), true
	}
	return "", false
}

// random reports whether all bytes except two, which may hold the version of a UUID, take as many values as random ones
// do.
func random(bs [][]byte) bool {
	distinct := map[string]bool{}
	for _, b := range bs {
		distinct[string(b)] = true
	}
	n := float64(len(distinct))
	if n < 16 { // half of the bytes are above 0x7f
		high, total := 0, 0
		for b := range distinct {
			for i := range len(b) {
				total++
				if b[i] >= 0x80 {
					high++
				}
			}
		}
		return len(bs[0]) >= 16 && 10*high > 3*total && 10*high < 7*total
	}
	expected := 256 * (1 - math.Pow(255.0/256, n))
	even := 0
	for i := range bs[0] {
		var seen [256]bool
		values := 0
		for _, b := range bs {
			if !seen[b[i]] {
				seen[b[i]] = true
				values++
			}
		}
		// A sample contains neighbouring keys, which share their first bytes, so these bytes may have fewer values.
		if float64(values) < 0.75*expected-2 && (i > 1 || float64(values) < expected/4) {
			even++
		}
	}
	return even == 0 || even <= 2 && len(bs[0]) == 16
}

// random reports whether the next w bytes look random.
func (s *search) random(at []int, w int) bool {
	bs, _, ok := s.slice(at, w)
	return ok && random(bs)
}

// versionedUUID reports whether b is a UUID with its version and variant.
func versionedUUID(b []byte) bool { return b[6]>>4 >= 1 && b[6]>>4 <= 8 && b[8]>>6 == 2 }

// mostlyText reports whether bs are mostly UTF-8 text, which may have high bytes too.
func mostlyText(bs [][]byte) bool { return 2*count(bs, isText) > len(bs) }

// letters reports whether hex digits contain both letters and digits: without letters they are more likely decimal.
func letters(bs [][]byte) bool {
	n := count(bs, func(b []byte) bool { return !isDigits(b) && bytes.ContainsAny(b, "0123456789") })
	if len(bs) >= 16 { // each position holds a letter in some key, except for a version
		never := 0
		for i := range bs[0] {
			if !slices.ContainsFunc(bs, func(b []byte) bool { return b[i] > '9' }) {
				never++
			}
		}
		if never > 2 {
			return false
		}
	}
	return 10*n >= 9*len(bs)
}

// isHex reports whether b is hex digits of one case.
func isHex(b []byte) bool { return isHexCase(b, 'a') || isHexCase(b, 'A') }

func isHexCase(b []byte, a byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return !(c >= '0' && c <= '9' || c >= a && c <= a+5) })
}

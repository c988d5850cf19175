package functions

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/types"
)

// The patterns of numbers in TO_CHAR and TO_NUMBER, as in PostgreSQL, table 9.29. A longer pattern precedes its prefixes.
var numberPatterns = []string{"EEEE", "FM", "MI", "PL", "SG", "PR", "RN", "TH", "9", "0", ".", "D", ",", "G", "S", "L", "V"}

// numberFormat is a parsed format of numbers.
type numberFormat struct {
	items            []pattern
	fill             bool // it is padded: the format has no FM
	whole, fraction  int  // number of places before and after the point
	shift            int  // number of places after V
	sign             string
	roman, exponents bool
}

var numberFormats kept[*numberFormat]

func parseNumberFormat(format string) (*numberFormat, error) {
	return numberFormats.get(format, func() (*numberFormat, error) { return readNumberFormat(format) })
}

func readNumberFormat(format string) (*numberFormat, error) {
	f := &numberFormat{fill: true}
	point, shift := false, false
	for format != "" {
		if text, rest, ok := quotedFormat(format); ok {
			f.items, format = append(f.items, pattern{text: text}), rest
			continue
		}
		p, rest := pattern{}, ""
		for _, name := range numberPatterns {
			if after, ok := cutFold(format, name); ok {
				p, rest = pattern{name: name, text: format[:len(name)]}, after
				break
			}
		}
		if p.name == "" {
			_, n := utf8.DecodeRuneInString(format)
			p, rest = pattern{text: format[:n]}, format[n:]
		}
		switch p.name {
		case "FM":
			f.fill = false
		case "RN":
			f.roman = true
		case "EEEE":
			f.exponents = true
		case "V":
			shift = true
		case ".", "D":
			if p.name = "."; point {
				return nil, errors.New("a format of numbers has one decimal point")
			}
			point = true
		case "S", "MI", "PL", "SG", "PR":
			if f.sign = p.name; p.name == "S" && f.whole+f.fraction > 0 {
				f.sign = "SG" // after the number
			}
		case "9", "0":
			switch {
			case point:
				f.fraction++
			case shift:
				f.shift++
				fallthrough
			default:
				f.whole++
			}
		}
		f.items, format = append(f.items, p), rest
	}
	return f, nil
}

// formatNumber implements TO_CHAR for a number.
func formatNumber(v types.Value, format string) (string, error) {
	f, err := parseNumberFormat(format)
	if err != nil {
		return "", err
	}
	text := v.String()
	if t := v.Type(); (t == types.Float || t == types.Double) && f.shift == 0 { // its halves are rounded to even digits
		digits := map[types.Type]int{types.Float: 6, types.Double: 15}[t] - len(strconv.FormatFloat(math.Abs(v.Double()), 'f', 0, 64))
		text = strconv.FormatFloat(v.Double(), 'f', max(0, min(f.fraction, digits)), 64)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", fmt.Errorf("%s has no digits", v)
	}
	minus := r.Sign() < 0
	r.Abs(r)
	switch {
	case f.roman:
		return f.romanNumber(r), nil
	case f.exponents:
		d, _ := r.Float64()
		sign := map[bool]string{true: "-", false: strings.Repeat(" ", types.Bit(f.fill))}[minus]
		return sign + fmt.Sprintf("%.*e", f.fraction, d), nil
	}
	if f.shift > 0 {
		r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(f.shift)), nil)))
	}
	whole, fraction, _ := strings.Cut(r.FloatString(f.fraction), ".")
	if strings.Trim(whole+fraction, "0") == "" {
		minus = false
	}
	if whole == "0" && f.fraction > 0 {
		whole = ""
	}
	if len(whole) > f.whole {
		whole, fraction = strings.Repeat("#", f.whole), strings.Repeat("#", f.fraction)
	}
	w := numberWriter{f: f, minus: minus, whole: whole, fraction: fraction}
	return w.write(), nil
}

// numberWriter writes the digits of a number into the places of a format.
type numberWriter struct {
	f               *numberFormat
	minus           bool
	whole, fraction string
	b               strings.Builder
	begun           bool // a digit or the point was written
}

// signs are the texts for the signs of positive and negative numbers.
var signs = map[string][2]string{"": {" ", "-"}, "S": {"+", "-"}, "SG": {"+", "-"}, "MI": {" ", "-"}, "PL": {"+", " "}, "PR": {" ", "<"}}

func (w *numberWriter) sign(of string) {
	s := signs[of][types.Bit(w.minus)]
	if s != " " || w.f.fill {
		w.b.WriteString(s)
	}
}

// begin writes a sign that precedes the first digit.
func (w *numberWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	switch w.f.sign {
	case "", "S", "PR":
		w.sign(w.f.sign)
	case "PL":
		if w.minus {
			w.b.WriteByte('-')
		} else if w.f.fill {
			w.b.WriteByte(' ')
		}
	}
}

func (w *numberWriter) write() string {
	f := w.f
	at, behind, point := f.whole, f.fraction, false
	keep := f.fraction // places after the point that are written
	if !f.fill {
		last, n := 0, 0
		for _, p := range f.items {
			if p.name == "." {
				point = true
			} else if point && (p.name == "9" || p.name == "0") {
				if n++; p.name == "0" {
					last = n
				}
			}
		}
		keep, point = max(last, len(strings.TrimRight(w.fraction, "0"))), false
		if keep == 0 && f.fraction > 0 && w.whole == "" {
			w.whole = "0" // a point alone has no digit
		}
	}
	for _, p := range f.items {
		switch p.name {
		case "9", "0":
			if point {
				if n := f.fraction - behind; n < keep && n < len(w.fraction) {
					w.b.WriteByte(w.fraction[n])
				}
				behind--
				continue
			}
			switch at--; {
			case at < len(w.whole):
				w.begin()
				w.b.WriteByte(w.whole[len(w.whole)-1-at])
			case w.begun || p.name == "0":
				w.begin()
				w.b.WriteByte('0')
			case f.fill:
				w.b.WriteByte(' ')
			}
		case ",", "G":
			if w.begun {
				w.b.WriteByte(',')
			} else if f.fill {
				w.b.WriteByte(' ')
			}
		case ".":
			w.begin()
			w.b.WriteByte('.')
			point = true
		case "MI", "SG", "PL":
			w.sign(p.name)
		case "S":
			if f.sign == "SG" {
				w.sign("S")
			}
		case "PR":
			if w.minus {
				w.b.WriteByte('>')
			} else if f.fill {
				w.b.WriteByte(' ')
			}
		case "L":
			w.b.WriteByte(' ')
		case "TH":
			if n, ok := new(big.Int).SetString(w.whole, 10); ok && f.fraction == 0 && !w.minus {
				w.b.WriteString(cased(ordinal(int(new(big.Int).Mod(n, big.NewInt(100)).Int64())), p.text))
			}
		case "":
			w.b.WriteString(p.text)
		}
	}
	return w.b.String()
}

// romanNumber returns 1 to 3999 in Roman numerals.
func (f *numberFormat) romanNumber(r *big.Rat) string {
	n, _ := new(big.Int).SetString(r.FloatString(0), 10)
	out := strings.Repeat("#", 15)
	if n.IsInt64() && n.Int64() > 0 && n.Int64() < 4000 {
		out = ""
		for left, i := n.Int64(), 0; left > 0; i++ {
			value := []int64{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}[i]
			for ; left >= value; left -= value {
				out += []string{"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"}[i]
			}
		}
	}
	if f.fill {
		return fmt.Sprintf("%15s", out)
	}
	return out
}

// parseNumber implements TO_NUMBER: it reads as many digits as the format has places.
func parseNumber(text, format string) (types.Value, error) {
	f, err := parseNumberFormat(format)
	if err != nil {
		return types.Value{}, err
	}
	digits, point, places := "", false, f.whole
	for _, c := range text {
		switch {
		case c == '.' && !point && f.fraction > 0:
			digits, point, places = digits+".", true, f.fraction
		case c >= '0' && c <= '9' && places > 0:
			digits += string(c)
			places--
		}
	}
	if strings.ContainsAny(text, "-<") {
		digits = "-" + digits
	}
	if !strings.ContainsAny(digits, "0123456789") {
		return types.Value{}, fmt.Errorf("%q is not a valid number in the format %q", text, format)
	}
	v, err := types.ParseDecimal(digits)
	if err == nil && f.shift > 0 {
		return types.Value{}, errors.New("TO_NUMBER does not support V in the format")
	}
	return v, err
}

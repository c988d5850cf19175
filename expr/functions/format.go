package functions

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// The patterns of TO_CHAR, TO_DATE and TO_TIMESTAMP, as in PostgreSQL 16, section 9.8. A longer pattern precedes its
// prefixes.
var formatPatterns = []string{
	"AD", "BC", "A.D.", "B.C.", "HH24", "HH12", "HH", "MI", "SSSSS", "SSSS", "SS", "MS", "US", "AM", "PM", "A.M.", "P.M.", "Y,YYY", "YYYY", "IYYY", "YYY", "YY", "Y", "IYY", "IY", "IW", "IDDD", "ID", "I",
	"MONTH", "MON", "MM", "DAY", "DY", "DDD", "DD", "D", "WW", "W", "CC", "J", "Q", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6",
	"RM", "TZH", "TZM", "TZ", "OF",
}

var romanMonths = [...]string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

// pattern is a part of a format: a pattern, or literal text.
type pattern struct {
	name string // in upper case; "" for literal text
	text string // as written
	fill bool   // it is padded with spaces and zeros: FM does not precede it
	th   string // the ordinal suffix: "TH", "th" or ""
}

var formats kept[[]pattern]

func parseFormat(format string) []pattern {
	out, _ := formats.get(format, func() ([]pattern, error) { return readFormat(format), nil })
	return out
}

func readFormat(format string) (out []pattern) {
	for format != "" {
		if text, rest, ok := quotedFormat(format); ok {
			out, format = append(out, pattern{text: text}), rest
			continue
		}
		rest, fm := cutFold(format, "FM")
		if !fm { // names are English and padded
			rest, fm = cutFold(format, "TM")
		}
		found := false
		for _, name := range formatPatterns {
			if after, ok := cutFold(rest, name); ok {
				p := pattern{name: name, text: rest[:len(name)], fill: !fm}
				if next, ok := cutFold(after, "TH"); ok {
					p.th, after = after[:2], next
				}
				out, format, found = append(out, p), after, true
				break
			}
		}
		if found {
			continue
		}
		_, n := utf8.DecodeRuneInString(format)
		out, format = append(out, pattern{text: format[:n]}), format[n:]
	}
	return out
}

// quotedFormat cuts a text in double quotes, in which a backslash precedes any character, or \", from a format.
func quotedFormat(format string) (text, rest string, ok bool) {
	if rest, ok = strings.CutPrefix(format, `\"`); ok {
		return `"`, rest, true
	}
	if format[0] != '"' {
		return "", format, false
	}
	i := 1
	for ; i < len(format) && format[i] != '"'; i++ {
		if format[i] == '\\' && i+1 < len(format) {
			i++
		}
		text += format[i : i+1]
	}
	return text, format[min(i+1, len(format)):], true
}

func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

// formatTime formats t, a time in zone.
func formatTime(t time.Time, format, zone string) string {
	var b strings.Builder
	for _, p := range parseFormat(format) {
		p.format(&b, t, zone)
	}
	return b.String()
}

// formatInterval formats an INTERVAL: its years, months and days, and the rest as a time of day.
func formatInterval(v types.Value, format string) string {
	var b strings.Builder
	months, days, ms := v.Duration()
	clock := time.UnixMilli(ms % types.MillisPerDay).UTC()
	for _, p := range parseFormat(format) {
		n, width := months/12, len(p.name)
		switch p.name {
		case "YYYY", "YYY", "YY", "Y":
		case "MM":
			n = months % 12
		case "DD", "DDD":
			n = days
		case "HH24", "MI", "SS":
			n = map[string]int64{"HH24": ms / 3_600_000, "MI": ms % 3_600_000 / 60_000, "SS": ms % 60_000 / 1000}[p.name]
			width = 2 + types.Bit(n < 0)
		case "RM":
			if months == 0 {
				continue
			}
			month := types.FloorMod(months-int64(types.Bit(months > 0)), 12) + 1 // negative months count back from a year's end
			p.format(&b, time.Date(1970, time.Month(month), 1, 0, 0, 0, 0, time.UTC), "")
			continue
		default:
			p.format(&b, clock, "")
			continue
		}
		if !p.fill {
			width = 0
		}
		fmt.Fprintf(&b, "%0*d", width, n)
	}
	return b.String()
}

// format writes the part of t, a time in zone, that p stands for.
func (p pattern) format(b *strings.Builder, t time.Time, zone string) {
	if p.name == "" {
		b.WriteString(p.text)
		return
	}
	word := func(s string, width int) {
		b.WriteString(cased(s, p.text))
		if p.fill {
			b.WriteString(strings.Repeat(" ", max(0, width-len(s))))
		}
	}
	switch p.name {
	case "AM", "PM":
		word(t.Format("PM"), 0)
	case "A.M.", "P.M.":
		word(t.Format("PM")[:1]+".M.", 0)
	case "AD", "BC":
		word("AD", 0)
	case "A.D.", "B.C.":
		word("A.D.", 0)
	case "RM":
		word(romanMonths[t.Month()-1], 4)
	case "TZ":
		if zone != "" {
			word(zone, 0)
		}
	case "TZH", "TZM", "OF":
		_, s := t.Zone()
		hours, minutes := fmt.Sprintf("%+03d", s/3600), fmt.Sprintf("%02d", max(s, -s)%3600/60)
		if s < 0 && s > -3600 {
			hours = "-00"
		}
		switch {
		case p.name == "TZM":
			hours = minutes
		case p.name == "OF" && minutes != "00":
			hours += ":" + minutes
		}
		b.WriteString(hours)
	case "Y,YYY":
		fmt.Fprintf(b, "%d,%03d", t.Year()/1000, t.Year()%1000)
	case "MONTH":
		word(t.Month().String(), 9)
	case "MON":
		word(t.Month().String()[:3], 0)
	case "DAY":
		word(t.Weekday().String(), 9)
	case "DY":
		word(t.Weekday().String()[:3], 0)
	default:
		of := timeNumbers[p.name]
		if !p.fill && !of.fraction {
			of.width = 0
		}
		n := of.of(t)
		fmt.Fprintf(b, "%0*d", of.width, n)
		if p.th != "" {
			b.WriteString(cased(ordinal(n), p.th))
		}
	}
}

// timeNumber is a pattern for a number: its digits if it is padded, and the number in a time.
type timeNumber struct {
	width    int
	of       func(time.Time) int
	fraction bool // of a second: FM does not affect it
}

// timeNumbers are the patterns for numbers.
var timeNumbers = map[string]timeNumber{
	"HH24":  {width: 2, of: time.Time.Hour},
	"HH12":  {width: 2, of: hour12},
	"HH":    {width: 2, of: hour12},
	"MI":    {width: 2, of: time.Time.Minute},
	"SS":    {width: 2, of: time.Time.Second},
	"SSSS":  {of: secondOfDay},
	"SSSSS": {of: secondOfDay},
	"FF1":   fractionOf(1),
	"FF2":   fractionOf(2),
	"MS":    fractionOf(3),
	"FF3":   fractionOf(3),
	"FF4":   fractionOf(4),
	"FF5":   fractionOf(5),
	"US":    fractionOf(6),
	"FF6":   fractionOf(6),
	"YYYY":  {width: 4, of: time.Time.Year},
	"YYY":   {width: 3, of: func(t time.Time) int { return t.Year() % 1000 }},
	"YY":    {width: 2, of: func(t time.Time) int { return t.Year() % 100 }},
	"Y":     {width: 1, of: func(t time.Time) int { return t.Year() % 10 }},
	"IYYY":  {width: 4, of: isoYearOf},
	"IYY":   {width: 3, of: func(t time.Time) int { return isoYearOf(t) % 1000 }},
	"IY":    {width: 2, of: func(t time.Time) int { return isoYearOf(t) % 100 }},
	"I":     {width: 1, of: func(t time.Time) int { return isoYearOf(t) % 10 }},
	"IW":    {width: 2, of: isoWeek},
	"ID":    {of: isoDay},
	"IDDD":  {width: 3, of: func(t time.Time) int { return (isoWeek(t)-1)*7 + isoDay(t) }},
	"MM":    {width: 2, of: func(t time.Time) int { return int(t.Month()) }},
	"DDD":   {width: 3, of: time.Time.YearDay},
	"DD":    {width: 2, of: time.Time.Day},
	"D":     {of: func(t time.Time) int { return int(t.Weekday()) + 1 }},
	"WW":    {width: 2, of: func(t time.Time) int { return (t.YearDay()-1)/7 + 1 }},
	"W":     {of: func(t time.Time) int { return (t.Day()-1)/7 + 1 }},
	"CC":    {width: 2, of: func(t time.Time) int { return (t.Year()-1)/100 + 1 }},
	"J":     {of: julianDay},
	"Q":     {of: func(t time.Time) int { return int(t.Month()-1)/3 + 1 }},
}

func hour12(t time.Time) int      { return (t.Hour()+11)%12 + 1 }
func secondOfDay(t time.Time) int { return t.Hour()*3600 + t.Minute()*60 + t.Second() }
func isoYearOf(t time.Time) int   { y, _ := t.ISOWeek(); return y }
func isoWeek(t time.Time) int     { _, w := t.ISOWeek(); return w }
func isoDay(t time.Time) int      { return int(t.Weekday()+6)%7 + 1 }

func fractionOf(digits int) timeNumber {
	unit := int(math.Pow10(9 - digits))
	return timeNumber{width: digits, fraction: true, of: func(t time.Time) int { return t.Nanosecond() / unit }}
}

// cased returns word in the case of like: MONTH, Month or month.
func cased(word, like string) string {
	first, n := utf8.DecodeRuneInString(like)
	switch {
	case unicode.IsLower(first):
		return strings.ToLower(word)
	case n < len(like) && like[n:] != strings.ToUpper(like[n:]):
		return word[:1] + strings.ToLower(word[1:])
	}
	return strings.ToUpper(word)
}

func ordinal(n int) string {
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			return "st"
		case 2:
			return "nd"
		case 3:
			return "rd"
		}
	}
	return "th"
}

// julianDay returns the number of days since 4714-11-24 BC.
func julianDay(t time.Time) int {
	const of1970 = 2440588
	return int(types.FloorDiv(t.Unix(), 86400)) + of1970
}

// parseTime parses s by format. Fields that the format lacks are those of 0001-01-01 00:00. Spaces and punctuation in the
// format match any such characters. The switch has one case for each pattern that can be parsed.
func parseTime(s, format string) (at time.Time, err error) {
	year, month, day, yearDay, hour, minute, second, nanos, pm, julian := 1, 1, 1, 0, 0, 0, 0, 0, -1, -1
	var zone zoneReading
	patterns := parseFormat(format)
	r := timeReader{rest: s}
	for i, p := range patterns {
		if p.name == "" {
			if !r.text(p.text) {
				return time.Time{}, fmt.Errorf("%q does not match the format %q", s, format)
			}
			continue
		}
		r.rest = strings.TrimLeft(r.rest, " ")
		r.pattern, r.alone = p.name, i+1 == len(patterns) || patterns[i+1].name == ""
		var ignored int
		switch p.name {
		case "HH24":
			r.number(&hour, 2, 0, 23)
		case "HH12", "HH":
			r.number(&hour, 2, 1, 12)
			pm = max(pm, 0)
		case "MI":
			r.number(&minute, 2, 0, 59)
		case "SS":
			r.number(&second, 2, 0, 59)
		case "FF1":
			r.fraction(&nanos)
			nanos = (nanos + 5e7) / 1e8 * 1e8
		case "FF2":
			r.fraction(&nanos)
			nanos = (nanos + 5e6) / 1e7 * 1e7
		case "MS", "US", "FF3", "FF4", "FF5", "FF6":
			r.fraction(&nanos)
		case "AM", "PM":
			r.name(&pm, 2, "AM", "PM")
		case "A.M.", "P.M.":
			r.name(&pm, 4, "A.M.", "P.M.")
		case "YYYY":
			r.number(&year, 4, 1, 9999)
		case "YY":
			if r.number(&year, 2, 0, 99); year < 70 {
				year += 2000
			} else {
				year += 1900
			}
		case "MONTH", "MON":
			r.name(&month, 3, "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
			month++
		case "MM":
			r.number(&month, 2, 1, 12)
		case "DAY", "DY":
			r.name(&ignored, 3, "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
		case "DD":
			r.number(&day, 2, 1, 31)
		case "DDD":
			r.number(&yearDay, 3, 1, 366)
		case "TZH":
			zone.west = strings.HasPrefix(r.rest, "-")
			r.rest = strings.TrimLeft(r.rest, "+-")
			r.number(&zone.hour, 2, 0, 15)
		case "TZM":
			r.number(&zone.minute, 2, 0, 59)
		case "J":
			r.number(&julian, 7, 0, 5373484) // up to 9999-12-31
		default:
			r.err = fmt.Errorf("%s cannot be read", p.name)
		}
		if r.err != nil {
			return time.Time{}, r.err
		}
	}
	if strings.TrimSpace(r.rest) != "" {
		return time.Time{}, fmt.Errorf("%q does not match the format %q", s, format)
	}
	if pm >= 0 {
		hour = hour%12 + 12*pm
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	defer func() { at = at.Add(-zone.offset()) }()
	switch {
	case julian >= 0:
		return t.AddDate(0, 0, julian-julianDay(t)), nil
	case yearDay > 0:
		t = t.AddDate(0, 0, yearDay-t.YearDay())
	case t.Day() != day:
		return time.Time{}, fmt.Errorf("there is no day %04d-%02d-%02d", year, month, day)
	}
	return t, nil
}

// zoneReading holds the values of TZH and TZM.
type zoneReading struct {
	west         bool
	hour, minute int
}

func (z zoneReading) offset() time.Duration {
	d := time.Duration(z.hour)*time.Hour + time.Duration(z.minute)*time.Minute
	if z.west {
		return -d
	}
	return d
}

// timeReader parses a text by the patterns of a format.
type timeReader struct {
	rest    string
	pattern string
	alone   bool // the next item is not a pattern
	err     error
}

// text skips the text that corresponds to a literal text of the format.
func (r *timeReader) text(text string) bool {
	for _, want := range text {
		found, n := utf8.DecodeRuneInString(r.rest)
		switch {
		case n == 0:
		case found == want || !unicode.IsLetter(want) && !unicode.IsDigit(want) && !unicode.IsLetter(found) && !unicode.IsDigit(found):
			r.rest = r.rest[n:]
		case unicode.IsLetter(want) || unicode.IsDigit(want):
			return false
		}
	}
	return true
}

// digits reads at most most digits.
func (r *timeReader) digits(most int) string {
	n := 0
	for n < len(r.rest) && n < most && r.rest[n] >= '0' && r.rest[n] <= '9' {
		n++
	}
	digits := r.rest[:n]
	r.rest = r.rest[n:]
	return digits
}

func (r *timeReader) number(to *int, width, lo, hi int) {
	if r.alone {
		width = max(width, 9)
	}
	digits := r.digits(width)
	v, err := strconv.Atoi(digits)
	if err != nil || v < lo || v > hi {
		r.err = fmt.Errorf("%q is not a valid value of %s", digits, r.pattern)
	}
	*to = v
}

// name reads one of names, or at least the first least letters of one, and sets *to to the index of that name.
func (r *timeReader) name(to *int, least int, names ...string) {
	for k, w := range names {
		for _, form := range []string{w, w[:min(len(w), least)]} {
			if after, ok := cutFold(r.rest, form); ok {
				*to, r.rest = k, after
				return
			}
		}
	}
	r.err = fmt.Errorf("%q is not a valid value of %s", r.rest, r.pattern)
}

// fraction reads digits after the decimal point of a second.
func (r *timeReader) fraction(nanos *int) {
	digits := r.digits(9)
	v, err := strconv.Atoi((digits + "000000000")[:9])
	if digits == "" || err != nil {
		r.err = fmt.Errorf("%q is not a valid value of %s", digits, r.pattern)
	}
	*nanos = v
}

// formatUnit maps a pattern to its unit: the pattern has equal texts for all moments of the unit. Units are ordered from
// the year to smaller ones.
var formatUnit = map[string]int{"Y,YYY": 1, "YYYY": 1, "YYY": 1, "YY": 1, "Y": 1, "CC": 1, "AD": 0, "BC": 0, "A.D.": 0, "B.C.": 0, "TZ": 0, "TZH": 0, "TZM": 0, "OF": 0,
	"Q": 2, "MM": 3, "MONTH": 3, "MON": 3, "RM": 3, "DD": 4, "DDD": 4, "DAY": 4, "DY": 4, "D": 4, "ID": 4, "IDDD": 4, "IW": 4, "WW": 4, "W": 4, "J": 4, "IYYY": 4, "IYY": 4, "IY": 4, "I": 4,
	"HH24": 5, "HH12": 5, "HH": 5, "AM": 5, "PM": 5, "A.M.": 5, "P.M.": 5, "MI": 6, "SS": 7, "SSSS": 7, "SSSSS": 7, "FF1": 8, "FF2": 9, "MS": 10, "FF3": 10, "FF4": 10, "FF5": 10, "US": 10, "FF6": 10}

// formatFiner maps a unit to the patterns that may follow a pattern of that unit: they have a fixed width and rise within
// the unit.
var formatFiner = map[int][]string{1: {"Q", "MM", "DDD"}, 2: {"MM"}, 3: {"DD"}, 4: {"HH24"}, 5: {"MI"}, 6: {"SS"}, 7: {"FF1", "FF2", "MS", "FF3", "FF4", "FF5", "US", "FF6"}}

// formatWithin returns the pieces on which a format rises if it begins with a pattern other than a year.
func formatWithin(name string, in types.Interval) []expr.Piece {
	switch name {
	case "MM", "DDD":
		return calendarPieces(in, 12)
	case "DD":
		return calendarPieces(in, 1)
	case "HH24":
		return solve.TimePieces(in, types.MillisPerDay, 0)
	case "MI":
		return solve.TimePieces(in, 3_600_000, 0)
	case "SS":
		return solve.TimePieces(in, 60_000, 0)
	}
	return nil
}

// isoPieces returns the years of ISO 8601's weeks with equally many digits, for a format that continues with weeks or days
// of weeks.
func isoPieces(format string, t types.Type) (pieces []expr.Piece) {
	var names []string
	for _, p := range parseFormat(format) {
		switch {
		case p.name == "":
		case p.th != "" || !p.fill:
			return nil
		default:
			names = append(names, p.name)
		}
	}
	if n := len(names); n == 0 || n > 3 || !slices.Equal(names, []string{"IYYY", "IW", "ID"}[:n]) {
		return nil
	}
	start := func(year int) types.Value { return solve.MomentAs(t, isoYear(year).UnixMilli()) }
	pieces = append(pieces, expr.Piece{In: types.Interval{Hi: start(0), HiOpen: true}, Mixed: &solve.NegativeYears})
	for year := 0; year < 100_000_000; year = max(10*year, 10_000) {
		pieces = append(pieces, expr.Piece{In: types.Interval{Lo: start(year), Hi: start(max(10*year, 10_000)), HiOpen: true}, Even: true, Strict: len(names) == 3 && t == types.Date})
	}
	return append(pieces, expr.Piece{In: types.Interval{Lo: start(100_000_000)}})
}

// zeroPieces returns the pieces of TO_CHAR(n, format) for an integer n and a format of zeros, such as '0000'; nil for
// others. A number with more digits is written as # signs.
func zeroPieces(t types.Type, format string) []expr.Piece {
	zeros, _ := cutFold(format, "FM")
	if n := len(zeros); !t.IsInteger() || strings.Trim(zeros, "0") != "" || n == 0 || n > 18 {
		return nil
	}
	more := int64(math.Pow10(len(zeros)))
	part := func(lo, hi int64, falls bool) expr.Piece {
		return expr.Piece{In: span{lo, hi}.interval(types.BigInt), Falls: falls, Strict: true, Even: true}
	}
	return []expr.Piece{{In: types.Interval{Hi: types.NewInt(-more)}}, part(1-more, -1, true), part(0, more-1, false), {In: types.Interval{Lo: types.NewInt(more)}}}
}

// formatPieces returns the pieces of TO_CHAR for a format whose patterns go from larger to smaller units, so that its
// texts sort like the times. A pattern that is determined by the previous ones does not matter.
func formatPieces(c *expr.Call, in types.Interval) []expr.Piece {
	k, ok := c.Args[1].(*expr.Const)
	switch {
	case !ok || k.Val.IsNull():
		return nil
	case isNumber(c.Args[0].Type()):
		return zeroPieces(c.Args[0].Type(), k.Val.Text())
	}
	if pieces := isoPieces(k.Val.Text(), c.Args[0].Type()); pieces != nil {
		return pieces
	}
	known, at := 0, 0       // the smallest unit so far, and the position of the year
	first, even := "", true // the first pattern, if it is not a year
	for i, p := range parseFormat(k.Val.Text()) {
		u := formatUnit[p.name]
		switch {
		case p.name == "":
		case u <= known:
			even = false
		case known == 0 && p.th == "" && p.fill && p.name != "YYYY":
			first, known = p.name, u
		case p.th == "" && p.fill && (known == 0 && p.name == "YYYY" || slices.Contains(formatFiner[known], p.name)):
			if known == 0 {
				at = i
			}
			known = u
		default:
			return nil
		}
	}
	switch {
	case known == 0:
		return nil
	case first != "":
		return formatWithin(first, in)
	}
	pieces := solve.YearPieces(c.Args[0].Type(), even, c.Args[0].Type() == types.Date && known >= 4 || known >= 10)
	if at > 0 { // years before 0 have their sign in another position
		return slices.DeleteFunc(pieces, func(p expr.Piece) bool { return p.Mixed != nil })
	}
	return pieces
}

package store

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tsuna/gohbase/pb"
)

// regexComparator is equal to values in which a Java regular expression is found.
type regexComparator struct {
	re     *regexp.Regexp
	latin1 bool // bytes are characters; else they are UTF-8
}

func (c *regexComparator) compare(v []byte) int {
	if c.latin1 && !isASCII(v) {
		rs := make([]rune, len(v))
		for i, b := range v {
			rs[i] = rune(b)
		}
		v = []byte(string(rs))
	}
	if c.re.Match(v) {
		return 0
	}
	return 1
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Flags of java.util.regex.Pattern.
const (
	javaCaseInsensitive = 0x02
	javaMultiline       = 0x08
	javaLiteral         = 0x10
	javaDotAll          = 0x20
	javaUnicodeCase     = 0x40
)

// newRegexComparator translates a Java pattern. A pattern that Go's regular expressions cannot express (look-around,
// back-references, possessive quantifiers, class arithmetic) is an error, since any other translation would filter
// differently.
func newRegexComparator(m *pb.RegexStringComparator) (comparator, error) {
	c := &regexComparator{}
	switch strings.ToUpper(m.GetCharset()) {
	case "", "UTF-8", "UTF8":
	case "ISO-8859-1", "ISO8859-1", "ISO8859_1", "LATIN1", "US-ASCII":
		c.latin1 = true
	default:
		return nil, fmt.Errorf("java.nio.charset.UnsupportedCharsetException: %s", m.GetCharset())
	}
	switch m.GetEngine() {
	case "JAVA", "JONI":
	default:
		if m.Engine != nil {
			return nil, fmt.Errorf("no enum constant EngineType.%s", m.GetEngine())
		}
	}
	t := javaPattern{in: m.GetPattern(), flags: m.GetPatternFlags()}
	expr, err := t.translate()
	if err != nil {
		return nil, fmt.Errorf("java.util.regex.PatternSyntaxException: %w near index %d\n%s", err, t.pos, t.in)
	}
	if c.re, err = regexp.Compile(expr); err != nil {
		return nil, fmt.Errorf("java.util.regex.PatternSyntaxException: %w\n%s", err, t.in)
	}
	return c, nil
}

// lineEnds are the characters that a Java dot does not match.
const lineEnds = `\n\r\x{85}\x{2028}\x{2029}`

// javaPattern translates a pattern from Java's syntax to Go's.
type javaPattern struct {
	in    string
	pos   int
	flags int32
	out   strings.Builder
}

func (p *javaPattern) has(flag int32) bool { return p.flags&flag != 0 }

func (p *javaPattern) translate() (string, error) {
	const known = javaCaseInsensitive | javaMultiline | javaLiteral | javaDotAll | javaUnicodeCase
	if p.flags&^known != 0 {
		return "", fmt.Errorf("flags %#x not supported", p.flags)
	}
	if p.has(javaCaseInsensitive) {
		p.out.WriteString("(?i)")
	}
	if p.has(javaLiteral) {
		return p.out.String() + regexp.QuoteMeta(p.in), nil
	}
	for p.pos < len(p.in) {
		if err := p.element(); err != nil {
			return "", err
		}
	}
	return p.out.String(), nil
}

// rest returns the unread part.
func (p *javaPattern) rest() string { return p.in[p.pos:] }

func (p *javaPattern) copy(n int) {
	p.out.WriteString(p.in[p.pos : p.pos+n])
	p.pos += n
}

func (p *javaPattern) replace(n int, s string) {
	p.out.WriteString(s)
	p.pos += n
}

// element translates one character, escape, class, quantifier or parenthesis.
func (p *javaPattern) element() error {
	switch c := p.in[p.pos]; c {
	case '\\':
		return p.escape(false)
	case '[':
		return p.class()
	case '(':
		return p.group()
	case '*', '+', '?', '{':
		n := 1
		if c == '{' {
			if n = strings.IndexByte(p.rest(), '}') + 1; n < 3 || strings.Trim(p.rest()[1:n-1], "0123456789,") != "" {
				return fmt.Errorf("illegal repetition")
			}
		}
		p.copy(n)
		if strings.HasPrefix(p.rest(), "+") {
			return fmt.Errorf("possessive quantifier not supported")
		}
	case '.':
		if p.has(javaDotAll) {
			p.replace(1, "(?s:.)")
		} else {
			p.replace(1, "[^"+lineEnds+"]")
		}
	case '^':
		if p.has(javaMultiline) {
			return fmt.Errorf("multiline anchor not supported")
		}
		p.replace(1, `\A`)
	case '$':
		if p.has(javaMultiline) {
			return fmt.Errorf("multiline anchor not supported")
		}
		// Java's $ also matches before a line end that ends the text.
		p.replace(1, `(?:(?:\r\n|[`+lineEnds+`])?\z)`)
	default:
		_, n := utf8.DecodeRuneInString(p.rest())
		p.copy(n)
	}
	return nil
}

// group translates an opening parenthesis.
func (p *javaPattern) group() error {
	r := p.rest()
	if !strings.HasPrefix(r, "(?") {
		p.copy(1)
		return nil
	}
	switch {
	case strings.HasPrefix(r, "(?<=") || strings.HasPrefix(r, "(?<!"):
		return fmt.Errorf("look-behind not supported")
	case strings.HasPrefix(r, "(?:") || strings.HasPrefix(r, "(?<"):
		p.copy(3)
	default:
		return fmt.Errorf("look-ahead, atomic group or inline flag not supported")
	}
	return nil
}

// escape translates a backslash and what belongs to it.
func (p *javaPattern) escape(inClass bool) error {
	r := p.rest()
	if len(r) < 2 {
		return fmt.Errorf("unexpected internal error: lone backslash")
	}
	switch c := r[1]; {
	case c == 'Q':
		quoted, after, closed := strings.Cut(r[2:], `\E`)
		p.pos = len(p.in) - len(after)
		if !closed {
			p.pos = len(p.in)
		}
		if inClass {
			for _, q := range quoted {
				p.out.WriteString(quoteInClass(q))
			}
		} else {
			p.out.WriteString(regexp.QuoteMeta(quoted))
		}
	case c == 'E':
		p.pos += 2 // an end without a start quotes nothing
	case c == 's':
		p.classOr(inClass, `\t\n\x0b\f\r `, "")
	case c == 'S':
		if inClass {
			return fmt.Errorf(`\S in a class not supported`)
		}
		p.classOr(false, `\t\n\x0b\f\r `, "^")
	case c == 'Z':
		p.replace(2, `(?:(?:\r\n|[`+lineEnds+`])?\z)`)
	case c == 'e':
		p.replace(2, `\x1b`)
	case strings.IndexByte("dDwWtnrfaAzb", c) >= 0 && !(inClass && strings.IndexByte("Azb", c) >= 0):
		p.copy(2)
	case c == 'x':
		return p.hex(2, 2)
	case c == 'u':
		return p.hex(2, 4)
	case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		return fmt.Errorf(`escape \%c not supported`, c)
	default: // an escaped character means itself
		q, n := utf8.DecodeRuneInString(r[1:])
		if inClass {
			p.replace(1+n, quoteInClass(q))
		} else {
			p.replace(1+n, regexp.QuoteMeta(string(q)))
		}
	}
	return nil
}

// classOr writes characters as a class, or into the class that is open.
func (p *javaPattern) classOr(inClass bool, chars, negate string) {
	if inClass {
		p.replace(2, chars)
	} else {
		p.replace(2, "["+negate+chars+"]")
	}
}

// hex translates \xhh and \uhhhh.
func (p *javaPattern) hex(skip, digits int) error {
	r := p.rest()
	if len(r) < skip+digits || strings.Trim(r[skip:skip+digits], "0123456789abcdefABCDEF") != "" {
		return fmt.Errorf("illegal hexadecimal escape sequence")
	}
	p.replace(skip+digits, `\x{`+r[skip:skip+digits]+`}`)
	return nil
}

func quoteInClass(r rune) string {
	if strings.ContainsRune(`\]^-[&`, r) {
		return `\` + string(r)
	}
	return string(r)
}

// class translates a bracketed class; classes within it and intersections are refused.
func (p *javaPattern) class() error {
	p.copy(1)
	if strings.HasPrefix(p.rest(), "^") {
		p.copy(1)
	}
	for first := true; p.pos < len(p.in); first = false {
		r := p.rest()
		switch {
		case r[0] == ']' && !first:
			p.copy(1)
			return nil
		case r[0] == ']':
			p.replace(1, `\]`)
		case r[0] == '[':
			return fmt.Errorf("class within a class not supported")
		case strings.HasPrefix(r, "&&"):
			return fmt.Errorf("intersection of classes not supported")
		case r[0] == '\\':
			if err := p.escape(true); err != nil {
				return err
			}
		default:
			_, n := utf8.DecodeRuneInString(r)
			p.copy(n)
		}
	}
	return fmt.Errorf("unclosed character class")
}

package store

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tsuna/gohbase/pb"
)

// regexComparator is equal to values in which a Java regular expression is found.
type regexComparator struct {
	re     *regexp.Regexp
	latin1 bool // bytes are characters; else they are UTF-8
}

func (c *regexComparator) compare(v []byte) int {
	if c.latin1 {
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

// javaDotAll is the flag of java.util.regex.Pattern with which a dot matches line ends.
const javaDotAll = 0x20

// sharedEscape finds the escapes that mean the same in Java's patterns and in Go's.
var sharedEscape = regexp.MustCompile(`\\(?:[Az]|x[0-9a-f]{2}|[^0-9A-Za-z])`)

// newRegexComparator compiles a pattern of those that the planner sends, which mean the same in Java and in Go. Other
// escapes and anchors are refused.
func newRegexComparator(m *pb.RegexStringComparator) (comparator, error) {
	c := &regexComparator{latin1: m.GetCharset() == "ISO-8859-1"}
	switch {
	case !c.latin1 && m.GetCharset() != "UTF-8":
		return nil, fmt.Errorf("java.nio.charset.UnsupportedCharsetException: %s", m.GetCharset())
	case m.GetEngine() != "JAVA":
		return nil, fmt.Errorf("no enum constant EngineType.%s", m.GetEngine())
	case m.GetPatternFlags() != javaDotAll:
		return nil, fmt.Errorf("flags %#x not supported", m.GetPatternFlags())
	case strings.ContainsAny(sharedEscape.ReplaceAllString(m.GetPattern(), ""), `\^$`):
		return nil, fmt.Errorf("java.util.regex.PatternSyntaxException: not supported: %s", m.GetPattern())
	}
	var err error
	if c.re, err = regexp.Compile("(?s)" + m.GetPattern()); err != nil {
		return nil, fmt.Errorf("java.util.regex.PatternSyntaxException: %w", err)
	}
	return c, nil
}

package functions

import (
	"fmt"
	"testing"
	"unsafe"
)

// TestRegexpsOwnTheirPatterns checks that a compiled regular expression is kept under a pattern of its own: that of a
// row is overwritten when the row's time is over, and would be found under what stands there then.
func TestRegexpsOwnTheirPatterns(t *testing.T) {
	row := []byte("kept-a")
	if _, err := compileRegexp(unsafe.String(&row[0], len(row))); err != nil {
		t.Fatal(err)
	}
	copy(row, "kept-b")
	for i := range 100 { // the cache grows, which looks at all patterns again
		if _, err := compileRegexp(fmt.Sprint("other", i)); err != nil {
			t.Fatal(err)
		}
	}
	re, err := compileRegexp("kept-b")
	if err != nil || !re.MatchString("kept-b") || re.MatchString("kept-a") {
		t.Errorf("kept-b gives %v, %v", re, err)
	}
	if regexps.byText["kept-a"] == nil {
		t.Error("kept-a is not found any more")
	}
}

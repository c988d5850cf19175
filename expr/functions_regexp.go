package expr

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/types"
)

// The arguments are PostgreSQL's (16, 9.4 and 9.7.3); the expressions are RE2's.
var regexpFunctions = []Function{
	{Name: "REGEXP_LIKE", Group: "string", Signature: "regexp_like(text, pattern [, flags]) boolean", Doc: "Whether some part matches. Flags: i for any case, n for ^, $ and . line by line.", MinArgs: 2, MaxArgs: 3,
		Result: returns(types.Boolean, isText), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			re, _, err := flagged(a, 2, false)
			if err != nil {
				return types.Value{}, err
			}
			return types.NewBool(re.MatchString(a[0].Text())), nil
		}, Key: patternAlgebra(false, func(c *Call) (string, bool) {
			flags, _, err := flagsOf(append([]types.Value{{}}, constants(c.Args[1:])...), 2, false)
			return flags + c.constText(1), err == nil
		})},
	{Name: "REGEXP_COUNT", Group: "string", Unknown: "matches stand anywhere in a text", Signature: "regexp_count(text, pattern [, start [, flags]]) bigint", Doc: "Number of matches from the character start (1) on.", MinArgs: 2, MaxArgs: 4,
		Result: returns(types.BigInt, isText, isText, isInt, isText), Eval: func(env *Env, a []types.Value) (types.Value, error) {
			re, _, err := flagged(a, 3, false)
			if err != nil {
				return types.Value{}, err
			}
			from, err := startOf(a, 2)
			if err != nil || from < 0 {
				return types.NewInt(0), err
			}
			n, err := countMatches(env, re, a[0].Text()[from:])
			return types.NewInt(n), err
		}},
	{Name: "REGEXP_INSTR", Group: "string", Unknown: "matches stand anywhere in a text", Signature: "regexp_instr(text, pattern [, start [, n [, end [, flags [, group]]]]]) bigint",
		Doc: "Where the n-th match (the first) begins, or with end 1 the character after it; 0 when there is none.", MinArgs: 2, MaxArgs: 7,
		Result: returns(types.BigInt, isText, isText, isInt, isInt, isInt, isText, isInt), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			side := int64(0)
			if len(a) > 4 {
				if side = a[4].Int(); side != 0 && side != 1 {
					return types.Value{}, fmt.Errorf("end must be 0 or 1, not %d", side)
				}
			}
			m, err := nthMatch(a, 5)
			if m == nil {
				return types.NewInt(0), err
			}
			return types.NewInt(int64(utf8.RuneCountInString(a[0].Text()[:m[side]])) + 1), nil
		}},
	{Name: "REGEXP_SUBSTR", Group: "string", Unknown: "matches stand anywhere in a text", Signature: "regexp_substr(text, pattern [, start [, n [, flags [, group]]]]) text",
		Doc: "The n-th match (the first), or a group of it; NULL when there is none.", MinArgs: 2, MaxArgs: 6,
		Result: returns(types.String, isText, isText, isInt, isInt, isText, isInt), Eval: func(_ *Env, a []types.Value) (types.Value, error) {
			m, err := nthMatch(a, 4)
			if m == nil {
				return types.Value{}, err
			}
			return types.NewString(a[0].Text()[m[0]:m[1]]), nil
		}},
	{Name: "REGEXP_REPLACE", Group: "string", Unknown: "many texts give the same", Signature: "regexp_replace(text, pattern, to [, flags]) text",
		Doc: "The first match replaced, with flag g every one; \\1 in to stands for a group, \\& for the match.", MinArgs: 3, MaxArgs: 4,
		Result: returns(types.String, isText), Eval: regexpReplace},
}

// flagged compiles the pattern a[1] with the flags of a[at], if it is there: see flagsOf.
func flagged(a []types.Value, at int, global bool) (re *regexp.Regexp, all bool, err error) {
	flags, all, err := flagsOf(a, at, global)
	if err != nil {
		return nil, false, err
	}
	re, err = compileRegexp(flags + a[1].Text())
	return re, all, err
}

// flagsOf reads the flags a[at], if they are there: i for any case, n for lines (. ends at their ends, ^ and $ stand there), c
// and s for the contrary, and g, where it may stand, for all matches.
func flagsOf(a []types.Value, at int, global bool) (flags string, all bool, err error) {
	anyCase, lines := "", ""
	if len(a) > at {
		for _, f := range a[at].Text() {
			switch {
			case f == 'i':
				anyCase = "(?i)"
			case f == 'c':
				anyCase = ""
			case f == 'n', f == 'm':
				lines = "(?m-s)"
			case f == 's':
				lines = ""
			case f == 'g' && global:
				all = true
			default:
				return "", false, fmt.Errorf("unknown regular expression flag %q", f)
			}
		}
	}
	return anyCase + lines, all, nil
}

// startOf gives the byte at which the character a[at], counted from 1, begins in a[0]; -1 when it is behind the end.
func startOf(a []types.Value, at int) (int, error) {
	if len(a) <= at {
		return 0, nil
	}
	n := a[at].Int()
	if n < 1 {
		return 0, fmt.Errorf("a start is counted from 1, not %d", n)
	}
	s := a[0].Text()
	for i := range s {
		if n--; n == 0 {
			return i, nil
		}
	}
	if n == 1 {
		return len(s), nil
	}
	return -1, nil
}

// countMatches counts the matches of re in s. For each, all that is behind it may have to be looked at.
func countMatches(env *Env, re *regexp.Regexp, s string) (n int64, err error) {
	type stopped struct{ why error }
	defer func() {
		if p := recover(); p != nil {
			s, ok := p.(stopped)
			if !ok {
				panic(p)
			}
			err = s.why
		}
	}()
	if len(s) > longText {
		if err := env.stopped(); err != nil {
			return 0, err
		}
	}
	re.ReplaceAllStringFunc(s, func(string) string { // the only way to see one match after the other: it is left by a panic
		if n++; len(s) > longText || n%1000 == 0 {
			if err := env.stopped(); err != nil {
				panic(stopped{err})
			}
		}
		return ""
	})
	return n, nil
}

// nthMatch gives the bytes of a[0] that match: from a[2] on, the a[3]-th time, with flags at flags and then a group.
func nthMatch(a []types.Value, flags int) ([]int, error) {
	re, _, err := flagged(a, flags, false)
	if err != nil {
		return nil, err
	}
	n, group := int64(1), int64(0)
	if len(a) > 3 {
		n = a[3].Int()
	}
	if len(a) > flags+1 {
		group = a[flags+1].Int()
	}
	s := a[0].Text()
	if n < 1 || group < 0 {
		return nil, fmt.Errorf("matches are counted from 1 and groups from 0")
	}
	from, err := startOf(a, 2)
	if err != nil || from < 0 {
		return nil, err
	}
	if n > int64(len(s))+1 || group > int64(re.NumSubexp()) {
		return nil, nil
	}
	all := re.FindAllStringSubmatchIndex(s[from:], int(n))
	if int64(len(all)) < n {
		return nil, nil
	}
	m := all[n-1][2*group : 2*group+2]
	if m[0] < 0 {
		return nil, nil
	}
	return []int{m[0] + from, m[1] + from}, nil
}

var groupRef = regexp.MustCompile(`\\[\d&\\]`)

func regexpReplace(_ *Env, a []types.Value) (types.Value, error) {
	re, all, err := flagged(a, 3, true)
	if err != nil {
		return types.Value{}, err
	}
	to := groupRef.ReplaceAllStringFunc(strings.ReplaceAll(a[2].Text(), "$", "$$"), func(m string) string {
		switch m {
		case `\&`:
			return "${0}"
		case `\\`:
			return `\`
		case `\0`:
			return m // PostgreSQL counts from 1
		}
		return "${" + m[1:] + "}"
	})
	s := a[0].Text()
	if all {
		if replacedTooLong(re, s, to) {
			return types.Value{}, errTooLong
		}
		return types.NewString(re.ReplaceAllString(s, to)), nil
	}
	m := re.FindStringSubmatchIndex(s)
	if m == nil {
		return a[0], nil
	}
	return types.NewString(s[:m[0]] + string(re.ExpandString(nil, to, s, m)) + s[m[1]:]), nil
}

// replacedTooLong reports whether s with all matches of re replaced by to can be longer than maxText. What the groups in
// to stand for is taken to be all of a match.
func replacedTooLong(re *regexp.Regexp, s, to string) bool {
	rest := len(s) * (1 + strings.Count(to, "${")) // matches do not overlap
	if rest+(len(s)+1)*len(to) <= maxText {
		return false
	}
	n := 0
	re.ReplaceAllStringFunc(s, func(string) string { n++; return "" })
	return rest+n*len(to) > maxText
}

package functions

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// The arguments follow PostgreSQL 16 (sections 9.4 and 9.7.3); the regular expressions are RE2's.
var regexpFunctions = []expr.Function{
	{Name: "REGEXP_LIKE", Group: "string", Signature: "regexp_like(text, pattern [, flags]) boolean", Doc: "Whether some part matches. Flags: i for any case, n for ^, $ and . line by line.", MinArgs: 2, MaxArgs: 3,
		Result: returns(types.Boolean, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			re, _, err := flagged(a, 2, false)
			if err != nil {
				return types.Value{}, err
			}
			return types.NewBool(re.MatchString(a[0].Text())), nil
		}, Key: patternAlgebra(false, func(c *expr.Call) (string, bool) {
			flags, _, err := flagsOf(append([]types.Value{{}}, constants(c.Args[1:])...), 2, false)
			return flags + c.ConstText(1), err == nil
		})},
	{Name: "REGEXP_COUNT", Group: "string", Small: true, Unknown: "matches stand anywhere in a text", Signature: "regexp_count(text, pattern [, start [, flags]]) bigint", Doc: "Number of matches from the character start (1) on.", MinArgs: 2, MaxArgs: 4,
		Result: returns(types.BigInt, isText, isText, isInt, isText), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			re, _, err := flagged(a, 3, false)
			if err != nil {
				return types.Value{}, err
			}
			from, err := startOf(a, 2)
			if err != nil || from < 0 {
				return types.NewInt(0), err
			}
			n := int64(0)
			err = eachMatch(env, re, a[0].Text()[from:], -1, func([]int) error { n++; return nil })
			return types.NewInt(n), err
		}},
	{Name: "REGEXP_INSTR", Group: "string", Small: true, Unknown: "matches stand anywhere in a text", Signature: "regexp_instr(text, pattern [, start [, n [, end [, flags [, group]]]]]) bigint",
		Doc: "Where the n-th match (the first) begins, or with end 1 the character after it; 0 when there is none.", MinArgs: 2, MaxArgs: 7,
		Result: returns(types.BigInt, isText, isText, isInt, isInt, isInt, isText, isInt), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			side := int64(0)
			if len(a) > 4 {
				if side = a[4].Int(); side != 0 && side != 1 {
					return types.Value{}, fmt.Errorf("end must be 0 or 1, not %d", side)
				}
			}
			m, err := nthMatch(env, a, 5)
			if m == nil {
				return types.NewInt(0), err
			}
			return types.NewInt(int64(utf8.RuneCountInString(a[0].Text()[:m[side]])) + 1), nil
		}},
	{Name: "REGEXP_SUBSTR", Group: "string", Key: matchAlgebra, Signature: "regexp_substr(text, pattern [, start [, n [, flags [, group]]]]) text",
		Doc: "The n-th match (the first), or a group of it; NULL when there is none.", MinArgs: 2, MaxArgs: 6,
		Result: returns(types.String, isText, isText, isInt, isInt, isText, isInt), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			m, err := nthMatch(env, a, 4)
			if m == nil {
				return types.Value{}, err
			}
			return types.NewString(a[0].Text()[m[0]:m[1]]), nil
		}},
	{Name: "SUBSTRING_MATCH", Group: "string", Signature: "substring(text FROM pattern) text",
		Doc: "The first match, or its first group where the pattern has groups; NULL when there is none.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.String, isText), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			re, _, err := flagged(a, 2, false)
			if err != nil {
				return types.Value{}, err
			}
			m, err := nthMatch(env, append(a, types.NewInt(1), types.NewInt(1), types.NewString(""), types.NewInt(int64(min(re.NumSubexp(), 1)))), 4)
			if m == nil {
				return types.Value{}, err
			}
			return types.NewString(a[0].Text()[m[0]:m[1]]), nil
		}, Key: matchAlgebra},
	likeList("LIKE_ANY", "Whether x LIKE one of the patterns of an array; ILIKE with 'ILIKE'.", true),
	likeList("LIKE_ALL", "Whether x LIKE each of the patterns of an array.", false),
	{Name: "REGEXP_MATCH", Group: "string", Unknown: "matches stand anywhere in a text; regexp_match IS NOT NULL is as regexp_like", Signature: "regexp_match(text, pattern [, flags]) text[]",
		Doc: "The groups of the first match, or the match where the pattern has none; NULL when there is no match.", MinArgs: 2, MaxArgs: 3,
		Result: returns(types.ArrayOf(types.String), isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			re, _, err := flagged(a, 2, false)
			if err != nil {
				return types.Value{}, err
			}
			m := re.FindStringSubmatchIndex(a[0].Text())
			if m == nil {
				return types.Value{}, nil
			}
			return types.NewArray(types.String, appendGroups(nil, a[0].Text(), m)), nil
		}},
	setOf("REGEXP_MATCHES", "regexp_matches(text, pattern [, flags]) text[]", "As regexp_match; with flag g a row for each match, without a match none.", 2, 3, returns(types.ArrayOf(types.String), isText), regexpMatches),
	{Name: "REGEXP_SPLIT_TO_ARRAY", Group: "string", Unknown: "matches stand anywhere in a text", Signature: "regexp_split_to_array(text, pattern [, flags]) text[]",
		Doc: "The parts of the text between the matches.", MinArgs: 2, MaxArgs: 3, Result: returns(types.ArrayOf(types.String), isText), Eval: regexpSplit},
	setOf("REGEXP_SPLIT_TO_TABLE", "regexp_split_to_table(text, pattern [, flags]) text", "As regexp_split_to_array, a row for each part.", 2, 3, returns(types.String, isText), regexpSplit),
	{Name: "REGEXP_REPLACE", Group: "string", Signature: "regexp_replace(text, pattern, to [, flags]) or regexp_replace(text, pattern, to, start [, n [, flags]]) text",
		Doc: "The first match replaced, with flag g every one; \\1 in to stands for a group, \\& for the match. From the character start on the n-th match, with n 0 every one.", MinArgs: 3, MaxArgs: 6,
		Result: returns(types.String, isText, isText, isText, func(t types.Type) bool { return isText(t) || isInt(t) }, isInt, isText), Eval: regexpReplace, Key: &expr.Algebra{Inverse: func(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
			if _, end := anchors(c.ConstText(1)); !end || c.ConstText(2) != "" || len(c.Args) > 4 || len(c.Args) == 4 && !isText(c.Args[3].Type()) || len(c.Args) == 4 && strings.Trim(c.ConstText(3), "gi") != "" {
				return nil, false, false
			}
			return invertHead(out)
		}}},
}

// appendGroups appends the groups of match m in s, or the match if the pattern has no groups.
func appendGroups(dst []types.Value, s string, m []int) []types.Value {
	if len(m) > 2 {
		m = m[2:]
	}
	for ; len(m) > 0; m = m[2:] {
		var v types.Value
		if m[0] >= 0 {
			v = types.NewString(s[m[0]:m[1]])
		}
		dst = append(dst, v)
	}
	return dst
}

// regexpMatches returns the groups of one or all matches, an array of two dimensions.
func regexpMatches(env *expr.Env, a []types.Value) (types.Value, error) {
	re, all, err := flagged(a, 2, true)
	if err != nil {
		return types.Value{}, err
	}
	n := 1
	if all {
		n = -1
	}
	var items []types.Value
	err = eachMatch(env, re, a[0].Text(), n, func(m []int) error {
		items = appendGroups(items, a[0].Text(), m)
		return env.RoomForItems(len(items))
	})
	width := max(1, re.NumSubexp())
	return types.NewArrayOf(types.ArrayOf(types.String), []types.Dim{{Lower: 1, Len: len(items) / width}, {Lower: 1, Len: width}}, items), err
}

// regexpSplit splits a text at the matches. An empty match splits between two characters, but not at the ends or directly
// after another match.
func regexpSplit(env *expr.Env, a []types.Value) (types.Value, error) {
	re, _, err := flagged(a, 2, false)
	if err != nil {
		return types.Value{}, err
	}
	s, from := a[0].Text(), 0
	var parts []types.Value
	err = eachMatch(env, re, s, -1, func(m []int) error {
		if m[0] < m[1] || m[0] > from && m[0] < len(s) {
			parts = append(parts, types.NewString(s[from:m[0]]))
			from = m[1]
		}
		return env.RoomForItems(len(parts))
	})
	return types.NewArray(types.String, append(parts, types.NewString(s[from:]))), err
}

// flagged compiles the pattern a[1] with the flags in a[at], if present: see flagsOf.
func flagged(a []types.Value, at int, global bool) (re *regexp.Regexp, all bool, err error) {
	flags, all, err := flagsOf(a, at, global)
	if err != nil {
		return nil, false, err
	}
	re, err = compileRegexp(flags + a[1].Text())
	return re, all, err
}

// flagsOf reads the flags a[at], if present: i ignores case, n treats lines separately (. stops at line ends, ^ and $
// match there), c and s are the opposites, and g, if global allows it, means all matches.
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

// startOf returns the byte offset in a[0] of the character with number a[at], counted from 1; -1 if it is after the end.
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

// eachMatch calls f for each of the first n matches of re in s, with the bytes of the match and of its groups. Unlike
// FindAllStringSubmatchIndex, and like PostgreSQL, it counts an empty match where the previous match ended. Each match may
// have to search the rest of the text, so env may stop it between two matches if the text is long.
func eachMatch(env *expr.Env, re *regexp.Regexp, s string, n int, f func(m []int) error) error {
	const short = 1 << 12
	if len(s) > short || n != 1 && (re.MatchString("") || strings.Contains(re.String(), `\b`)) { // re may match nothing
		// behind skips one character before each match, because ^ and \b may test that character. It does not compile
		// if re has a \Q without an end.
		if behind, err := compileRegexp(`\A.(?s:.*?)(` + re.String() + `)`); err == nil {
			return eachMatchBehind(env, re, behind, s, n, f)
		}
	}
	for _, m := range re.FindAllStringSubmatchIndex(s, n) {
		if err := f(m); err != nil {
			return err
		}
	}
	return nil
}

func eachMatchBehind(env *expr.Env, re, behind *regexp.Regexp, s string, n int, f func(m []int) error) error {
	for pos := 0; pos <= len(s) && n != 0; {
		if err := env.Stopped(); err != nil {
			return err
		}
		var m []int
		if pos == 0 {
			m = re.FindStringSubmatchIndex(s)
		} else {
			_, width := utf8.DecodeLastRuneInString(s[:pos])
			if m = behind.FindStringSubmatchIndex(s[pos-width:]); m != nil {
				m = m[2:]
				for i := range m {
					if m[i] >= 0 {
						m[i] += pos - width
					}
				}
			}
		}
		if m == nil {
			return nil
		}
		if pos = m[1]; m[0] == pos {
			_, width := utf8.DecodeRuneInString(s[pos:])
			pos += max(width, 1)
		}
		n--
		if err := f(m); err != nil {
			return err
		}
	}
	return nil
}

// nthMatch returns the bytes of a match in a[0]: the a[3]-th one from character a[2] on, with the flags in a[flags] and
// the group in the next argument.
func nthMatch(env *expr.Env, a []types.Value, flags int) ([]int, error) {
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
	var found []int
	err = eachMatch(env, re, s[from:], int(n), func(m []int) error {
		if n--; n == 0 && m[2*group] >= 0 {
			found = []int{m[2*group] + from, m[2*group+1] + from}
		}
		return nil
	})
	return found, err
}

var groupRef = regexp.MustCompile(`\\[\d&\\]`)

func regexpReplace(env *expr.Env, a []types.Value) (types.Value, error) {
	at, from, nth := 3, 0, int64(1)
	if len(a) > 3 && !isText(a[3].Type()) {
		var err error
		if from, err = startOf(a, 3); err != nil || from < 0 {
			return a[0], err
		}
		if at = 5; len(a) > 4 {
			if nth = a[4].Int(); nth < 0 {
				return types.Value{}, fmt.Errorf("REGEXP_REPLACE takes the number of a match, or 0 for all, not %d", nth)
			}
		}
	}
	re, all, err := flagged(a, at, true)
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
	s := a[0].Text()[from:]
	n := int(min(nth, math.MaxInt32))
	if n == 0 || all && at == 3 {
		n = -1
	}
	out := []byte(a[0].Text()[:from])
	end := 0
	err = eachMatch(env, re, s, n, func(m []int) error {
		if n--; n > 0 {
			return nil
		}
		out = re.ExpandString(append(out, s[end:m[0]]...), to, s, m)
		if end = m[1]; len(out) > expr.MaxText {
			return expr.ErrTooLong
		}
		return nil
	})
	if err != nil {
		return types.Value{}, err
	}
	if len(out)+len(s)-end > expr.MaxText {
		return types.Value{}, expr.ErrTooLong
	}
	return types.NewString(string(append(out, s[end:]...))), nil
}

// likeList returns a function that compares a text with the patterns of an array, until a comparison returns decides.
func likeList(name, doc string, decides bool) expr.Function {
	return expr.Function{Name: name, Group: "string", Unknown: "the patterns are not constants", Signature: strings.ToLower(name) + "(x, patterns [, 'ILIKE']) boolean", Doc: doc, MinArgs: 2, MaxArgs: 3,
		Result: returns(types.Boolean, isText, isPath, isText), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			patterns := a[1]
			if !patterns.Type().IsArray() {
				var err error
				if patterns, err = types.Cast(patterns, types.ArrayOf(types.String), nil); err != nil {
					return types.Value{}, err
				}
			}
			lower := func(v types.Value) types.Value {
				if v.IsNull() || len(a) < 3 || a[2].Text() != "ILIKE" {
					return v
				}
				return types.NewString(strings.ToLower(v.Text()))
			}
			unknown, x := false, &expr.Const{Val: lower(a[0]), Typ: types.String}
			for _, p := range patterns.Items() {
				is, err := (&expr.Like{X: x, Pattern: &expr.Const{Val: lower(p), Typ: types.String}}).Eval(env)
				if err != nil || !is.IsNull() && is.Bool() == decides {
					return is, err
				}
				unknown = unknown || is.IsNull()
			}
			if unknown {
				return types.Value{}, nil
			}
			return types.NewBool(!decides), nil
		}}
}

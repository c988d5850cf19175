package functions

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// momentFormat returns the format of TO_DATE and TO_TIMESTAMP; ok is false for a format that does not consist of
// numbers, beginning with the year.
func momentFormat(format string) (f *solve.MomentFormat, ok bool) {
	units := []string{"YYYY", "MM", "DD", "HH24", "MI", "SS"}
	patterns, before := parseFormat(format), ""
	f = &solve.MomentFormat{Read: func(s string) (types.Value, error) { _, err := parseTime(s, format); return types.Value{}, err },
		Usual: func(v types.Value) []string { return []string{formatTime(time.UnixMilli(millis(v)).UTC(), format, "")} }}
	for i, p := range patterns {
		unit := slices.Index(units, p.name)
		switch {
		case p.name == "" && strings.ContainsFunc(p.text, func(r rune) bool { return r > unicode.MaxASCII || unicode.IsLetter(r) || unicode.IsDigit(r) }):
			return nil, false
		case p.name == "":
			before, f.Separators = before+p.text, f.Separators+p.text
			continue
		case formatUnit[p.name] > 7 && i+1 == len(patterns): // a fraction of the second
			continue
		case unit != len(f.Numbers) || p.th != "" || unit == 0 && before != "":
			return nil, false
		}
		n := solve.Digits{Unit: unit, Before: before, Loose: true, Least: 1, Most: len(p.name)}
		if unit > 0 {
			n.Most = 2
		}
		if i+1 == len(patterns) || patterns[i+1].name == "" {
			n.Most = 9 // see timeReader.number
		}
		f.Numbers, before = append(f.Numbers, n), ""
	}
	return f, len(f.Numbers) > 0
}

// invertFormat inverts TO_DATE and TO_TIMESTAMP of a text.
func invertFormat(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
	if len(c.Args) < 2 {
		return nil, false, false
	}
	f, ok := momentFormat(c.ConstText(1))
	if !ok {
		return nil, false, false
	}
	return f.Texts(c.Typ, out), false, true
}

// invertCalendar inverts TO_CHAR for single texts that contain all units from the year to the smallest unit of the
// format, in any order.
//
//	TO_CHAR(ts, 'DD.MM.YYYY') = '12.01.2026'     that day
func invertCalendar(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
	if !momentType(c).IsMoment() {
		return nil, false, false
	}
	told, smallest := 0, 0
	for _, p := range parseFormat(c.ConstText(1)) {
		u := formatUnit[p.name]
		if p.name != "" && (!p.fill || p.th != "" || !slices.Contains([]string{"YYYY", "MM", "MON", "MONTH", "DD", "HH24", "MI", "SS"}, p.name)) {
			return nil, false, false
		}
		told, smallest = told|1<<u, max(smallest, u)
	}
	if (told|1<<2)&^1 != 1<<(smallest+1)-2 { // 2 is the quarter
		return nil, false, false
	}
	for _, iv := range out {
		at, err := parseTime(iv.Lo.Text(), c.ConstText(1))
		lo := solve.MomentAs(momentType(c), at.UnixMilli())
		if v, failed := c.EvalWith(lo); err != nil || failed != nil || !iv.IsPoint() || !v.Identical(iv.Lo) {
			return nil, false, false
		}
		next := map[int]time.Time{1: at.AddDate(1, 0, 0), 3: at.AddDate(0, 1, 0), 4: at.AddDate(0, 0, 1), 5: at.Add(time.Hour), 6: at.Add(time.Minute), 7: at.Add(time.Second)}[smallest]
		if momentType(c) == types.Date && smallest > 4 {
			next = at.AddDate(0, 0, 1)
		}
		pre = append(pre, types.Interval{Lo: lo, Hi: solve.MomentAs(momentType(c), next.UnixMilli()), HiOpen: true})
	}
	return types.SetOf(pre...), true, true
}

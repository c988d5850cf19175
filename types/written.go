package types

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	writtenDate = regexp.MustCompile(`(?i)^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?([a-z]{3,}|\d+)[-/. ] *([a-z]{3,}|\d+)(?:, *|[-/. ] *)(\d+)(.*)$`)
	// yearLast is the form of the Unix command date: Jul 11 10:51:14 PST 2001
	yearLast   = regexp.MustCompile(`(?i)^((?:[a-z]{3,} +)?[a-z]{3,} +\d+) +(\d+:\S+)( +[a-z]\S*)? +(\d{4,})\b(.*)$`)
	halfOfDay  = regexp.MustCompile(`(?i)^(.*?)\b(0?[1-9]|1[0-2])((?::\d+){1,2}(?:\.\d+)?) *(am|pm)\b(.*)$`)
	zoneLetter = regexp.MustCompile(`(?i)^(.*\d) *([a-z]{2,4})$`)
)

// zoneHours holds hours ahead of UTC. An abbreviation of several zones has the meaning that PostgreSQL gives it.
var zoneHours = map[string]int{"HST": -10, "AKST": -9, "AKDT": -8, "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4,
	"AST": -4, "ADT": -3, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "JST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13}

// NoTime is an unknown time, at which Read reads of the words only epoch.
const NoTime = math.MinInt64

// Read casts v as Cast does. It reads dates, times and moments also in the other notations that PostgreSQL reads by default
// (Jan 5, 2024; 5-Jan-2024; 01/05/2024, the month before the day; 3:04 PM; 10:00 EST), and the words now, today, tomorrow,
// yesterday and epoch. now is the time in milliseconds since 1970, or NoTime. Cast does not read these forms, because their
// order is not the order of time.
func Read(v Value, to Type, now int64, loc *time.Location) (Value, error) {
	elem := to.ElemOrSelf()
	if !v.typ.ElemOrSelf().IsText() || elem != Date && elem != Time && !elem.IsTimestamp() {
		return Cast(v, to, loc)
	}
	if to.IsArray() {
		texts, err := Cast(v, ArrayOf(String), loc)
		if err != nil {
			return texts, err
		}
		return texts.retyped(to, func(x Value) (Value, error) { return Read(x, elem, now, loc) })
	}
	if word, ok := momentWord(v.s, now, cmp.Or(loc, time.UTC)); ok && to != Time {
		return Cast(word, to, loc)
	}
	out, err := Cast(v, to, loc)
	if err != nil {
		if respelled, bad := Cast(NewString(respell(v.s)), to, loc); bad == nil {
			return respelled, nil
		}
	}
	return out, err
}

// momentWord returns the moment for now, today, tomorrow, yesterday or epoch; ok is false for other words.
func momentWord(text string, now int64, loc *time.Location) (v Value, ok bool) {
	days := 0
	switch word := strings.ToLower(strings.TrimSpace(text)); {
	case word == "epoch":
		return NewString("1970-01-01 00:00:00Z"), true
	case now == NoTime:
		return Value{}, false
	case word == "now":
		return NewTimestamp(now), true
	case word == "today":
	case word == "tomorrow":
		days = 1
	case word == "yesterday":
		days = -1
	default:
		return Value{}, false
	}
	return NewString(time.UnixMilli(now).In(loc).AddDate(0, 0, days).Format(time.DateOnly)), true
}

// respell returns a date, time or moment in the notation of ISO 8601. The result need not be a valid time.
func respell(s string) (iso string) {
	iso = yearLast.ReplaceAllString(strings.TrimSpace(s), "$1 $4 $2$3$5")
	if m := zoneLetter.FindStringSubmatch(iso); m != nil {
		if hours, ok := zoneHours[strings.ToUpper(m[2])]; ok {
			iso = fmt.Sprintf("%s%+03d", m[1], hours)
		} else if strings.EqualFold(m[2], "AD") {
			iso = m[1]
		}
	}
	if m := halfOfDay.FindStringSubmatch(iso); m != nil {
		hour, _ := strconv.Atoi(m[2])
		if hour %= 12; strings.EqualFold(m[4], "PM") {
			hour += 12
		}
		iso = fmt.Sprintf("%s%02d%s%s", m[1], hour, m[3], m[5])
	}
	if m := writtenDate.FindStringSubmatch(iso); m != nil {
		year, month, day, rest := m[3], m[1], m[2], m[4]
		switch named := monthNumber(month) != ""; {
		case len(month) > 2 && !named:
			year, month, day = m[1], m[2], m[3]
		case !named && monthNumber(day) != "":
			month, day = day, month
		}
		if len(year) <= 2 && !strings.HasSuffix(rest, " BC") {
			n, _ := strconv.Atoi(year)
			if n += 1900; n < 1970 {
				n += 100
			}
			year = strconv.Itoa(n)
		}
		iso = fmt.Sprintf("%04s-%02s-%02s%s", year, cmp.Or(monthNumber(month), month), day, rest)
	}
	return iso
}

// monthNumber returns the number of a month that has its name, the name's first three letters, or Sept.
func monthNumber(name string) string {
	for m := time.January; m <= time.December; m++ {
		if full := m.String(); strings.EqualFold(name, full) || strings.EqualFold(name, full[:3]) || m == time.September && strings.EqualFold(name, "sept") {
			return strconv.Itoa(int(m))
		}
	}
	return ""
}

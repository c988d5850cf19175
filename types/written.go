package types

import (
	"cmp"
	"fmt"
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

// RespellTime returns a date, time or moment in the notation of ISO 8601, if s has another one that PostgreSQL reads by
// default: Jan 5, 2024; 5-Jan-2024; 01/05/2024, the month before the day; 3:04 PM; 10:00 EST. The result need not be a
// valid time. A cast of a value does not read these forms, because their order is not the order of time.
func RespellTime(s string) (iso string, ok bool) {
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
	return iso, iso != s
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

package check

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/hql-db/hql/internal/words"
)

// Formats are the names of the formats in which Write writes results.
var Formats = []string{"text", "json", "sarif", "github"}

// Write writes results in one of Formats.
func Write(w io.Writer, format string, results []Result) error {
	switch format {
	case "json":
		out := struct {
			Statements []Result        `json:"statements"`
			Summary    map[Verdict]int `json:"summary"`
		}{append([]Result{}, results...), map[Verdict]int{}}
		for _, r := range results {
			out.Summary[r.Verdict]++
		}
		return writeJSON(w, out)
	case "sarif":
		return writeJSON(w, sarif(results))
	}
	line := textLine
	if format == "github" {
		line = annotation
	}
	for i := range results {
		if _, err := io.WriteString(w, line(&results[i])); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// textLine returns a result as a line for users, with the position in the form that editors can follow.
func textLine(r *Result) string {
	note := ""
	if r.Excused {
		note = " (excused)"
	}
	return fmt.Sprintf("%s:%d:%d: %s%s: %s\n", printable(r.File), r.Line, r.Column, r.Verdict, note, printable(r.Text))
}

// printable replaces control characters in text.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 {
			return '\uFFFD'
		}
		return c
	}, text)
}

// annotation returns a result as a workflow command of GitHub, which shows it at the line; "" for a result without
// problems.
func annotation(r *Result) string {
	kind := "error"
	switch {
	case r.Fails() || r.Verdict == Failed:
	case r.Verdict == Unchecked:
		kind = "notice"
	default:
		return ""
	}
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace
	property := func(s string) string { return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(s)) }
	return fmt.Sprintf("::%s file=%s,line=%d,col=%d,title=%s::%s\n", kind, property(r.File), r.Line, r.Column, property("hql check: "+string(r.Verdict)), message(r.Text))
}

// Summary returns the counts of verdicts in one line: 40 statements: 37 hit, 2 miss (1 excused), 1 unchecked.
func Summary(results []Result) string {
	var parts []string
	for _, v := range []Verdict{Hit, Allowed, Skip, Miss, Unclear, Failed, Unchecked} {
		all, excused := 0, 0
		for _, r := range results {
			switch {
			case r.Verdict != v:
				continue
			case r.Excused:
				excused++
			}
			all++
		}
		if all == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", all, v)
		if excused > 0 {
			part += fmt.Sprintf(" (%d excused)", excused)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "no statement found"
	}
	return words.Count(len(results), "statement") + ": " + strings.Join(parts, ", ")
}

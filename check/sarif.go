package check

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// The parts of a SARIF 2.1.0 log that check writes.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID            string    `json:"id"`
		Short         sarifText `json:"shortDescription"`
		HelpURI       string    `json:"helpUri"`
		Configuration struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				Line   int `json:"startLine"`
				Column int `json:"startColumn"`
			} `json:"region"`
		} `json:"physicalLocation"`
	}
	sarifSuppression struct {
		Kind string `json:"kind"`
	}
)

// sarifRules are the verdicts that a log has, with their levels.
var sarifRules = []struct {
	verdict     Verdict
	level, text string
}{
	{Miss, "error", "The statement misses the prefix of the rowkey."},
	{Skip, "error", "The statement hits the prefix of the rowkey by a skip scan only."},
	{Unclear, "error", "How the statement reads its tables is not known."},
	{Failed, "error", "The statement cannot be parsed or planned."},
	{Unchecked, "note", "The statement is not known before the program runs."},
}

const manualURI = "https://github.com/hql-db/hql/blob/main/docs/check.md"

// sarif returns a log of the results with problems, including the excused ones.
func sarif(results []Result) sarifLog {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "hql check", InformationURI: manualURI}
	for _, r := range sarifRules {
		rule := sarifRule{ID: string(r.verdict), Short: sarifText{r.text}, HelpURI: manualURI}
		rule.Configuration.Level = r.level
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
	}
	for _, r := range results {
		i := slices.IndexFunc(run.Tool.Driver.Rules, func(s sarifRule) bool { return s.ID == string(r.Verdict) })
		if i < 0 {
			continue
		}
		out := sarifResult{RuleID: string(r.Verdict), RuleIndex: i, Level: sarifRules[i].level, Message: sarifText{r.Text}, Locations: make([]sarifLocation, 1)}
		at := &out.Locations[0].Physical
		at.Artifact.URI, at.Region.Line, at.Region.Column = uri(r.File), r.Line, r.Column
		sum := sha256.Sum256([]byte(filepath.ToSlash(filepath.Clean(r.File)) + "\t" + string(r.Verdict) + "\t" + r.SQL)) // without the line, which changes
		out.Fingerprints = map[string]string{"hqlStatement/v1": hex.EncodeToString(sum[:8])}
		if r.Excused {
			out.Suppressions = []sarifSuppression{{"inSource"}}
		}
		run.Results = append(run.Results, out)
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// uri returns a file's name as a reference relative to the repository, or as a file URI if it is absolute.
func uri(name string) string {
	u := url.URL{Path: filepath.ToSlash(name)}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
		u.Path = "/" + strings.TrimPrefix(u.Path, "/")
	}
	return u.String()
}

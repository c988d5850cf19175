package check

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"strings"
)

// object is an object of a SARIF 2.1.0 log.
type object map[string]any

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
func sarif(results []Result) object {
	var rules []object
	for _, r := range sarifRules {
		rules = append(rules, object{"id": r.verdict, "shortDescription": object{"text": r.text}, "helpUri": manualURI,
			"defaultConfiguration": object{"level": r.level}})
	}
	found := []object{}
	for i := range results {
		if of := results[i].sarif(); of != nil {
			found = append(found, of)
		}
	}
	driver := object{"name": "hql check", "informationUri": manualURI, "rules": rules}
	run := object{"tool": object{"driver": driver}, "columnKind": "unicodeCodePoints", "results": found}
	return object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{run}}
}

// sarif returns the entry for r in a log; nil if r has no problem.
func (r *Result) sarif() object {
	for i, rule := range sarifRules {
		if rule.verdict != r.Verdict {
			continue
		}
		place := object{"artifactLocation": object{"uri": uri(r.File)}, "region": object{"startLine": r.Line, "startColumn": r.Column}}
		sum := sha256.Sum256([]byte(filepath.ToSlash(filepath.Clean(r.File)) + "\t" + string(r.Verdict) + "\t" + r.SQL)) // without the line, which changes
		out := object{"ruleId": r.Verdict, "ruleIndex": i, "level": rule.level, "message": object{"text": r.Text},
			"locations":           []object{{"physicalLocation": place}},
			"partialFingerprints": object{"hqlStatement/v1": hex.EncodeToString(sum[:8])}}
		if r.Excused {
			out["suppressions"] = []object{{"kind": "inSource"}}
		}
		return out
	}
	return nil
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

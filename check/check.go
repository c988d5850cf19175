package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// Verdict is the judgement of a statement.
type Verdict string

// The verdicts.
const (
	Hit       Verdict = "hit"       // conditions on the rowkey bound every read, or nothing is read
	Allowed   Verdict = "allowed"   // it misses the prefix, but ALLOW FULL SCAN or a small LIMIT allows it
	Skip      Verdict = "skip"      // it hits the prefix only by a skip scan
	Miss      Verdict = "miss"      // the full-scan guard would refuse it
	Unclear   Verdict = "unclear"   // no known values make it read anything
	Failed    Verdict = "error"     // it cannot be parsed or planned
	Unchecked Verdict = "unchecked" // its text is unknown before the program runs
)

// Bad reports whether a build should fail because of the verdict, unless the statement is excused.
func (v Verdict) Bad() bool { return v == Skip || v == Miss || v == Unclear }

// Read describes how a statement reads one table.
type Read struct {
	Table  string `json:"table"`
	Layout string `json:"layout"`
	Access string `json:"access"`           // as in EXPLAIN (FORMAT JSON)
	Bound  int    `json:"bound"`            // parts of the key that the plan uses
	Parts  int    `json:"parts"`            // parts that are not literals
	Advice string `json:"advice,omitempty"` // the condition to add to hit the prefix
}

// Result is the judgement of one statement.
type Result struct {
	File    string  `json:"file"`
	Line    int     `json:"line"`
	Column  int     `json:"column"` // in characters, counted from 1
	Verdict Verdict `json:"verdict"`
	// Text describes in one line how the statement reads its tables and which condition to add, or why it cannot be
	// judged.
	Text    string `json:"text"`
	Reads   []Read `json:"reads,omitempty"`
	SQL     string `json:"sql"`               // on one line
	Excused bool   `json:"excused,omitempty"` // a comment allows the full scan
}

// Fails reports whether a build should fail because of r.
func (r *Result) Fails() bool { return r.Verdict.Bad() && !r.Excused }

// ByPlace compares results by file and position.
func ByPlace(a, b Result) int {
	return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
}

// Checker judges statements over the tables of a catalog.
type Checker struct {
	catalog *catalog.Catalog
	engine  *exec.Engine
}

// New returns a Checker. It adds definitions in the checked sources to the catalog.
func New(c *catalog.Catalog) *Checker {
	return &Checker{c, exec.New(nil, c, exec.Config{FullScan: exec.DenyFullScan, Funcs: c.Funcs(), NoFiles: true})}
}

// Statement judges one statement. Its parameters may have any values.
func (c *Checker) Statement(ctx context.Context, sql string) Result {
	r := Result{SQL: oneLine(sql)}
	s, err := parser.ParseStatement(sql)
	if err == nil {
		err = c.judge(ctx, s, &r)
	}
	if err != nil {
		r.fail(err)
	}
	return r
}

// oneLine returns a statement's text without line breaks.
func oneLine(sql string) string { return strings.Join(strings.Fields(sql), " ") }

// fail sets the verdict Failed with the text of err.
func (r *Result) fail(err error) {
	r.Verdict, r.Text = Failed, err.Error()
	if e, ok := errors.AsType[*parser.Error](err); ok {
		if r.Text = e.Msg; e.Hint != "" {
			r.Text += "; " + e.Hint
		}
	}
}

// judge plans s and sets the verdict of r.
func (c *Checker) judge(ctx context.Context, s parser.Statement, r *Result) error {
	u, err := c.engine.PlanUnbound(ctx, s)
	if err != nil {
		return err
	}
	r.Verdict = Hit
	if u.Plan == nil || len(u.Plan.Scans()) == 0 {
		r.Text = "reads no table"
		return nil
	}
	scans := u.Plan.Scans()
	misses := func(s *plan.Scan) bool { return !s.Access.HitsPrefix() }
	tell := func(*plan.Scan) bool { return true }
	switch {
	case u.Refused != nil:
		r.Verdict, tell = Miss, misses
	case u.SkipScan():
		r.Verdict, tell = Skip, func(s *plan.Scan) bool { return s.Access == plan.SkipScan }
	case u.Unclear:
		r.Verdict = Unclear
	case !u.Plan.HitsPrefix():
		r.Verdict, tell = Allowed, misses
	}
	var texts []string
	for _, s := range scans {
		r.Reads = append(r.Reads, readOf(s))
		if !tell(s) {
			continue
		}
		text := explain.Headline(s)
		if a := s.Advice(); a != "" && misses(s) {
			text += "; " + a
		}
		texts = append(texts, text)
	}
	if r.Text = strings.Join(texts, "; "); u.If != "" {
		r.Text = fmt.Sprintf("if %s: %s", u.If, r.Text)
	}
	if r.Verdict == Unclear {
		r.Text = "the values that hql made up for the parameters contradict the conditions, so the plan is not known; write constants, or excuse the statement"
	}
	return nil
}

func readOf(s *plan.Scan) Read {
	r := Read{Table: s.Table.Name, Layout: s.Layout.Name, Access: s.Access.String()}
	for _, p := range s.Key {
		switch p.Use {
		case plan.Literal:
		case plan.Unused, plan.Skipped:
			r.Parts++
		default:
			r.Parts, r.Bound = r.Parts+1, r.Bound+1
		}
	}
	if !s.Access.HitsPrefix() {
		r.Advice = s.Advice()
	}
	return r
}

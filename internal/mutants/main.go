package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/hql-db/hql/internal/mutants/active"
)

// options are the flags.
type options struct {
	packages, suites []string
	n, at            int
	seed             uint64
	longest, limit   time.Duration
	first            time.Duration
	mends            bool
	only, run        *regexp.Regexp
	skip             string
}

func main() {
	o := options{}
	pkgs := flag.String("packages", "planner planner/access catalog exec exec/lookup exec/operator exec/scan hbase store", "the packages whose code is changed")
	suites := flag.String("suites", "types expr catalog parser planner planner/access explain filter store hbase exec/lookup exec/operator exec/scan exec . advise sqldriver", "the packages whose tests are run")
	flag.IntVar(&o.n, "n", 500, "how many mutants are tried")
	flag.IntVar(&o.at, "p", runtime.GOMAXPROCS(0), "how many processes run tests at a time")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "draws the sample, and is HQL_SEED of the tests")
	flag.DurationVar(&o.longest, "longest", 30*time.Second, "tests that take more of the processor's time are left out")
	flag.DurationVar(&o.first, "first", 5*time.Second, "what a mutant may cost before all others have been tried as long")
	flag.DurationVar(&o.limit, "time", 24*time.Hour, "when no further test is begun: those up to the first that was not tried to the end are still a random sample")
	flag.BoolVar(&o.mends, "mends", false, "take back the mends that are kept, one at a time")
	only := flag.String("only", "", "only the places, as file:line: change, or the mends that match this regular expression")
	run := flag.String("run", "", "only the tests that match this regular expression")
	flag.StringVar(&o.skip, "skip", "", "not the tests that match this regular expression, such as long ones")
	flag.Parse()
	o.packages, o.suites = strings.Fields(*pkgs), strings.Fields(*suites)
	var err error
	if o.only, err = regexp.Compile(*only); err == nil {
		o.run, err = regexp.Compile(*run)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	try := tryMutants
	if o.mends {
		try = tryMends
	}
	if err := try(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// tryMutants draws a sample, tries it and prints what came of it.
func tryMutants(ctx context.Context, o options) error {
	fmt.Printf("seed %d\n", o.seed)
	sites, err := sample(o)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := rewrite(dir, sites)
	if err != nil {
		return err
	}
	trials, err := trySites(ctx, dir, overlay, sites, o)
	if err != nil {
		return err
	}
	report(trials, sites, o)
	return ctx.Err()
}

// trySites compiles the suites, the code replaced as overlay says, and tries what has been put at sites.
func trySites(ctx context.Context, dir, overlay string, sites []site, o options) ([]trial, error) {
	all, err := build(ctx, dir, overlay, o)
	if err != nil {
		return nil, err
	}
	if err := measure(ctx, dir, all, o); err != nil {
		return nil, err
	}
	return tryAll(ctx, all, sites, o), nil
}

// trial is what came of a mutant so far.
type trial struct {
	n    int
	left []batch // tests that were not run yet, those of one process together
	by   string  // what noticed it
}

// tryAll tries the mutants twice: with the tests that cost least, and those that no test has noticed with the rest.
func tryAll(ctx context.Context, all []*suite, sites []site, o options) []trial {
	end := time.Now().Add(o.limit)
	trials := make([]trial, len(sites))
	for n := range trials {
		trials[n] = trial{n: n, left: batches(n, filepath.ToSlash(filepath.Dir(sites[n].file)), all)}
		if len(trials[n].left) == 0 {
			fmt.Printf("%4d SURVIVED %s: no test comes past it\n", n, sites[n])
		}
	}
	for _, cost := range []time.Duration{o.first, math.MaxInt64} {
		inParallel(o.at, len(trials), func(n int) {
			t := &trials[n]
			if t.by != "" || len(t.left) == 0 {
				return
			}
			for spent := time.Duration(0); t.by == "" && len(t.left) > 0 && (spent == 0 || spent+t.left[0].took <= cost); {
				if ctx.Err() != nil || time.Now().After(end) {
					return
				}
				spent += t.left[0].took
				by := t.left[0].notice(ctx, n, o)
				if ctx.Err() != nil {
					return
				}
				t.by, t.left = by, t.left[1:]
			}
			switch {
			case t.by != "":
				fmt.Printf("%4d noticed by %-40s %s\n", n, t.by, sites[n])
			case len(t.left) == 0:
				fmt.Printf("%4d SURVIVED %s\n", n, sites[n])
			}
		})
	}
	return trials
}

// report prints the score. A mutant that was noticed by few tests before the time was over counts only
// where those before it in the sample have been tried to the end, or else those easily noticed would be more.
func report(trials []trial, sites []site, o options) {
	tried, noticed := 0, 0
	var survivors []string
	for _, t := range trials {
		if t.by == "" && len(t.left) > 0 {
			break
		}
		tried++
		if t.by != "" {
			noticed++
		} else {
			survivors = append(survivors, sites[t.n].String())
		}
	}
	atLeast, open := 0, 0
	for _, t := range trials {
		switch {
		case t.by != "":
			atLeast++
		case len(t.left) > 0:
			open++
		}
	}
	fmt.Printf("figures: mutants tried %d, noticed %d (%.1f %%), seed %d\n", tried, noticed, 100*float64(noticed)/float64(max(tried, 1)), o.seed)
	if open > 0 {
		fmt.Printf("of all %d drawn: noticed %d, not tried to the end %d\n", len(trials), atLeast, open)
	}
	slices.Sort(survivors)
	for _, s := range survivors {
		fmt.Println("survivor", s)
	}
}

// sample draws sites that do not overlap.
func sample(o options) ([]site, error) {
	cfg := &packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax |
		packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps}
	var patterns []string
	for _, p := range o.packages {
		patterns = append(patterns, "./"+p)
	}
	pkgs, err := packages.Load(cfg, patterns...)
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return nil, errors.New("the code does not compile")
	}
	var all []site
	for _, p := range pkgs {
		s, err := findSites(p, os.ReadFile)
		if err != nil {
			return nil, err
		}
		all = append(all, s...)
	}
	slices.SortFunc(all, func(a, b site) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.what, b.what))
	})
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(o.seed, 0))
	rnd.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	var out []site
	for _, s := range all {
		if len(out) == o.n {
			break
		}
		if rel, err := filepath.Rel(here, s.file); err == nil {
			s.file = rel
		}
		if o.only.MatchString(s.String()) && !slices.ContainsFunc(out, func(t site) bool { return t.file == s.file && s.from < t.to && t.from < s.to }) {
			out = append(out, s)
		}
	}
	fmt.Printf("%d places, %d of them drawn\n", len(all), len(out))
	return out, nil
}

// rewrite writes the files that have sites with all mutants in them, and the overlay that puts them in place.
func rewrite(dir string, sites []site) (string, error) {
	of := map[string][]int{}
	for n, s := range sites {
		of[s.file] = append(of[s.file], n)
	}
	replace := map[string]string{}
	for name, numbers := range of {
		src, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		slices.SortFunc(numbers, func(a, b int) int { return sites[b].from - sites[a].from })
		for _, n := range numbers {
			s := sites[n]
			src = slices.Concat(src[:s.from], []byte(s.code(n)), src[s.to:])
		}
		if err := overlaid(dir, name, importActive(src), replace); err != nil {
			return "", err
		}
	}
	return writeOverlay(dir, replace)
}

// importActive adds the import of package active to a file.
func importActive(src []byte) []byte {
	i := bytes.Index(src, []byte("\npackage "))
	if bytes.HasPrefix(src, []byte("package ")) {
		i = -1
	}
	end := i + 1 + bytes.IndexByte(src[i+1:], '\n')
	return slices.Concat(src[:end], []byte("; import "+activeName+" \""+activePath+"\""), src[end:])
}

// overlaid keeps src in dir in place of the file name.
func overlaid(dir, name string, src []byte, replace map[string]string) error {
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, strings.ReplaceAll(filepath.ToSlash(name), "/", "__"))
	replace[abs] = to
	return os.WriteFile(to, src, 0o644)
}

func writeOverlay(dir string, replace map[string]string) (string, error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o644)
}

// suite is the tests of a package, compiled.
type suite struct {
	pkg, binary string
	tests       []*test
}

// test is a test, fuzz target's seeds or example of a suite.
type test struct {
	suite   *suite
	name    string
	took    time.Duration // of the processor
	lasted  time.Duration
	reaches map[int]bool
}

// build compiles the suites.
func build(ctx context.Context, dir, overlay string, o options) ([]*suite, error) {
	var out []*suite
	for _, p := range o.suites {
		s := &suite{pkg: p, binary: filepath.Join(dir, strings.ReplaceAll(p, "/", "_")+".test")}
		cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-overlay", overlay, "-c", "-o", s.binary, "./"+p)
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("compile the tests of %s: %v\n%s", p, err, text)
		}
		if _, err := os.Stat(s.binary); err == nil {
			out = append(out, s)
		}
	}
	return out, nil
}

// run runs tests of s for so long, and so long of the processor's time. It gives what they print, the processor's time
// that they took, and fails as they do.
func (s *suite) run(ctx context.Context, limit, cpu time.Duration, pattern string, o options, env ...string) ([]byte, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -t "$0" && exec "$@"`, strconv.Itoa(int(cpu.Seconds()+1)),
		s.binary, "-test.run", pattern, "-test.skip", o.skip, "-test.failfast", "-test.timeout", limit.String())
	cmd.Dir = s.pkg
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), fmt.Sprintf("HQL_SEED=%d", o.seed), "HQL_TEST_HBASE=none")
	cmd.Env = append(cmd.Env, env...)
	text, err := cmd.CombinedOutput()
	took := time.Duration(0)
	if cmd.ProcessState != nil {
		took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return text, took, err
}

// measure runs each test without a mutant: what it costs, and which places it comes past. What fails
// by itself is left out and told.
func measure(ctx context.Context, dir string, all []*suite, o options) error {
	for _, s := range all {
		cmd := exec.CommandContext(ctx, s.binary, "-test.list", ".")
		cmd.Dir = s.pkg
		text, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("list the tests of %s: %w", s.pkg, err)
		}
		for name := range strings.FieldsSeq(string(text)) {
			if !strings.HasPrefix(name, "Benchmark") && o.run.MatchString(name) {
				s.tests = append(s.tests, &test{suite: s, name: name})
			}
		}
	}
	var tests []*test
	for _, s := range all {
		tests = append(tests, s.tests...)
	}
	inParallel(o.at, len(tests), func(i int) {
		t := tests[i]
		log := filepath.Join(dir, fmt.Sprintf("reached%d", i))
		began := time.Now()
		_, took, err := t.suite.run(ctx, patience*patience*o.longest, o.longest, "^"+t.name+"$", o, active.ReachedEnv+"="+log)
		t.took, t.lasted = took, time.Since(began)
		if err != nil || t.took > o.longest {
			if ctx.Err() == nil {
				fmt.Printf("left out: %s of %s, %.1f s, %v\n", t.name, t.suite.pkg, t.took.Seconds(), err)
			}
			return
		}
		t.reaches = numbersIn(log)
	})
	total := time.Duration(0)
	for _, s := range all {
		s.tests = slices.DeleteFunc(s.tests, func(t *test) bool { return len(t.reaches) == 0 })
		for _, t := range s.tests {
			total += t.took
		}
	}
	fmt.Printf("%d tests, of which those that come past a place take %.0f s\n", len(tests), total.Seconds())
	return ctx.Err()
}

// numbersIn reads a file of numbers; a file that is not there has none.
func numbersIn(name string) map[int]bool {
	out := map[int]bool{}
	f, err := os.Open(name)
	if err != nil {
		return out
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			out[n] = true
		}
	}
	return out
}

// batch is tests of one suite that run together.
type batch struct {
	suite        *suite
	tests        []*test
	took, lasted time.Duration
}

// together is what the tests of a batch take at most, if they are more than one: longer ones gain nothing by it.
const together = time.Second

// batches gives the tests that come past place n, those of its own package first, and then those that cost least.
func batches(n int, own string, all []*suite) []batch {
	var tests []*test
	for _, s := range all {
		for _, t := range s.tests {
			if t.reaches[n] {
				tests = append(tests, t)
			}
		}
	}
	rank := func(t *test) int {
		switch {
		case t.took > together:
			return len(all) + 1
		case t.suite.pkg == own:
			return -1
		}
		return slices.Index(all, t.suite)
	}
	slices.SortFunc(tests, func(a, b *test) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.took, b.took)) })
	var out []batch
	for _, t := range tests {
		last := len(out) - 1
		if last < 0 || out[last].suite != t.suite || out[last].took+t.took > together {
			out = append(out, batch{suite: t.suite})
			last++
		}
		b := &out[last]
		b.tests, b.took, b.lasted = append(b.tests, t), b.took+t.took, b.lasted+t.lasted
	}
	slices.SortStableFunc(out, func(a, b batch) int { return cmp.Compare(max(a.took, together), max(b.took, together)) })
	return out
}

// patience is how many times as long as without a mutant tests may last before they hang: the machine may have other work.
// Where nothing is known of how long they last beside that, it is squared.
const patience = 10

// notice tries mutant n and gives what failed; "" when nothing did. What fails by chance or because the machine is
// busy is not the mutant's: what fails must fail again, and what hangs must not do so without the mutant.
func (b *batch) notice(ctx context.Context, n int, o options) string {
	var names []string
	for _, t := range b.tests {
		names = append(names, t.name)
	}
	run := func(env ...string) ([]byte, error) {
		text, _, err := b.suite.run(ctx, patience*b.lasted+10*time.Second, patience*b.took+10*time.Second, "^("+strings.Join(names, "|")+")$", o, env...)
		return text, err
	}
	mutant := fmt.Sprintf("%s=%d", active.MutantEnv, n)
	text, err := run(mutant)
	if err == nil {
		return ""
	}
	how, again := "a crash of "+strings.Join(names, ", "), []string{mutant}
	if bytes.Contains(text, []byte("panic: test timed out")) || bytes.Contains(text, []byte("SIGXCPU")) || strings.Contains(err.Error(), "killed") {
		how, again = "a hang of "+strings.Join(names, ", "), nil
	} else if m := failed.FindSubmatch(text); m != nil {
		how = string(m[1])
	}
	if _, err := run(again...); (err == nil) != (again == nil) {
		fmt.Printf("%4d not counted, for it was so only once: %s of %s\n", n, how, b.suite.pkg)
		return ""
	}
	return how + " of " + b.suite.pkg
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// inParallel runs f(0) to f(n-1), at most at of them at a time.
func inParallel(at, n int, f func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range at {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

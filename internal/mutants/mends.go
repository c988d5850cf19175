package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// mendsDir holds the mends, from the module's root.
const mendsDir = "internal/mutants/mends"

// mend is a mistake that was made once: pieces of code as they are and as they were.
type mend struct {
	name, what    string
	now, reverted []string
}

// readMends reads the files of mendsDir below root.
func readMends(root string) ([]mend, error) {
	names, err := filepath.Glob(filepath.Join(root, mendsDir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	var out []mend
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			return nil, err
		}
		m := mend{name: strings.TrimSuffix(filepath.Base(name), ".txtar"), what: strings.TrimSpace(string(a.Comment))}
		for i, f := range a.Files {
			want := []string{"now", "reverted"}[i%2]
			if f.Name != want {
				return nil, fmt.Errorf("%s: file %q where %q belongs", name, f.Name, want)
			}
			if i%2 == 0 {
				m.now = append(m.now, string(f.Data))
			} else {
				m.reverted = append(m.reverted, string(f.Data))
			}
		}
		if m.what == "" || len(m.now) == 0 || len(m.now) != len(m.reverted) {
			return nil, fmt.Errorf("%s: a mend has a comment and pairs of files", name)
		}
		out = append(out, m)
	}
	return out, nil
}

// sources reads all Go files of the module at root that are no tests.
func sources(root string) (map[string][]byte, error) {
	cmd := exec.Command("git", "ls-files", "*.go")
	cmd.Dir = root
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for name := range strings.FieldsSeq(string(text)) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if out[name], err = os.ReadFile(filepath.Join(root, name)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// revert gives the files that m changes as they are without it. Each piece stands in one place.
func (m *mend) revert(files map[string][]byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	for i, now := range m.now {
		found := 0
		for name, src := range files {
			if done, ok := out[name]; ok {
				src = done
			}
			if n := bytes.Count(src, []byte(now)); n > 0 {
				found += n
				out[name] = bytes.Replace(src, []byte(now), []byte(m.reverted[i]), 1)
			}
		}
		if found != 1 {
			return nil, fmt.Errorf("%s: piece %d stands in %d places of the code", m.name, i+1, found)
		}
	}
	return out, nil
}

// tryMends takes each mend back and reports whether the tests notice.
func tryMends(ctx context.Context, o options) error {
	mends, err := readMends(".")
	if err != nil {
		return err
	}
	files, err := sources(".")
	if err != nil {
		return err
	}
	tried, noticed := 0, 0
	var survivors []string
	end := time.Now().Add(o.limit)
	for _, m := range mends {
		if !o.only.MatchString(m.name) || time.Now().After(end) {
			continue
		}
		changed, err := m.revert(files)
		if err != nil {
			return err
		}
		by, err := tryMend(ctx, changed, o)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		tried++
		if by != "" {
			noticed++
			fmt.Printf("noticed by %-40s %s\n", by, m.name)
		} else {
			survivors = append(survivors, m.name)
			fmt.Printf("SURVIVED %s\n", m.name)
		}
	}
	fmt.Printf("figures: mends taken back %d, noticed %d\n", tried, noticed)
	for _, s := range survivors {
		fmt.Println("survivor", s)
	}
	return ctx.Err()
}

// tryMend runs the suites on the code with changed files, those of the changed packages first, and gives the first that fails.
func tryMend(ctx context.Context, changed map[string][]byte, o options) (string, error) {
	dir, err := os.MkdirTemp("", "mends")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	replace := map[string]string{}
	for name, src := range changed {
		if err := overlaid(dir, name, src, replace); err != nil {
			return "", err
		}
	}
	overlay, err := writeOverlay(dir, replace)
	if err != nil {
		return "", err
	}
	var suites []string
	for name := range changed {
		suites = append(suites, path.Dir(name))
	}
	slices.Sort(suites)
	for _, p := range o.suites {
		if !slices.Contains(suites, p) {
			suites = append(suites, p)
		}
	}
	for _, p := range slices.Compact(suites) {
		o.suites = []string{p}
		built, err := build(ctx, dir, overlay, o)
		if err != nil {
			return "", err
		}
		for _, s := range built {
			if text, _, err := s.run(ctx, 10*time.Minute, o.run.String(), o); err != nil {
				by := s.pkg
				if m := failed.FindSubmatch(text); m != nil {
					by = string(m[1]) + " of " + by
				}
				return by, ctx.Err()
			}
		}
	}
	return "", ctx.Err()
}

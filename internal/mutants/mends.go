package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	mends = slices.DeleteFunc(mends, func(m mend) bool { return !o.only.MatchString(m.name) })
	files, err := sources(".")
	if err != nil {
		return err
	}
	end := time.Now().Add(o.limit)
	tried, noticed := 0, 0
	var survivors []string
	count := func(name, by string) {
		tried++
		if by != "" {
			noticed++
		} else {
			survivors = append(survivors, name)
		}
	}
	together, alone, err := split(ctx, mends, files)
	if err != nil {
		return err
	}
	fmt.Printf("%d mends in one set of binaries, %d each in its own\n", len(together.sites), len(alone))
	if len(together.sites) > 0 {
		trials, err := together.try(ctx, o)
		if err != nil {
			return err
		}
		for _, t := range trials {
			if t.by != "" || len(t.left) == 0 {
				count(together.sites[t.n].what, t.by)
			}
		}
	}
	for _, m := range alone {
		if time.Now().After(end) {
			break
		}
		changed, err := m.revert(files)
		if err != nil {
			return err
		}
		by, err := tryMend(ctx, changed, o)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if count(m.name, by); by != "" {
			fmt.Printf("noticed by %-40s %s\n", by, m.name)
		} else {
			fmt.Printf("SURVIVED %s\n", m.name)
		}
	}
	fmt.Printf("figures: mends taken back %d, noticed %d\n", tried, noticed)
	for _, s := range survivors {
		fmt.Println("survivor", s)
	}
	return ctx.Err()
}

// switched is code in which mends are taken back one at a time, as mutants are.
type switched struct {
	sites []site            // of the mends
	files map[string][]byte // with both forms of the functions that the mends change
}

// split gives the mends that change functions and nothing else in one piece of code, and the others.
func split(ctx context.Context, mends []mend, files map[string][]byte) (together switched, alone []mend, err error) {
	apart := map[string]bool{} // what they were does not compile beside what else is now
	for {
		if together, alone, err = switches(mends, apart, files); err != nil {
			return together, alone, err
		}
		wrong, err := together.wrong(ctx)
		if err != nil || len(wrong) == 0 {
			return together, alone, err
		}
		for _, n := range wrong {
			apart[together.sites[n].what] = true
		}
	}
}

// switches writes the earlier forms of functions beside their own ones, which call them where the mend is to be taken back.
func switches(mends []mend, apart map[string]bool, files map[string][]byte) (out switched, alone []mend, err error) {
	out.files = map[string][]byte{}
	inserted := map[string][]insertion{}
	for _, m := range mends {
		changed, err := m.revert(files)
		if err != nil {
			return out, nil, err
		}
		n := len(out.sites)
		mine := map[string][]insertion{}
		ok := !apart[m.name]
		for name, was := range changed {
			var in []insertion
			if in, ok = forms(files[name], was, n, ok); !ok {
				break
			}
			mine[name] = in
		}
		if !ok {
			alone = append(alone, m)
			continue
		}
		for name, in := range mine {
			inserted[name] = append(inserted[name], in...)
		}
		first := slices.Min(slices.Collect(maps.Keys(mine)))
		out.sites = append(out.sites, site{file: first, line: 1 + bytes.Count(files[first][:mine[first][0].at], []byte("\n")), what: m.name})
	}
	for name, in := range inserted {
		src := files[name]
		slices.SortStableFunc(in, func(a, b insertion) int { return b.at - a.at })
		for _, i := range in {
			src = slices.Concat(src[:i.at], []byte(i.text), src[i.at:])
		}
		out.files[name] = importActive(src)
	}
	return out, alone, nil
}

// insertion is text to stand at a place of a file.
type insertion struct {
	at   int
	text string
}

// forms gives what has to be inserted into now for mutant n to do what was does. It is not ok when they differ in
// anything but the bodies of functions, or ok is false already.
func forms(now, was []byte, n int, ok bool) ([]insertion, bool) {
	type decl struct {
		ast.Decl
		head, body string // of a function; else all is head
	}
	read := func(src []byte) (out []decl) {
		f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
		if err != nil {
			ok = false
			return nil
		}
		for _, d := range f.Decls {
			end := d.End()
			if fn, isFunc := d.(*ast.FuncDecl); isFunc && fn.Body != nil {
				end = fn.Body.Pos()
			}
			out = append(out, decl{d, string(src[d.Pos()-1 : end-1]), string(src[end-1 : d.End()-1])})
		}
		return out
	}
	a, b := read(now), read(was)
	if !ok || len(a) != len(b) {
		return nil, false
	}
	var out []insertion
	for i, d := range a {
		if d.head != b[i].head {
			return nil, false
		}
		if d.body == b[i].body {
			continue
		}
		fn := d.Decl.(*ast.FuncDecl)
		call, ok := callOf(fn, n)
		if !ok {
			return nil, false
		}
		name := int(fn.Name.End() - fn.Pos())
		out = append(out,
			insertion{int(fn.Body.Lbrace), fmt.Sprintf(" if %s.Is(%d) { %s }; ", activeName, n, call)},
			// compilers tell which mend it is when the form is wrong
			insertion{len(now), fmt.Sprintf("\n//line mend_%d.go:1\n%s_mend%d%s%s\n", n, d.head[:name], n, d.head[name:], b[i].body)})
	}
	return out, true
}

// callOf is a statement that calls the form of fn that mutant n has, with what fn was given.
func callOf(fn *ast.FuncDecl, n int) (call string, ok bool) {
	var b strings.Builder
	if fn.Type.Results != nil {
		b.WriteString("return ")
	}
	if fn.Recv != nil {
		_, plain := fn.Recv.List[0].Type.(*ast.Ident)
		if star, isStar := fn.Recv.List[0].Type.(*ast.StarExpr); isStar {
			_, plain = star.X.(*ast.Ident)
		}
		if !plain || len(fn.Recv.List[0].Names) == 0 {
			return "", false
		}
		b.WriteString(fn.Recv.List[0].Names[0].Name + ".")
	}
	fmt.Fprintf(&b, "%s_mend%d(", fn.Name.Name, n)
	for _, p := range fn.Type.Params.List {
		for _, name := range p.Names {
			if name.Name == "_" {
				return "", false
			}
			b.WriteString(name.Name)
			if _, many := p.Type.(*ast.Ellipsis); many {
				b.WriteString("...")
			}
			b.WriteString(", ")
		}
		if len(p.Names) == 0 {
			return "", false
		}
	}
	b.WriteString(")")
	if fn.Type.Results == nil {
		b.WriteString("; return")
	}
	return b.String(), fn.Type.TypeParams == nil && fn.Name.Name != "init"
}

// overlay writes the files, and the overlay that puts them in place, to a new folder, which the caller removes.
func (s *switched) overlay() (dir, file string, err error) {
	if dir, err = os.MkdirTemp("", "mends"); err != nil {
		return "", "", err
	}
	replace := map[string]string{}
	for name, src := range s.files {
		if err = overlaid(dir, name, src, replace); err != nil {
			break
		}
	}
	if err == nil {
		file, err = writeOverlay(dir, replace)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
	}
	return dir, file, err
}

// packages are those of the files.
func (s *switched) packages() []string {
	var out []string
	for name := range s.files {
		out = append(out, path.Dir(name))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var mendOf = regexp.MustCompile(`mend_(\d+)\.go:`)

// wrong gives the numbers of mends whose forms do not compile.
func (s *switched) wrong(ctx context.Context) ([]int, error) {
	if len(s.sites) == 0 {
		return nil, nil
	}
	dir, overlay, err := s.overlay()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	args := []string{"build", "-overlay", overlay, "-o", os.DevNull}
	for _, p := range s.packages() {
		args = append(args, "./"+p)
	}
	text, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err == nil {
		return nil, nil
	}
	var out []int
	for _, m := range mendOf.FindAllSubmatch(text, -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("compile both forms of what mends change: %w\n%s", err, text)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// try takes the mends back one at a time.
func (s *switched) try(ctx context.Context, o options) ([]trial, error) {
	dir, overlay, err := s.overlay()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, p := range s.packages() {
		if !slices.Contains(o.suites, p) {
			o.suites = append(slices.Clip(o.suites), p)
		}
	}
	return trySites(ctx, dir, overlay, s.sites, o)
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
			if text, _, err := s.run(ctx, 30*time.Minute, 10*time.Minute, o.run.String(), o); err != nil {
				m := failed.FindSubmatch(text)
				if m == nil {
					return s.pkg, ctx.Err()
				}
				name, _, _ := strings.Cut(string(m[1]), "/")
				if _, _, err := s.run(ctx, 30*time.Minute, 10*time.Minute, "^"+name+"$", o); err != nil { // not by chance
					return string(m[1]) + " of " + s.pkg, ctx.Err()
				}
			}
		}
	}
	return "", ctx.Err()
}

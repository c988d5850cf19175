package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// page collects the output of a command. Output that does not fit on the screen goes to a pager; output that fits is
// held until Close and then printed.
type page struct {
	out       io.Writer
	command   string // the pager; "" for none
	rows, col int    // of the screen
	before    func() // called once, before anything is seen

	held  bytes.Buffer
	lines int // of held, wrapped ones counted as the screen shows them
	open  io.WriteCloser
}

// Write holds p, or passes it to the pager once the output does not fit on the screen. It returns syscall.EPIPE if the pager
// has ended.
func (g *page) Write(p []byte) (int, error) {
	if g.open == nil {
		g.held.Write(p)
		for line := range bytes.Lines(p) {
			g.lines += 1 + max(0, runewidth.StringWidth(string(line))-1)/g.col
			if g.lines >= g.rows-1 {
				break
			}
		}
		if g.lines < g.rows-1 {
			return len(p), nil
		}
		if err := g.start(); err != nil {
			return 0, err
		}
		if _, err := g.held.WriteTo(g.open); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	return g.open.Write(p)
}

// start opens the pager, or the screen itself if there is no pager.
func (g *page) start() error {
	g.before()
	g.open = nopCloser{g.out}
	if g.command == "" {
		return nil
	}
	cmd := exec.Command("sh", "-c", g.command)
	if os.Getenv("LESS") == "" {
		cmd.Env = append(os.Environ(), "LESS=FRSX")
	}
	p, err := newPipe(cmd)
	if err != nil {
		return err
	}
	g.open = p
	return nil
}

// Close prints the held output, or waits until the pager ends.
func (g *page) Close() error {
	if g.open != nil {
		return g.open.Close()
	}
	g.before()
	_, err := g.held.WriteTo(g.out)
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// pagerCommand returns the configured pager, or else the pager of the environment, or else less.
func (c *config) pagerCommand() string {
	if c.Restricted {
		return "" // because a pager may start a shell
	}
	if c.Pager != nil {
		if p := strings.TrimSpace(*c.Pager); p != "off" {
			return p
		}
		return ""
	}
	if v, ok := os.LookupEnv("PAGER"); ok {
		return strings.TrimSpace(v)
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less -FRSX"
}

// output returns the writer for a result: a page if stdout is a terminal, otherwise stdout itself.
func (s *session) output(before func()) io.WriteCloser {
	f, ok := s.stdout.(*os.File)
	if !ok || !s.tty {
		return nopCloser{s.stdout}
	}
	cols, rows, err := term.GetSize(int(f.Fd()))
	if err != nil || cols <= 0 || rows <= 0 {
		cols, rows = 80, 24
	}
	g := &page{out: f, rows: rows, col: cols, before: before}
	if s.pager && s.person {
		g.command = s.conf.pagerCommand()
	}
	if g.command == "" {
		g.rows = 0 // nothing is held
	}
	return g
}

// paged makes a command use the pager if its output is taller than the screen.
func paged(run func(*session, context.Context, string) error) func(*session, context.Context, string) error {
	return func(s *session, ctx context.Context, arg string) error {
		screen := s.stdout
		out := s.output(func() {})
		s.stdout = out
		err := run(s, ctx, arg)
		s.stdout = screen
		err = cmp.Or(err, out.Close())
		if errors.Is(err, syscall.EPIPE) {
			return nil
		}
		return err
	}
}

// terminal returns the terminal to which results go, directly or through a pager. It returns nil if results go elsewhere.
func (s *session) terminal() *os.File {
	w := s.stdout
	if p, ok := w.(*page); ok {
		w = p.out
	}
	if f, ok := w.(*os.File); ok && isTerminal(f) {
		return f
	}
	return nil
}

func (s *session) setPager(value string) error {
	switch strings.ToLower(value) {
	case "on":
		s.pager = true
	case "off":
		s.pager = false
	case "":
		s.pager = !s.pager
	default:
		return errors.New(`\pset pager is on or off`)
	}
	s.note("pager is %s", onOff(s.pager))
	return nil
}

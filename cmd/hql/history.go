package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// history is a file of statements, one a line, that only its owner can read.
type history struct {
	path string
	last string
}

const maxHistory = 2000

// openHistory finds the file: $HQL_HISTORY, or under the XDG state directory. An
// empty HQL_HISTORY keeps none.
func openHistory() *history {
	if p, ok := os.LookupEnv("HQL_HISTORY"); ok {
		return &history{path: p}
	}
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return &history{}
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return &history{path: filepath.Join(dir, "hql", "history")}
}

// load gives the statements of earlier sessions, oldest first.
func (h *history) load() []string {
	if h.path == "" {
		return nil
	}
	f, err := os.Open(h.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var lines []string
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
		if len(lines) > 2*maxHistory {
			lines = append(lines[:0], lines[len(lines)-maxHistory:]...)
		}
		if err != nil {
			return lines[max(0, len(lines)-maxHistory):]
		}
	}
}

// add appends a statement on one line. One that starts with a space, or repeats the last, is not kept.
func (h *history) add(statement string) (line string, kept bool) {
	if strings.HasPrefix(statement, " ") {
		return "", false
	}
	line = oneLine(statement)
	if line == "" || line == h.last || h.path == "" {
		return line, line != ""
	}
	h.last = line
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return line, true
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return line, true
	}
	defer f.Close()
	var last [1]byte
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end > 0 {
		if _, err := f.ReadAt(last[:], end-1); err == nil && last[0] != '\n' {
			_, _ = f.WriteString("\n") // a line was not written to its end
		}
	}
	_, _ = f.WriteString(line + "\n")
	return line, true
}

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

// The history file has the byte 1 in place of a line break in a statement, as psql's has.
var (
	onOneLine = strings.NewReplacer("\n", "\x01", "\r", "\x02r", "\x01", "\x021", "\x02", "\x022")
	asTyped   = strings.NewReplacer("\x01", "\n", "\x02r", "\r", "\x021", "\x01", "\x022", "\x02")
)

// openHistory opens the history in $HQL_HISTORY or in the XDG state directory. If HQL_HISTORY is empty, no history is kept.
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

// load returns the statements of earlier sessions, oldest first.
func (h *history) load() []string {
	if h.path == "" {
		return nil
	}
	f, err := os.Open(h.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var statements []string
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			statements = append(statements, asTyped.Replace(line))
		}
		if len(statements) > 2*maxHistory {
			statements = append(statements[:0], statements[len(statements)-maxHistory:]...)
		}
		if err != nil {
			return statements[max(0, len(statements)-maxHistory):]
		}
	}
}

// add appends a statement, unless it equals the last one or starts with a space; kept reports whether it was appended.
func (h *history) add(typed string) (statement string, kept bool) {
	if strings.HasPrefix(typed, " ") {
		return "", false
	}
	statement = strings.TrimSpace(typed)
	if statement == "" || statement == h.last || h.path == "" {
		return statement, statement != ""
	}
	h.last = statement
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return statement, true
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return statement, true
	}
	defer f.Close()
	var last [1]byte
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end > 0 {
		if _, err := f.ReadAt(last[:], end-1); err == nil && last[0] != '\n' {
			_, _ = f.WriteString("\n") // a line was not written to its end
		}
	}
	_, _ = f.WriteString(onOneLine.Replace(statement) + "\n")
	return statement, true
}

// Package proc reads Linux's data about processes, for tests and measurements.
package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Stat is the content of /proc/PID/stat, see proc(5).
type Stat struct {
	Parent   int
	CPU      float64 // seconds of user and system time, in steps of 10 ms
	Children float64 // seconds of its ended children
}

// Read reads the current state of process pid.
func Read(pid int) (s Stat, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, err
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])) // a name can contain blanks and brackets
	if len(fields) < 15 {
		return s, fmt.Errorf("/proc/%d/stat has %d fields behind the name", pid, len(fields))
	}
	if s.Parent, err = strconv.Atoi(fields[1]); err != nil {
		return s, err
	}
	for i, sum := range []*float64{&s.CPU, &s.CPU, &s.Children, &s.Children} {
		ticks, err := strconv.ParseFloat(fields[11+i], 64)
		if err != nil {
			return s, err
		}
		*sum += ticks / 100
	}
	return s, nil
}

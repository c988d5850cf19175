// Package poison overwrites memory that is about to be reused, so that code which keeps a slice or a string too long reads
// garbage at once. Only tests turn it on.
package poison

import "flag"

// On is set only by tests, before anything runs.
var On bool

// Tests returns m, a testing.M, with On set while it runs, except for benchmarks: they measure the code that users run.
func Tests(m interface{ Run() int }) interface{ Run() int } { return tests{m} }

type tests struct{ m interface{ Run() int } }

func (t tests) Run() int {
	if !flag.Parsed() {
		flag.Parse()
	}
	bench := flag.Lookup("test.bench")
	On = bench == nil || bench.Value.String() == ""
	return t.m.Run()
}

// Bytes overwrites b, memory that nobody may use any more.
func Bytes(b []byte) {
	if On {
		for i := range b {
			b[i] = 0xdb
		}
	}
}

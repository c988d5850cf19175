// Package poison overwrites memory that is handed out again, so that whoever keeps a slice or a string beyond
// its time reads rubbish at once, and not only where what follows happens to differ. Tests turn it on.
package poison

import "flag"

// On is set before anything runs, by tests alone.
var On bool

// Tests is m, a testing.M, that runs with On set, unless benchmarks are asked for: they measure what users run.
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

// Bytes overwrites b, the memory of what nobody may hold any more.
func Bytes(b []byte) {
	if On {
		for i := range b {
			b[i] = 0xdb
		}
	}
}

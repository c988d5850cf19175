package hbase

import (
	"io"
	"runtime"
	"sync"

	"github.com/sirupsen/logrus"
)

var logsOnce sync.Once

// silenceLogs keeps gohbase's own logging, which goes through logrus' standard logger and
// names row keys, off the terminal; its Fatal ends a goroutine and not the process.
func silenceLogs() {
	logsOnce.Do(func() {
		logrus.SetOutput(io.Discard)
		logrus.StandardLogger().ExitFunc = func(int) { runtime.Goexit() }
	})
}

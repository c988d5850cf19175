package hbase

import (
	"io"
	"runtime"
	"sync"

	"github.com/sirupsen/logrus"
)

var logsOnce sync.Once

// silenceLogs keeps gohbase's own logging, which goes through logrus' standard logger and contains row keys, off the
// terminal. It also makes logrus' Fatal end a goroutine instead of the process.
func silenceLogs() {
	logsOnce.Do(func() {
		logrus.SetOutput(io.Discard)
		logrus.StandardLogger().ExitFunc = func(int) { runtime.Goexit() }
	})
}

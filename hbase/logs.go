package hbase

import (
	"io"
	"log/slog"
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

// RouteLogs sends gohbase's messages to l at debug level.
func RouteLogs(l *slog.Logger) {
	silenceLogs()
	logrus.AddHook(hook{l})
}

type hook struct{ l *slog.Logger }

func (hook) Levels() []logrus.Level { return logrus.AllLevels }

func (h hook) Fire(e *logrus.Entry) error {
	h.l.Debug(e.Message, "from", "gohbase", "level", e.Level.String())
	return nil
}

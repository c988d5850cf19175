// Package check plans the statements of a repository, in SQL files and in Go sources, before they run anywhere. It says
// which of them miss the prefix of a rowkey, so that a build can refuse them. It asks no cluster and no statistics. The
// engine that runs statements plans them here, too, and its full-scan guard judges them.
package check

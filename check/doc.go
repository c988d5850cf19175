// Package check plans the statements of a repository, in SQL files and in Go sources, before they run. It reports those
// that miss the prefix of a rowkey, so that a build can refuse them. It uses neither a cluster nor statistics. It plans
// with the engine that runs statements, and applies that engine's full-scan guard.
package check

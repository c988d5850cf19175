//go:build race

package sqllogic

const raceEnabled = true

// Package exectest runs SQL in tests of the packages that exec is made of.
package exectest

import (
	"context"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// World is an engine that runs scripts.
type World struct {
	*exec.Engine
	scripttest.Script[exec.Stats]
}

// NewWorld returns a new engine with a catalog of its own.
func NewWorld(t testing.TB, client hbase.Client, cfg exec.Config) *World {
	t.Helper()
	return Of(t, exec.New(client, catalog.New(), cfg))
}

// Of returns a World of an engine.
func Of(t testing.TB, e *exec.Engine) *World {
	return &World{e, scripttest.ScriptOf[exec.Stats](t, func(ctx context.Context, s parser.Statement, sql string, args []types.Value) (*exec.Rows, error) {
		if sql != "" {
			e.Place(s, sql, nil)
		}
		return e.Run(ctx, s, exec.Args{Positional: args})
	})}
}

package hbase

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tsuna/gohbase/pb"
)

// mobFamilies caches the MOB families of tables.
type mobFamilies struct {
	mu     sync.Mutex // held by the one caller that asks for tables
	tables aged[string, mobTable]
}

type mobTable struct {
	families []string
	err      error // the description could not be read
}

const (
	// mobAge is how long a table's description is used before it is read again: a family may have become a MOB family.
	mobAge = time.Minute
	// mobWait is how long the master may take to describe tables.
	mobWait = 2 * time.Second
)

func (c *client) MobFamilies(ctx context.Context, tables ...string) ([]string, error) {
	c.mob.mu.Lock()
	defer c.mob.mu.Unlock()
	known := map[string]mobTable{}
	var unknown []string
	for _, t := range tables {
		var ok bool
		if known[t], ok = c.mob.tables.get(t, mobAge); !ok {
			unknown = append(unknown, t)
		}
	}
	if len(unknown) > 0 {
		asking, cancel := context.WithTimeout(aside(ctx), mobWait)
		defer cancel()
		found, err := c.describe(asking, unknown...)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, t := range unknown {
			known[t] = mobTable{err: err}
		}
		for _, s := range found {
			name := fullName(s.TableName)
			t := known[name]
			for _, f := range s.ColumnFamilies {
				if slices.ContainsFunc(f.Attributes, isMob) {
					t.families = append(t.families, string(f.Name))
				}
			}
			known[name] = t
		}
		for _, t := range unknown {
			c.mob.tables.put(t, known[t])
		}
	}
	var out []string
	for _, name := range tables {
		t := known[name]
		if t.err != nil {
			return nil, t.err
		}
		out = append(out, t.families...)
	}
	return out, nil
}

func isMob(a *pb.BytesBytesPair) bool {
	return string(a.First) == "IS_MOB" && strings.EqualFold(string(a.Second), "true")
}

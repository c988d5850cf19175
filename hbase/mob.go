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
	mu     sync.Mutex
	tables map[string]mobTable
}

type mobTable struct {
	families []string
	err      error // the description could not be read
	at       time.Time
}

const (
	// mobAge is how long a table's description is used before it is read again: a family may have become a MOB family.
	mobAge = time.Minute
	// mobWait is how long the master may take to describe tables.
	mobWait = 2 * time.Second
)

func (c *client) MobFamilies(ctx context.Context, tables ...string) ([]string, error) {
	c.mob.mu.Lock()
	defer c.mob.mu.Unlock() // one caller asks for all tables
	var unknown []string
	for _, t := range tables {
		if time.Since(c.mob.tables[t].at) >= mobAge {
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
		if c.mob.tables == nil || len(c.mob.tables) > 1000 {
			c.mob.tables = map[string]mobTable{}
		}
		for _, t := range unknown {
			c.mob.tables[t] = mobTable{err: err, at: time.Now()}
		}
		for _, s := range found {
			name := fullName(s.TableName)
			t := c.mob.tables[name]
			for _, f := range s.ColumnFamilies {
				if slices.ContainsFunc(f.Attributes, isMob) {
					t.families = append(t.families, string(f.Name))
				}
			}
			c.mob.tables[name] = t
		}
	}
	var out []string
	for _, name := range tables {
		t := c.mob.tables[name]
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

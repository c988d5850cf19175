// Package embedded adds the embedded store to a program that uses hql: its import lets hql.Open open mem: and dir:PATH.
//
//	import _ "github.com/hql-db/hql/embedded"
//
// A program that only uses clusters does not need the import, and does not link the packages of the store without it.
package embedded

import (
	"time"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/registry"
	"github.com/hql-db/hql/store"
)

func init() { registry.OpenEmbedded = open }

func open(dir string, now func() time.Time) (hbase.Client, error) {
	s, err := store.Open(store.Options{Dir: dir, Now: now})
	if err != nil {
		return nil, err
	}
	return &client{hbase.New(s, s), s}, nil
}

// client is a client that owns its store: closing the client closes the store.
type client struct {
	hbase.Client
	store *store.Store
}

// Close ends the calls and closes the store.
func (c *client) Close() error {
	err := c.Client.Close()
	c.store.Close()
	return err
}

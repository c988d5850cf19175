package hbase

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/hbase/hbasetest"
)

// A ZooKeeper that wants more than clear text of anybody is told for what it is, at once.
func TestSecuredZooKeeper(t *testing.T) {
	tls, sasl := hbasetest.SecuredZooKeeper(t)
	for _, test := range []struct{ quorum, want string }{
		{tls, "this is no port of ZooKeeper's in clear text"},
		{sasl, "it wants SASL, which hql speaks to HBase only"},
	} {
		began := time.Now()
		c, err := Dial(t.Context(), Config{Quorum: test.quorum})
		took := time.Since(began)
		if err == nil {
			c.Close()
		}
		t.Log(took, err)
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.want) || took > 5*time.Second {
			t.Errorf("%v after %v, not %s", err, took, test.want)
		}
	}
}

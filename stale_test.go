package hql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/store"
)

// gohbaseClient and gohbaseAdmin make clients for hql.New, which calls only SendRPC, of the store.
type (
	gohbaseClient struct {
		gohbase.Client
		gohbase.RPCClient
	}
	gohbaseAdmin struct {
		gohbase.AdminClient
		gohbase.RPCClient
	}
)

// staleServers answer reads of one table as replicas do.
type staleServers struct {
	*store.Store
	table string
}

func (s staleServers) SendRPC(call hrpc.Call) (proto.Message, error) {
	msg, err := s.Store.SendRPC(call)
	if err != nil || string(call.Table()) != s.table {
		return msg, err
	}
	hbasetest.MarkStale(msg)
	return msg, nil
}

// EXPLAIN ANALYZE tells how many rows of replicas there are, of each way to read, none among them: one may be there by now. It says nothing of
// it where no replica answered.
func TestStaleRowsAreTold(t *testing.T) {
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := hql.New(gohbaseClient{RPCClient: staleServers{s, "old"}}, gohbaseAdmin{RPCClient: s}, nil, hql.WithWrites(true), hql.WithFullScan(hql.FullScanAllow))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"old", "new"} {
		if _, err := db.Exec(t.Context(), "CREATE TABLE "+table+" (id INT PRIMARY KEY, v STRING); INSERT INTO "+table+" VALUES (1, 'a'), (2, 'b'), (3, 'c')"); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		from string
		rows string
	}{{"WHERE id = 2", "1 row"}, {"WHERE id IN (1, 3)", "2 rows"}, {"", "3 rows"}, {"WHERE id = 7", "no rows"}, {"WHERE id > 7", "no rows"}} {
		for _, table := range []string{"old", "new"} {
			rows, err := db.Query(t.Context(), fmt.Sprintf("EXPLAIN ANALYZE SELECT v FROM %s %s", table, test.from))
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for r, err := range rows.All() {
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintln(&text, r.Raw()[0])
			}
			want := test.rows + " of replicas, perhaps stale"
			if told := table == "old"; told != strings.Contains(text.String(), want) || !told && strings.Contains(text.String(), "stale") {
				t.Errorf("%s %s: not %q in\n%s", table, test.from, want, &text)
			}
		}
	}
}

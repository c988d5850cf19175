package exec

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/hbasetest"
	. "github.com/hql-db/hql/internal/scripttest"
)

// TestRefusals runs testdata/refusals on the store: what statements answer when the tables in HBase
// are not what their definitions say. Each command is one such change, its lines are statements.
func TestRefusals(t *testing.T) {
	s, c := NewStore(t)
	checkRefusals(t, c, func(call hrpc.Call) error { _, err := s.SendRPC(call); return err })
}

// The same on a real HBase.
func testRefusalsHBase(t *testing.T) {
	var d net.Dialer
	admin := gohbase.NewAdminClient(hbasetest.Quorum(t), gohbase.RegionDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, addr)
		if err == nil {
			t.Cleanup(func() { conn.Close() }) // gohbase's admin client cannot be closed
		}
		return conn, err
	}))
	checkRefusals(t, DialHBase(t), func(call hrpc.Call) error { // these methods wait until the master has finished
		switch call := call.(type) {
		case *hrpc.CreateTable:
			return admin.CreateTable(call)
		case *hrpc.DisableTable:
			return admin.DisableTable(call)
		case *hrpc.DeleteTable:
			return admin.DeleteTable(call)
		}
		return fmt.Errorf("unexpected call %s", call.Name())
	})
}

func checkRefusals(t *testing.T, c hbase.Client, send func(hrpc.Call) error) {
	name := fmt.Sprintf("refusals%d", os.Getpid())
	ctx := context.Background()
	disable := func() error { return send(hrpc.NewDisableTable(ctx, []byte(name))) }
	drop := func() error { return errors.Join(disable(), send(hrpc.NewDeleteTable(ctx, []byte(name)))) }
	create := func(family, readOnly string) error {
		return send(hrpc.NewCreateTable(ctx, []byte(name), map[string]map[string]string{family: nil},
			hrpc.TableAttributes(map[string]string{"READONLY": readOnly})))
	}
	datadriven.RunTest(t, filepath.Join("testdata", "refusals"), func(t *testing.T, d *datadriven.TestData) string {
		w := newWorld(t, c, Config{FullScan: AllowFullScan})
		w.Do(strings.ReplaceAll(`CREATE TABLE t (k STRING, v STRING, n INT) FAMILY f () ROW KEY (k AS TEXT); INSERT INTO t VALUES ('a', 'x', 1), ('b', 'y', 2)`, " t ", " "+name+" "))
		var err error
		const limit = 20 * time.Second
		switch d.Cmd {
		case "disabled":
			err = disable()
		case "dropped":
			err = drop()
		case "another-family":
			err = errors.Join(drop(), create("g", "false"))
		case "read-only":
			err = errors.Join(drop(), create("f", "true"))
		default:
			d.Fatalf(t, "unknown change %s", d.Cmd)
		}
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		statements := strings.Split(d.Input, "\n")
		answers := make([]string, len(statements))
		var wg sync.WaitGroup
		for i, sql := range statements {
			wg.Go(func() {
				answers[i] = strings.ReplaceAll(w.within(limit, strings.ReplaceAll(sql, " t", " "+name)), name, "t")
			})
			if d.Cmd != "disabled" {
				wg.Wait()
			}
		}
		wg.Wait()
		w.Do("DROP TABLE " + name)
		if err := c.DropTable(ctx, name, nil); err != nil && !errors.Is(err, hbase.ErrNoTable) { // DROP TABLE leaves what CREATE TABLE did not make
			t.Error(err)
		}
		return strings.Join(answers, "\n")
	})
}

// within gives what a statement answers that is given up after a while.
func (w *world) within(d time.Duration, sql string) string {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	out, warnings, err := w.TryUnder(ctx, sql)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		out = "error: no answer in time"
	case err != nil:
		out = "error: " + err.Error()
	case out == "":
		out = "(no rows)"
	}
	return strings.Join(append(strings.Split(out, "\n"), warnings...), " / ")
}

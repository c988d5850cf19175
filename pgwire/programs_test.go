package pgwire_test

import (
	"bytes"
	"context"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/python"
	"github.com/hql-db/hql/pgwire"
)

// program is a client in another language, whose script is in testdata/clients beside what it prints.
type program struct {
	name     string // of the script, with its ending
	packages string // that pip, npm or the Go proxy installs
	modules  string // of Python, which must be there
}

var programs = []program{
	{"psycopg.py", "psycopg[binary]", "psycopg"},
	{"psycopg2.py", "psycopg2-binary", "psycopg2"},
	{"asyncpg.py", "asyncpg", "asyncpg"},
	{"sqlalchemy.py", "psycopg[binary] sqlalchemy>=2", "psycopg sqlalchemy"},
	{"pandas.py", "psycopg[binary] sqlalchemy>=2 pandas>=2", "psycopg sqlalchemy pandas"},
	{"adbc.py", "adbc-driver-postgresql pyarrow polars", "adbc_driver_postgresql pyarrow polars"},
	{"duckdb.py", "duckdb==1.5.5 duckdb-extensions duckdb-extension-postgres-scanner", "duckdb duckdb_extensions"},
	{"node.js", "pg@8 pg-cursor@2", ""},
	{"pq.go.txt", "github.com/lib/pq@v1.10.9", ""},
}

// TestPrograms runs the clients. HQL_TEST_CLIENTS names those to install, with commas, or is "all"; a client that is
// neither installed nor named is skipped.
func TestPrograms(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			_, addr := serve(t, openTables(t), pgwire.Options{Write: true})
			p.run(t, addr)
		})
	}
}

// On a real HBase the clients print the same.
func TestHBasePrograms(t *testing.T) {
	ctx := context.Background()
	db, err := hql.Open(ctx, "hbase://"+hbasetest.Quorum(t)+"/hbase", hql.WithWrites(true), hql.WithoutFiles(), hql.WithFullScan(hql.FullScanDeny))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, tables); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := db.Exec(ctx, "DROP TABLE events; DROP TABLE every"); err != nil {
			t.Error(err)
		}
	}()
	_, addr := serve(t, db, pgwire.Options{Write: true})
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) { p.run(t, addr) })
	}
	t.Run("psql", func(t *testing.T) { psql(t, addr) })
	t.Run("pgjdbc", func(t *testing.T) { jdbc(t, addr) })
	await(t, "the end of all scanners", func() bool {
		open, _ := hbasetest.Scanners(t)
		return open == 0
	})
}

func (p program) run(t *testing.T, addr string) {
	t.Helper()
	file, err := filepath.Abs("testdata/clients/" + p.name)
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(addr)
	cmd := p.command(t, file)
	cmd.Env = append(cmd.Environ(), "PGHOST="+host, "PGPORT="+port, "PGUSER=me", "PGDATABASE=db", "PGSSLMODE=disable", "PGCLIENTENCODING=UTF8", "PYTHONWARNINGS=ignore")
	got, err := cmd.CombinedOutput()
	want, _ := os.ReadFile(file + ".out")
	if err != nil || string(got) != string(want) {
		t.Errorf("%s: %v, printed\n%s\nnot\n%s", p.name, err, got, want)
	}
}

// command is the client's command; what it needs is installed if HQL_TEST_CLIENTS says so.
func (p program) command(t *testing.T, file string) *osexec.Cmd {
	t.Helper()
	name, _, _ := strings.Cut(p.name, ".")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(cache, "hql-test-clients", name)
	_, missing := os.Stat(dir + "/ready")
	named := strings.Split(os.Getenv("HQL_TEST_CLIENTS"), ",")
	install := missing != nil && (slices.Contains(named, "all") || slices.Contains(named, name))
	run := func(program string, args ...string) {
		t.Helper()
		cmd := osexec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%s cannot be installed: %v\n%s", name, err, out)
		}
	}
	if install {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(p.name, ".py"):
			run("python3", "-m", "venv", ".")
			run("bin/python", append([]string{"-m", "pip", "install", "-q"}, strings.Fields(p.packages)...)...)
		case strings.HasSuffix(p.name, ".js"):
			run("npm", append([]string{"install", "--prefix", "."}, strings.Fields(p.packages)...)...)
		default:
			_ = os.Remove(filepath.Join(dir, "go.mod"))
			run("go", "mod", "init", "client")
			run("go", "get", p.packages)
		}
		if missing = os.WriteFile(dir+"/ready", nil, 0o666); missing != nil {
			t.Fatal(missing)
		}
	}
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(p.name, ".py") {
		py := dir + "/bin/python"
		if missing != nil {
			py = python.With(t, strings.Fields(p.modules)...)
		}
		cmd := osexec.CommandContext(t.Context(), py, "-") // not the file, whose name is that of a module
		cmd.Stdin = bytes.NewReader(script)
		return cmd
	}
	if missing != nil {
		t.Skipf("%s is not installed: HQL_TEST_CLIENTS=%s installs it", p.packages, name)
	}
	if strings.HasSuffix(p.name, ".js") {
		cmd := osexec.CommandContext(t.Context(), "node", file)
		cmd.Env = append(os.Environ(), "NODE_PATH="+dir+"/node_modules")
		return cmd
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), script, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := osexec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Dir = dir
	cmd.Env = os.Environ()
	return cmd
}

package differential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	_ "github.com/hql-db/hql/columnar"
)

const requireEnv = "HQL_REQUIRE_POSTGRES"

func TestMain(m *testing.M) {
	code := m.Run()
	if s, err := postgres(); err == nil {
		s.stop()
	}
	os.Exit(code)
}

// errNotInstalled says that this machine has no PostgreSQL.
var errNotInstalled = errors.New("PostgreSQL is not installed")

// server is a PostgreSQL server in a temporary folder, which only this test uses.
type server struct {
	dir  string
	keep *exec.Cmd
	hold io.Closer // the server ends when this is closed, and so when this process does
}

// postgres is the server of all tests, started by the first.
var postgres = sync.OnceValues(startPostgres)

// connect opens a session.
func connect(t *testing.T) *pgconn.PgConn {
	t.Helper()
	s, err := postgres()
	if errors.Is(err, errNotInstalled) && os.Getenv(requireEnv) == "" {
		t.Skipf("%v: %s=1 makes this a failure", err, requireEnv)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func (s *server) connect() (*pgconn.PgConn, error) {
	return pgconn.Connect(context.Background(), "host="+s.dir+" user=hql dbname=postgres sslmode=disable")
}

// findPrograms finds the folder of initdb and postgres in the PATH, or the newest one of Debian.
func findPrograms() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errNotInstalled
	}
	version := func(p string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(p))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) })), nil
}

// ordinary finds a user to run PostgreSQL, which refuses to run as root.
func ordinary() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.Atoi(u.Uid)
			gid, _ := strconv.Atoi(u.Gid)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}

// watch runs the server until its own input ends, then ends it and removes its folder.
const watch = `"$@" >log 2>&1 & p=$!; cat >/dev/null; kill -QUIT $p; wait $p; cd /; rm -rf "$D"`

func startPostgres() (*server, error) {
	bin, err := findPrograms()
	if err != nil {
		return nil, err
	}
	who, err := ordinary()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hql-pg") // short: it is the path of a socket
	if err != nil {
		return nil, err
	}
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			return nil, err
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(name, args...)
		c.Dir, c.Env = dir, append(os.Environ(), "D="+dir, "LC_ALL=C.UTF-8", "TZ=UTC")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true} // ^C is for us, we end it
		return c
	}
	data := filepath.Join(dir, "data")
	// Texts are compared byte by byte; upper and lower case follow Unicode.
	init := command(filepath.Join(bin, "initdb"), "-D", data, "-U", "hql", "-A", "trust", "-E", "UTF8", "--lc-collate=C", "--lc-ctype=C.UTF-8", "--no-sync")
	if out, err := init.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s := &server{dir: dir}
	s.keep = command("/bin/sh", "-c", watch, "sh", filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "autovacuum=off", "-c", "jit=off", "-c", "shared_buffers=32MB", "-c", "max_connections=20")
	if s.hold, err = s.keep.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.keep.Start(); err != nil {
		return nil, err
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		c, err := s.connect()
		if err == nil {
			return s, c.Close(context.Background())
		}
		if time.Since(began) > 30*time.Second {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			s.stop()
			return nil, fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, log)
		}
	}
}

func (s *server) stop() {
	s.hold.Close()
	s.keep.Wait()
}

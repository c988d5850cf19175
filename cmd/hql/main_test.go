package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/testdata"
)

func TestMain(m *testing.M) {
	testscript.Main(poison.Tests(m), map[string]func(){"hql": func() { poison.On = true; main() }})
}

// testdata/*.txt are sessions at a shell: what is run, what it prints, how it exits.
func TestScripts(t *testing.T) { runScripts(t, "testdata", "") }

// runScripts runs the scripts of dir; configHome, if not "", holds the configuration that names a cluster.
func runScripts(t *testing.T, dir, configHome string) {
	p := testscript.Params{Dir: dir,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ESC", "\x1b")
			if configHome != "" {
				e.Setenv("XDG_CONFIG_HOME", configHome)
			}
			return nil
		},
		Condition: func(cond string) (bool, error) { return cond == "cluster" && configHome != "", nil }}
	if configHome != "" {
		testscript.RunT(inTurn{t}, p)
		return
	}
	testscript.Run(t, p)
}

// inTurn runs scripts one after another: those that share a cluster share its tables and their statistics.
type inTurn struct{ *testing.T }

func (inTurn) Parallel() {}

func (inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, script func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { script(inTurn{t}) })
}

// The same beside clusters that speak TLS, one of which wants certificates of clients.
func TestTLS(t *testing.T) {
	for _, mutual := range []bool{false, true} {
		t.Run(fmt.Sprintf("mutual=%v", mutual), func(t *testing.T) {
			if !mutual {
				race.Skip(t) // a cluster of its own for a part of what the other one shows
			}
			quorum, ca, client := hbasetest.Secured(t, mutual, "localhost")
			address := "hbase://" + quorum + "/hbase"
			secured := address + "?tls&tls_ca=" + url.QueryEscape(ca)
			if mutual {
				secured += "&tls_cert=" + url.QueryEscape(client)
			}
			stores := javaStores(t, ca, client)
			testscript.Run(t, testscript.Params{Dir: "testdata/tls",
				Setup: func(e *testscript.Env) error {
					for name, own := range map[string]string{"JKS": "own.jks", "PKCS12": "own.p12"} {
						e.Setenv(name, address+"?tls&tls_ca="+url.QueryEscape(stores+"/trust.jks")+"&tls_cert="+url.QueryEscape(stores+"/"+own)+"&tls_password_file="+url.QueryEscape(stores+"/password"))
					}
					e.Setenv("ADDRESS", address)
					e.Setenv("SECURED", secured)
					e.Setenv("CA", url.QueryEscape(ca))
					host, port, _ := strings.Cut(quorum, ":")
					for dir, files := range map[string][]string{"conf": {ca, client, ""}, "stores": {stores + "/trust.jks", stores + "/own.p12", "secret"}} {
						site := "<configuration>"
						for name, value := range map[string]string{"hbase.zookeeper.quorum": host, "hbase.zookeeper.property.clientPort": port, "hbase.client.netty.tls.enabled": "true",
							"hbase.rpc.tls.truststore.location": files[0], "hbase.rpc.tls.truststore.password": files[2],
							"hbase.rpc.tls.keystore.location": files[1], "hbase.rpc.tls.keystore.password": files[2]} {
							site += "<property><name>" + name + "</name><value>" + value + "</value></property>"
						}
						if err := os.Mkdir(e.WorkDir+"/"+dir, 0o755); err != nil {
							return err
						}
						if err := os.WriteFile(e.WorkDir+"/"+dir+"/hbase-site.xml", []byte(site+"</configuration>"), 0o600); err != nil {
							return err
						}
					}
					return nil
				},
				Condition: func(cond string) (bool, error) { return cond == "mutual" && mutual, nil }})
		})
	}
}

// A server's certificate is for the name by which the cluster calls the server, unless an option says otherwise.
func TestTLSHostName(t *testing.T) {
	race.Skip(t)
	quorum, ca, _ := hbasetest.Secured(t, false, "elsewhere")
	for verify, want := range map[string]string{"": "certificate is valid for elsewhere, not localhost", "&tls_verify=full": "certificate is valid for elsewhere, not localhost", "&tls_verify=ca": ""} {
		db, err := hql.Open(t.Context(), "hbase://"+quorum+"/hbase?tls&tls_ca="+url.QueryEscape(ca)+verify)
		if err == nil {
			_, err = db.Exec(t.Context(), "SHOW TABLES")
			db.Close()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", verify, err)
		}
	}
}

// On a cluster with permissions: the tables that a user with rights for only some of them sees.
func TestPermissions(t *testing.T) {
	race.Skip(t)
	address := hbasetest.Guarded(t)
	asOwner := func(do func(ctx context.Context, owner hbase.Client) error) error {
		ctx := context.Background() // scripts run when the test itself has returned
		owner, err := hbase.Dial(ctx, hbase.Config{Quorum: address})
		if err != nil {
			return err
		}
		defer owner.Close()
		return do(ctx, owner)
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/permissions",
		Setup: func(e *testscript.Env) error {
			e.Setenv("OWNER", "hbase://"+address+"/hbase")
			for _, user := range []string{"bob", "carol", "dan"} {
				e.Setenv(strings.ToUpper(user), "hbase://"+user+"@"+address+"/hbase")
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// grant USER RIGHTS TABLE [FAMILY [COLUMN]] is the command of HBase's shell; of a namespace TABLE is @NAME.
			"grant": func(ts *testscript.TestScript, _ bool, args []string) {
				put := hbase.Mutation{Key: []byte(args[2]), Timestamp: time.Now().UnixMilli(), Cells: []hbase.Cell{{Family: []byte("l"), Qualifier: []byte(strings.Join(append(args[:1:1], args[3:]...), ",")), Value: []byte(args[1])}}}
				ts.Check(asOwner(func(ctx context.Context, owner hbase.Client) error {
					return owner.Mutate(ctx, "hbase:acl", []hbase.Mutation{put})
				}))
				time.Sleep(2 * time.Second) // servers are told through ZooKeeper
			},
			// offer ADDRESS LINE [FILE] prints what the prompt offers at | in a line, with the definitions of a catalog file if one is given.
			"offer": func(ts *testscript.TestScript, _ bool, args []string) {
				var opts []hql.Option
				if len(args) > 2 {
					opts = append(opts, hql.WithCatalogFile(ts.MkAbs(args[2])))
				}
				db, err := hql.Open(context.Background(), args[0], opts...)
				ts.Check(err)
				defer db.Close()
				before, behind, _ := strings.Cut(args[1], "|")
				words, _ := (&session{db: db, conf: &config{}}).complete(before+behind, len(before))
				fmt.Fprintln(ts.Stdout(), strings.Join(words, ","))
			},
			// undescribed makes a table that no definition is about.
			"undescribed": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(asOwner(func(ctx context.Context, owner hbase.Client) error {
					return owner.CreateTable(ctx, args[0], []hbase.Family{{Name: "f"}}, nil)
				}))
			},
		}})
}

// javaStores makes of PEM files what Java keeps certificates in: trust.jks, own.p12 and own.jks, with the password in the file password.
func javaStores(t *testing.T, ca, client string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	pair, err := tls.LoadX509KeyPair(client, client)
	if err != nil {
		t.Fatal(err)
	}
	p12, err := pkcs12.Modern.Encode(pair.PrivateKey, pair.Leaf, nil, "secret")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"own.p12": p12, "password": []byte("secret\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"-importcert", "-alias", "ca", "-file", ca, "-keystore", "trust.jks", "-storetype", "JKS"},
		{"-importkeystore", "-srckeystore", "own.p12", "-srcstorepass", "secret", "-destkeystore", "own.jks", "-deststoretype", "JKS"},
	} {
		cmd := exec.Command("keytool", append(args, "-noprompt", "-storepass", "secret")...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("keytool %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// The demo's tables on a real HBase give what the embedded store gives.
func TestHBase(t *testing.T) {
	quorum := hbasetest.Quorum(t)
	dir := t.TempDir()
	sql := `CREATE TABLE files (user_id INT, create_time DATE, file_id BIGINT, name STRING, category STRING)
		ROW KEY (user_id AS TEXT(6), create_time AS TEXT('yyyyMMdd'), file_id AS TEXT(6));`
	catalogFile := dir + "/tables.sql"
	if err := os.WriteFile(catalogFile, []byte(strings.Replace(sql, "CREATE TABLE", "CREATE EXTERNAL TABLE", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	csvFile := dir + "/files.csv"
	if err := os.WriteFile(csvFile, []byte(testdata.Files), 0o644); err != nil {
		t.Fatal(err)
	}
	hql := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(context.Background(), append([]string{"--connect", "hbase://" + quorum + "/hbase"}, args...), strings.NewReader(""), &out, &errs); code != want {
			t.Fatalf("%v: exit %d\n%s%s", args, code, out.String(), errs.String())
		}
		return out.String()
	}
	if out := hql(exitFailed, "-c", sql); out != "" {
		t.Errorf("a write without --write printed %q", out)
	}
	hql(exitOK, "--write", "-c", sql+"; COPY files FROM '"+csvFile+"'")
	query := "SELECT file_id, name FROM files WHERE user_id = 1 AND create_time BETWEEN DATE '2012-09-01' AND DATE '2012-10-01' AND name LIKE '中国好声音%' AND category LIKE '综艺%'"
	want := "file_id,name\n1,中国好声音第1期\n2,中国好声音第2期\n3,中国好声音外卡赛\n4,中国好声音第3期\n5,中国好声音第4期\n7,中国好声音第5期\n"
	if out := hql(exitOK, "--format", "csv", "-c", query); out != want {
		t.Errorf("got %s", out)
	}
	if out := hql(exitOK, "--catalog", catalogFile, "--format", "csv", "-c", query); out != want {
		t.Errorf("with a catalog file: %s", out)
	}
	hql(exitGuard, "-c", "SELECT * FROM files WHERE name = 'x'")
	if out := hql(exitOK, "--format", "csv", "-c", "SELECT count(*) FROM files ALLOW FULL SCAN"); out != "count\n10\n" {
		t.Errorf("count: %s", out)
	}
	hql(exitOK, "--write", "-c", "DELETE FROM files WHERE user_id = 1; DROP TABLE files")
}

package main

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// addFiles makes the files of testdata/config.txt with this ending seeds.
func addFiles(f *testing.F, ext string) {
	f.Helper()
	a, err := txtar.ParseFile("testdata/config.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range a.Files {
		if filepath.Ext(file.Name) == ext {
			f.Add(file.Data)
		}
	}
}

// Any config.yaml is one error that names the file, or settings that are in order and connections that are found by name.
func FuzzConfig(f *testing.F) {
	addFiles(f, ".yaml")
	f.Add([]byte("catalog: [a.sql, ~/b.sql]\ntimeout: 1h30m\npager: ''\ncolor: never\nwrite: true"))
	f.Add([]byte("connections: {a: &a {connect: 'hbase://h/r', catalog: &c [x, y]}, b: *a, c: {<<: *a, catalog: *c}}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := parseConfig("/etc/hql.yaml", b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "/etc/hql.yaml: ") {
				t.Fatal(err)
			}
			return
		}
		if err := file.Defaults.check(); err != nil {
			t.Fatal(err)
		}
		for name, s := range file.Connections {
			for _, path := range append(slices.Clone(s.Catalog), s.Conf) {
				if path != "" && !filepath.IsAbs(path) {
					t.Fatalf("connection %s: %s depends on the working directory", name, path)
				}
			}
			if strings.HasPrefix(s.Connect, "hbase:") {
				continue // its hbase-site.xml would be read
			}
			c := config{given: settings{Connect: name}, file: file}
			if err := c.resolve(); err != nil || c.settings.Connect != s.Connect {
				t.Fatalf("connection %q is %q, not %q (%v)", name, c.settings.Connect, s.Connect, err)
			}
		}
	})
}

// Any hbase-site.xml is an error or the address of a cluster, which nothing in it turns into more.
func FuzzSite(f *testing.F) {
	addFiles(f, ".xml")
	f.Add([]byte("<configuration><property><name>hbase.regionserver.kerberos.principal</name><value>hb/_HOST@R&amp;write=1</value></property>" +
		"<property><name>hbase.security.authentication</name><value>kerberos</value></property></configuration>"))
	f.Add([]byte("<configuration><property><name>zookeeper.znode.parent</name><value>/a b?write</value></property></configuration>"))
	f.Add([]byte("<configuration><property><name>hbase.zookeeper.quorum</name><value>a/?write#,b</value></property></configuration>"))
	f.Add([]byte("<configuration><property><name>hbase.client.bootstrap.servers</name><value>a?write,b/c</value></property></configuration>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		address, err := parseSite("hbase-site.xml", b)
		if err != nil {
			return
		}
		scheme, rest, _ := strings.Cut(address, "://")
		end := max(strings.IndexAny(rest+"?", "/?"), 0)
		hosts, rest := rest[:end], rest[end:]
		if scheme != "hbase" && (scheme != "hbase+rpc" || strings.HasPrefix(rest, "/")) || hosts == "" || strings.ContainsAny(hosts, "#@%") {
			t.Fatalf("%q has the hosts %q", address, hosts)
		}
		u, err := url.Parse("hbase://hosts" + rest)
		if err != nil {
			t.Fatalf("%q: %v", address, err)
		}
		for name := range u.Query() {
			if u.Fragment != "" || !slices.Contains([]string{"kerberos", "service", "protection", "tls", "tls_site"}, name) {
				t.Fatalf("%q has the parameter %s and the fragment %s", address, name, u.Fragment)
			}
		}
	})
}

// Whatever the file holds, what is added comes back last, as it was typed, and nothing else changes.
func FuzzHistory(f *testing.F) {
	path := filepath.Join(f.TempDir(), "history")
	f.Add([]byte("SELECT 1\n\\d files\n"), "SELECT a, -- first\n  'it''s -- b'\nFROM t -- last")
	f.Add([]byte(""), "SELECT 'a\n\\n\r''b', E'c\n\\\\d', b'\n' FROM \"x\"")
	f.Add([]byte(""), "SELECT '\x01', '\x02', '\x021', '\x02r',\n\x01\x02\n")
	f.Add([]byte("SELECT 'cut off"), "SELECT 'a\n-- b' /* c\nd */ FROM t;")
	f.Add([]byte("\r\n\x00\xff\n\n"), "\\set x '\r'")
	f.Add([]byte(strings.Repeat("x;\n", 3*maxHistory)), `\copy t FROM 'it -- s'`)
	f.Fuzz(func(t *testing.T, file []byte, typed string) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		h := &history{path: path}
		want := h.load()
		statement, kept := h.add(typed)
		if kept {
			if statement != strings.TrimSpace(typed) {
				t.Fatalf("%q is remembered as %q", typed, statement)
			}
			want = append(want, statement)
			want = want[max(0, len(want)-maxHistory):]
		}
		if got := h.load(); !slices.Equal(got, want) {
			t.Fatalf("after %q: %d statements, the last %q; want %d", typed, len(got), got[max(0, len(got)-1):], len(want))
		}
	})
}

// A statement of any length is kept, and hides no later one.
func TestHistory(t *testing.T) {
	h := &history{path: filepath.Join(t.TempDir(), "state", "history")}
	statements := []string{"SELECT 1", "SELECT '" + strings.Repeat("x", 2<<20) + "'", "SELECT 2"}
	for _, s := range statements {
		h.add(s)
	}
	if got := h.load(); !slices.Equal(got, statements) {
		t.Errorf("%d statements are read back, want %d", len(got), len(statements))
	}
	old := "SELECT E'two\\nlines' AS t;\n\\d files\nSELECT 'x\ty';\n" // as earlier versions wrote them
	if err := os.WriteFile(h.path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(h.load(), "\n") + "\n"; got != old {
		t.Errorf("the history of an earlier version: %q", got)
	}
}

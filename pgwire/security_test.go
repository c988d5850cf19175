package pgwire_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hql-db/hql/pgwire"
)

// certificate makes a certificate for 127.0.0.1, and writes it to a file for clients.
func certificate(t *testing.T) (*tls.Config, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hql"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, file
}

// users are alice, who may write, and bob, who may read two rows in one connection; their passwords are their names turned round.
func users(t *testing.T) *pgwire.Users {
	t.Helper()
	line := func(name, password, options string) string {
		v, err := pgwire.Verifier(password)
		if err != nil {
			t.Fatal(err)
		}
		return name + " " + v + " " + options + "\n"
	}
	u, err := pgwire.ParseUsers("# who\n" + line("alice", "ecila", "write=on") + line("bob", "bob", "max_scan_rows=2 connections=1 full_scan=warn # a comment"))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// as connects as a user.
func as(addr, user, password, rest string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return pgx.Connect(ctx, fmt.Sprintf("postgres://%s:%s@%s/db?%s", user, password, addr, rest))
}

func stateOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

// Passwords are checked with and without TLS; a client without a password does not learn which users exist.
func TestPasswords(t *testing.T) {
	cfg, ca := certificate(t)
	srv, addr := serve(t, openTables(t), pgwire.Options{Users: users(t), TLS: cfg})
	for _, mode := range []string{"sslmode=disable", "sslmode=require", "sslmode=verify-full&sslrootcert=" + ca} {
		c, err := as(addr, "alice", "ecila", mode)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		if _, err := c.Exec(context.Background(), "INSERT INTO events VALUES ('d7', TIMESTAMP '2024-05-01', 'x', 1)"); err != nil {
			t.Errorf("%s: alice may write: %v", mode, err)
		}
		c.Close(context.Background())
		var texts []string
		for _, who := range []string{"alice", "nobody"} {
			_, err := as(addr, who, "wrong", mode)
			if stateOf(err) != "28P01" {
				t.Errorf("%s: %s with a wrong password: %v", mode, who, err)
			}
			var e *pgconn.PgError
			if errors.As(err, &e) {
				texts = append(texts, strings.ReplaceAll(e.Message, who, "WHO"))
			}
		}
		if len(texts) == 2 && texts[0] != texts[1] {
			t.Errorf("%q tells who there is", texts)
		}
	}
	await(t, "the end of all connections", func() bool { return len(srv.Sessions()) == 0 })
}

// A role's limits hold whatever its sessions set.
func TestRoles(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{Users: users(t)})
	c, err := as(addr, "bob", "bob", "sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for sql, want := range map[string]string{
		"SELECT device FROM events":  "54000",
		"SET max_scan_rows = 3":      "42501",
		"SET max_scan_rows = 'none'": "42501",
		"SET full_scan = 'allow'":    "42501",
		"INSERT INTO events VALUES ('d7', TIMESTAMP '2024-05-01', 'x', 1)": "25006",
		"SET default_transaction_read_only = off":                          "25006",
		"SELECT device FROM events WHERE device = 'd1' LIMIT 1":            "<nil>",
		"SET max_scan_rows = 1; RESET max_scan_rows; SELECT 1":             "<nil>",
		"RESET ALL; SELECT device FROM events":                             "54000",
		"BEGIN; SET LOCAL max_scan_rows = 5":                               "42501",
		"ROLLBACK":                                                         "<nil>",
	} {
		_, err := c.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol)
		if got := stateOf(err); got != want && sql != "ROLLBACK" {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
		_, _ = c.Exec(context.Background(), "ROLLBACK")
	}
	if _, err := as(addr, "bob", "bob", "sslmode=disable"); stateOf(err) != "53300" {
		t.Errorf("a second connection: %v", err)
	}
}

// Other hosts need passwords and TLS; files of users are checked.
func TestOptions(t *testing.T) {
	db := openTables(t)
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	srv, err := pgwire.NewServer(db, pgwire.Options{Users: users(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	if err := srv.Serve(l); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("a listener that other hosts reach: %v", err)
	}
	v, err := pgwire.Verifier("x")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"a":                                  "1: a line is NAME VERIFIER",
		"\na secret":                         "2: the verifier is not",
		"a " + v + "\na " + v:                "2: the user a is listed twice",
		"a " + v + " write":                  "is not NAME=VALUE",
		"a " + v + " write=perhaps":          "write is on or off",
		"a " + v + " connections=0":          "connections is a number",
		"a " + v + " full_scan=x":            "",
		"a " + v + " max_scan_rows=many":     "max_scan_rows cannot be",
		"a " + v + " statement_timeout=soon": "statement_timeout cannot be",
		"a " + v + " superuser=on":           "unknown option",
	} {
		if _, err := pgwire.ParseUsers(text); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

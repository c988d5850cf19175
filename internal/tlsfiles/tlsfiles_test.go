package tlsfiles

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"
)

// testdata holds an authority, and a key with a certificate for localhost of that authority's, as keytool and openssl have written them:
// own.* with the key, trust.* and ca.pem without. The password is "secret".
func in(name string) string {
	if name == "" {
		return ""
	}
	return filepath.Join("testdata", name)
}

// serve answers one handshake, as a server that wants a client's certificate of the same authority.
func serve(t *testing.T, conn net.Conn) error {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(in("own.pem"), in("own.key"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(in("ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	server := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	if err := server.Handshake(); err != nil {
		conn.Close()
		return err
	}
	_, err = server.Write([]byte("x"))
	return err
}

// connect does a handshake with the server named name.
func connect(t *testing.T, files Files, name string) error {
	t.Helper()
	cfg, err := files.Config()
	if err != nil {
		return err
	}
	cfg.ServerName = name
	conn, peer := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve(t, peer) }()
	client := tls.Client(conn, cfg)
	_, err = client.Read(make([]byte, 1)) // the server has believed the client, too
	conn.Close()
	if refused := <-served; err != nil && refused != nil && !strings.Contains(err.Error(), "x509") {
		return fmt.Errorf("%w (%w)", err, refused)
	}
	return err
}

// siteFile writes an hbase-site.xml.
func siteFile(t *testing.T, properties ...string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(properties); i += 2 {
		fmt.Fprintf(&b, "<property>\n<name> %s </name><value> %s </value></property>", properties[i], properties[i+1])
	}
	file := filepath.Join(t.TempDir(), "hbase-site.xml")
	if err := os.WriteFile(file, []byte("<configuration>"+b.String()+"</configuration>"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestConfig(t *testing.T) {
	const trust, own = "hbase.rpc.tls.truststore.", "hbase.rpc.tls.keystore."
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	password := in("password")
	for _, test := range []struct {
		name  string
		files Files
		host  string // "": localhost
		want  string // in the error; "": there is none
	}{
		{"PEM", Files{CA: in("ca.pem"), Cert: in("own.pem"), Key: in("own.key")}, "", ""},
		{"PKCS #12", Files{CA: in("trust.p12"), Cert: in("own.p12"), Password: password}, "", ""},
		{"JKS", Files{CA: in("trust.jks"), Cert: in("own.jks"), Password: password}, "", ""},
		{"site", Files{Site: siteFile(t, trust+"location", in("trust.jks"), trust+"password", "secret", own+"location", in("own.p12"), own+"password", "secret", own+"type", "PKCS12")}, "", ""},
		{"site beside files", Files{CA: in("ca.pem"), Site: siteFile(t, trust+"location", "missing", own+"location", in("own.jks"), own+"password", "secret")}, "", ""},
		{"another host", Files{CA: in("ca.pem"), Cert: in("own.p12"), Password: password}, "other", "certificate is valid for localhost, not other"},
		{"any host", Files{CA: in("ca.pem"), Cert: in("own.p12"), Password: password, AnyHost: true}, "other", ""},
		{"any host by the site", Files{CA: in("ca.pem"), Cert: in("own.p12"), Password: password, Site: siteFile(t, "hbase.client.netty.tls.verify.server.hostname", "False")}, "other", ""},
		{"any host of another authority", Files{Cert: in("own.p12"), Password: password, AnyHost: true}, "", "x509: certificate signed by unknown authority"},
		{"another authority", Files{Cert: in("own.p12"), Password: password}, "", "x509: certificate signed by unknown authority"},
		{"no certificate", Files{CA: in("trust.p12"), Password: password}, "", "certificate required"},
		{"PKCS #12 without a password", Files{CA: in("trust.p12")}, "", "tls_ca: " + in("trust.p12") + " (PKCS #12), read without a password: "},
		{"JKS without a password", Files{CA: in("trust.jks")}, "", "tls_ca: " + in("trust.jks") + " (JKS), read without a password: "},
		{"another password", Files{CA: in("ca.pem"), Cert: in("own.jks"), Password: in("ca.pem")}, "", "tls_cert and tls_key: " + in("own.jks") + " (JKS), read with the password given: "},
		{"another password of PKCS #12", Files{CA: in("ca.pem"), Cert: in("own.p12"), Password: in("ca.pem")}, "", "(PKCS #12), read with the password given: pkcs12: decryption password incorrect"},
		{"a sealed key", Files{Cert: in("own.pem"), Key: in("sealed.key")}, "", "the key in " + in("sealed.key") + " is encrypted: hql reads keys with a password from PKCS #12 and JKS only"},
		{"no key", Files{Cert: in("own.pem")}, "", "found a certificate rather than a key"},
		{"no key in JKS", Files{Cert: in("trust.jks"), Password: password}, "", "(JKS) has no key"},
		{"no authority", Files{CA: in("own.key")}, "", "(PEM) has no certificates to trust"},
		{"no authority in JKS", Files{CA: in("own.jks"), Password: password}, "", "(JKS) has no certificates to trust"},
		{"no store", Files{CA: empty}, "", "is neither PEM nor PKCS #12 nor JKS"},
		{"no file", Files{CA: "missing"}, "", "tls_ca: open missing: "},
		{"no site", Files{Site: "missing"}, "", "tls_site: open missing: "},
		{"no password file", Files{Password: "missing"}, "", "tls_password_file: open missing: "},
		{"a site that is none", Files{Site: in("ca.pem")}, "", "tls_site: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := test.host
			if host == "" {
				host = "localhost"
			}
			err := connect(t, test.files, host)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, not %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") && test.name != "a sealed key" {
				t.Errorf("the password is shown: %v", err)
			}
		})
	}
}

// issued is a certificate that issuer has signed, or it itself, and its key.
func issued(t *testing.T, name string, issuer *x509.Certificate, issuerKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	if issuer == nil {
		issuer, issuerKey = c, key
	}
	b, err := x509.CreateCertificate(rand.Reader, c, issuer, &key.PublicKey, issuerKey)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(b); err != nil {
		t.Fatal(err)
	}
	return c, key
}

// A key is shown with its own certificate first and those who issued it behind it, wherever they stand in a store.
func TestOrderOfCertificates(t *testing.T) {
	root, rootKey := issued(t, "root", nil, nil)
	between, betweenKey := issued(t, "between", root, rootKey)
	own, key := issued(t, "own", between, betweenKey)
	other, _ := issued(t, "other", nil, nil)
	for _, test := range []struct {
		stored []*x509.Certificate
		want   string // the names, or what is in the error
	}{
		{[]*x509.Certificate{own, between, root}, "own between root"},
		{[]*x509.Certificate{root, between, own}, "own between root"},
		{[]*x509.Certificate{other, between, own}, "own between"},
		{[]*x509.Certificate{root, own}, "own"},
		{[]*x509.Certificate{root, between}, "the certificate belongs to another key"},
	} {
		b, err := pkcs12.Modern.Encode(key, test.stored[0], test.stored[1:], "secret")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "own.p12")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := Files{Cert: file, Password: in("password")}.Config()
		got := fmt.Sprint(err)
		if err == nil {
			var names []string
			for _, b := range cfg.Certificates[0].Certificate {
				c, err := x509.ParseCertificate(b)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, c.Subject.CommonName)
			}
			got = strings.Join(names, " ")
		}
		if !strings.HasSuffix(got, test.want) {
			t.Errorf("%s, not %s", got, test.want)
		}
	}
}

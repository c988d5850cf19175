// Package tlsfiles makes a TLS client's configuration from files: PEM, and Java's stores of certificates.
package tlsfiles

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/hql-db/hql/internal/hbasesite"
)

// Files are the certificates that a client trusts and its own. Each may be PEM, PKCS #12 or JKS, which Config
// recognises by the content.
type Files struct {
	CA        string // the authorities to trust; "": the system's
	Cert, Key string // the client's certificates and key, together or apart if PEM; "": none
	Password  string // a file that holds the password of the stores above, on a line; "": they have none
	Site      string // an hbase-site.xml that names the files not given above
	// AnyHost skips the check that a server's certificate is for its name.
	AnyHost bool
}

// store is a file and its password.
type store struct {
	file, password string
}

// Config reads the files.
func (f Files) Config() (*tls.Config, error) {
	password := ""
	if f.Password != "" {
		b, err := os.ReadFile(f.Password)
		if err != nil {
			return nil, fmt.Errorf("tls_password_file: %w", err)
		}
		password = strings.TrimRight(string(b), "\r\n")
	}
	trust, own := store{f.CA, password}, store{cmp.Or(f.Cert, f.Key), password}
	if f.Site != "" {
		site, err := readSite(f.Site)
		if err != nil {
			return nil, fmt.Errorf("tls_site: %w", err)
		}
		if trust.file == "" {
			trust = site.store("hbase.rpc.tls.truststore")
		}
		if own.file == "" {
			own = site.store("hbase.rpc.tls.keystore")
		}
		f.AnyHost = f.AnyHost || strings.EqualFold(site["hbase.client.netty.tls.verify.server.hostname"], "false")
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if trust.file != "" {
		roots, err := trust.authorities()
		if err != nil {
			return nil, fmt.Errorf("tls_ca: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		for _, c := range roots {
			cfg.RootCAs.AddCert(c)
		}
	}
	if own.file != "" {
		pair, err := own.pair(f.Key)
		if err != nil {
			return nil, fmt.Errorf("tls_cert and tls_key: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	if f.AnyHost {
		cfg.InsecureSkipVerify = true // only the host's name stays unchecked: verify does the rest
		cfg.VerifyConnection = func(s tls.ConnectionState) error { return verify(s, cfg.RootCAs) }
	}
	return cfg, nil
}

// verify checks a server's certificate as crypto/tls does, except for the server's name.
func verify(s tls.ConnectionState, roots *x509.CertPool) error {
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	if _, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between}); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
	}
	return nil
}

// site holds the properties of an hbase-site.xml.
type site map[string]string

func readSite(file string) (site, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	properties, err := hbasesite.Properties(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	out := site{}
	for _, p := range properties {
		out[p.Name] = p.Value
	}
	return out, nil
}

// store returns the store that the properties with a prefix describe. Its type is ignored: the content determines it.
func (s site) store(prefix string) store {
	return store{s[prefix+".location"], s[prefix+".password"]}
}

// read reads a store and recognises its kind by its first bytes.
func (s store) read() (kind string, b []byte, err error) {
	b, err = os.ReadFile(s.file)
	switch {
	case err != nil:
		return "", nil, err
	case bytes.HasPrefix(b, []byte{0xfe, 0xed, 0xfe, 0xed}):
		kind = "JKS"
	case len(b) > 0 && b[0] == 0x30: // a sequence of ASN.1
		kind = "PKCS #12"
	case bytes.Contains(b, []byte("-----BEGIN ")):
		kind = "PEM"
	default:
		return "", nil, fmt.Errorf("%s is neither PEM nor PKCS #12 nor JKS", s.file)
	}
	return kind, b, nil
}

// authorities returns the certificates that a store trusts.
func (s store) authorities() ([]*x509.Certificate, error) {
	kind, b, err := s.read()
	if err != nil {
		return nil, err
	}
	var out []*x509.Certificate
	switch kind {
	case "JKS":
		ks, err := s.jks(b)
		if err != nil {
			return nil, err
		}
		for _, alias := range ks.Aliases() {
			if !ks.IsTrustedCertificateEntry(alias) {
				continue
			}
			entry, err := ks.GetTrustedCertificateEntry(alias)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", s.file, alias, err)
			}
			c, err := x509.ParseCertificate(entry.Certificate.Content)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", s.file, alias, err)
			}
			out = append(out, c)
		}
	case "PKCS #12":
		if out, err = pkcs12.DecodeTrustStore(b, s.password); err != nil {
			return nil, s.explain(kind, err)
		}
	default:
		for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
			if block.Type != "CERTIFICATE" {
				continue
			}
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.file, err)
			}
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s (%s) has no certificates to trust", s.file, kind)
	}
	return out, nil
}

// pair returns the first key of a store with its certificates. With PEM, the key may be in another file.
func (s store) pair(keyFile string) (tls.Certificate, error) {
	kind, b, err := s.read()
	if err != nil {
		return tls.Certificate{}, err
	}
	switch kind {
	case "JKS":
		ks, err := s.jks(b)
		if err != nil {
			return tls.Certificate{}, err
		}
		for _, alias := range ks.Aliases() {
			if !ks.IsPrivateKeyEntry(alias) {
				continue
			}
			entry, err := ks.GetPrivateKeyEntry(alias, []byte(s.password))
			if err != nil {
				return tls.Certificate{}, s.explain(kind, fmt.Errorf("%s: %w", alias, err))
			}
			key, err := x509.ParsePKCS8PrivateKey(entry.PrivateKey)
			if err != nil {
				return tls.Certificate{}, fmt.Errorf("%s: %s: %w", s.file, alias, err)
			}
			var chain [][]byte
			for _, c := range entry.CertificateChain {
				chain = append(chain, c.Content)
			}
			return checked(s.file, key, chain)
		}
		return tls.Certificate{}, fmt.Errorf("%s (JKS) has no key", s.file)
	case "PKCS #12":
		key, c, more, err := pkcs12.DecodeChain(b, s.password)
		if err != nil {
			return tls.Certificate{}, s.explain(kind, err)
		}
		chain := [][]byte{c.Raw}
		for _, c := range more {
			chain = append(chain, c.Raw)
		}
		return checked(s.file, key, chain)
	}
	keyBytes := b
	if keyFile != "" {
		if keyBytes, err = os.ReadFile(keyFile); err != nil {
			return tls.Certificate{}, err
		}
	}
	if bytes.Contains(keyBytes, []byte("ENCRYPTED")) {
		return tls.Certificate{}, fmt.Errorf("the key in %s is encrypted: hql reads keys with a password from PKCS #12 and JKS only", cmp.Or(keyFile, s.file))
	}
	pair, err := tls.X509KeyPair(b, keyBytes)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", s.file, err)
	}
	return pair, nil
}

// checked returns a key with its certificate and then that one's issuers. The store may hold them in any order,
// together with other certificates.
func checked(file string, key any, stored [][]byte) (tls.Certificate, error) {
	signer, ok := key.(crypto.Signer)
	if !ok || len(stored) == 0 {
		return tls.Certificate{}, fmt.Errorf("%s has no private key with a certificate: give a store, or tls_cert and tls_key, that hold both", file)
	}
	var others []*x509.Certificate
	for _, b := range stored {
		c, err := x509.ParseCertificate(b)
		if err != nil {
			return tls.Certificate{}, fmt.Errorf("%s: %w", file, err)
		}
		others = append(others, c)
	}
	own := slices.IndexFunc(others, func(c *x509.Certificate) bool {
		public, ok := c.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
		return ok && public.Equal(signer.Public())
	})
	if own < 0 {
		return tls.Certificate{}, fmt.Errorf("%s: the certificate belongs to another key", file)
	}
	out := tls.Certificate{PrivateKey: key, Leaf: others[own]}
	for last := own; last >= 0; {
		c := others[last]
		out.Certificate = append(out.Certificate, c.Raw)
		others = slices.Delete(others, last, last+1)
		last = slices.IndexFunc(others, func(o *x509.Certificate) bool { return bytes.Equal(o.RawSubject, c.RawIssuer) })
	}
	return out, nil
}

// jks reads a JKS store.
func (s store) jks(b []byte) (keystore.KeyStore, error) {
	ks := keystore.New(keystore.WithOrderedAliases(), keystore.WithCaseExactAliases())
	if err := ks.Load(bytes.NewReader(b), []byte(s.password)); err != nil {
		return ks, s.explain("JKS", err)
	}
	return ks, nil
}

// explain names the file and says whether a password was tried.
func (s store) explain(kind string, err error) error {
	tried := "without a password"
	if s.password != "" {
		tried = "with the password given"
	}
	return fmt.Errorf("%s (%s), read %s: %w", s.file, kind, tried, err)
}

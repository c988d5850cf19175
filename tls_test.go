package hql_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hql-db/hql"
)

// WithTLS decides how servers are spoken to and whom to trust: what answers here is a server of the web's.
func TestWithTLS(t *testing.T) {
	web := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	for _, test := range []struct {
		params string
		cfg    *tls.Config
		want   string
	}{
		{"", &tls.Config{RootCAs: roots}, "this is not an HBase server"},
		{"", &tls.Config{}, "certificate signed by unknown authority"},
		{"", &tls.Config{RootCAs: roots, ServerName: "another"}, "not another"},
		{"?tls", &tls.Config{RootCAs: roots}, "this is not an HBase server"},
		{"?tls", nil, "a server that requires TLS does that"},
	} {
		db, err := hql.Open(t.Context(), "hbase+rpc://"+web.Listener.Addr().String()+test.params, hql.WithTLS(test.cfg))
		if err == nil {
			db.Close()
		}
		if !errors.Is(err, hql.ErrUnreachable) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q, %+v: %v", test.params, test.cfg, err)
		}
	}
}

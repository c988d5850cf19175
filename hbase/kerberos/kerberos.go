package kerberos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Config is the user and the proof of the user's identity.
type Config struct {
	// Principal is the user, NAME@REALM, or NAME alone for the default realm; "" means the user of the ticket cache.
	Principal string
	// Keytab is a file with the principal's keys; "" means a ticket cache.
	Keytab string
	// CCache is the file of a ticket cache, as kinit writes it; "" means the file in KRB5CCNAME, or /tmp/krb5cc_UID.
	CCache string
	// Service is the servers' principal: "hbase", the default, or SERVICE/_HOST@REALM as in hbase-site.xml. _HOST is
	// the name under which a server has registered itself, in lower case.
	Service string
	// Protection lists how messages are protected, in order of preference, with the values of hbase.rpc.protection:
	// authentication (not at all), integrity (signed), privacy (sealed). "" means the weakest that the server offers.
	Protection string
	// Krb5Conf is the Kerberos configuration; "" means the file in KRB5_CONFIG, or /etc/krb5.conf.
	Krb5Conf string
}

// Authenticator authenticates one user's connections. It gets tickets for each connection, of which there is one per
// server. So a renewed ticket cache or a changed keytab is used at once, and nothing runs in the background. It is safe
// for concurrent use.
type Authenticator struct {
	cfg           Config
	user, realm   string
	service, host string // of the servers' principal: host may be _HOST
	serviceRealm  string // "": the Kerberos configuration maps the host to it
	wanted        []byte // layers, in order of preference
}

// New checks a configuration and reads the files that it names. It asks no server.
func New(cfg Config) (a *Authenticator, err error) {
	defer recovered(&err)
	cfg.Krb5Conf = cmp.Or(cfg.Krb5Conf, first(filepath.SplitList(os.Getenv("KRB5_CONFIG"))), "/etc/krb5.conf")
	a = &Authenticator{cfg: cfg}
	service, realm, _ := strings.Cut(cmp.Or(cfg.Service, "hbase"), "@")
	a.serviceRealm = realm
	a.service, a.host, _ = strings.Cut(service, "/")
	a.host = cmp.Or(a.host, "_HOST")
	if a.service == "" || strings.ContainsAny(a.host, "/@") {
		return nil, fmt.Errorf("kerberos: the service %q is not SERVICE or SERVICE/_HOST@REALM", cfg.Service)
	}
	if a.wanted, err = parseProtection(cmp.Or(cfg.Protection, "authentication,integrity,privacy")); err != nil {
		return nil, err
	}
	conf, err := a.config()
	if err != nil {
		return nil, err
	}
	a.user, a.realm, _ = strings.Cut(cfg.Principal, "@")
	if cfg.Keytab != "" {
		a.realm = cmp.Or(a.realm, conf.LibDefaults.DefaultRealm)
		if a.user == "" || a.realm == "" || strings.Contains(a.realm, "@") {
			return nil, fmt.Errorf("kerberos: with a keytab the principal must be given as NAME@REALM, not %q", cfg.Principal)
		}
		_, err = a.keytab()
		return a, err
	}
	if a.cfg.CCache, err = ccacheFile(cfg.CCache); err != nil {
		return nil, err
	}
	cc, err := a.ccache()
	if err != nil {
		return nil, err
	}
	user, realm := cc.GetClientPrincipalName().PrincipalNameString(), cc.GetClientRealm()
	if user == "" || realm == "" {
		return nil, fmt.Errorf("kerberos: the ticket cache %s names no user", a.cfg.CCache)
	}
	if cfg.Principal != "" && (user != a.user || realm != cmp.Or(a.realm, conf.LibDefaults.DefaultRealm)) {
		return nil, fmt.Errorf("kerberos: the ticket cache %s belongs to %s@%s, not to %s", a.cfg.CCache, user, realm, cfg.Principal)
	}
	a.user, a.realm = user, realm
	return a, nil
}

// Principal returns the user, NAME@REALM.
func (a *Authenticator) Principal() string { return a.user + "@" + a.realm }

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

// ccacheFile finds the file of the ticket cache.
func ccacheFile(name string) (string, error) {
	name = cmp.Or(name, os.Getenv("KRB5CCNAME"), fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()))
	kind, file, ok := strings.Cut(name, ":")
	switch {
	case !ok || filepath.IsAbs(name):
		return name, nil
	case kind != "FILE":
		return "", fmt.Errorf("kerberos: the ticket cache %s is not a file: set KRB5CCNAME=FILE:PATH and run kinit, or give a keytab", name)
	}
	return file, nil
}

func (a *Authenticator) config() (*config.Config, error) {
	f, err := os.Open(a.cfg.Krb5Conf)
	if err != nil {
		return nil, fmt.Errorf("kerberos: the configuration: %w", err)
	}
	defer f.Close()
	conf, err := config.NewFromReader(f)
	if unsupported := (config.UnsupportedDirective{}); err != nil && !errors.As(err, &unsupported) {
		return nil, fmt.Errorf("kerberos: %s: %w", a.cfg.Krb5Conf, err)
	}
	return conf, nil
}

func (a *Authenticator) keytab() (*keytab.Keytab, error) {
	kt, err := keytab.Load(a.cfg.Keytab)
	if err != nil {
		return nil, fmt.Errorf("kerberos: the keytab %s: %w", a.cfg.Keytab, err)
	}
	for _, e := range kt.Entries {
		if strings.Join(e.Principal.Components, "/") == a.user && e.Principal.Realm == a.realm {
			return kt, nil
		}
	}
	return nil, fmt.Errorf("kerberos: the keytab %s has no key for %s", a.cfg.Keytab, a.Principal())
}

func (a *Authenticator) ccache() (*credentials.CCache, error) {
	cc, err := credentials.LoadCCache(a.cfg.CCache)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("kerberos: the ticket cache %s does not exist: run kinit", a.cfg.CCache)
	case err != nil:
		return nil, fmt.Errorf("kerberos: the ticket cache %s: %w", a.cfg.CCache, err)
	}
	return cc, nil
}

// login makes a client that can ask for tickets.
func (a *Authenticator) login() (*client.Client, error) {
	conf, err := a.config()
	if err != nil {
		return nil, err
	}
	plain := client.DisablePAFXFAST(true) // some KDCs, such as Active Directory, refuse FAST requests
	if a.cfg.Keytab != "" {
		kt, err := a.keytab()
		if err != nil {
			return nil, err
		}
		cl := client.NewWithKeytab(a.user, a.realm, kt, conf, plain)
		return cl, cl.Login()
	}
	cc, err := a.ccache()
	if err != nil {
		return nil, err
	}
	if cc.GetClientPrincipalName().PrincipalNameString()+"@"+cc.GetClientRealm() != a.Principal() {
		return nil, fmt.Errorf("the ticket cache %s no longer belongs to %s", a.cfg.CCache, a.Principal())
	}
	if tgt, ok := cc.GetEntry(types.PrincipalName{NameString: []string{"krbtgt", a.realm}}); ok && time.Now().After(tgt.EndTime) {
		return nil, fmt.Errorf("the ticket in %s expired at %s: run kinit", a.cfg.CCache, tgt.EndTime.Format(time.DateTime+" MST"))
	}
	return client.NewFromCCache(cc, conf, plain)
}

// credential is a ticket for one server.
type credential struct {
	ticket messages.Ticket
	key    types.EncryptionKey
	user   types.PrincipalName
	realm  string
}

// credential gets a ticket for the server on host.
func (a *Authenticator) credential(host string) (c credential, err error) {
	defer recovered(&err)
	cl, err := a.login()
	if cl != nil {
		defer cl.Destroy() // otherwise it renews its ticket for ever
	}
	if err != nil {
		return c, fmt.Errorf("kerberos: %s cannot log in: %w", a.Principal(), err)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a.host != "_HOST" {
		host = a.host
	}
	if a.serviceRealm != "" {
		cl.Config.DomainRealm[host] = a.serviceRealm
	}
	spn := a.service + "/" + host
	c.user, c.realm = cl.Credentials.CName(), cl.Credentials.Domain()
	if c.ticket, c.key, err = cl.GetServiceTicket(spn); err != nil {
		return c, fmt.Errorf("kerberos: no ticket for %s: %w", spn, err)
	}
	return c, nil
}

// credentialWithin gets a ticket, or returns ctx's error if that comes first: gokrb5 does not support contexts, and
// gives up after 5 s for each KDC.
func (a *Authenticator) credentialWithin(ctx context.Context, host string) (credential, error) {
	type answer struct {
		c   credential
		err error
	}
	got := make(chan answer, 1)
	go func() {
		c, err := a.credential(host)
		got <- answer{c, err}
	}()
	select {
	case g := <-got:
		return g.c, g.err
	case <-ctx.Done():
		return credential{}, fmt.Errorf("kerberos: no KDC of %s has answered: %w", a.realm, ctx.Err())
	}
}

// recovered turns a panic into an error: gokrb5 reads malformed files and messages beyond their ends.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("kerberos: a file or message is malformed: %v", r)
	}
}

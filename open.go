package hql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tsuna/gohbase"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/kerberos"
	"github.com/hql-db/hql/internal/registry"
	"github.com/hql-db/hql/internal/tlsfiles"
	"github.com/hql-db/hql/types"
)

// Open connects to a store:
//
//	mem:                                 embedded, in memory; the program imports package embedded
//	dir:./data                           embedded, in a directory; the program imports package embedded
//	hbase://zk1,zk2:2181/hbase           a cluster: ZooKeeper quorum and root znode
//	hbase+rpc://master1,master2:16000    a cluster without ZooKeeper: masters or, from HBase 2.5 on, region servers
//
// A cluster's address may have these parameters, as in hbase://zk/hbase?catalog=tables.sql&full_scan=warn. Options override
// them. An embedded store takes catalog, tz, full_scan and write.
//
//   - user, tz, full_scan, write, and catalog, a file.
//   - kerberos=NAME@REALM authenticates that user with the keys in keytab=FILE or, without it, with the tickets of kinit.
//     kerberos= alone authenticates the user of these tickets. service=hbase/_HOST@REALM is the servers' principal.
//     protection is hbase.rpc.protection: privacy, integrity or authentication. See WithKerberos.
//   - tls secures the connections to HBase. tls_ca=FILE holds the trusted authorities, which replace the system's.
//     tls_cert=FILE and tls_key=FILE are the client's certificate and key. The files are PEM, PKCS #12 or JKS;
//     tls_password_file=FILE holds the password of the stores. tls_site=FILE takes all these from an hbase-site.xml.
//     With tls_verify=ca a certificate need not be for its server's name. The files are read at each connection. See WithTLS.
//
// The DB also knows the tables whose definitions are stored in the cluster.
func Open(ctx context.Context, dsn string, opts ...Option) (*DB, error) {
	scheme, rest, ok := strings.Cut(dsn, ":")
	if !ok {
		return nil, fmt.Errorf("connect %q: an address is mem:, dir:PATH, hbase://QUORUM/ROOT or hbase+rpc://MASTERS", dsn)
	}
	switch scheme {
	case "mem", "dir":
		dir, query, _ := strings.Cut(rest, "?")
		if scheme == "dir" && dir == "" {
			return nil, fmt.Errorf("connect %q: the directory is missing", dsn)
		}
		if scheme == "mem" {
			dir = ""
		}
		params, err := storeOptions(query)
		if err != nil {
			return nil, err
		}
		return openStore(ctx, dir, append(params, opts...))
	case "hbase", "hbase+rpc":
		return openCluster(ctx, scheme, rest, opts)
	}
	return nil, fmt.Errorf("connect %q: unknown scheme %q: an address is mem:, dir:PATH, hbase://QUORUM/ROOT or hbase+rpc://MASTERS", dsn, scheme)
}

// New returns a DB on the caller's clients, which must also send single RPCs (gohbase.RPCClient), as the clients of gohbase
// do. Closing the DB does not close the client. cat may be nil. The defaults are those for a
// cluster.
func New(client gohbase.Client, admin gohbase.AdminClient, cat *catalog.Catalog, opts ...Option) (*DB, error) {
	if cat != nil {
		opts = append([]Option{func(c *config) error { c.catalog = cat; return nil }}, opts...)
	}
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	servers, single := client.(gohbase.RPCClient)
	master, also := admin.(gohbase.RPCClient)
	if !single || !also {
		return nil, fmt.Errorf("the clients cannot send single RPCs (%T, %T): pass clients with the method SendRPC, as gohbase.NewClient and NewAdminClient return", client, admin)
	}
	return newDB(hbase.New(servers, master), cfg, FullScanDeny, false), nil
}

func newDB(c hbase.Client, cfg *config, fullScan FullScan, writes bool) *DB {
	if cfg.fullScan != nil {
		fullScan = *cfg.fullScan
	}
	if cfg.writes != nil {
		writes = *cfg.writes
	}
	cfg.exec.FullScan = fullScan
	cfg.exec.Funcs = cfg.catalog.Funcs()
	if len(cfg.tracers) > 0 {
		cfg.exec.Tracer = cfg.tracers
	}
	client := c
	if cfg.exec.Logger != nil {
		client = hbase.Logged(client, cfg.exec.Logger)
	}
	if !writes {
		client = exec.ReadOnly(client)
	}
	return &DB{client: c, engine: exec.New(client, cfg.catalog, cfg.exec), cfg: cfg, writable: writes, statements: newStatements(), totals: &totals{}}
}

func openStore(ctx context.Context, dir string, opts []Option) (*DB, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	c, err := registry.OpenEmbedded(dir, cfg.exec.Clock)
	if err != nil {
		return nil, err
	}
	cfg.exec.Alone, cfg.exec.Tuning = true, scan.DefaultTuning()
	cfg.exec.Tuning.ResponseBytes = 0 // calls in the process cost little: small answers stay in the processor's cache
	db := newDB(c, cfg, FullScanWarn, true)
	db.owned = true
	return db, db.load(ctx)
}

// openCluster connects to the cluster of an address; rest is the address without its scheme.
func openCluster(ctx context.Context, scheme, rest string, opts []Option) (*DB, error) {
	form := map[string]string{"hbase": "hbase://QUORUM/ROOT", "hbase+rpc": "hbase+rpc://MASTER[,MASTER]:16000"}[scheme]
	hosts, tail := cutHosts(rest)
	u, err := url.Parse("hbase://" + tail)
	if err != nil {
		return nil, fmt.Errorf("connect: the address is not %s: %w", form, errors.Unwrap(err))
	}
	if _, has := u.User.Password(); has { // it would be shown with the address
		return nil, errors.New("connect: an address cannot have a password; authenticate with kerberos or tls_cert")
	}
	params, err := dsnOptions(u.Query())
	if err != nil {
		return nil, err
	}
	cfg, err := newConfig(append(params, opts...))
	if err != nil {
		return nil, err
	}
	user := cfg.user
	if user == "" && u.User != nil {
		user = u.User.Username()
	}
	how := hbase.Config{Root: strings.TrimSuffix(u.Path, "/"), User: user, Kerberos: cfg.kerberos, TLS: cfg.tls, ConnectTimeout: cfg.timeout}
	switch {
	case scheme == "hbase":
		how.Quorum, err = withPorts(hosts, "2181", "the ZooKeeper quorum", "hbase://HOST[,HOST]:2181/hbase")
	case how.Root != "":
		err = fmt.Errorf("connect: %s has no root znode %s: that is ZooKeeper's", form, how.Root)
	default:
		how.Servers, err = withPorts(hosts, "16000", "the list of masters", form)
	}
	if err != nil {
		return nil, err
	}
	c, err := hbase.Dial(ctx, how)
	if err != nil {
		return nil, err
	}
	if !cfg.exec.NoFiles {
		cfg.exec.Statistics = statisticsFiles{how.Quorum + strings.Join(strings.Fields(fmt.Sprint(how.Servers)), ",") + how.Root}
	}
	db := newDB(c, cfg, FullScanDeny, false)
	db.owned = true
	return db, db.load(ctx)
}

// load reads the store's catalog. If that fails, it closes db.
func (db *DB) load(ctx context.Context) error {
	warnings, err := db.engine.LoadCatalog(ctx)
	if err != nil {
		db.Close()
		return err
	}
	for _, w := range warnings {
		if db.cfg.exec.Logger != nil {
			db.cfg.exec.Logger.Warn(w)
		}
	}
	return nil
}

// cutHosts replaces the list of hosts in an address without a scheme by a single name, since url.Parse accepts only one
// host.
func cutHosts(rest string) (hosts, tail string) {
	rest = strings.TrimPrefix(rest, "//")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	start := strings.LastIndexByte(rest[:end], '@') + 1
	return rest[start:end], rest[:start] + "hosts" + rest[end:]
}

// withPorts adds port to each host of a list that has none. A port at the last host applies to all hosts without one.
func withPorts(list, port, what, form string) (string, error) {
	if list == "" {
		return "", fmt.Errorf("connect: %s is missing: %s", what, form)
	}
	hosts := strings.Split(list, ",")
	if _, p, err := net.SplitHostPort(hosts[len(hosts)-1]); err == nil {
		port = p
	}
	for i, h := range hosts {
		if h == "" {
			return "", fmt.Errorf("connect: an empty host in %s %q", what, list)
		}
		if _, _, err := net.SplitHostPort(h); err != nil {
			hosts[i] = net.JoinHostPort(strings.Trim(h, "[]"), port)
		}
	}
	return strings.Join(hosts, ","), nil
}

// address collects the parameters of an address.
type address struct {
	options []Option
	krb     kerberos.Config
	tls     bool
	files   tlsfiles.Files
}

func (a *address) add(o Option) { a.options = append(a.options, o) }

// parameters lists the parameters of an address, in the order in which errors list them. If a parameter is repeated, the
// last value counts; catalog may have several values.
var parameters = []struct {
	name string
	read func(a *address, v string) error
}{
	{"user", func(a *address, v string) error { a.add(WithUser(v)); return nil }},
	{"catalog", func(a *address, v string) error { a.add(WithCatalogFile(v)); return nil }},
	{"tz", func(a *address, v string) error {
		loc, err := types.Zone(v)
		if err != nil {
			return fmt.Errorf("tz: %w", err)
		}
		a.add(WithLocation(loc))
		return nil
	}},
	{"full_scan", func(a *address, v string) error {
		p, err := exec.ParseFullScanPolicy(v)
		a.add(WithFullScan(p))
		return err
	}},
	{"write", func(a *address, v string) error {
		allowed, err := truth("write", v)
		a.add(WithWrites(allowed))
		return err
	}},
	{"kerberos", func(a *address, v string) error { a.krb.Principal = v; return nil }},
	{"keytab", func(a *address, v string) error { a.krb.Keytab = v; return nil }},
	{"service", func(a *address, v string) error { a.krb.Service = v; return nil }},
	{"protection", func(a *address, v string) error { a.krb.Protection = v; return nil }},
	{"tls", func(a *address, v string) (err error) { a.tls, err = truth("tls", v); return err }},
	{"tls_ca", func(a *address, v string) error { a.files.CA = v; return nil }},
	{"tls_cert", func(a *address, v string) error { a.files.Cert = v; return nil }},
	{"tls_key", func(a *address, v string) error { a.files.Key = v; return nil }},
	{"tls_password_file", func(a *address, v string) error { a.files.Password = v; return nil }},
	{"tls_site", func(a *address, v string) error { a.files.Site = v; return nil }},
	{"tls_verify", func(a *address, v string) error {
		if v != "ca" && v != "full" {
			return fmt.Errorf("tls_verify is full or ca, not %q", v)
		}
		a.files.AnyHost = v == "ca"
		return nil
	}},
}

// truth parses a boolean parameter; without a value it is true.
func truth(name, v string) (bool, error) {
	on, err := strconv.ParseBool(cmp.Or(v, "true"))
	if err != nil {
		return false, fmt.Errorf("%s is true or false, not %q", name, v)
	}
	return on, nil
}

// storeOptions reads the parameters of an embedded store's address.
func storeOptions(query string) ([]Option, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("connect: the parameters %q of the address: %w", query, err)
	}
	allowed := []string{"catalog", "tz", "full_scan", "write"}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(allowed, name) {
			return nil, fmt.Errorf("connect: an embedded store takes no parameter %q: %s", name, strings.Join(allowed, ", "))
		}
	}
	return dsnOptions(q)
}

// dsnOptions reads the parameters of an address.
func dsnOptions(q url.Values) ([]Option, error) {
	var a address
	var known []string
	for _, p := range parameters {
		known = append(known, p.name)
		values := q[p.name]
		if p.name != "catalog" && len(values) > 1 {
			values = values[len(values)-1:]
		}
		for _, v := range values {
			if err := p.read(&a, v); err != nil {
				return nil, fmt.Errorf("connect: %w", err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("connect: unknown parameter %q: %s", name, strings.Join(known, ", "))
		}
	}
	if err := a.secure(q.Has("kerberos")); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return a.options, nil
}

// secure adds the options of authentication and of TLS.
func (a *address) secure(kerberized bool) error {
	switch krb := a.krb; {
	case kerberized:
		a.add(WithKerberos(krb))
	case krb != kerberos.Config{}:
		return errors.New("keytab, service and protection need kerberos=NAME@REALM")
	}
	switch files := a.files; {
	case a.tls:
		if _, err := files.Config(); err != nil {
			return err
		}
		a.add(func(c *config) error { c.tls = files.Config; return nil })
	case files != (tlsfiles.Files{}):
		return errors.New("tls_ca, tls_cert, tls_key, tls_password_file, tls_site and tls_verify need tls")
	}
	return nil
}

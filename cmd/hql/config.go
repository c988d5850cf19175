package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/internal/hbasesite"
	"github.com/hql-db/hql/types"
)

// settings are the values that flags, the environment, a named connection and the configuration file may set. The first
// of them, in this order, that sets a value wins. A zero value is not set.
type settings struct {
	Connect  string `yaml:"connect"`
	Catalog  list   `yaml:"catalog"`
	Conf     string `yaml:"conf"` // hbase-site.xml or its directory
	Format   string `yaml:"format"`
	FullScan string `yaml:"full_scan"`
	// Limits of the reads of a statement; 0 and "": no limit.
	MaxScanRows  int64         `yaml:"max_scan_rows"`
	MaxScanBytes string        `yaml:"max_scan_bytes"`
	Timezone     string        `yaml:"timezone"`
	Timeout      time.Duration `yaml:"timeout"`
	Write        bool          `yaml:"write"`
	// Restricted forbids the statements and commands that reach files or the shell.
	Restricted bool    `yaml:"restricted"`
	Color      string  `yaml:"color"`
	Pager      *string `yaml:"pager"`
	Null       *string `yaml:"show_null"` // null: would be no text to YAML
}

// or takes the values that s does not set from t.
func (s settings) or(t settings) settings {
	to, from := reflect.ValueOf(&s).Elem(), reflect.ValueOf(t)
	for i := range to.NumField() {
		if to.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return s
}

func (s settings) check() error {
	if _, ok := formats[s.Format]; s.Format != "" && !ok {
		return fmt.Errorf("unknown format %q (%s)", s.Format, formatNames)
	}
	if _, ok := policies[s.FullScan]; !ok {
		return fmt.Errorf("unknown full-scan mode %q (allow, warn or deny)", s.FullScan)
	}
	if !slices.Contains([]string{"", "auto", "always", "never"}, s.Color) {
		return fmt.Errorf("unknown colour mode %q (auto, always or never)", s.Color)
	}
	if s.Timezone != "" {
		if _, err := types.Zone(s.Timezone); err != nil {
			return err
		}
	}
	if s.MaxScanRows < 0 {
		return fmt.Errorf("the scan limit of %d rows is negative", s.MaxScanRows)
	}
	if s.MaxScanBytes != "" {
		if _, err := exec.ParseScanLimit(s.MaxScanBytes); err != nil {
			return fmt.Errorf("max-scan-bytes: %w", err)
		}
	}
	if s.Timeout < 0 {
		return fmt.Errorf("the timeout %v is negative", s.Timeout)
	}
	return nil
}

// relativeTo makes the files that s names relative to dir.
func (s *settings) relativeTo(dir string) {
	at := func(name string) string {
		if name = home(name); name == "" || filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	for i, f := range s.Catalog {
		s.Catalog[i] = at(f)
	}
	s.Conf = at(s.Conf)
}

// UnmarshalYAML takes one text or a list of them.
func (l *list) UnmarshalYAML(unmarshal func(any) error) error {
	var one string
	if unmarshal(&one) == nil {
		*l = list{one}
		return nil
	}
	var many []string
	if err := unmarshal(&many); err != nil {
		return err
	}
	*l = many
	return nil
}

// configFile is the content of config.yaml: general settings, and the settings of named connections.
type configFile struct {
	Defaults    settings            `yaml:",inline"`
	Connections map[string]settings `yaml:"connections"`
}

// readConfig reads the file that $HQL_CONFIG names, or else hql/config.yaml in the user's configuration directory. It returns
// no settings if the latter does not exist.
func readConfig() (configFile, error) {
	var c configFile
	name, named := os.LookupEnv("HQL_CONFIG")
	if !named {
		dir := os.Getenv("XDG_CONFIG_HOME")
		if dir == "" {
			dir = home("~/.config")
		}
		name = filepath.Join(dir, "hql", "config.yaml")
	}
	if name == "" {
		return c, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		if !named && errors.Is(err, fs.ErrNotExist) || !named && errors.Is(err, fs.ErrPermission) {
			return c, nil
		}
		return c, err
	}
	return parseConfig(name, b)
}

// parseConfig parses the content of a config.yaml; name is the file's name, for errors.
func parseConfig(name string, b []byte) (configFile, error) {
	var c configFile
	if err := unmarshal(b, &c, yaml.Strict()); err != nil {
		return c, fmt.Errorf("%s: %s", name, strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	if hasNullKey(b) {
		return c, fmt.Errorf("%s: YAML reads null as a value, not as a key: write show_null", name)
	}
	if err := c.Defaults.check(); err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	c.Defaults.relativeTo(filepath.Dir(name))
	for k, s := range c.Connections {
		if k == "" || strings.Contains(k, ":") {
			return c, fmt.Errorf("%s: connection %q: a name must not be empty or have a colon, which would make it an address", name, k)
		}
		if s.Connect == "" {
			return c, fmt.Errorf("%s: connection %s has no address (connect: ...)", name, k)
		}
		if err := s.check(); err != nil {
			return c, fmt.Errorf("%s: connection %s: %w", name, k, err)
		}
		s.relativeTo(filepath.Dir(name))
		c.Connections[k] = s
	}
	return c, nil
}

// unmarshal reads YAML. The decoder panics over some tags in wrong places (goccy/go-yaml#735).
func unmarshal(b []byte, v any, options ...yaml.DecodeOption) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the YAML cannot be read: is there a ! tag in it?")
		}
	}()
	return yaml.UnmarshalWithOptions(b, v, options...)
}

// hasNullKey reports whether a mapping has the key null: the decoder silently drops the other keys of that mapping.
func hasNullKey(b []byte) bool {
	var top map[string]any
	if unmarshal(b, &top) != nil {
		return false
	}
	if _, ok := top["null"]; ok {
		return true
	}
	connections, _ := top["connections"].(map[string]any)
	for _, c := range connections {
		if c, ok := c.(map[string]any); ok {
			if _, ok := c["null"]; ok {
				return true
			}
		}
	}
	return false
}

// environment returns the settings that the HQL_ variables hold.
func environment() (settings, error) {
	s := settings{Connect: os.Getenv("HQL_CONNECT"), Conf: os.Getenv("HQL_CONF"), Format: os.Getenv("HQL_FORMAT"), FullScan: os.Getenv("HQL_FULL_SCAN")}
	if v := os.Getenv("HQL_CATALOG"); v != "" {
		s.Catalog = filepath.SplitList(v)
	}
	if v := os.Getenv("HQL_TIMEOUT"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			return s, fmt.Errorf("HQL_TIMEOUT: %w", err)
		}
		s.Timeout = d
	}
	if v, ok := os.LookupEnv("HQL_PAGER"); ok {
		s.Pager = &v
	}
	if v, ok := os.LookupEnv("HQL_NULL"); ok {
		s.Null = &v
	}
	return s, nil
}

// load adds the settings of the environment and the configuration file to the flags.
func (c *config) load() error {
	if c.demo && c.given.Connect != "" {
		return errors.New("--demo is a store of its own: it cannot be used with --connect")
	}
	env, err := environment()
	if err != nil {
		return err
	}
	c.given = c.given.or(env)
	if c.file, err = readConfig(); err != nil {
		return err
	}
	return c.resolve()
}

// resolve finds the store's address: it is given, or a named connection of the configuration file has it, or hbase-site.xml
// describes the cluster.
func (c *config) resolve() error {
	s := c.given
	s.Connect = cmp.Or(s.Connect, c.file.Defaults.Connect)
	if c.demo {
		s.Connect = ""
	}
	if name := s.Connect; name != "" && !strings.Contains(name, ":") {
		named, ok := c.file.Connections[name]
		if !ok {
			known := strings.Join(slices.Sorted(maps.Keys(c.file.Connections)), ", ")
			return fmt.Errorf("no connection is named %q (%s); an address is mem:, dir:PATH, hbase://QUORUM/ROOT or hbase+rpc://MASTERS", name, cmp.Or(known, "the configuration has none"))
		}
		s.Connect = named.Connect
		s = s.or(named)
	}
	connect := s.Connect
	s = s.or(c.file.Defaults)
	s.Connect = connect
	if rest, ok := strings.CutPrefix(s.Connect, "hbase:"); ok {
		params := ""
		if rest = strings.TrimPrefix(rest, "//"); strings.HasPrefix(rest, "?") {
			rest, params = "", rest
		}
		if rest == "" {
			address, err := siteAddress(s.Conf)
			if err != nil {
				return err
			}
			if strings.Contains(address, "?") {
				params = strings.Replace(params, "?", "&", 1)
			}
			s.Connect = address + params
		}
	}
	c.settings = s
	return s.check()
}

// siteAddress returns the address of the cluster that an hbase-site.xml describes. conf is that file or its directory; "" for
// the usual directories.
func siteAddress(conf string) (string, error) {
	var tried []string
	places := []string{conf}
	if conf == "" {
		places = []string{os.Getenv("HBASE_CONF_DIR")}
		if h := os.Getenv("HBASE_HOME"); h != "" {
			places = append(places, filepath.Join(h, "conf"))
		}
		places = append(places, "/etc/hbase/conf")
	}
	for _, p := range places {
		if p == "" {
			continue
		}
		if st, err := os.Stat(p); err == nil && st.IsDir() {
			p = filepath.Join(p, "hbase-site.xml")
		}
		b, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			tried = append(tried, p)
			continue
		}
		if err != nil {
			return "", err
		}
		address, err := parseSite(p, b)
		if err != nil {
			return "", fmt.Errorf("%s: %w", p, err)
		}
		return address, nil
	}
	return "", fmt.Errorf("no hbase-site.xml at %s: name its directory with --conf or HBASE_CONF_DIR", strings.Join(tried, " or "))
}

// parseSite reads an hbase-site.xml, file. Missing properties have HBase's defaults.
func parseSite(file string, b []byte) (string, error) {
	site, err := hbasesite.Properties(b)
	if err != nil {
		return "", err
	}
	props := map[string]string{"hbase.zookeeper.quorum": "127.0.0.1", "hbase.zookeeper.property.clientPort": "2181", "zookeeper.znode.parent": "/hbase"}
	for _, p := range site {
		if p.Value != "" {
			props[p.Name] = p.Value
		}
	}
	var params []string
	switch v := props["hbase.security.authentication"]; strings.ToLower(v) {
	case "", "simple":
	case "kerberos":
		params = append(params, "kerberos=", "service="+url.QueryEscape(props["hbase.regionserver.kerberos.principal"]))
		if p := props["hbase.rpc.protection"]; p != "" {
			params = append(params, "protection="+url.QueryEscape(p))
		}
	default:
		return "", fmt.Errorf("hbase.security.authentication is %s: hql speaks simple and kerberos", v)
	}
	if strings.EqualFold(props["hbase.client.netty.tls.enabled"], "true") {
		params = append(params, "tls", "tls_site="+url.QueryEscape(file)) // its passwords are not for addresses
	}
	if suffix := props["hbase.meta.table.suffix"]; suffix != "" {
		return "", fmt.Errorf("hbase.meta.table.suffix is %s: hql cannot read hbase:meta under another name; connect to a cluster without that setting", suffix)
	}
	scheme, list, name, port := "hbase://", props["hbase.zookeeper.quorum"], "hbase.zookeeper.quorum", props["hbase.zookeeper.property.clientPort"]
	root := "/" + strings.Trim(props["zookeeper.znode.parent"], "/")
	if servers, from := siteServers(props); servers != "" {
		scheme, list, name, port, root = "hbase+rpc://", servers, from, cmp.Or(props["hbase.master.port"], "16000"), ""
	}
	var hosts []string
	for h := range strings.SplitSeq(list, ",") {
		h = strings.TrimSpace(h)
		if h == "" {
			continue
		}
		if !strings.Contains(h, ":") {
			h += ":" + port
		}
		hosts = append(hosts, h)
	}
	list = strings.Join(hosts, ",")
	if address := scheme + list + root; strings.Contains(address, "${") {
		return "", fmt.Errorf("%s: references to other properties are not followed", address)
	}
	if i := strings.IndexFunc(list, func(r rune) bool { return r <= ' ' || strings.ContainsRune("/?#@%", r) }); i >= 0 || list == "" {
		return "", fmt.Errorf("%s is %q, not HOST:PORT[,HOST:PORT]", name, list)
	}
	query := ""
	if len(params) > 0 {
		query = "?" + strings.Join(params, "&")
	}
	return scheme + list + (&url.URL{Path: root}).EscapedPath() + query, nil
}

// siteServers returns the servers to ask in place of ZooKeeper, and the property that names them; "" if hql has to ask
// ZooKeeper. HBase 3 asks servers by default, but a file that sets neither the registry nor bootstrap servers may be of an
// older HBase.
func siteServers(props map[string]string) (servers, from string) {
	class := props["hbase.client.registry.impl"]
	switch class[strings.LastIndexByte(class, '.')+1:] {
	case "RpcConnectionRegistry", "MasterRegistry":
	case "":
		if props["hbase.client.bootstrap.servers"] == "" {
			return "", ""
		}
	default:
		return "", ""
	}
	for _, from := range []string{"hbase.client.bootstrap.servers", "hbase.masters"} {
		if servers := props[from]; servers != "" {
			return servers, from
		}
	}
	return "localhost", "hbase.masters"
}

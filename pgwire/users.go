package pgwire

import (
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/xdg-go/scram"

	"github.com/hql-db/hql/exec"
)

// defaultIterations is the number of iterations of a password hash, as in PostgreSQL.
const defaultIterations = 4096

// Users are the users that may connect. A line of their file is
//
//	name verifier [option ...]
//
// The verifier is PostgreSQL's: SCRAM-SHA-256$iterations:salt$storedkey:serverkey. The options are write=on or off,
// connections=N, and the settings full_scan, max_scan_rows, max_scan_bytes, memory_limit and statement_timeout, as
// max_scan_rows=1000000: the initial settings of the role's sessions, which they cannot exceed. A # begins a comment.
type Users struct {
	byName map[string]*user
	pepper []byte
}

// Role is the rights and limits of a user.
type Role struct {
	Name string
	// Write says whether statements may write; nil: as the server's options say.
	Write *bool
	// Settings are the initial settings of the role's sessions. For settings that are limits, such as statement_timeout, a
	// session cannot set a larger value.
	Settings map[string]string
	// Connections is the greatest number of connections of the role; 0: the server's limit.
	Connections int64

	of *user
}

type user struct {
	role        Role
	credentials scram.StoredCredentials
	connected   atomic.Int64
}

// ceilings are the settings that a role may limit.
var ceilings = map[string]func(limit, value string) bool{
	"full_scan": func(limit, value string) bool {
		rank := map[string]int{"deny": 0, "warn": 1, "allow": 2}
		return rank[strings.ToLower(value)] <= rank[limit]
	},
	"max_scan_rows": func(limit, value string) bool {
		l, _ := strconv.ParseInt(limit, 10, 64)
		v, err := strconv.ParseInt(value, 10, 64)
		return err == nil && v <= l
	},
	"max_scan_bytes": withinSize,
	"memory_limit":   withinSize,
	"statement_timeout": func(limit, value string) bool {
		l, _ := exec.ParseTimeout(limit)
		v, err := exec.ParseTimeout(value)
		return err == nil && v > 0 && v <= l
	},
}

func withinSize(limit, value string) bool {
	l, _ := exec.ParseScanLimit(limit)
	v, err := exec.ParseScanLimit(value)
	return err == nil && v > 0 && v <= l
}

// ReadUsers reads a file of users.
func ReadUsers(name string) (*Users, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	u, err := ParseUsers(string(b))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return u, nil
}

// ParseUsers reads the text of a file of users.
func ParseUsers(text string) (*Users, error) {
	u := &Users{byName: map[string]*user{}, pepper: newSecret(32)}
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 2 {
			return nil, fmt.Errorf("%d: a line is NAME VERIFIER [OPTION ...]; hql serve --password NAME makes one", n)
		}
		if u.byName[fields[0]] != nil {
			return nil, fmt.Errorf("%d: the user %s is listed twice", n, fields[0])
		}
		one := &user{role: Role{Name: fields[0], Settings: map[string]string{}}}
		one.role.of = one
		var err error
		if one.credentials, err = parseVerifier(fields[1]); err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		for _, o := range fields[2:] {
			if strings.HasPrefix(o, "#") {
				break
			}
			if err := one.role.option(o); err != nil {
				return nil, fmt.Errorf("%d: %w", n, err)
			}
		}
		u.byName[fields[0]] = one
	}
	return u, nil
}

// option reads one option of a line.
func (r *Role) option(text string) error {
	name, value, ok := strings.Cut(text, "=")
	switch {
	case !ok:
		return fmt.Errorf("the option %q is not NAME=VALUE", text)
	case name == "write":
		b, ok := exec.ParseSwitch(value)
		if !ok {
			return fmt.Errorf("write is on or off, not %q", value)
		}
		r.Write = &b
	case name == "connections":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("connections is a number from 1, not %q", value)
		}
		r.Connections = n
	case ceilings[name] == nil:
		return fmt.Errorf("unknown option %q: write, connections, full_scan, max_scan_rows, max_scan_bytes, memory_limit or statement_timeout", name)
	case !ceilings[name](value, value):
		return fmt.Errorf("%s cannot be %q", name, value)
	default:
		r.Settings[name] = value
	}
	return nil
}

// Len is the number of users.
func (u *Users) Len() int { return len(u.byName) }

// enter counts a connection of the user.
func (u *user) enter() (Role, error) {
	if n := u.connected.Add(1); u.role.Connections > 0 && n > u.role.Connections {
		u.connected.Add(-1)
		return Role{}, fatal("53300", "too many connections for role %q: it may have %d", u.role.Name, u.role.Connections)
	}
	return u.role, nil
}

// leave counts the end of a connection.
func (r *Role) leave() {
	if r.of != nil {
		r.of.connected.Add(-1)
		r.of = nil
	}
}

// parseVerifier reads SCRAM-SHA-256$iterations:salt$storedkey:serverkey.
func parseVerifier(text string) (c scram.StoredCredentials, err error) {
	bad := fmt.Errorf("the verifier is not SCRAM-SHA-256$ITERATIONS:SALT$STOREDKEY:SERVERKEY; hql serve --password NAME makes one")
	rest, ok := strings.CutPrefix(text, "SCRAM-SHA-256$")
	factors, keys, ok2 := strings.Cut(rest, "$")
	iterations, salt, ok3 := strings.Cut(factors, ":")
	stored, server, ok4 := strings.Cut(keys, ":")
	if !ok || !ok2 || !ok3 || !ok4 {
		return c, bad
	}
	if c.Iters, err = strconv.Atoi(iterations); err != nil || c.Iters < 1 {
		return c, bad
	}
	raw, err := base64.StdEncoding.DecodeString(salt)
	if err != nil || len(raw) == 0 {
		return c, bad
	}
	c.Salt = string(raw)
	for _, k := range []struct {
		text string
		key  *[]byte
	}{{stored, &c.StoredKey}, {server, &c.ServerKey}} {
		if *k.key, err = base64.StdEncoding.DecodeString(k.text); err != nil || len(*k.key) != 32 {
			return c, bad
		}
	}
	return c, nil
}

// Verifier makes the verifier of a password.
func Verifier(password string) (string, error) {
	client, err := scram.SHA256.NewClient("", password, "")
	if err != nil { // a password that is not text is taken as it is, as in PostgreSQL
		if client, err = scram.SHA256.NewClientUnprepped("", password, ""); err != nil {
			return "", err
		}
	}
	salt := newSecret(16)
	c, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: defaultIterations})
	if err != nil {
		return "", err
	}
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", c.Iters, b64(salt), b64(c.StoredKey), b64(c.ServerKey)), nil
}

package kerberos

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hql-db/hql/internal/wire"
)

// tokenFileEnv names the file of a process's delegation tokens in Hadoop. YARN sets it in containers, which have no
// tickets.
const tokenFileEnv = "HADOOP_TOKEN_FILE_LOCATION"

// hbaseToken is the kind of HBase's delegation tokens.
const hbaseToken = "HBASE_AUTH_TOKEN"

// maxTokenFile bounds a file of tokens; each token takes some hundred bytes.
const maxTokenFile = 16 << 20

// A token proves that HBase authenticated a user: its bytes hold the user's name, and the password proves that they are
// genuine.
type token struct {
	identifier, password []byte
	kind, service        string // service: the id of the cluster that the token is for
	owner                string
	expires              time.Time // zero: unknown
}

// tokens reads HBase's tokens out of a file.
func tokens(file string) ([]token, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("the tokens: %w", err)
	}
	if info.Size() > maxTokenFile {
		return nil, fmt.Errorf("the tokens in %s: %d bytes are too many", file, info.Size())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the tokens: %w", err)
	}
	all, err := parseTokens(b)
	if err != nil {
		return nil, fmt.Errorf("the tokens in %s: %w", file, err)
	}
	all = slices.DeleteFunc(all, func(t token) bool { return t.kind != hbaseToken })
	for i := range all {
		if err := all[i].identify(); err != nil {
			return nil, fmt.Errorf("the tokens in %s: %w", file, err)
		}
	}
	return all, nil
}

// errCut means that a file of tokens is truncated.
var errCut = errors.New("the file is cut short")

// parseTokens reads the tokens of a file in the format of Hadoop's Credentials: "HDTS", then 0 and Writables, or 1 and
// a message. It does not read the secrets behind the tokens.
func parseTokens(b []byte) ([]token, error) {
	b, ok := bytes.CutPrefix(b, []byte("HDTS"))
	if !ok || len(b) == 0 {
		return nil, errors.New("this is not a file of Hadoop tokens")
	}
	switch form := b[0]; form {
	case 0:
		return parseWritables(b[1:])
	case 1:
		message, n := protowire.ConsumeBytes(b[1:])
		if n < 0 {
			return nil, errCut
		}
		return parseCredentials(message)
	default:
		return nil, fmt.Errorf("the file has format %d, which hql does not support", form)
	}
}

// parseWritables reads a number of tokens: each an alias and four parts.
func parseWritables(b []byte) (out []token, err error) {
	count, b, err := vint(b)
	if err != nil {
		return nil, err
	}
	if count < 0 {
		return nil, errCut
	}
	for range count {
		var parts [5][]byte
		for i := range parts {
			var n int
			if n, b, err = vint(b); err != nil {
				return nil, err
			}
			if n < 0 || n > len(b) {
				return nil, errCut
			}
			parts[i], b = b[:n], b[n:]
		}
		out = append(out, token{identifier: parts[1], password: parts[2], kind: string(parts[3]), service: string(parts[4])})
	}
	return out, nil
}

// vint reads a number in the format of Hadoop's WritableUtils: a byte of -112 or more is the number; a lower one gives
// the sign and how many bytes follow.
func vint(b []byte) (v int, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, errCut
	}
	first, b := int(int8(b[0])), b[1:]
	if first >= -112 {
		return first, b, nil
	}
	n := -112 - first
	if first < -120 {
		n = -120 - first
	}
	if n > len(b) {
		return 0, nil, errCut
	}
	var bits [8]byte
	copy(bits[8-n:], b[:n])
	u := int64(binary.BigEndian.Uint64(bits[:]))
	if first < -120 {
		u = ^u
	}
	if u < 0 || u > maxTokenFile {
		return 0, nil, errCut
	}
	return int(u), b[n:], nil
}

// parseCredentials reads a CredentialsProto: repeated tokens = 1, each {alias = 1, token = 2 {identifier, password, kind, service}}.
func parseCredentials(message []byte) (out []token, err error) {
	for named, err := range wire.Fields(message) {
		if err != nil {
			return nil, errCut
		}
		if named.Number != 1 {
			continue
		}
		for f, err := range wire.Fields(named.Bytes) {
			if err != nil {
				return nil, errCut
			}
			if f.Number != 2 || f.Bytes == nil {
				continue
			}
			var parts [5][]byte
			for part, err := range wire.Fields(f.Bytes) {
				if err != nil {
					return nil, errCut
				}
				if int(part.Number) < len(parts) {
					parts[part.Number] = part.Bytes
				}
			}
			out = append(out, token{identifier: parts[1], password: parts[2], kind: string(parts[3]), service: string(parts[4])})
		}
	}
	return out, nil
}

// identify reads the token's user and expiry: a length, and a TokenIdentifier {username = 2, expiration_date = 5}.
func (t *token) identify() error {
	if len(t.identifier) < 4 || uint64(binary.BigEndian.Uint32(t.identifier)) != uint64(len(t.identifier)-4) {
		return errors.New("the token's identifier is not in HBase's format")
	}
	for f, err := range wire.Fields(t.identifier[4:]) {
		switch {
		case err != nil:
			return errCut
		case f.Number == 2 && f.Bytes != nil:
			t.owner = string(f.Bytes)
		case f.Number == 5 && f.Bytes == nil:
			t.expires = time.UnixMilli(int64(f.Varint))
		}
	}
	if t.owner == "" {
		return errors.New("the token names no user")
	}
	return nil
}

// token reads the token again: the file may have been renewed.
func (a *Authenticator) token() (t token, err error) {
	all, err := tokens(a.cfg.Token)
	if err != nil {
		return t, err
	}
	if a.cluster != "" {
		all = slices.DeleteFunc(all, func(t token) bool { return t.service != a.cluster })
	}
	switch {
	case len(all) == 0 && a.cluster != "":
		return t, fmt.Errorf("the tokens in %s: none is for HBase (%s) and the cluster %q", a.cfg.Token, hbaseToken, a.cluster)
	case len(all) == 0:
		return t, fmt.Errorf("the tokens in %s: none is for HBase (%s)", a.cfg.Token, hbaseToken)
	case len(all) > 1:
		services := make([]string, len(all))
		for i, t := range all {
			services[i] = t.service
		}
		return t, fmt.Errorf("the tokens in %s are for several clusters (%s), and the id of this cluster is unknown", a.cfg.Token, strings.Join(services, ", "))
	}
	t = all[0]
	if !t.expires.IsZero() && time.Now().After(t.expires) {
		return t, fmt.Errorf("the token in %s expired at %s: renew it", a.cfg.Token, t.expires.Format(time.DateTime+" MST"))
	}
	return t, nil
}

// tokenFile returns the file of tokens to use: the given one, or the environment's if it has tokens for HBase and
// nothing else was given; "": none.
func tokenFile(cfg Config) (string, error) {
	file := cmp.Or(cfg.Token, os.Getenv(tokenFileEnv))
	if file == "" || cfg.Token == "" && (cfg.Keytab != "" || cfg.CCache != "" || cfg.Principal != "") {
		return "", nil
	}
	all, err := tokens(file)
	switch {
	case err != nil:
		return "", fmt.Errorf("kerberos: %w", err)
	case len(all) == 0 && cfg.Token == "":
		return "", nil
	}
	return file, nil
}

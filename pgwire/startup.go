package pgwire

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Codes of requests in the first message of a connection, where a startup message has the protocol's version.
const (
	codeCancel = 80877102
	codeTLS    = 80877103
	codeGSS    = 80877104
)

// newestMinor is the newest minor version of protocol 3 that the server speaks.
const newestMinor = 2

// startup handles the connection up to its first statement. It returns io.EOF after a request to cancel, which has no
// statement.
func (c *conn) startup(full bool) error {
	_ = c.net.SetDeadline(time.Now().Add(c.srv.opts.AuthTimeout))
	packet, err := c.startupPacket()
	if err != nil {
		return err
	}
	if full {
		c.srv.counts.refused.Add(1)
		return fatal("53300", "sorry, too many clients already: the server takes %d", c.srv.opts.MaxConnections).hint("--max-connections lets more connect")
	}
	minor := beUint32(packet) & 0xffff
	params, unknown, err := startupParameters(packet[4:])
	if err != nil {
		return err
	}
	if minor > newestMinor || len(unknown) > 0 {
		if err := c.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: 3<<16 | min(minor, newestMinor), UnrecognizedOptions: unknown}); err != nil {
			return err
		}
	}
	if c.user = params["user"]; c.user == "" {
		return fatal("28000", "no PostgreSQL user name specified in startup packet")
	}
	if c.srv.opts.TLS != nil && !c.secured && !c.local() {
		return fatal("28000", "connections from other hosts need TLS: sslmode=require, or better verify-full")
	}
	if err := c.authenticate(); err != nil {
		return err
	}
	if err := c.send(&pgproto3.AuthenticationOk{}); err != nil {
		return err
	}
	if err := c.open(params); err != nil {
		return err
	}
	n := 4
	if minor >= 2 {
		n = 32
	}
	c.mu.Lock()
	c.secret = newSecret(n)
	c.mu.Unlock()
	if err := c.greet(); err != nil {
		return err
	}
	_ = c.net.SetDeadline(time.Time{})
	return nil
}

// local reports whether the client is on this host.
func (c *conn) local() bool {
	a, ok := c.net.RemoteAddr().(*net.TCPAddr)
	return !ok || a.IP.IsLoopback()
}

// startupPacket reads messages up to the startup message, and returns its content after the first four bytes: the
// client's parameters.
func (c *conn) startupPacket() ([]byte, error) {
	for tlsAsked, gssAsked := false, false; ; {
		head, err := c.in.Peek(4)
		if err != nil {
			return nil, goneError{err} // a port scan, a health check
		}
		n := beUint32(head)
		if n < 8 || n > maxStartup {
			return nil, fatal("08P01", "invalid length of startup packet")
		}
		if _, err := c.in.Discard(4); err != nil {
			return nil, err
		}
		packet, err := c.read(int64(n), maxStartup)
		if err != nil {
			return nil, goneError{err}
		}
		switch code := beUint32(packet); {
		case code == codeCancel:
			if len(packet) > 8 {
				c.srv.cancelStatement(beUint32(packet[4:]), packet[8:])
			}
			return nil, io.EOF
		case code == codeTLS && !tlsAsked && !c.secured:
			tlsAsked = true
			if err := c.startTLS(); err != nil {
				return nil, goneError{err}
			}
		case code == codeGSS && !gssAsked && !c.secured:
			gssAsked = true
			if _, err := c.net.Write([]byte{'N'}); err != nil {
				return nil, goneError{err}
			}
		case code>>16 == 3:
			return packet, nil
		default:
			return nil, fatal("0A000", "unsupported frontend protocol %d.%d: server supports 3.0 to 3.%d", code>>16, code&0xffff, newestMinor)
		}
	}
}

// startTLS answers the wish for TLS.
func (c *conn) startTLS() error {
	if c.in.Buffered() > 0 { // sent in clear text before there was TLS, perhaps by another
		return errors.New("data behind the request for TLS")
	}
	if c.srv.opts.TLS == nil {
		_, err := c.net.Write([]byte{'N'})
		return err
	}
	if _, err := c.net.Write([]byte{'S'}); err != nil {
		return err
	}
	secured := tls.Server(c.net, c.srv.opts.TLS)
	if err := secured.HandshakeContext(c.ctx); err != nil {
		return err
	}
	c.mu.Lock()
	c.net, c.secured = secured, true
	c.mu.Unlock()
	c.in.Reset(secured)
	return nil
}

// startupParameters parses names and values, each of which ends with a zero byte. unknown are the protocol options, which the
// server does not know.
func startupParameters(b []byte) (params map[string]string, unknown []string, err error) {
	params = map[string]string{}
	for len(b) > 0 && b[0] != 0 {
		name, rest, ok := bytes.Cut(b, []byte{0})
		value, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 {
			return nil, nil, fatal("08P01", "invalid startup packet layout: expected terminator as last byte")
		}
		if b = rest; strings.HasPrefix(string(name), "_pq_.") {
			unknown = append(unknown, string(name))
			continue
		}
		params[string(name)] = string(value)
	}
	if len(b) != 1 {
		return nil, nil, fatal("08P01", "invalid startup packet layout: expected terminator as last byte")
	}
	return params, unknown, nil
}

// open begins the session with the settings of the startup message.
func (c *conn) open(params map[string]string) error {
	if params["replication"] != "" && params["replication"] != "false" && params["replication"] != "0" && params["replication"] != "off" {
		return fatal("0A000", "replication is not supported")
	}
	db, err := c.srv.dbOf(c.user)
	if err != nil {
		return fatal("58000", "cannot open the tables for user %q: %v", c.user, err)
	}
	c.database = or(params["database"], c.user)
	c.db = db.SessionOf(c.catalog())
	if err := c.beginSettings(); err != nil {
		return err
	}
	for name, value := range params {
		switch name {
		case "user", "database", "replication", "options":
			continue
		}
		if err := c.startSetting(name, value); err != nil {
			return err
		}
	}
	given, err := commandLineOptions(params["options"])
	if err != nil {
		return err
	}
	for _, o := range given {
		if err := c.startSetting(o[0], o[1]); err != nil {
			return err
		}
	}
	return nil
}

// optionWord matches a word of a command line, and escapedByte a backslash with the character that it escapes.
var optionWord, escapedByte = regexp.MustCompile(`(?s:\\.|[^ \t\n])+`), regexp.MustCompile(`\\(?s:(.))`)

// commandLineOptions reads -c name=value and --name=value; a backslash escapes the next character.
func commandLineOptions(text string) (out [][2]string, err error) {
	words := optionWord.FindAllString(text, -1)
	for i := 0; i < len(words); i++ {
		w, isLong := strings.CutPrefix(words[i], "--")
		if !isLong {
			short, ok := strings.CutPrefix(words[i], "-c")
			if !ok {
				return nil, fatal("42601", "invalid command-line argument for server process: %s", words[i]).hint("options are -c name=value")
			}
			if w = short; w == "" {
				if i++; i < len(words) {
					w = words[i]
				}
			}
		}
		name, value, ok := strings.Cut(escapedByte.ReplaceAllString(w, "$1"), "=")
		if !ok {
			return nil, fatal("42601", "-c %s requires a value", w)
		}
		if isLong {
			name = strings.ReplaceAll(name, "-", "_")
		}
		out = append(out, [2]string{name, value})
	}
	return out, nil
}

// greet sends the client the session's settings, and the key for cancelling statements.
func (c *conn) greet() error {
	c.settings.greeted = true
	for _, name := range reported {
		if err := c.send(&pgproto3.ParameterStatus{Name: name, Value: c.setting(name)}); err != nil {
			return err
		}
	}
	if err := c.send(&pgproto3.BackendKeyData{ProcessID: c.pid, SecretKey: c.secret}); err != nil {
		return err
	}
	return c.ready()
}

package pgwire

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"
)

const (
	scramPlain = "SCRAM-SHA-256"
	scramBound = "SCRAM-SHA-256-PLUS"
)

// authenticate asks the client for the user's password, if Options.Users is set. An unknown name takes as long and has the same
// error as a wrong password.
func (c *conn) authenticate() error {
	users := c.srv.opts.Users
	if users == nil {
		c.role = Role{Name: c.user}
		return nil
	}
	role, known := users.byName[c.user]
	conversation, mechanisms, err := c.conversation(role, known)
	if err != nil {
		return err
	}
	if err := c.send(&pgproto3.AuthenticationSASL{AuthMechanisms: mechanisms}); err != nil {
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	var first pgproto3.SASLInitialResponse
	if err := c.passwordMessage(&first); err != nil {
		return err
	}
	bound := first.AuthMechanism == scramBound
	if !bound && first.AuthMechanism != scramPlain || bound && len(mechanisms) == 1 {
		return fatal("28000", "client selected an invalid SASL authentication mechanism")
	}
	if bound != (len(first.Data) > 0 && first.Data[0] == 'p') {
		return fatal("28000", "the client's channel binding does not fit the authentication mechanism that it selected")
	}
	challenge, err := conversation.Step(string(first.Data))
	if err != nil {
		return c.wrongPassword(err)
	}
	if err := c.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)}); err != nil {
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	var last pgproto3.SASLResponse
	if err := c.passwordMessage(&last); err != nil {
		return err
	}
	proof, err := conversation.Step(string(last.Data))
	if err != nil || !conversation.Valid() || !known {
		return c.wrongPassword(err)
	}
	if c.role, err = role.enter(); err != nil {
		return err
	}
	return c.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(proof)})
}

// conversation begins to check the password of a role. It returns the conversation and the mechanisms that the client may
// choose.
func (c *conn) conversation(role *user, known bool) (*scram.ServerConversation, []string, error) {
	credentials := c.srv.opts.Users.pretended(c.user)
	if known {
		credentials = role.credentials
	}
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return credentials, nil })
	if err != nil {
		return nil, nil, err
	}
	if binding, ok := c.binding(); ok {
		return server.NewConversationWithChannelBinding(binding), []string{scramBound, scramPlain}, nil
	}
	return server.NewConversation(), []string{scramPlain}, nil
}

// binding returns data that ties the password to the server's certificate: an attacker between client and server has another
// one. It returns false if the connection has no TLS, or more than one certificate is possible.
func (c *conn) binding() (scram.ChannelBinding, bool) {
	cfg := c.srv.opts.TLS
	if !c.secured || len(cfg.Certificates) != 1 || cfg.GetCertificate != nil || cfg.GetConfigForClient != nil {
		return scram.ChannelBinding{}, false
	}
	leaf := cfg.Certificates[0].Leaf
	if leaf == nil {
		var err error
		if leaf, err = x509.ParseCertificate(cfg.Certificates[0].Certificate[0]); err != nil {
			return scram.ChannelBinding{}, false
		}
	}
	b, err := scram.NewTLSServerEndpointBinding(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}})
	return b, err == nil
}

// passwordMessage reads the client's next message about the password into m.
func (c *conn) passwordMessage(m interface{ Decode([]byte) error }) error {
	kind, body, err := c.message(maxStartup)
	if err != nil {
		return err
	}
	if kind != 'p' {
		return fatal("08P01", "expected SASL response, got message type %q", kind)
	}
	return decoded(body, m, func(interface{ Decode([]byte) error }) error { return nil })
}

func (c *conn) wrongPassword(err error) error {
	c.srv.counts.failedLogins.Add(1)
	c.srv.log.Warn("pgwire: login failed", "user", c.user, "client", c.net.RemoteAddr().String(), "reason", errors.Join(err))
	return fatal("28P01", "password authentication failed for user %q", c.user)
}

// pretended makes credentials for an unknown name, which no password matches. A name gets the same ones at each attempt.
func (u *Users) pretended(name string) scram.StoredCredentials {
	mac := hmac.New(sha256.New, u.pepper)
	mac.Write([]byte(name))
	sum := mac.Sum(nil)
	return scram.StoredCredentials{KeyFactors: scram.KeyFactors{Salt: string(sum[:16]), Iters: defaultIterations}, StoredKey: sum, ServerKey: sum}
}

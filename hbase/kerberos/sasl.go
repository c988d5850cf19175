package kerberos

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

const (
	// preamble opens a connection: magic, version 0, and SASL with Kerberos.
	preamble = "HBas\x00\x51"
	// switchToSimple instead of a length means that the server does not authenticate.
	switchToSimple = -88
	// tlsAlert begins the answer of a TLS server to a client that does not speak TLS, before it closes the connection.
	tlsAlert = 0x1503
	// maxToken bounds a server's tokens and messages, in bytes; they are a few hundred long.
	maxToken = 1 << 20
)

// ErrClosed means that the server closed the connection instead of answering.
var ErrClosed = errors.New("the server closes the connection")

// Flags of the wrap tokens of RFC 4121.
const (
	sentByAcceptor = 1
	sealed         = 2
	acceptorsKey   = 4
)

// Kinds of tokens of RFC 4121.
const (
	tokenAPReq    = "\x01\x00"
	tokenAPRep    = "\x02\x00"
	tokenKrbError = "\x03\x00"
)

// Authenticate sends the preamble and authenticates both ends of a new connection to the server on host. HBase expects
// the connection header next, through the returned connection: conn itself, or one that signs or seals its messages.
// Authenticate removes the deadlines of conn; after an error the caller must close it.
func (a *Authenticator) Authenticate(ctx context.Context, conn net.Conn, host string) (net.Conn, error) {
	c, err := a.credentialWithin(ctx, host)
	if err != nil {
		return nil, err
	}
	return a.converse(ctx, conn, &c)
}

// converse performs the exchange with the ticket c; the exchange ends with ctx.
func (a *Authenticator) converse(ctx context.Context, conn net.Conn, c *credential) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	agreed, err := c.handshake(conn, a.wanted)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("kerberos: %s and %s: %w", a.Principal(), conn.RemoteAddr(), err)
	}
	return agreed.over(conn), nil
}

// handshake performs RFC 4752's exchange in HBase's frames. It takes the first wanted layer that the server offers.
func (c *credential) handshake(conn io.ReadWriter, wanted []byte) (ctx *gssContext, err error) {
	defer recovered(&err)
	ctx, token, err := c.initiate()
	if err != nil {
		return nil, err
	}
	first := append([]byte(preamble), frame(token)...)
	if _, err := conn.Write(first); err != nil {
		return nil, err
	}
	reply, err := receive(conn)
	if err != nil {
		return nil, err
	}
	if err := ctx.verify(reply); err != nil {
		return nil, err
	}
	if _, err := conn.Write(frame(nil)); err != nil {
		return nil, err
	}
	offer, err := receive(conn)
	if err != nil {
		return nil, err
	}
	choice, err := ctx.choose(offer, wanted)
	if err != nil {
		return nil, err
	}
	_, err = conn.Write(frame(choice))
	return ctx, err
}

// frame prepends a token's length.
func frame(token []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(token))), token...)
}

// receive reads a status and its content: a token, or the class and message of an exception.
func receive(r io.Reader) ([]byte, error) {
	status, err := readInt(r)
	if err != nil {
		return nil, err
	}
	switch {
	case status == 0:
		return readBytes(r)
	case status>>16 == tlsAlert:
		return nil, ErrClosed
	}
	class, err := readBytes(r)
	if err != nil {
		return nil, err
	}
	message, err := readBytes(r)
	if err != nil {
		return nil, err
	}
	name := string(class)
	return nil, fmt.Errorf("the server refuses: %s: %s", name[strings.LastIndexByte(name, '.')+1:], message)
}

func readInt(r io.Reader) (int32, error) {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return 0, ErrClosed
		}
		return 0, err
	}
	return int32(binary.BigEndian.Uint32(b[:])), nil
}

// readBytes reads a length and as many bytes; length -1 means a null text.
func readBytes(r io.Reader) ([]byte, error) {
	n, err := readInt(r)
	switch {
	case err != nil:
		return nil, err
	case n == switchToSimple:
		return nil, errors.New("the server does not use Kerberos: hbase.security.authentication is simple there")
	case n < -1 || n > maxToken:
		return nil, fmt.Errorf("the server announces %d bytes", n)
	}
	b := make([]byte, max(n, 0))
	_, err = io.ReadFull(r, b)
	return b, err
}

// gssContext is the initiator's side of a GSSAPI context.
type gssContext struct {
	session  types.EncryptionKey // the ticket's
	key      types.EncryptionKey // protects the messages: the initiator's, or the acceptor's if it sends one
	auth     types.Authenticator
	acceptor bool   // key is the acceptor's
	layer    byte   // chosen
	offered  uint64 // the number of the server's offer
}

// initiate makes the first token, an AP-REQ that asks the server to prove itself.
func (c *credential) initiate() (*gssContext, []byte, error) {
	etype, err := crypto.GetEtype(c.key.KeyType)
	if err != nil {
		return nil, nil, err
	}
	auth, err := types.NewAuthenticator(c.realm, c.user)
	if err != nil {
		return nil, nil, err
	}
	if err := auth.GenerateSeqNumberAndSubKey(c.key.KeyType, etype.GetKeyByteSize()); err != nil {
		return nil, nil, err
	}
	// RFC 4121, 4.1.1: the length of the channel bindings, the bindings (there are none), and the flags.
	sum := binary.LittleEndian.AppendUint32(nil, 16)
	sum = append(sum, make([]byte, 16)...)
	sum = binary.LittleEndian.AppendUint32(sum, gssapi.ContextFlagMutual|gssapi.ContextFlagSequence|gssapi.ContextFlagInteg|gssapi.ContextFlagConf)
	auth.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: sum}
	req, err := messages.NewAPReq(c.ticket, c.key, auth)
	if err != nil {
		return nil, nil, err
	}
	types.SetFlag(&req.APOptions, flags.APOptionMutualRequired)
	b, err := req.Marshal()
	if err != nil {
		return nil, nil, err
	}
	token, err := mechToken(tokenAPReq, b)
	return &gssContext{session: c.key, key: auth.SubKey, auth: auth}, token, err
}

// mechToken frames a Kerberos message for GSSAPI.
func mechToken(id string, message []byte) ([]byte, error) {
	b, err := asn1.Marshal(gssapi.OIDKRB5.OID())
	if err != nil {
		return nil, err
	}
	return asn1tools.AddASNAppTag(append(append(b, id...), message...), 0), nil
}

// verify checks the server's AP-REP. Only a server that can decrypt the ticket can make it.
func (g *gssContext) verify(token []byte) error {
	var oid asn1.ObjectIdentifier
	rest, err := asn1.UnmarshalWithParams(token, &oid, "application,explicit,tag:0")
	if err != nil || !oid.Equal(gssapi.OIDKRB5.OID()) || len(rest) < 2 {
		return errors.New("the server's token is not a Kerberos token")
	}
	switch id, message := string(rest[:2]), rest[2:]; id {
	case tokenKrbError:
		var e messages.KRBError
		if err := e.Unmarshal(message); err != nil {
			return err
		}
		return fmt.Errorf("the server refuses the ticket: %w", e)
	case tokenAPRep:
		var rep messages.APRep
		if err := rep.Unmarshal(message); err != nil {
			return err
		}
		plain, err := crypto.DecryptEncPart(rep.EncPart, g.session, keyusage.AP_REP_ENCPART)
		if err != nil {
			return fmt.Errorf("the server cannot prove its identity: %w", err)
		}
		var part messages.EncAPRepPart
		if err := part.Unmarshal(plain); err != nil {
			return err
		}
		if part.CTime.Unix() != g.auth.CTime.Unix() || part.Cusec != g.auth.Cusec {
			return errors.New("the server cannot prove its identity: it answers another request")
		}
		if len(part.Subkey.KeyValue) > 0 {
			g.key, g.acceptor = part.Subkey, true
		}
		return nil
	default:
		return fmt.Errorf("the server's token is of type %x", id)
	}
}

// choose answers the server's offer of security layers with the first wanted one, and names no user other than the
// ticket's.
func (g *gssContext) choose(offer, wanted []byte) ([]byte, error) {
	payload, number, err := g.unwrap(offer, false)
	if err != nil {
		return nil, fmt.Errorf("the server's offer: %w", err)
	}
	if len(payload) != 4 {
		return nil, fmt.Errorf("the server's offer has %d bytes", len(payload))
	}
	g.offered = number
	i := slices.IndexFunc(wanted, func(layer byte) bool { return payload[0]&layer != 0 })
	if i < 0 {
		return nil, fmt.Errorf("the server offers the protection %s (hbase.rpc.protection), but the address asks for %s", protection(payload[0]), protection(sum(wanted)))
	}
	g.layer = wanted[i]
	choice := []byte{g.layer, 0, 0, 0}
	if g.layer != layerNone {
		choice = []byte{g.layer, 0xff, 0xff, 0xff} // the longest message to receive; HBase ignores it
	}
	return g.wrap(choice, uint64(g.auth.SeqNumber), false)
}

// sum combines the bits of several layers.
func sum(layers []byte) (bits byte) {
	for _, l := range layers {
		bits |= l
	}
	return bits
}

package kerberos

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
)

// The security layers of RFC 4752, as bits.
const (
	layerNone      = 1 // authentication alone
	layerIntegrity = 2
	layerPrivacy   = 4
)

// layers are the values of hbase.rpc.protection.
var layers = map[string]byte{"authentication": layerNone, "integrity": layerIntegrity, "privacy": layerPrivacy}

// parseProtection parses a list of values of hbase.rpc.protection.
func parseProtection(list string) (out []byte, err error) {
	for name := range strings.SplitSeq(list, ",") {
		layer, ok := layers[strings.ToLower(strings.TrimSpace(name))]
		if !ok {
			return nil, fmt.Errorf("kerberos: the protection %q is invalid: give authentication, integrity or privacy, or several of them separated by commas", list)
		}
		out = append(out, layer)
	}
	return out, nil
}

// protection returns the names of some layers.
func protection(bits byte) string {
	var names []string
	for _, name := range []string{"authentication", "integrity", "privacy"} {
		if bits&layers[name] != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// maxMessage bounds one message of the server, whose length is announced. Servers send answers of up to some megabytes
// in one message.
const maxMessage = 1 << 30

// MessageError says why a message of the server is rejected. The connection cannot be used after it.
type MessageError struct {
	Err error
	// Message is the message with its length, as it arrived. Servers refuse a connection in clear text even if they
	// agreed to protect it, so it may hold a reason to show.
	Message []byte
}

func (e *MessageError) Error() string {
	return "kerberos: the server's message is rejected: " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *MessageError) Unwrap() error { return e.Err }

// headerSize is the size of a wrap token's header.
const headerSize = 16

// layered is a connection whose messages are signed or sealed. Their contents form a stream: a message may hold a part
// of an answer or several answers.
type layered struct {
	net.Conn
	gss  *gssContext
	seal bool

	writing sync.Mutex
	sent    uint64 // the number of the next message

	in       *bufio.Reader
	received uint64 // the number that the server's next message must have: none may be lost, doubled or reordered
	rest     []byte // unread bytes of the last message
}

// over wraps conn in the chosen layer.
func (g *gssContext) over(conn net.Conn) net.Conn {
	if g.layer == layerNone {
		return conn
	}
	return &layered{Conn: conn, gss: g, seal: g.layer == layerPrivacy, in: bufio.NewReader(conn), sent: uint64(g.auth.SeqNumber) + 1, received: g.offered + 1}
}

func (l *layered) Write(b []byte) (int, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	token, err := l.gss.wrap(b, l.sent, l.seal)
	if err != nil {
		return 0, err
	}
	l.sent++
	if _, err := l.Conn.Write(frame(token)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (l *layered) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		if err := l.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next reads a message.
func (l *layered) next() (err error) {
	defer recovered(&err)
	var size [4]byte
	if _, err := io.ReadFull(l.in, size[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < headerSize || n > maxMessage {
		return &MessageError{Err: fmt.Errorf("it has %d bytes", n)}
	}
	var token bytes.Buffer // it grows with the bytes that arrive, not with the announced length
	if _, err := io.CopyN(&token, l.in, int64(n)); err != nil {
		return err
	}
	plain, number, err := l.gss.unwrap(token.Bytes(), l.seal)
	if err != nil {
		return &MessageError{err, frame(token.Bytes())}
	}
	if number != l.received {
		return &MessageError{Err: fmt.Errorf("it has number %d instead of %d: messages were reordered on the way, or HBase is older than 2.5", number, l.received)}
	}
	l.received++
	l.rest = plain
	return nil
}

// wrap makes a wrap token (RFC 4121, 4.2.6.2) of the initiator.
func (g *gssContext) wrap(payload []byte, number uint64, seal bool) ([]byte, error) {
	etype, err := crypto.GetEtype(g.key.KeyType)
	if err != nil {
		return nil, err
	}
	flags := byte(0)
	if g.acceptor {
		flags = acceptorsKey
	}
	if !seal {
		w := gssapi.WrapToken{Flags: flags, EC: uint16(etype.GetHMACBitLength() / 8), SndSeqNum: number, Payload: payload}
		if err := w.SetCheckSum(g.key, keyusage.GSSAPI_INITIATOR_SEAL); err != nil {
			return nil, err
		}
		return w.Marshal()
	}
	header := binary.BigEndian.AppendUint64([]byte{5, 4, flags | sealed, 0xff, 0, 0, 0, 0}, number)
	_, secret, err := etype.EncryptMessage(g.key.KeyValue, append(bytes.Clone(payload), header...), keyusage.GSSAPI_INITIATOR_SEAL)
	return append(header, secret...), err
}

// unwrap checks a wrap token of the acceptor and returns its content and number.
func (g *gssContext) unwrap(token []byte, wantSealed bool) (payload []byte, number uint64, err error) {
	if len(token) < headerSize || token[0] != 5 || token[1] != 4 || token[3] != 0xff {
		return nil, 0, errors.New("it is not a wrap token")
	}
	flags := byte(sentByAcceptor)
	if g.acceptor {
		flags |= acceptorsKey
	}
	if wantSealed {
		flags |= sealed
	}
	if token[2] != flags {
		return nil, 0, fmt.Errorf("its flags are %x, not %x", token[2], flags)
	}
	header, data := bytes.Clone(token[:headerSize]), token[headerSize:]
	number = binary.BigEndian.Uint64(header[8:])
	if turned := int(binary.BigEndian.Uint16(header[6:])); turned > 0 && len(data) > 0 {
		turned %= len(data)
		data = append(bytes.Clone(data[turned:]), data[:turned]...)
		header[6], header[7] = 0, 0
	}
	if !wantSealed {
		var w gssapi.WrapToken
		if err := w.Unmarshal(append(header, data...), true); err != nil {
			return nil, 0, err
		}
		_, err := w.Verify(g.key, keyusage.GSSAPI_ACCEPTOR_SEAL)
		return w.Payload, number, err
	}
	etype, err := crypto.GetEtype(g.key.KeyType)
	if err != nil {
		return nil, 0, err
	}
	plain, err := etype.DecryptMessage(g.key.KeyValue, data, keyusage.GSSAPI_ACCEPTOR_SEAL)
	if err != nil {
		return nil, 0, err
	}
	filler := int(binary.BigEndian.Uint16(header[4:]))
	end := len(plain) - headerSize - filler
	if end < 0 || !bytes.Equal(plain[end+filler:], header) {
		return nil, 0, errors.New("the sealed copy of its header differs")
	}
	return plain[:end], number, nil
}

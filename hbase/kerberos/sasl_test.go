package kerberos

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// server is HBase's side of the exchange, with what is wrong about it.
type server struct {
	keys     *keytab.Keytab
	subkey   bool                                // the acceptor takes a key of its own
	otherKey bool                                // it could not read the ticket
	late     time.Duration                       // how far the time is off that the AP-REP repeats
	layers   byte                                // the offer
	spoil    func(step int, token []byte) []byte // changes a whole answer, status and length included
	got      string                              // the header, once authenticated
	key      types.EncryptionKey                 // of messages
	choice   gssapi.WrapToken                    // the client's answer to the offer
}

func readFrame(r io.Reader) ([]byte, error) {
	var n [4]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(n[:]))
	_, err := io.ReadFull(r, b)
	return b, err
}

func (s *server) serve(conn net.Conn) error {
	defer conn.Close()
	hello := make([]byte, 6)
	if _, err := io.ReadFull(conn, hello); err != nil {
		return err
	}
	if string(hello) != "HBas\x00\x51" {
		return errors.New("preamble " + string(hello))
	}
	answer := func(step int, token []byte) error {
		b := append(make([]byte, 4), frame(token)...)
		if s.spoil != nil {
			b = s.spoil(step, b)
		}
		_, err := conn.Write(b)
		return err
	}
	token, err := readFrame(conn)
	if err != nil {
		return err
	}
	var oid asn1.ObjectIdentifier
	rest, err := asn1.UnmarshalWithParams(token, &oid, "application,explicit,tag:0")
	if err != nil || !oid.Equal(gssapi.OIDKRB5.OID()) || string(rest[:2]) != tokenAPReq {
		return errors.New("no AP-REQ")
	}
	var req messages.APReq
	if err := req.Unmarshal(rest[2:]); err != nil {
		return err
	}
	if ok, err := req.Verify(s.keys, time.Minute, types.HostAddress{}, nil); !ok {
		return err
	}
	session, auth := req.Ticket.DecryptedEncPart.Key, req.Authenticator
	if !types.IsFlagSet(&req.APOptions, flags.APOptionMutualRequired) || binary.LittleEndian.Uint32(auth.Cksum.Checksum[20:])&gssapi.ContextFlagMutual == 0 {
		return errors.New("the client does not ask for a proof")
	}
	part := messages.EncAPRepPart{CTime: auth.CTime.Add(s.late), Cusec: auth.Cusec, SequenceNumber: 7}
	key, flag := auth.SubKey, byte(0)
	etype, err := crypto.GetEtype(session.KeyType)
	if err != nil {
		return err
	}
	if s.subkey {
		if key, err = types.GenerateEncryptionKey(etype); err != nil {
			return err
		}
		part.Subkey, flag = key, acceptorsKey
	}
	plain, err := asn1.Marshal(part)
	if err != nil {
		return err
	}
	if s.otherKey {
		if session, err = types.GenerateEncryptionKey(etype); err != nil {
			return err
		}
	}
	sealedPart, err := crypto.GetEncryptedData(asn1tools.AddASNAppTag(plain, asnAppTag.EncAPRepPart), session, keyusage.AP_REP_ENCPART, 0)
	if err != nil {
		return err
	}
	rep, err := asn1.Marshal(messages.APRep{PVNO: 5, MsgType: msgtype.KRB_AP_REP, EncPart: sealedPart})
	if err != nil {
		return err
	}
	if token, err = mechToken(tokenAPRep, asn1tools.AddASNAppTag(rep, asnAppTag.APREP)); err != nil {
		return err
	}
	if err := answer(1, token); err != nil {
		return err
	}
	if token, err = readFrame(conn); err != nil || len(token) != 0 {
		return errors.Join(err, errors.New("no empty token"))
	}
	offer := gssapi.WrapToken{Flags: 1 | flag, EC: uint16(etype.GetHMACBitLength() / 8), SndSeqNum: 7, Payload: []byte{s.layers, 0, 0xff, 0xff}}
	if err := offer.SetCheckSum(key, keyusage.GSSAPI_ACCEPTOR_SEAL); err != nil {
		return err
	}
	if token, err = offer.Marshal(); err != nil {
		return err
	}
	if err := answer(2, token); err != nil {
		return err
	}
	if token, err = readFrame(conn); err != nil {
		return err
	}
	if err := s.choice.Unmarshal(token, false); err != nil {
		return err
	}
	if _, err := s.choice.Verify(key, keyusage.GSSAPI_INITIATOR_SEAL); err != nil {
		return err
	}
	if s.choice.SndSeqNum != uint64(auth.SeqNumber) || s.choice.Flags != flag {
		return errors.New("the choice has another number, or flags")
	}
	s.key = key
	header, err := io.ReadAll(conn)
	s.got = string(header)
	return err
}

// ticket makes a ticket for the server of keys, as a KDC does.
func ticket(t testing.TB) (credential, *keytab.Keytab) {
	t.Helper()
	keys := keytab.New()
	if err := keys.AddEntry("hbase/localhost", "HQL.TEST", "secret", time.Now(), 1, etypeID.AES256_CTS_HMAC_SHA1_96); err != nil {
		t.Fatal(err)
	}
	c := credential{user: types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, "alice"), realm: "HQL.TEST"}
	now := time.Now().UTC()
	var err error
	c.ticket, c.key, err = messages.NewTicket(c.user, c.realm, types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, "hbase/localhost"), "HQL.TEST",
		types.NewKrbFlags(), keys, etypeID.AES256_CTS_HMAC_SHA1_96, 1, now, now, now.Add(time.Hour), now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return c, keys
}

func TestHandshake(t *testing.T) {
	c, keys := ticket(t)
	at := func(step int, b []byte) func(int, []byte) []byte {
		return func(n int, whole []byte) []byte {
			if n == step {
				return b
			}
			return whole
		}
	}
	change := func(step, offset int) func(int, []byte) []byte { // offset from the end, if below 0
		return func(n int, whole []byte) []byte {
			if n == step {
				if offset < 0 {
					offset += len(whole)
				}
				whole[offset] ^= 2
			}
			return whole
		}
	}
	text := func(s string) string { return string(frame([]byte(s))) }
	for _, test := range []struct {
		name   string
		server server
		want   string // in the error; "": there is none
	}{
		{"authentication only", server{layers: 1}, ""},
		{"all layers", server{layers: 7}, ""},
		{"acceptor's key", server{layers: 1, subkey: true}, ""},
		{"no layer", server{layers: 8}, "the server offers the protection  (hbase.rpc.protection), but the address asks for authentication"},
		{"privacy", server{layers: 4}, "the server offers the protection privacy (hbase.rpc.protection), but the address asks for authentication"},
		{"not the server of the ticket", server{layers: 1, otherKey: true}, "the server cannot prove its identity"},
		{"an old proof", server{layers: 1, late: -time.Second}, "it answers another request"},
		{"a changed proof", server{layers: 1, spoil: change(1, -1)}, "the server cannot prove its identity"},
		{"a changed offer", server{layers: 4, spoil: change(2, 8+16)}, "checksum mismatch"},
		{"a sealed offer", server{layers: 1, spoil: change(2, 8+2)}, "the server's offer: its flags are 3, not 1"},
		{"simple", server{spoil: at(1, []byte("\x00\x00\x00\x00\xff\xff\xff\xa8"))}, "hbase.security.authentication is simple there"},
		{"refusal", server{spoil: at(1, []byte("\x00\x00\x00\x01"+text("javax.security.sasl.SaslException")+text("clock skew")))}, "the server refuses: SaslException: clock skew"},
		{"refusal without a message", server{spoil: at(1, []byte("\x00\x00\x00\x01"+text("java.io.IOException")+"\xff\xff\xff\xff"))}, "the server refuses: IOException"},
		{"an alert of TLS", server{spoil: at(1, []byte("\x15\x03\x03\x00\x02\x02\x46"))}, "the server closes the connection"},
		{"huge token", server{spoil: at(1, []byte("\x00\x00\x00\x00\x7f\xff\xff\xff"))}, "announces 2147483647 bytes"},
		{"negative token", server{spoil: at(1, []byte("\x00\x00\x00\x00\xff\xff\xff\x00"))}, "announces -256 bytes"},
		{"no token", server{spoil: at(1, []byte("\x00\x00\x00\x00\x00\x00\x00\x00"))}, "not a Kerberos token"},
		{"other token", server{spoil: at(1, []byte("\x00\x00\x00\x00"+text("\x60\x03\x02\x01\x00")))}, "not a Kerberos token"},
		{"empty offer", server{spoil: at(2, []byte("\x00\x00\x00\x00\x00\x00\x00\x00"))}, "it is not a wrap token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn, peer := net.Pipe()
			s := test.server
			s.keys = keys
			served := make(chan error, 1)
			go func() { served <- s.serve(peer) }()
			_, err := c.handshake(conn, []byte{layerNone})
			if test.want != "" {
				conn.Close()
				<-served
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, not %s", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write([]byte("header")); err != nil {
				t.Error(err)
			}
			conn.Close()
			if err := <-served; err != nil || s.got != "header" {
				t.Errorf("the server: %q, %v", s.got, err)
			}
			if string(s.choice.Payload) != "\x01\x00\x00\x00" {
				t.Errorf("the choice is %x", s.choice.Payload)
			}
		})
	}
}

// A KDC or a server that does not answer holds nobody longer than the context.
func TestSilence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, keys := ticket(t)
	dir := t.TempDir()
	conf := "[libdefaults]\n udp_preference_limit = 1\n[realms]\n HQL.TEST = {\n  kdc = " + l.Addr().String() + "\n }\n"
	if err := os.WriteFile(dir+"/krb5.conf", []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := keys.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/keytab", b, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := New(Config{Principal: "hbase/localhost@HQL.TEST", Keytab: dir + "/keytab", Krb5Conf: dir + "/krb5.conf"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := a.converse(ctx, conn, &c); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := a.Authenticate(ctx, conn, "localhost"); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no KDC of HQL.TEST") {
		t.Error(err)
	}
}

// Whatever a server says is an error or an answer.
func FuzzReply(f *testing.F) {
	c, keys := ticket(f)
	conn, peer := net.Pipe()
	s := server{keys: keys, layers: 1, spoil: func(_ int, b []byte) []byte { f.Add(b); return b }}
	go func() { _ = s.serve(peer) }()
	if _, err := c.handshake(conn, []byte{layerNone}); err != nil {
		f.Fatal(err)
	}
	conn.Close()
	f.Fuzz(func(t *testing.T, reply []byte) {
		rw := struct {
			io.Reader
			io.Writer
		}{strings.NewReader(string(reply)), io.Discard}
		if _, err := c.handshake(rw, []byte{layerNone}); err == nil {
			t.Error("a server without the key is believed")
		}
	})
}

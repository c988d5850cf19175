package kerberos

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/types"
)

// serverToken is a message of the server's in its frame: signed by gokrb5, or sealed as RFC 4121 says.
func serverToken(t *testing.T, key types.EncryptionKey, seal bool, number uint64, turned int, payload string) []byte {
	t.Helper()
	etype, err := crypto.GetEtype(key.KeyType)
	if err != nil {
		t.Fatal(err)
	}
	var token []byte
	if seal {
		const filler = 5
		token = binary.BigEndian.AppendUint64([]byte{5, 4, 3, 0xff, 0, filler, 0, 0}, number)
		_, secret, err := etype.EncryptMessage(key.KeyValue, slices.Concat([]byte(payload), make([]byte, filler), token), keyusage.GSSAPI_ACCEPTOR_SEAL)
		if err != nil {
			t.Fatal(err)
		}
		token = append(token, secret...)
	} else {
		w := gssapi.WrapToken{Flags: 1, EC: uint16(etype.GetHMACBitLength() / 8), SndSeqNum: number, Payload: []byte(payload)}
		if err := w.SetCheckSum(key, keyusage.GSSAPI_ACCEPTOR_SEAL); err != nil {
			t.Fatal(err)
		}
		if token, err = w.Marshal(); err != nil {
			t.Fatal(err)
		}
	}
	// The last bytes come first, as some implementations have it.
	data := token[16:]
	copy(data, slices.Concat(data[len(data)-turned:], data[:len(data)-turned]))
	token[7] = byte(turned)
	return frame(token)
}

// What goes through a layer arrives as it was; what somebody on the way has changed, lost, doubled or
// moved ends the connection.
func TestLayers(t *testing.T) {
	for _, layer := range []byte{layerIntegrity, layerPrivacy} {
		t.Run(protection(layer), func(t *testing.T) {
			seal := layer == layerPrivacy
			c, keys := ticket(t)
			conn, peer := net.Pipe()
			s := server{keys: keys, layers: layer}
			served := make(chan error, 1)
			go func() { served <- s.serve(peer) }()
			g, err := c.handshake(conn, []byte{layerNone, layerIntegrity, layerPrivacy})
			if err != nil {
				t.Fatal(err)
			}
			out := g.over(conn)
			for _, text := range []string{"header", "a call"} {
				if n, err := out.Write([]byte(text)); n != len(text) || err != nil {
					t.Fatal(n, err)
				}
			}
			conn.Close()
			if err := <-served; err != nil {
				t.Fatal(err)
			}
			if want := append([]byte{layer}, 0xff, 0xff, 0xff); !bytes.Equal(s.choice.Payload, want) {
				t.Errorf("the choice is %x", s.choice.Payload)
			}
			if bytes.Contains([]byte(s.got), []byte("header")) == seal {
				t.Errorf("privacy %v, and the server gets %q", seal, s.got)
			}
			checkSent(t, s.key, seal, s.got, s.choice.SndSeqNum+1, "header", "a call")

			token := func(number uint64, payload string) []byte { return serverToken(t, s.key, seal, number, 0, payload) }
			first, second := token(8, "first"), token(9, "second") // the offer was number 7
			for _, test := range []struct {
				name     string
				sent     []byte
				read, is string // what is read, and what the error has in it
			}{
				{"in order", slices.Concat(first, second), "firstsecond", "EOF"},
				{"an empty message", slices.Concat(token(8, ""), second), "second", "EOF"},
				{"turned", slices.Concat(serverToken(t, s.key, seal, 8, 3, "first"), second), "firstsecond", "EOF"},
				{"doubled", slices.Concat(first, first), "first", "number 8 instead of 9"},
				{"lost", second, "", "number 9 instead of 8"},
				{"another direction", frame(mustWrap(t, g, 8, seal)), "", "its flags are"},
				{"the other layer", serverToken(t, s.key, !seal, 8, 0, "first"), "", "its flags are"},
				{"changed", changed(first, -1), "", "the server's message is rejected: "},
				{"changed number", changed(first, 4+15), "", "the server's message is rejected: "},
				{"changed filler", changed(first, 4+4), "", "the server's message is rejected: "},
				{"cut short", first[:len(first)-1], "", "EOF"},
				{"no token", frame(make([]byte, 16)), "", "it is not a wrap token"},
				{"a short length", []byte{0, 0, 0, 15}, "", "it has 15 bytes"},
				{"a long length", []byte("HTTP/1.1 400"), "", "it has 1213486160 bytes"},
			} {
				conn, peer := net.Pipe()
				go func() {
					_, _ = peer.Write(test.sent)
					peer.Close()
				}()
				in := g.over(conn)
				var got []byte
				var err error
				for err == nil {
					b := make([]byte, 3)
					var n int
					n, err = in.Read(b)
					got = append(got, b[:n]...)
				}
				conn.Close()
				if string(got) != test.read || !strings.Contains(err.Error(), test.is) {
					t.Errorf("%s: %q, %v", test.name, got, err)
				}
			}
		})
	}
}

func mustWrap(t *testing.T, g *gssContext, number uint64, seal bool) []byte {
	t.Helper()
	token, err := g.wrap([]byte("first"), number, seal)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// changed is a copy with one byte changed, counted from the end if below 0.
func changed(b []byte, at int) []byte {
	b = bytes.Clone(b)
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 1
	return b
}

// checkSent reads what the client sent, with the server's own means.
func checkSent(t *testing.T, key types.EncryptionKey, seal bool, sent string, number uint64, want ...string) {
	t.Helper()
	etype, err := crypto.GetEtype(key.KeyType)
	if err != nil {
		t.Fatal(err)
	}
	r := strings.NewReader(sent)
	for _, text := range want {
		token, err := readFrame(r)
		if err != nil {
			t.Fatal(err)
		}
		payload := []byte(nil)
		if seal {
			plain, err := etype.DecryptMessage(key.KeyValue, token[16:], keyusage.GSSAPI_INITIATOR_SEAL)
			if err != nil || len(plain) < 16 || !bytes.Equal(plain[len(plain)-16:], token[:16]) || token[2]&2 == 0 {
				t.Fatalf("%x: %v", plain, err)
			}
			payload = plain[:len(plain)-16]
		} else {
			var w gssapi.WrapToken
			if err := w.Unmarshal(token, false); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Verify(key, keyusage.GSSAPI_INITIATOR_SEAL); err != nil {
				t.Fatal(err)
			}
			payload = w.Payload
		}
		if string(payload) != text || binary.BigEndian.Uint64(token[8:]) != number {
			t.Errorf("%q, number %d", payload, binary.BigEndian.Uint64(token[8:]))
		}
		number++
	}
	if rest, err := io.ReadAll(r); len(rest) > 0 || err != nil {
		t.Errorf("%x more, %v", rest, err)
	}
}

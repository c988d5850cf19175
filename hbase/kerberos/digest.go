package kerberos

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/rc4"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// digestPreamble opens a connection: magic, version 0, and SASL with a token.
const digestPreamble = "HBas\x00\x52"

// digestURI is the digest-uri that HBase's clients send: no protocol, and the server named default.
const digestURI = "null/default"

// qops are the names of the layers in RFC 2831.
var qops = map[byte]string{layerNone: "auth", layerIntegrity: "auth-int", layerPrivacy: "auth-conf"}

// digest is the client's side of RFC 2831 (DIGEST-MD5). Its algorithms count as broken today, but HBase offers no
// others for tokens.
type digest struct {
	layer         byte
	a1            []byte // H(A1)
	nonce, cnonce string
	out, in       []byte      // signing keys
	outKey, inKey *rc4.Cipher // sealing ciphers
}

// handshake performs RFC 2831's exchange in HBase's frames.
func (t *token) handshake(conn io.ReadWriter, wanted []byte) (*digest, error) {
	if _, err := conn.Write(append([]byte(digestPreamble), frame(nil)...)); err != nil {
		return nil, err
	}
	challenge, err := receive(conn)
	if err != nil {
		return nil, err
	}
	cnonce := make([]byte, 24)
	if _, err := rand.Read(cnonce); err != nil {
		return nil, err
	}
	d, response, err := t.respond(challenge, wanted, base64.StdEncoding.EncodeToString(cnonce))
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(frame([]byte(response))); err != nil {
		return nil, err
	}
	proof, err := receive(conn)
	if err != nil {
		return nil, err
	}
	said, err := directives(proof)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(said["rspauth"]), []byte(d.proof(""))) != 1 {
		return nil, errors.New("the server cannot prove that it knows the token")
	}
	return d, nil
}

// respond answers a challenge.
func (t *token) respond(challenge, wanted []byte, cnonce string) (*digest, string, error) {
	c, err := directives(challenge)
	if err != nil {
		return nil, "", err
	}
	if c["nonce"] == "" || c["algorithm"] != "md5-sess" {
		return nil, "", errors.New("the server's challenge is not one of DIGEST-MD5")
	}
	var offered byte
	for layer, name := range qops {
		if slices.Contains(strings.Split(cmp.Or(c["qop"], "auth"), ","), name) {
			offered |= layer
		}
	}
	i := slices.IndexFunc(wanted, func(layer byte) bool { return offered&layer != 0 })
	if i < 0 {
		return nil, "", fmt.Errorf("the server offers the protection %s (hbase.rpc.protection), but the address asks for %s", protection(offered), protection(sum(wanted)))
	}
	d := &digest{layer: wanted[i], nonce: c["nonce"], cnonce: cnonce}
	user, password := base64.StdEncoding.EncodeToString(t.identifier), base64.StdEncoding.EncodeToString(t.password)
	secret := md5.Sum([]byte(user + ":" + c["realm"] + ":" + password))
	d.a1 = hash(secret[:], ":"+d.nonce+":"+cnonce)
	d.out, d.in = hash(d.a1, "Digest session key to client-to-server signing key magic constant"), hash(d.a1, "Digest session key to server-to-client signing key magic constant")
	var b strings.Builder
	fmt.Fprintf(&b, `charset=utf-8,username=%s,realm=%s,nonce=%s,nc=00000001,cnonce=%s,digest-uri="%s",maxbuf=16777215,response=%s,qop=%s`,
		quote(user), quote(c["realm"]), quote(d.nonce), quote(cnonce), digestURI, d.proof("AUTHENTICATE"), qops[d.layer])
	if d.layer == layerPrivacy {
		if !slices.Contains(strings.Split(c["cipher"], ","), "rc4") {
			return nil, "", fmt.Errorf("the server offers the ciphers %q, but hql supports only rc4", c["cipher"])
		}
		b.WriteString(`,cipher="rc4"`)
		if d.outKey, err = rc4.NewCipher(hash(d.a1, "Digest H(A1) to client-to-server sealing key magic constant")); err != nil {
			return nil, "", err
		}
		if d.inKey, err = rc4.NewCipher(hash(d.a1, "Digest H(A1) to server-to-client sealing key magic constant")); err != nil {
			return nil, "", err
		}
	}
	return d, b.String(), nil
}

// proof is the response value: the client's with the method AUTHENTICATE, the server's without a method.
func (d *digest) proof(method string) string {
	a2 := method + ":" + digestURI
	if d.layer != layerNone {
		a2 += ":" + strings.Repeat("0", 32)
	}
	h2 := md5.Sum([]byte(a2))
	h := md5.Sum([]byte(hex.EncodeToString(d.a1) + ":" + d.nonce + ":00000001:" + d.cnonce + ":" + qops[d.layer] + ":" + hex.EncodeToString(h2[:])))
	return hex.EncodeToString(h[:])
}

func hash(b []byte, text string) []byte {
	h := md5.Sum(append(bytes.Clone(b), text...))
	return h[:]
}

var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func quote(s string) string { return `"` + quoting.Replace(s) + `"` }

// directives parses a list of names with values, which may be quoted.
func directives(b []byte) (map[string]string, error) {
	out := map[string]string{}
	for s := strings.TrimLeft(string(b), ", \t"); s != ""; s = strings.TrimLeft(s, ", \t") {
		name, rest, ok := strings.Cut(s, "=")
		if !ok {
			return nil, errors.New("the server's challenge is malformed")
		}
		var value strings.Builder
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			for {
				i := strings.IndexAny(quoted, `\"`)
				if i < 0 || quoted[i] == '\\' && i+1 == len(quoted) {
					return nil, errors.New("the server's challenge is cut short")
				}
				value.WriteString(quoted[:i])
				if quoted[i] == '"' {
					s = quoted[i+1:]
					break
				}
				value.WriteByte(quoted[i+1])
				quoted = quoted[i+2:]
			}
		} else {
			i := strings.IndexByte(rest, ',')
			if i < 0 {
				i = len(rest)
			}
			value.WriteString(strings.TrimSpace(rest[:i]))
			s = rest[i:]
		}
		out[strings.ToLower(strings.TrimSpace(name))] = value.String()
	}
	return out, nil
}

// Parts of RFC 2831's messages: each ends with a signature, the version and the message's number.
const (
	macSize     = 10
	digestTail  = 6
	tailVersion = "\x00\x01"
)

// mac signs a message.
func mac(key []byte, number uint64, payload []byte) []byte {
	h := hmac.New(md5.New, key)
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(number)))
	h.Write(payload)
	return h.Sum(nil)[:macSize]
}

// wrap makes a message of the client. Messages must be wrapped in order.
func (d *digest) wrap(payload []byte, number uint64) ([]byte, error) {
	b := append(bytes.Clone(payload), mac(d.out, number, payload)...)
	if d.layer == layerPrivacy {
		d.outKey.XORKeyStream(b, b)
	}
	return binary.BigEndian.AppendUint32(append(b, tailVersion...), uint32(number)), nil
}

// unwrap checks a message of the server. Messages must be unwrapped in order.
func (d *digest) unwrap(b []byte) (payload []byte, number uint64, err error) {
	if len(b) < macSize+digestTail || string(b[len(b)-digestTail:len(b)-4]) != tailVersion {
		return nil, 0, errors.New("it is not a DIGEST-MD5 message")
	}
	number, b = uint64(binary.BigEndian.Uint32(b[len(b)-4:])), bytes.Clone(b[:len(b)-digestTail])
	if d.layer == layerPrivacy {
		d.inKey.XORKeyStream(b, b)
	}
	payload = b[:len(b)-macSize]
	if !hmac.Equal(b[len(payload):], mac(d.in, number, payload)) {
		return nil, 0, errors.New("its signature is wrong")
	}
	return payload, number, nil
}

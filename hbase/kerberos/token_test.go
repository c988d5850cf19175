package kerberos

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// identifier is a token's, as HBase makes them.
func identifier(owner string, expires time.Time) string {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 0)
	b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), owner)
	b = protowire.AppendVarint(protowire.AppendTag(b, 5, protowire.VarintType), uint64(expires.UnixMilli()))
	return string(frame(b))
}

// writables is a file of tokens in Hadoop's older form: each has an identifier, a password, a kind and a service.
func writables(tokens ...[4]string) []byte {
	b := append([]byte("HDTS\x00"), byte(len(tokens)))
	for _, t := range tokens {
		for _, part := range append([]string{"alias"}, t[:]...) {
			if n := len(part); n > 127 {
				b = append(b, 0x8f, byte(n)) // one byte follows
			} else {
				b = append(b, byte(n))
			}
			b = append(b, part...)
		}
	}
	return append(b, 0) // secrets
}

// credentialsFile is the same in the newer form.
func credentialsFile(tokens ...[4]string) []byte {
	var all []byte
	for _, t := range tokens {
		var b []byte
		for i, part := range t {
			b = protowire.AppendString(protowire.AppendTag(b, protowire.Number(i+1), protowire.BytesType), part)
		}
		named := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "alias")
		named = protowire.AppendBytes(protowire.AppendTag(named, 2, protowire.BytesType), b)
		all = protowire.AppendBytes(protowire.AppendTag(all, 1, protowire.BytesType), named)
	}
	return protowire.AppendBytes([]byte("HDTS\x01"), all)
}

func TestTokenFile(t *testing.T) {
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	hdfs := [4]string{"\x00\x05alice", "secret", "HDFS_DELEGATION_TOKEN", "nn:8020"}
	long := "alice@HQL.TEST" + strings.Repeat("x", 150)
	mine := [4]string{identifier(long, soon), "password", hbaseToken, "cluster-1"}
	other := [4]string{identifier("alice@HQL.TEST", soon), "password", hbaseToken, "cluster-2"}
	for _, test := range []struct {
		name    string
		file    []byte
		cluster string
		want    string // the owner, or the error
	}{
		{"writables", writables(hdfs, mine), "", long},
		{"a message", credentialsFile(hdfs, mine), "", long},
		{"two clusters", writables(mine, other), "cluster-2", "alice@HQL.TEST"},
		{"two clusters, which nobody tells apart", writables(mine, other), "", "are for several clusters (cluster-1, cluster-2)"},
		{"another cluster's", writables(mine, other), "cluster-3", `none is for HBase (HBASE_AUTH_TOKEN) and the cluster "cluster-3"`},
		{"none of HBase's", writables(hdfs), "", "none is for HBase"},
		{"expired", writables([4]string{identifier("alice", past), "p", hbaseToken, ""}), "", " expired at "},
		{"nobody's", writables([4]string{identifier("", soon), "p", hbaseToken, ""}), "", "the token names no user"},
		{"an identifier of another form", writables([4]string{"alice", "p", hbaseToken, ""}), "", "the token's identifier is not in HBase's format"},
		{"cut short", writables(hdfs, mine)[:60], "", "the file is cut short"},
		{"a message that is cut short", credentialsFile(mine)[:60], "", "the file is cut short"},
		{"a long length", []byte("HDTS\x00\x01\x88\x7f\xff\xff\xff\xff\xff\xff\xff"), "", "the file is cut short"},
		{"many tokens", []byte("HDTS\x00\x8d\x7f\xff\xff"), "", "the file is cut short"},
		{"a new form", []byte("HDTS\x02"), "", "the file has format 2"},
		{"another file", []byte("[libdefaults]"), "", "this is not a file of Hadoop tokens"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "tokens")
			if err := os.WriteFile(file, test.file, 0o600); err != nil {
				t.Fatal(err)
			}
			a := Authenticator{cfg: Config{Token: file}, cluster: test.cluster}
			got, err := a.token()
			if err != nil {
				if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "password") {
					t.Error(err)
				}
			} else if got.owner != test.want || string(got.password) != "password" {
				t.Errorf("a token of %q", got.owner)
			}
		})
	}
}

// The environment's tokens are for those who say nothing of who they are.
func TestTokenOfTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	mine := [4]string{identifier("alice@HQL.TEST", time.Now().Add(time.Hour)), "password", hbaseToken, "id"}
	for name, b := range map[string][]byte{"mine": writables(mine), "others": writables([4]string{"", "", "HDFS_DELEGATION_TOKEN", ""}), "broken": []byte("HDTS")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		env  string
		cfg  Config
		want string // the user, or the error
	}{
		{"mine", Config{}, "alice@HQL.TEST"},
		{"others", Config{Token: filepath.Join(dir, "mine")}, "alice@HQL.TEST"},
		{"mine", Config{CCache: filepath.Join(dir, "none"), Krb5Conf: os.DevNull}, "does not exist: run kinit"},
		{"others", Config{Krb5Conf: filepath.Join(dir, "none")}, "the configuration: open "},
		{"broken", Config{}, "this is not a file of Hadoop tokens"},
		{"none", Config{}, "no such file"},
	} {
		t.Setenv(tokenFileEnv, filepath.Join(dir, test.env))
		a, err := New(test.cfg)
		if err == nil {
			err = a.ForCluster(func() (string, error) { t.Error("there is one token"); return "", nil })
		}
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, %+v: %v", test.env, test.cfg, err)
			}
		} else if a.Principal() != test.want {
			t.Errorf("%s, %+v: %s", test.env, test.cfg, a.Principal())
		}
	}
}

// challenge is a server's of JDK 17.
func challenge(qop string) string {
	return `realm="default",nonce="bm9uY2U\"=",qop="` + qop + `",charset=utf-8,cipher="3des,rc4,des,rc4-56,rc4-40",algorithm=md5-sess`
}

// A server that says something else than the one that knows the token is not believed.
func TestDigest(t *testing.T) {
	tok := token{identifier: []byte("identifier"), password: []byte("password")}
	all := []byte{layerNone, layerIntegrity, layerPrivacy}
	answer := func(s string) string { return "\x00\x00\x00\x00" + string(frame([]byte(s))) }
	for _, test := range []struct {
		sent   string
		wanted []byte
		want   string
	}{
		{answer(challenge("auth")) + answer("rspauth=00000000000000000000000000000000"), all, "the server cannot prove that it knows the token"},
		{answer(challenge("auth")) + answer(""), all, "the server cannot prove that it knows the token"},
		{answer(challenge("auth")), all, "the server closes the connection"},
		{answer(challenge("auth-conf")), []byte{layerNone}, "the server offers the protection privacy (hbase.rpc.protection), but the address asks for authentication"},
		{answer(strings.Replace(challenge("auth-conf"), "rc4", "aes", 1)), all, "hql supports only rc4"},
		{answer(`nonce="x",algorithm=md5`), all, "the server's challenge is not one of DIGEST-MD5"},
		{answer(`nonce="x`), all, "the server's challenge is cut short"},
		{answer(`nonce="x\`), all, "the server's challenge is cut short"},
		{answer(`nonce`), all, "the server's challenge is malformed"},
		{"\x00\x00\x00\x01" + string(frame([]byte("a.b.InvalidToken"))) + string(frame([]byte("Token has expired"))), all, "the server refuses: InvalidToken: Token has expired"},
	} {
		rw := struct {
			io.Reader
			io.Writer
		}{strings.NewReader(test.sent), io.Discard}
		if _, err := tok.handshake(rw, test.wanted); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v", test.sent, err)
		}
	}
}

// What was changed, lost, doubled or moved on the way ends the connection. That messages are those of Java's is seen beside HBase.
func TestDigestLayers(t *testing.T) {
	tok := token{identifier: []byte("identifier"), password: []byte("password")}
	for _, layer := range []byte{layerIntegrity, layerPrivacy} {
		t.Run(protection(layer), func(t *testing.T) {
			// The server's side has the keys the other way round.
			sides := func() (client, server *digest) {
				for _, d := range []**digest{&client, &server} {
					var err error
					if *d, _, err = tok.respond([]byte(challenge("auth,auth-int,auth-conf")), []byte{layer}, "cnonce"); err != nil {
						t.Fatal(err)
					}
				}
				server.out, server.in, server.outKey, server.inKey = server.in, server.out, server.inKey, server.outKey
				return client, server
			}
			for _, test := range []struct {
				name string
				do   func(sent [][]byte) [][]byte
				want string // what arrives, and the error
			}{
				{"as it was", func(sent [][]byte) [][]byte { return sent }, "onetwo EOF"},
				{"a bit", func(sent [][]byte) [][]byte { sent[1][5] ^= 1; return sent }, "one kerberos: the server's message is rejected: its signature is wrong"},
				{"a number", func(sent [][]byte) [][]byte { sent[1][len(sent[1])-1] ^= 1; return sent }, "one kerberos: the server's message is rejected: its signature is wrong"},
				{"lost", func(sent [][]byte) [][]byte { return sent[1:] }, " kerberos: the server's message is rejected: its signature is wrong"},
				{"doubled", func(sent [][]byte) [][]byte { return slices.Insert(sent, 1, sent[0]) }, "one kerberos: the server's message is rejected: its signature is wrong"},
				{"no message", func(sent [][]byte) [][]byte { return [][]byte{frame(make([]byte, 16))} }, " kerberos: the server's message is rejected: it is not a DIGEST-MD5 message"},
			} {
				client, server := sides()
				var sent [][]byte
				for i, text := range []string{"one", "two"} {
					b, err := server.wrap([]byte(text), uint64(i))
					if err != nil {
						t.Fatal(err)
					}
					if layer == layerPrivacy && bytes.Contains(b, []byte(text)) {
						t.Error("it is not sealed")
					}
					sent = append(sent, frame(b))
				}
				conn, peer := net.Pipe()
				go func() {
					_, _ = peer.Write(bytes.Join(test.do(sent), nil))
					peer.Close()
				}()
				got, err := io.ReadAll(client.over(conn))
				if err == nil {
					err = io.EOF
				}
				// Of a signed message that comes twice or early the number tells; a sealed one is not to be read.
				text := string(got) + " " + err.Error()
				if i := strings.Index(text, "it has number"); i >= 0 && layer == layerIntegrity {
					text = text[:i] + "its signature is wrong"
				}
				if text != test.want {
					t.Errorf("%s: got %q", test.name, text)
				}
			}
		})
	}
}

// Whatever a server says is an error or an answer.
func FuzzChallenge(f *testing.F) {
	tok := token{identifier: []byte("identifier"), password: []byte("password")}
	ok := "\x00\x00\x00\x00"
	f.Add([]byte(ok + string(frame([]byte(challenge("auth,auth-int,auth-conf")))) + ok + string(frame([]byte("rspauth=00")))))
	f.Add(binary.BigEndian.AppendUint32([]byte(ok), 1<<31))
	f.Fuzz(func(t *testing.T, reply []byte) {
		rw := struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(reply), io.Discard}
		if _, err := tok.handshake(rw, []byte{layerPrivacy, layerIntegrity, layerNone}); err == nil {
			t.Error("a server without the token is believed")
		}
	})
}

// Whatever a file of tokens holds is an error or tokens.
func FuzzTokens(f *testing.F) {
	mine := [4]string{identifier("alice", time.Now()), "password", hbaseToken, "id"}
	f.Add(writables(mine))
	f.Add(credentialsFile(mine))
	f.Add([]byte("HDTS\x01\x07\x0a\x02\x12\x00\x0a\x01\xff")) // the second token is malformed
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := parseTokens(b)
		if err != nil && len(all) > 0 {
			t.Error("both")
		}
		for i := range all {
			_ = all[i].identify()
		}
	})
}

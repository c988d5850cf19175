package hbase

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"strings"
	"time"

	"github.com/tsuna/gohbase/pb"
)

// This file implements both sides of ZooKeeper's protocol, because reading one znode needs little of it. The library
// for the client side trusts servers: a frame of a few bytes or a session without a timeout crashes the process. The
// server side exists because gohbase asks only ZooKeeper for hbase:meta and the master: the connection that it dials
// ends in serveZnodes, which asks the client's locator. Locating regions above gohbase's SendRPC instead would
// duplicate gohbase's cache of regions, its connections and its record of broken ones. With this server gohbase works
// the same with and without ZooKeeper, and sees no unchecked znode.

// Operations, errors and identifiers of ZooKeeper's protocol.
const (
	zkGetData = 4
	zkPing    = 11
	zkClose   = -11

	zkFailed       = -1 // a system error
	zkNoNode       = -101
	zkNoAuth       = -102
	zkSASLRequired = -124
)

const (
	// zkSession is short: a session is opened to read one znode.
	zkSession = 2 * time.Second
	// wordTimeout is how long a server may take to answer a four-letter word, which shows that it speaks ZooKeeper's
	// protocol.
	wordTimeout = 500 * time.Millisecond
	// zkFrame bounds a frame: a znode holds a megabyte at most, and the ones read here some dozen bytes.
	zkFrame = 1 << 16
	// servedSession is the timeout of gohbase's session in milliseconds; gohbase waits for an answer for two thirds of
	// it.
	servedSession = 60_000
)

// zooKeeper finds servers through the znodes of a quorum.
type zooKeeper struct {
	quorum []string
	root   string
}

// locate reads the znode of p.
func (z *zooKeeper) locate(ctx context.Context, p place) (*pb.ServerName, error) {
	name := z.root + "/" + string(p)
	b, err := firstOf(ctx, z.quorum, func(ctx context.Context, server string) ([]byte, error) { return readZnode(ctx, server, name) })
	if err != nil {
		return nil, fmt.Errorf("ZooKeeper at %q: %w", strings.Join(z.quorum, ","), err)
	}
	server, err := parseZnode(p, b)
	if err != nil {
		return nil, fmt.Errorf("znode %s of ZooKeeper at %s does not name the server of %s: %w", name, strings.Join(z.quorum, ","), p, err)
	}
	return server, nil
}

func (z *zooKeeper) close() {}

func newZooKeeper(cfg Config) *zooKeeper {
	return &zooKeeper{quorum: strings.Split(cfg.Quorum, ","), root: cmp.Or(cfg.Root, "/hbase")}
}

// readZnode reads a znode's content from one server.
func readZnode(ctx context.Context, server, name string) ([]byte, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", server)
	if err != nil {
		return nil, fmt.Errorf("cannot connect (%w)", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	hello := zkInt(make([]byte, 12), int32(zkSession.Milliseconds()))    // version and last transaction: 0
	hello = zkBytes(append(hello, make([]byte, 8)...), make([]byte, 16)) // no earlier session, no password
	answer, err := zkCall(conn, hello)
	if err == nil {
		get := zkBytes(zkInt(zkInt(nil, 1), zkGetData), []byte(name))
		answer, err = zkCall(conn, append(get, 0)) // without a watch
	}
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("it accepts connections but does not answer")
	case err != nil && answersAsZooKeeper(ctx, server):
		return nil, fmt.Errorf("it closes the session, as a ZooKeeper without a quorum does (%w)", err)
	case err != nil:
		return nil, fmt.Errorf("this port does not speak ZooKeeper's protocol in clear text (TLS?) (%w)", err)
	case len(answer) < 16:
		return nil, errors.New("its answer is cut short")
	}
	_, _ = conn.Write(zkFramed(zkInt(zkInt(nil, 2), zkClose))) // otherwise the session lasts until its timeout
	switch code := int32(binary.BigEndian.Uint32(answer[12:])); code {
	case 0:
	case zkNoNode:
		return nil, fmt.Errorf("it has no znode %s: check that HBase runs and that its root znode is %s", name, path.Dir(name))
	case zkNoAuth:
		return nil, fmt.Errorf("its znode %s is not readable without authentication", name)
	case zkSASLRequired:
		return nil, errors.New("it requires SASL, which hql supports only for HBase")
	default:
		return nil, fmt.Errorf("it answers with error %d for znode %s", code, name)
	}
	content, ok := zkField(answer[16:])
	if !ok {
		return nil, errors.New("its answer is cut short")
	}
	return content, nil
}

// answersAsZooKeeper reports whether a server answers one of ZooKeeper's four-letter commands, even by refusing it.
func answersAsZooKeeper(ctx context.Context, server string) bool {
	ctx, cancel := context.WithTimeout(ctx, wordTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", server)
	if err != nil {
		return false
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	// The command has the length of simplePreamble, so that HBase's own servers, which wait for a preamble, see at once
	// that it is not one.
	if _, err := conn.Write([]byte("srvr\n\n")); err != nil {
		return false
	}
	b, _ := io.ReadAll(io.LimitReader(conn, 64)) // as much as arrives
	return bytes.Contains(bytes.ToLower(b), []byte("zookeeper")) || bytes.HasPrefix(b, []byte("srvr"))
}

func zkInt(b []byte, v int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }

// zkBytes appends a length and the content.
func zkBytes(b, content []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(content))), content...)
}

// zkField is the inverse of zkBytes.
func zkField(b []byte) ([]byte, bool) {
	if len(b) < 4 {
		return nil, false
	}
	n := binary.BigEndian.Uint32(b)
	if n == 0xffffffff { // null
		return nil, true
	}
	if uint64(n) > uint64(len(b)-4) {
		return nil, false
	}
	return b[4 : 4+n], true
}

func zkFramed(b []byte) []byte { return zkBytes(nil, b) }

func zkCall(conn io.ReadWriter, request []byte) ([]byte, error) {
	if _, err := conn.Write(zkFramed(request)); err != nil {
		return nil, err
	}
	return zkRead(conn)
}

// zkRead reads a frame.
func zkRead(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > zkFrame {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// serveZnodes answers gohbase's ZooKeeper client with the content that read returns for a znode. An error of read
// becomes an error of ZooKeeper.
func serveZnodes(conn net.Conn, read func(name string) ([]byte, error)) {
	defer conn.Close()
	if _, err := zkRead(conn); err != nil {
		return
	}
	session := zkInt(make([]byte, 4), servedSession)
	session = zkBytes(binary.BigEndian.AppendUint64(session, 1), make([]byte, 16))
	if _, err := conn.Write(zkFramed(session)); err != nil {
		return
	}
	for {
		request, err := zkRead(conn)
		if err != nil || len(request) < 8 {
			return
		}
		answer := append(bytes.Clone(request[:4]), make([]byte, 12)...) // the request's id, transaction 0, no error
		op := int32(binary.BigEndian.Uint32(request[4:]))
		if op == zkGetData {
			name, _ := zkField(request[8:])
			if content, err := read(string(name)); err == nil {
				answer = append(zkBytes(answer, content), make([]byte, 68)...) // gohbase does not use the statistics
			} else {
				answer = zkInt(answer[:12], zkFailed)
			}
		}
		if _, err := conn.Write(zkFramed(answer)); err != nil || op == zkClose {
			return
		}
	}
}

package hbase

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// pipe gives a connection made by a dialer and its other end.
func pipe(t *testing.T) (conn, peer net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if conn, err = new(dialer).dial(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if peer, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); peer.Close() })
	return conn, peer
}

// gohbase never delivers an answer when this fails.
func TestReadDeadlineOfClosedConnection(t *testing.T) {
	conn, _ := pipe(t)
	conn.Close()
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		t.Error(err)
	}
	if _, err := conn.Write([]byte("x")); err == nil {
		t.Error("a closed connection takes a write")
	}
}

// Several goroutines write to one connection: what is one call must arrive as one.
func TestBuffersAreWrittenWhole(t *testing.T) {
	conn, peer := pipe(t)
	const writers, times, half = 4, 20, 100_000
	var wg sync.WaitGroup
	for i := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			part := bytes.Repeat([]byte{byte(i)}, half)
			for range times {
				b := net.Buffers{part, part}
				if _, err := b.WriteTo(conn); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	go func() {
		wg.Wait()
		conn.Close()
	}()
	got := make([]byte, 2*half)
	for range writers * times {
		if _, err := io.ReadFull(peer, got); err != nil {
			t.Fatal(err)
		}
		if bytes.Count(got, got[:1]) != len(got) {
			t.Fatal("two writes were mixed")
		}
	}
}

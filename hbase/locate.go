package hbase

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/internal/words"
)

// place names one of the two servers that clients find through ZooKeeper, not through a table of HBase. Its value is
// the name of the znode.
type place string

const (
	metaPlace   place = "meta-region-server" // the server of hbase:meta
	masterPlace place = "master"             // the active master
)

// locator finds servers: in ZooKeeper, or by asking masters and region servers.
type locator interface {
	locate(ctx context.Context, p place) (*pb.ServerName, error)
	// close ends the background work.
	close()
}

const (
	// askNext is how long a server may take before the next one is asked as well.
	askNext = 500 * time.Millisecond
	// askTimeout bounds the wait for one server's answer, locateTimeout the wait for any server's.
	askTimeout    = 5 * time.Second
	locateTimeout = 20 * time.Second
)

// firstOf asks servers in random order until one answers, and returns the first answer. It asks the next server when
// one fails or takes longer than askNext.
func firstOf[T any](ctx context.Context, servers []string, ask func(ctx context.Context, server string) (T, error)) (T, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, len(servers))
	left := slices.Clone(servers)
	rand.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	next := func() {
		if len(left) == 0 {
			return
		}
		server := left[0]
		left = left[1:]
		go func() {
			ctx, cancel := context.WithTimeout(ctx, askTimeout)
			defer cancel()
			v, err := ask(ctx, server)
			if err != nil {
				err = fmt.Errorf("%s: %w", server, err)
			}
			answers <- answer{v, err}
		}()
	}
	next()
	ticker := time.NewTicker(askNext)
	defer ticker.Stop()
	var errs joined
	for len(errs) < len(servers) {
		select {
		case a := <-answers:
			if a.err == nil {
				return a.value, nil
			}
			errs = append(errs, a.err)
			next()
		case <-ticker.C:
			next()
		}
	}
	var none T
	return none, errs
}

// joined is several errors in one line.
type joined []error

func (j joined) Error() string {
	return words.Join(j, "; ", error.Error)
}

func (j joined) Unwrap() []error { return j }

// checkServer returns an error if a server's name is incomplete.
func checkServer(s *pb.ServerName) error {
	if s.GetHostName() == "" || s.GetPort() == 0 || s.GetPort() > 65535 {
		return errors.New("it names no server")
	}
	return nil
}

// address returns the host:port at which a server listens.
func address(s *pb.ServerName) string {
	return net.JoinHostPort(s.GetHostName(), fmt.Sprint(s.GetPort()))
}

// znodeMessage returns the message of a znode: its content is 0xff, the length of an id, the id, "PBUF" and the
// message.
func znodeMessage(b []byte) ([]byte, error) {
	if len(b) < 5 || b[0] != 0xff {
		return nil, fmt.Errorf("its %d bytes have no header", len(b))
	}
	n := uint64(uint32(b[1])<<24 | uint32(b[2])<<16 | uint32(b[3])<<8 | uint32(b[4]))
	if n < 1 || n > 65000 || uint64(len(b)) < 5+n+4 || string(b[5+n:5+n+4]) != "PBUF" {
		return nil, fmt.Errorf("its %d bytes hold no message", len(b))
	}
	return b[5+n+4:], nil
}

// parseZnode reads the content of the znode of p.
func parseZnode(p place, b []byte) (*pb.ServerName, error) {
	message, err := znodeMessage(b)
	if err != nil {
		return nil, err
	}
	var server *pb.ServerName
	if p == masterPlace {
		var m pb.Master
		err = proto.Unmarshal(message, &m)
		server = m.Master
	} else {
		var m pb.MetaRegionServer
		err = proto.Unmarshal(message, &m)
		server = m.Server
	}
	if err != nil {
		return nil, err
	}
	return server, checkServer(server)
}

// znode is the inverse of parseZnode.
func znode(p place, server *pb.ServerName) ([]byte, error) {
	var m proto.Message = &pb.MetaRegionServer{Server: server}
	if p == masterPlace {
		m = &pb.Master{Master: server}
	}
	b, err := proto.Marshal(m)
	return append([]byte("\xff\x00\x00\x00\x03hqlPBUF"), b...), err
}

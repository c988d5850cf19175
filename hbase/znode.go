package hbase

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// zkSession is short: a session is opened to read one znode.
const zkSession = 2 * time.Second

// checkRoot reads the znode that tells where hbase:meta is, and whether it does: gohbase
// ends the process, or crashes it, over some that do not.
func checkRoot(ctx context.Context, quorum []string, root string) error {
	type answer struct {
		b   []byte
		err error
	}
	path := root + "/meta-region-server"
	read := make(chan answer, 1)
	conn, _, err := zk.Connect(quorum, zkSession, zk.WithLogInfo(false))
	if err != nil {
		return fmt.Errorf("%w: ZooKeeper at %s: %w", ErrUnreachable, quorum, err)
	}
	go func() {
		b, _, err := conn.Get(path)
		read <- answer{b, err}
		conn.Close()
	}()
	select {
	case <-ctx.Done():
		go conn.Close() // ends the Get; itself it may take a second
		return fmt.Errorf("%w: ZooKeeper at %s takes connections and does not answer", ErrUnreachable, quorum)
	case a := <-read:
		switch {
		case errors.Is(a.err, zk.ErrNoNode):
			return fmt.Errorf("%w: ZooKeeper at %s has no znode %s: is %s the root of an HBase that runs?", ErrUnreachable, quorum, path, root)
		case a.err != nil:
			return fmt.Errorf("%w: znode %s of ZooKeeper at %s: %w", ErrUnreachable, path, quorum, a.err)
		}
		if err := checkMetaServer(a.b); err != nil {
			return fmt.Errorf("%w: znode %s of ZooKeeper at %s does not tell where hbase:meta is: %w", ErrUnreachable, path, quorum, err)
		}
		return nil
	}
}

// checkMetaServer says what is wrong with a znode's content: 0xff, the length of an id, the
// id, "PBUF" and a MetaRegionServer are wanted.
func checkMetaServer(b []byte) error {
	if len(b) < 5 || b[0] != 0xff {
		return fmt.Errorf("its %d bytes have no header", len(b))
	}
	n := uint64(binary.BigEndian.Uint32(b[1:]))
	if n < 1 || n > 65000 || uint64(len(b)) < 5+n+4 || string(b[5+n:5+n+4]) != "PBUF" {
		return fmt.Errorf("its %d bytes hold no message", len(b))
	}
	var m pb.MetaRegionServer
	if err := proto.Unmarshal(b[5+n+4:], &m); err != nil {
		return err
	}
	if m.Server.GetHostName() == "" || m.Server.GetPort() == 0 || m.Server.GetPort() > 65535 {
		return errors.New("it names no server")
	}
	return nil
}

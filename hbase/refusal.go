package hbase

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A server that wants another authentication says so and closes the connection; gohbase connects again
// until its time is over. refusalAfter is how long it may take before the server is asked why.
const refusalAfter = time.Second

// maxRefusal bounds the length of a server's answer to the opening of a connection.
const maxRefusal = 1 << 20

// refusal opens a connection as gohbase does and gives the server's answer, which there is only when
// it refuses: nil if it does not within a second, or cannot be asked.
func refusal(ctx context.Context, addr, user string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	header, err := proto.Marshal(&pb.ConnectionHeader{UserInfo: &pb.UserInformation{EffectiveUser: proto.String(user)}, ServiceName: proto.String("ClientService")})
	if err != nil {
		return nil
	}
	hello := binary.BigEndian.AppendUint32([]byte("HBas\x00\x50"), uint32(len(header))) // version 0, simple authentication
	if _, err := conn.Write(append(hello, header...)); err != nil {
		return nil
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxRefusal {
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(conn, b); err != nil {
		return nil
	}
	var answer pb.ResponseHeader
	message, _ := protowire.ConsumeBytes(b)
	if proto.Unmarshal(message, &answer) != nil || answer.Exception == nil {
		return nil
	}
	class := answer.Exception.GetExceptionClassName()
	why, _, _ := strings.Cut(answer.Exception.GetStackTrace(), "\n")
	return fmt.Errorf("%w: the server at %s refuses a connection with simple authentication, and there is no other here: %s",
		ErrUnreachable, addr, strings.TrimPrefix(why, class+": "))
}

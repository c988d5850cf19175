package hbase

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func TestRefusal(t *testing.T) {
	denied, err := proto.Marshal(&pb.ResponseHeader{CallId: proto.Uint32(0xffffffff), Exception: &pb.ExceptionResponse{
		ExceptionClassName: proto.String("org.apache.hadoop.hbase.security.AccessDeniedException"),
		StackTrace:         proto.String("org.apache.hadoop.hbase.security.AccessDeniedException: Authentication is required\n\tat x"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	denied = protowire.AppendBytes(nil, denied)
	frame := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	for name, c := range map[string]struct {
		answer []byte
		want   string // "" for no refusal
	}{
		"refused":  {frame(denied), "simple authentication, and there is no other here: Authentication is required"},
		"silent":   {nil, ""},
		"too long": {[]byte{0xff, 0xff, 0xff, 0xff}, ""},
		"nonsense": {frame([]byte{0x80, 0x80}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			hello := make(chan string, 1)
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				b := make([]byte, 6)
				_, _ = io.ReadFull(conn, b)
				hello <- string(b)
				_, _ = conn.Write(c.answer)
				_, _ = io.Copy(io.Discard, conn) // until the other side closes
			}()
			err = refusal(t.Context(), l.Addr().String(), "me")
			if got := <-hello; got != "HBas\x00\x50" {
				t.Errorf("hello %q", got)
			}
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v", err)
			}
		})
	}
}

package hbase

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// answer is a server's answer in its frame.
func answer(t testing.TB, h *pb.ResponseHeader, m proto.Message, cells []byte) []byte {
	t.Helper()
	if len(cells) > 0 {
		h.CellBlockMeta = &pb.CellBlockMeta{Length: proto.Uint32(uint32(len(cells)))}
	}
	head, err := proto.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	b := protowire.AppendBytes(nil, head)
	if m != nil {
		body, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		b = protowire.AppendBytes(b, body)
	}
	b = append(b, cells...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func callHeader(id uint32) *pb.ResponseHeader { return &pb.ResponseHeader{CallId: &id} }

// Answers come through as they are, in whatever pieces, and one whose header gohbase would not survive ends the connection.
func TestAnswers(t *testing.T) {
	cell := keyValue("k", "f", "q", "v")
	get := func(n int32, cells []byte) []byte {
		return answer(t, callHeader(1), &pb.GetResponse{Result: &pb.Result{AssociatedCellCount: &n}}, cells)
	}
	exception := &pb.ExceptionResponse{ExceptionClassName: proto.String("java.io.IOException"), StackTrace: proto.String("at x")}
	long := answer(t, callHeader(7), &pb.ScanResponse{}, bytes.Repeat(cell, 1000))
	// The length of this header begins with a byte without a bit of its own.
	header128 := &pb.ResponseHeader{CallId: proto.Uint32(9), Exception: &pb.ExceptionResponse{StackTrace: proto.String(strings.Repeat("x", 122))}}
	if n := proto.Size(header128); n != 128 {
		t.Fatalf("a header of %d bytes", n)
	}
	padded := func(length ...byte) []byte { // before a header of two bytes
		b := append(length, 0x08, 7)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	short := callHeader(1)
	short.CellBlockMeta = &pb.CellBlockMeta{Length: proto.Uint32(100)}
	for _, test := range []struct {
		name string
		sent []byte
		want string // in the error; "": the end
	}{
		{"several", slices.Concat(long, get(1, cell), answer(t, callHeader(8), nil, nil), long), ""},
		{"an exception", answer(t, &pb.ResponseHeader{CallId: proto.Uint32(1), Exception: exception}, nil, nil), ""},
		{"an exception without a class", answer(t, &pb.ResponseHeader{CallId: proto.Uint32(9), Exception: &pb.ExceptionResponse{StackTrace: proto.String("at x")}}, nil, nil), "is an exception without a class"},
		{"an exception without a text", answer(t, &pb.ResponseHeader{CallId: proto.Uint32(9), Exception: &pb.ExceptionResponse{ExceptionClassName: proto.String("x")}}, nil, nil), "is an exception without a class"},
		{"an exception without a class, of 128 bytes", answer(t, header128, nil, nil), "is an exception without a class"},
		{"more cells than bytes", answer(t, short, nil, nil), "announces 100 bytes of cells within 0 bytes"},
		{"a text", []byte("HTTP/1.1 400 Bad Request\r\n"), "has a length of 1213486160 bytes"},
		{"nothing", make([]byte, 4), "has a length of 0 bytes"},
		{"a header that is none", []byte{0, 0, 0, 2, 1, 0xff}, "has a malformed header"},
		{"a length in five bytes", padded(0x82, 0x80, 0x80, 0x80, 0), ""},
		{"a length in six bytes", padded(0x82, 0x80, 0x80, 0x80, 0x80, 0), "has no header"},
		{"a length without an end", []byte{0, 0, 0, 2, 0x82, 0x80}, "has no header"},
		{"a header beyond the end", []byte{0, 0, 0, 2, 9, 1}, "ends in its header"},
		{"cut short", long[:len(long)-1], "unexpected EOF"},
		{"cut in the length", []byte{0, 0}, "unexpected EOF"},
	} {
		for name, reader := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "bytewise": iotest.OneByteReader} {
			a := newAnswers(reader(bytes.NewReader(test.sent)), func(error) { t.Errorf("%s: a refusal", test.name) })
			got, err := io.ReadAll(a)
			if test.want == "" {
				if err != nil || !bytes.Equal(got, test.sent) {
					t.Errorf("%s, %s: %d of %d bytes, %v", test.name, name, len(got), len(test.sent), err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, %s: %v, not %s", test.name, name, err, test.want)
			}
		}
	}
}

// The cost of checking the answer to a Get of a row of six cells.
func BenchmarkAnswer(b *testing.B) {
	var cells []*pb.Cell
	for i := range 6 {
		cells = append(cells, &pb.Cell{Row: []byte("row"), Family: []byte("f"), Qualifier: []byte{byte('a' + i)}, Timestamp: proto.Uint64(1), Value: make([]byte, 20)})
	}
	frame := answer(b, &pb.ResponseHeader{CallId: proto.Uint32(7)}, &pb.GetResponse{Result: &pb.Result{Cell: cells}}, nil)
	in := bytes.NewReader(frame)
	a := newAnswers(in, nil)
	sink := make([]byte, len(frame))
	b.ReportAllocs()
	for b.Loop() {
		in.Reset(frame)
		if _, err := io.ReadFull(a, sink); err != nil {
			b.Fatal(err)
		}
	}
}

// The row of a Get in a multi-get has the cells of its result, inside or outside the message, before those of the next
// row.
func TestGotMultiRow(t *testing.T) {
	const want = `"k" f:"q"@0="v"`
	next := keyValue("l", "f", "q", "w")
	for _, encoded := range []bool{false, true} {
		inside := &pb.Result{Cell: []*pb.Cell{{Row: []byte("k"), Family: []byte("f"), Qualifier: []byte("q"), Value: []byte("v")}}}
		row, n, rest, err := gotMultiRow([]byte("k"), inside, next, encoded)
		if err != nil || n != 1 || !bytes.Equal(rest, next) || len(row.Cells) != 1 || show(row) != want {
			t.Errorf("encoded: %t: inside: %s, %d cells, %d bytes left, %v", encoded, show(row), n, len(rest), err)
		}
		beside := &pb.Result{AssociatedCellCount: proto.Int32(1)}
		row, n, rest, err = gotMultiRow([]byte("k"), beside, append(keyValue("k", "f", "q", "v"), next...), encoded)
		if encoded {
			row.Cells = decodeCells(nil, row.Encoded)
		}
		if err != nil || n != 1 || !bytes.Equal(rest, next) || show(row) != want {
			t.Errorf("encoded: %t: beside: %s, %d cells, %d bytes left, %v", encoded, show(row), n, len(rest), err)
		}
	}
	cell := func(row string) []*pb.Cell { return []*pb.Cell{{Row: []byte(row), Family: []byte("f")}} }
	for name, test := range map[string]struct {
		result *pb.Result
		block  []byte
		want   string
	}{
		"fewer beside than said": {&pb.Result{AssociatedCellCount: proto.Int32(2)}, keyValue("k", "f", "a", "v"), "form of KeyValues"},
		"none beside":            {&pb.Result{AssociatedCellCount: proto.Int32(1 << 30)}, nil, "form of KeyValues"},
		"another row inside":     {&pb.Result{Cell: cell("l")}, nil, `cells of the rows "k" and "l"`},
		"another row beside":     {&pb.Result{AssociatedCellCount: proto.Int32(1)}, keyValue("l", "f", "a", "v"), `cells of the rows "k" and "l"`},
	} {
		if _, _, _, err := gotMultiRow([]byte("k"), test.result, test.block, false); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if row, n, _, err := gotMultiRow([]byte("k"), &pb.Result{AssociatedCellCount: proto.Int32(-1)}, nil, false); err != nil || row.Key != nil || n > 0 {
		t.Errorf("a number of cells below 0: %s, %d, %v", show(row), n, err)
	}
}

package hbase

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tsuna/gohbase/hrpc"
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

// The answer to a Get is read as gohbase's messages read it, with its cells inside the message, outside or both.
func TestGetAnswer(t *testing.T) {
	cell := func(row, qualifier string, ts uint64, value string) *pb.Cell {
		return &pb.Cell{Row: []byte(row), Family: []byte("f"), Qualifier: []byte(qualifier), Timestamp: &ts, CellType: pb.CellType_PUT.Enum(), Value: []byte(value), Tags: []byte("x")}
	}
	whole := marshal(t, &pb.GetResponse{Result: &pb.Result{Cell: []*pb.Cell{cell("k", "a", 1, "v")}}})
	of := func(r *pb.Result) []byte { return marshal(t, &pb.GetResponse{Result: r}) }
	for _, test := range []struct {
		name    string
		message []byte
		block   []byte
		want    string // the cells, or an error's text
	}{
		{name: "no row", message: of(nil)},
		{name: "no cells", message: of(&pb.Result{Exists: proto.Bool(false)})},
		{name: "cells inside", message: of(&pb.Result{Cell: []*pb.Cell{cell("k", "a", 5, "v"), cell("k", "", 1<<63, "")}}), want: "f:a@5=v f:@-9223372036854775808= "},
		{name: "a cell without value and time", message: of(&pb.Result{Cell: []*pb.Cell{{Row: []byte("k"), Family: []byte("f"), Qualifier: []byte("a")}}}), want: "f:a@0= "},
		{name: "cells beside", message: of(&pb.Result{AssociatedCellCount: proto.Int32(1)}), block: keyValue("k", "f", "a", "v"), want: "f:a@0=v "},
		{name: "both", message: of(&pb.Result{AssociatedCellCount: proto.Int32(1), Cell: []*pb.Cell{cell("k", "a", 5, "v")}}), block: keyValue("k", "f", "b", "w"), want: "f:a@5=v f:b@0=w "},
		{name: "fewer beside than said", message: of(&pb.Result{AssociatedCellCount: proto.Int32(2)}), block: keyValue("k", "f", "a", "v"), want: "form of KeyValues"},
		{name: "none beside", message: of(&pb.Result{AssociatedCellCount: proto.Int32(1 << 30)}), want: "form of KeyValues"},
		{name: "a number of cells below 0", message: of(&pb.Result{AssociatedCellCount: proto.Int32(-1)})},
		{name: "another row inside", message: of(&pb.Result{Cell: []*pb.Cell{cell("l", "a", 5, "v")}}), want: `cells of the rows "k" and "l"`},
		{name: "another row beside", message: of(&pb.Result{AssociatedCellCount: proto.Int32(1)}), block: keyValue("l", "f", "a", "v"), want: `cells of the rows "k" and "l"`},
		{name: "a cell cut short", message: field(1, field(1, whole[4:len(whole)-1])), want: "malformed cells"},
		{name: "a result cut short", message: field(1, []byte{0x0a, 0x05, 0x01}), want: "malformed cells"},
	} {
		t.Run(test.name, func(t *testing.T) {
			get, err := hrpc.NewGet(t.Context(), []byte("t"), []byte("k"))
			if err != nil {
				t.Fatal(err)
			}
			call := &getCall{Get: get}
			answer := call.NewResponse()
			if err := proto.Unmarshal(test.message, answer); err != nil {
				t.Fatal(err)
			}
			if test.block != nil {
				if n, err := call.DeserializeCellBlocks(answer, test.block); err != nil || int(n) != len(test.block) {
					t.Fatal(n, err)
				}
			}
			got, err := call.read(answer)
			var text strings.Builder
			if err != nil {
				text.WriteString(err.Error())
			} else {
				for _, c := range got {
					fmt.Fprintf(&text, "%s:%s@%d=%s ", c.Family, c.Qualifier, c.Timestamp, c.Value)
				}
			}
			if err == nil && text.String() != test.want || err != nil && (test.want == "" || !strings.Contains(text.String(), test.want)) {
				t.Errorf("%q", text.String())
			}
			if again := call.NewResponse(); again == answer || call.block != nil {
				t.Error("cells of one answer are left for the next")
			}
		})
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
}

// The cost of decoding the answer to a Get of a row of six cells.
func BenchmarkGetAnswer(b *testing.B) {
	var cells []*pb.Cell
	for i := range 6 {
		cells = append(cells, &pb.Cell{Row: []byte("row"), Family: []byte("f"), Qualifier: []byte{byte('a' + i)}, Timestamp: proto.Uint64(1), Value: make([]byte, 20)})
	}
	sent := marshal(b, &pb.GetResponse{Result: &pb.Result{Cell: cells}})
	get, err := hrpc.NewGet(b.Context(), []byte("t"), []byte("row"))
	if err != nil {
		b.Fatal(err)
	}
	call := &getCall{Get: get}
	b.ReportAllocs()
	for b.Loop() {
		answer := call.NewResponse()
		if err := proto.Unmarshal(sent, answer); err != nil {
			b.Fatal(err)
		}
		if got, err := call.read(answer); err != nil || len(got) != 6 {
			b.Fatal(got, err)
		}
	}
}

package hbase

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// maxAnswer bounds the size of an answer. Servers send smaller ones, and the first bytes of a text of another protocol,
// read as a length, are larger.
const maxAnswer = 1 << 30

// trusted is the largest answer, in bytes, that is passed on to gohbase while it arrives: gohbase allocates the
// announced length. A larger answer is passed on only once it has arrived, and so is held in memory twice; servers send
// such answers only for very large rows.
const trusted = 32 << 20

// answers reads a server's answers for gohbase and first checks the header of each one, which shows whether the server is
// an HBase server. hql checks the content of Gets, scans and batches where it decodes them. gohbase decodes its look-ups in
// hbase:meta and increments: there servers are trusted, because gohbase panics if the content is malformed.
type answers struct {
	in     *bufio.Reader
	most   uint32 // bytes of an answer
	whole  []byte // what was taken of an answer; the next one overwrites it
	ready  []byte // the checked part of whole that is not yet read
	left   int    // bytes of the same answer after ready
	refuse func(error)
	taken  func() // called at the first answer that is not a refusal; may be nil
	first  bool   // an answer has arrived
	header pb.ResponseHeader
}

func newAnswers(conn io.Reader, refuse func(error)) *answers {
	return &answers{in: bufio.NewReader(conn), most: maxAnswer, refuse: refuse}
}

// Read reads from the connection. Only one goroutine may call it at a time.
func (a *answers) Read(b []byte) (int, error) {
	if len(a.ready) == 0 && a.left == 0 {
		if err := a.next(); err != nil {
			return 0, err
		}
	}
	if len(a.ready) > 0 {
		n := copy(b, a.ready)
		a.ready = a.ready[n:]
		return n, nil
	}
	n, err := a.in.Read(b[:min(len(b), a.left)])
	a.left -= n
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// answerError describes an answer that no HBase server sends.
type answerError string

func (e answerError) Error() string {
	return "the server's answer " + string(e) + ": this is not an HBase server, or it is faulty"
}

// tlsAlert is the beginning of a TLS server's answer to a client that does not speak TLS. Read as the length of an
// answer, these bytes give a longer one than any first answer.
const tlsAlert = "\x15\x03"

// next reads the beginning of an answer and checks it. io.EOF means that the connection ended between two answers.
func (a *answers) next() error {
	if a.whole = a.whole[:0]; cap(a.whole) > keptAnswer {
		a.whole = nil
	}
	if err := a.take(4); err != nil {
		return err
	}
	if !a.first && bytes.HasPrefix(a.whole, []byte(tlsAlert)) {
		return errInTLS
	}
	size := binary.BigEndian.Uint32(a.whole)
	if size == 0 || size > a.most {
		return answerError(fmt.Sprintf("has a length of %d bytes", size))
	}
	left, err := a.readHeader(int(size))
	if err != nil {
		return err
	}
	header := &a.header
	if cells := header.CellBlockMeta.GetLength(); int64(cells) > int64(left) {
		return answerError(fmt.Sprintf("announces %d bytes of cells within %d bytes", cells, left))
	}
	if !a.first {
		a.first = true
		if err := refusalIn(header); err != nil {
			a.refuse(err)
		} else if a.taken != nil {
			a.taken()
		}
	}
	if size > trusted {
		if err := a.take(left); err != nil {
			return err
		}
		left = 0
	}
	a.ready, a.left = a.whole, left
	return nil
}

// readHeader reads the header of an answer that has left bytes more, and returns how many bytes follow the header.
func (a *answers) readHeader(left int) (int, error) {
	for n := 1; ; n++ { // the length of the header
		if left == 0 || n > 5 {
			return 0, answerError("has no header")
		}
		if err := a.take(1); err != nil {
			return 0, err
		}
		left--
		if a.whole[len(a.whole)-1] < 0x80 {
			break
		}
	}
	length, _ := binary.Uvarint(a.whole[4:])
	if length > uint64(left) {
		return 0, answerError("ends in its header")
	}
	if err := a.take(int(length)); err != nil {
		return 0, err
	}
	left -= int(length)
	if err := proto.Unmarshal(a.whole[len(a.whole)-int(length):], &a.header); err != nil {
		return 0, answerError("has a malformed header (" + err.Error() + ")")
	}
	if e := a.header.Exception; e != nil && (e.ExceptionClassName == nil || e.StackTrace == nil) {
		return 0, answerError("is an exception without a class")
	}
	return left, nil
}

// keptAnswer is the largest buffer, in bytes, that is kept for the next answer.
const keptAnswer = 64 << 10

// take reads n more bytes of the answer. Memory grows with the bytes that arrive, not with the announced length.
func (a *answers) take(n int) error {
	for n > 0 {
		from, part := len(a.whole), min(n, keptAnswer)
		a.whole = slices.Grow(a.whole, part)[:from+part]
		_, err := io.ReadFull(a.in, a.whole[from:])
		if errors.Is(err, io.EOF) && from > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		n -= part
	}
	return nil
}

// refusalIn returns the reason why a server refuses a connection; nil: the answer is not a refusal. A refusal has the
// call id -1.
func refusalIn(h *pb.ResponseHeader) error {
	if h.GetCallId() != math.MaxUint32 || h.Exception == nil {
		return nil
	}
	class := h.Exception.GetExceptionClassName()
	text, _, _ := strings.Cut(h.Exception.GetStackTrace(), "\n")
	err := fmt.Errorf("the server refuses the connection: %s: %s", class[strings.LastIndexByte(class, '.')+1:], strings.TrimPrefix(text, class+": "))
	if strings.Contains(text, "Authentication is required") {
		err = fmt.Errorf("%w (the cluster requires Kerberos; add the Kerberos parameters to the address)", err)
	}
	return err
}

// refusalOf works like refusalIn for the bytes of an answer.
func refusalOf(b []byte) error {
	if len(b) < 4 {
		return nil
	}
	head, n := protowire.ConsumeBytes(b[4:])
	var h pb.ResponseHeader
	if n < 0 || proto.Unmarshal(head, &h) != nil {
		return nil
	}
	return refusalIn(&h)
}

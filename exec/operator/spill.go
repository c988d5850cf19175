package operator

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"os"

	"github.com/hql-db/hql/types"
)

// spillFile holds rows on disk: they are added, then read in the same order. The file has no name, so that the system
// removes it when the process ends.
type spillFile struct {
	f   *os.File
	w   *bufio.Writer
	r   *bufio.Reader
	n   int // number of rows added and not yet read
	buf []byte

	size    int64 // bytes of all rows that were added
	longest int64 // bytes of the longest row
}

func newSpillFile(dir string) (*spillFile, error) {
	f, err := os.CreateTemp(dir, "hql-spill-*")
	if err != nil {
		return nil, fmt.Errorf("rows beyond the memory limit go to a file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return &spillFile{f: f, w: bufio.NewWriterSize(f, 64<<10)}, nil
}

func (s *spillFile) add(row []types.Value) error {
	s.buf = binary.AppendUvarint(s.buf[:0], uint64(len(row)))
	for _, v := range row {
		s.buf = v.AppendBinary(s.buf)
	}
	var head [binary.MaxVarintLen64]byte
	prefix := binary.PutUvarint(head[:], uint64(len(s.buf)))
	if _, err := s.w.Write(head[:prefix]); err != nil {
		return err
	}
	s.n++
	_, err := s.w.Write(s.buf)
	s.size += int64(prefix + len(s.buf))
	s.longest = max(s.longest, int64(len(s.buf)))
	s.buf = short(s.buf)
	return err
}

// short returns buf, or nil if it is too large to be kept.
func short(buf []byte) []byte {
	if cap(buf) > batchBytes {
		return nil
	}
	return buf
}

// rewind ends the writing and prepares for reading.
func (s *spillFile) rewind() error {
	if err := s.w.Flush(); err != nil {
		return err
	}
	s.w = nil
	_, err := s.f.Seek(0, io.SeekStart)
	s.r = bufio.NewReaderSize(s.f, 64<<10)
	return err
}

// next returns the next row, which stays valid; io.EOF at the end.
func (s *spillFile) next() ([]types.Value, error) {
	if s.n == 0 {
		return nil, io.EOF
	}
	s.n--
	row, buf, err := readRow(s.r, s.buf)
	s.buf = buf
	return row, err
}

// readRow reads a row that add has written. It reads into buf if that is large enough, and returns the buffer for the next
// call.
func readRow(r *bufio.Reader, buf []byte) (row []types.Value, _ []byte, err error) {
	n, err := binary.ReadUvarint(r)
	if err == nil {
		if uint64(cap(buf)) < n {
			buf = make([]byte, n)
		}
		buf = buf[:n]
		_, err = io.ReadFull(r, buf)
	}
	if err != nil {
		return nil, buf, fmt.Errorf("read back rows beyond the memory limit: %w", err) // even for io.EOF: rows are missing
	}
	width, at := binary.Uvarint(buf)
	row = make([]types.Value, 0, width)
	for b := buf[at:]; len(b) > 0; {
		var v types.Value
		if v, b, err = types.DecodeBinary(b); err != nil {
			return nil, buf, err
		}
		row = append(row, v)
	}
	return row, short(buf), nil
}

func (s *spillFile) close() {
	if s != nil && s.f != nil {
		s.f.Close()
		s.f = nil
	}
}

// spillOp reads a spillFile as an operator's input.
type spillOp struct {
	file *spillFile
	out  [][]types.Value
}

func (s *spillOp) Next(ctx context.Context) ([][]types.Value, error) {
	s.out = s.out[:0]
	for held := int64(0); len(s.out) < BatchRows && held < batchBytes; held += SizeOf(s.out[len(s.out)-1]) {
		row, err := s.file.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		s.out = append(s.out, row)
	}
	if len(s.out) == 0 {
		return nil, io.EOF
	}
	return s.out, ctx.Err()
}

func (s *spillOp) Close() error { s.file.close(); return nil }

// fanOut is the number of files among which rows that do not fit in memory are divided, by a hash of their key.
const fanOut = 16

// maxSpillLevel bounds the number of times that rows are divided again. More would not help against one large group.
const maxSpillLevel = 6

// partitions are the files of one level; files without rows are nil.
type partitions struct {
	dir   string
	seed  maphash.Seed
	files [fanOut]*spillFile
}

func newPartitions(dir string) *partitions {
	return &partitions{dir: dir, seed: maphash.MakeSeed()} // a new seed at each level: with the same one, all rows would go to the same file again
}

func (p *partitions) add(key []byte, row []types.Value) (err error) {
	f := &p.files[maphash.Bytes(p.seed, key)%fanOut]
	if *f == nil {
		if *f, err = newSpillFile(p.dir); err != nil {
			return err
		}
	}
	return (*f).add(row)
}

// rewind ends the writing of all files.
func (p *partitions) rewind() error {
	for _, f := range p.files {
		if f != nil {
			if err := f.rewind(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *partitions) close() {
	if p == nil {
		return
	}
	for _, f := range p.files {
		f.close()
	}
}

// spilled is a file of rows that are still to be processed.
type spilled struct {
	file  *spillFile
	level int
}

// pending returns the files, to be processed at a level.
func (p *partitions) pending(level int) []spilled {
	var out []spilled
	for _, f := range p.files {
		if f != nil {
			out = append(out, spilled{f, level})
		}
	}
	return out
}

// spilledRows are the rows for which an operator has no memory. They wait in files until the operator has returned the
// rows in memory.
type spilledRows struct {
	dir     string
	parts   *partitions // the current level's files; nil: all rows fit so far
	pending []spilled
	level   int
}

// next returns the rows of the next file as the operator's input; io.EOF after the last.
func (s *spilledRows) next() (*spillOp, error) {
	if s.parts != nil {
		s.pending = append(s.parts.pending(s.level+1), s.pending...)
		err := s.parts.rewind()
		s.parts = nil
		if err != nil {
			return nil, err
		}
	}
	if len(s.pending) == 0 {
		return nil, io.EOF
	}
	next := s.pending[0]
	s.level, s.pending = next.level, s.pending[1:]
	return &spillOp{file: next.file}, nil
}

func (s *spilledRows) close() {
	s.parts.close()
	for _, p := range s.pending {
		p.file.close()
	}
	s.parts, s.pending = nil, nil
}

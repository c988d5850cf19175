package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A chunk of a Pebble log has a checksum, the length of its data, its kind, the log's number, in newer kinds the offset
// up to which the log had been synced, and the data. A log that was closed ends with an empty chunk of the next number.
const (
	logBlock    = 32 << 10 // no chunk crosses its end
	oldHeader   = 11
	chunkHeader = 19
	oldKinds    = 5 // a whole record; then the first, a middle and the last chunk of one
	newKinds    = 9 // the same
)

// checkLog refuses a log that is damaged before its last record. Pebble takes damage in the last block for the end of a
// log that was being written when its machine stopped, and would drop the records behind it without an error.
func checkLog(fs vfs.FS, dir, name string) error {
	number, err := strconv.ParseUint(strings.TrimSuffix(name, ".log"), 10, 32)
	if err != nil {
		return nil // no log of Pebble's
	}
	f, err := fs.Open(fs.PathJoin(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	log, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if at, damaged := firstDamage(log, uint32(number)); damaged {
		return fmt.Errorf("its log %s is damaged at byte %d, before acknowledged writes: restore the file. Cut off at that byte, the store opens without these writes", name, at)
	}
	return nil
}

// firstDamage returns the offset of the first byte that belongs to no whole chunk, and whether later chunks show that
// the log continued after that byte. A page that was never written reads as zeros: then only the offset in a later
// chunk shows that the log had been synced up to there.
func firstDamage(log []byte, number uint32) (bad int, goesOn bool) {
	at := 0
	for at < len(log) {
		rest := log[at:min(len(log), at/logBlock*logBlock+logBlock)]
		if n, _, _ := chunk(rest, number); n > 0 {
			at += n
		} else if len(rest) < chunkHeader && len(bytes.Trim(rest, "\x00")) == 0 { // too short for a chunk
			at += len(rest)
		} else {
			break
		}
	}
	end := binary.LittleEndian.AppendUint32([]byte{6: oldKinds}, number+1)
	if bad = at; len(log)-bad <= len(end) {
		return bad, false
	}
	for at++; at < len(log); at++ {
		n, first, synced := chunk(log[at:], number)
		if n > 0 && (first && log[bad+6] != 0 || synced > uint64(bad)) {
			return bad, true
		}
	}
	return bad, bytes.HasSuffix(log, end)
}

// chunk returns the length n of the whole chunk at the beginning of log; 0 if there is none. first reports whether the
// chunk begins a record; synced is the offset up to which the log was synced, 0 if the chunk does not hold it.
func chunk(log []byte, number uint32) (n int, first bool, synced uint64) {
	if len(log) < oldHeader || binary.LittleEndian.Uint32(log[7:]) != number {
		return 0, false, 0
	}
	switch kind := log[6]; {
	case kind >= oldKinds && kind < newKinds:
		n, first = oldHeader, kind < oldKinds+2
	case kind >= newKinds && kind < newKinds+4 && len(log) >= chunkHeader:
		n, first, synced = chunkHeader, kind < newKinds+2, binary.LittleEndian.Uint64(log[oldHeader:])
	default:
		return 0, false, 0
	}
	n += int(binary.LittleEndian.Uint16(log[4:]))
	if n > len(log) {
		return 0, false, 0
	}
	sum := crc32.Checksum(log[6:n], crc32.MakeTable(crc32.Castagnoli))
	if binary.LittleEndian.Uint32(log) != (sum>>15|sum<<17)+0xa282ead8 {
		return 0, false, 0
	}
	return n, first, synced
}

package store

import (
	"bytes"
	"context"
	"math"

	"github.com/cockroachdb/pebble/v2"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/internal/wire"
)

// maxScanBytes is the server's limit on the size of one answer.
const maxScanBytes = 100 << 20

// enoughBytes is the size of an answer after which the store adds no further row. A server would fill the answer up to
// the limit, to save calls; here a call costs little, and the client decodes an answer while the store reads the next.
const enoughBytes = 256 << 10

// scan serves a ScanRequest: it opens a scanner or continues one, reads rows, and closes the scanner. The rows are in
// the block; the response counts them.
func (s *Store) scan(ctx context.Context, req *pb.ScanRequest, inject *injection) (*pb.ScanResponse, *block, error) {
	if req.ScannerId == nil && req.Scan == nil {
		return nil, nil, throw(classDoNotRetry, "Missing required input: scannerId or scan")
	}
	resp := &pb.ScanResponse{}
	h, ended, err := s.holder(ctx, req, resp, inject)
	if err != nil || ended {
		return resp, &block{}, err
	}
	if !h.busy.TryLock() {
		return nil, nil, throw(classLease, "lease '%d' does not exist", h.id)
	}
	defer h.busy.Unlock()
	if h.gone {
		return nil, nil, unknownScanner(h.id)
	}
	now := s.opts.Now()
	if now.After(h.expires) {
		s.scanners.remove(h, false, now)
		return nil, nil, unknownScanner(h.id)
	}
	h.expires = now.Add(s.opts.ScannerLease)
	if req.NextCallSeq != nil {
		if req.GetNextCallSeq() != h.nextSeq {
			return nil, nil, throw(classOutOfOrder, "Expected nextCallSeq: %d But the nextCallSeq got from client: %d; request=scanner_id: %d",
				h.nextSeq, req.GetNextCallSeq(), h.id)
		}
		h.nextSeq++
	}
	if req.GetRenew() {
		return resp, &block{}, nil
	}
	b := borrowed()
	err = s.readRows(ctx, h, req, resp, b, inject)
	if 4*len(b.buf) < cap(b.buf) {
		b = b.copied()
	}
	if err != nil {
		s.scanners.remove(h, false, h.expires)
		return nil, nil, scanError(ctx, err)
	}
	resp.CellsPerResult, resp.PartialFlagPerResult = b.counts, b.partial
	h.region.load.reads.Add(int64(len(b.counts)))
	if !resp.GetMoreResults() || !resp.GetMoreResultsInRegion() || req.GetCloseScanner() {
		s.scanners.remove(h, true, h.expires)
	}
	return resp, b, nil
}

// scanError makes the exception for an error during a scan. It asks the client to open the scanner again, unless that
// cannot help.
func scanError(ctx context.Context, err error) error {
	if c := canceled(ctx, err); c != nil {
		return c
	}
	if isClass(err, classDoNotRetry) || isRuntime(err) {
		return err
	}
	if pebble.IsCorruptionError(err) { // reading again does not help
		return throw(classCorrupt, "a file of the store is damaged: %v", err)
	}
	return throw(classScannerReset, "Scanner is closed on the server-side: %v", err)
}

// holder finds or opens the scanner of a request. ended reports that the scanner has already been closed because it had
// read all rows: nothing is left to do.
func (s *Store) holder(ctx context.Context, req *pb.ScanRequest, resp *pb.ScanResponse, inject *injection) (h *scannerHolder, ended bool, err error) {
	now := s.opts.Now()
	if req.ScannerId == nil {
		t, g, err := s.served(req.GetRegion(), inject)
		if err != nil {
			return nil, false, err
		}
		q, err := newScan(t, g, req.Scan)
		if err != nil {
			return nil, false, err
		}
		r, err := s.openRegionScanner(ctx, q, g, now.UnixMilli())
		if err != nil {
			return nil, false, err
		}
		s.scanners.expire(now)
		h := s.scanners.add(g, r, now.Add(s.opts.ScannerLease))
		resp.ScannerId = proto.Uint64(h.id)
		resp.Ttl = proto.Uint32(uint32(min(s.opts.ScannerLease.Milliseconds(), math.MaxInt32)))
		return h, false, nil
	}
	id := req.GetScannerId()
	resp.ScannerId = proto.Uint64(id)
	h, last, ok := s.scanners.find(id, now)
	switch {
	case !ok:
		return nil, false, unknownScanner(id)
	case h == nil:
		if req.NextCallSeq != nil && req.GetNextCallSeq() != last.nextSeq+1 {
			return nil, false, throw(classOutOfOrder, "Expected nextCallSeq for closed request: %d But the nextCallSeq got from client: %d; request=scanner_id: %d",
				last.nextSeq+1, req.GetNextCallSeq(), id)
		}
		return nil, true, nil
	case !s.catalog.online(h.region):
		s.scanners.dropLease(id)
		return nil, false, throw(classNotServing, "Region has changed on the scanner %d: regionName=%s", id, h.region.name)
	}
	return h, false, nil
}

// readRows reads the rows that a request asks for and reports the state of the scan.
func (s *Store) readRows(ctx context.Context, h *scannerHolder, req *pb.ScanRequest, resp *pb.ScanResponse, b *block, inject *injection) error {
	rows := 1
	switch {
	case req.NumberOfRows != nil:
		rows = int(min(req.GetNumberOfRows(), math.MaxInt32))
	case req.GetCloseScanner():
		rows = 0
	}
	more := true
	switch {
	case rows > 0 && inject.heartbeat && req.GetClientHandlesHeartbeats():
		inject.did(FaultHeartbeat)
		resp.HeartbeatMessage = proto.Bool(true)
	case rows > 0:
		if err := h.read(ctx, req, resp, b, rows, &more, inject); err != nil {
			return err
		}
	}
	resp.MoreResultsInRegion = proto.Bool(more)
	resp.Stale = proto.Bool(false)
	if len(b.counts) == 0 && h.scanner.filterDone() {
		// MoreResults is set last: old clients ignored the rows of an answer in which it is false.
		resp.MoreResults = proto.Bool(false)
	}
	if resp.MoreResults == nil {
		resp.MoreResults = proto.Bool(true)
	}
	if n := len(b.partial); n > 0 {
		h.partialRow = nil
		if b.partial[n-1] {
			h.partialRow = bytes.Clone(b.rowAt(b.lastRow))
		}
	}
	return nil
}

// read reads up to rows results into b.
func (h *scannerHolder) read(ctx context.Context, req *pb.ScanRequest, resp *pb.ScanResponse, b *block, rows int, more *bool, inject *injection) error {
	limit := 0
	if f, ok := wire.Unknown(req, fieldLimitOfRows); ok {
		limit = int(min(f.Varint, math.MaxInt32))
	}
	q := h.scanner.query
	lim := &limits{size: maxScanBytes, wholeRows: !req.GetClientHandlesPartials(), cut: inject.cut}
	if q.maxResultSize > 0 {
		lim.size = min(lim.size, q.maxResultSize)
	}
	if req.GetTrackScanMetrics() {
		defer func() { setScanMetrics(resp, lim) }()
	}
	whole := 0 // rows that are complete with this answer
	full := func() bool {
		if limit > 0 && whole >= limit {
			resp.MoreResults = proto.Bool(false)
			return true
		}
		return false
	}
	for len(b.counts) < rows {
		if n := len(b.partial); n == 0 && h.partialRow == nil || n > 0 && !b.partial[n-1] {
			most := rows - len(b.counts)
			if limit > 0 {
				most = min(most, limit-whole)
			}
			n, err := h.scanner.plainRows(ctx, b, lim, most)
			if err != nil {
				return err
			}
			if whole += n; full() || len(b.buf) >= enoughBytes || len(b.counts) == rows {
				return nil
			}
		}
		var err error
		if *more, err = h.scanner.next(ctx, b, lim); err != nil {
			return err
		}
		if b.cells > 0 {
			if h.endsPartialRow(b) {
				// The row before the open row is complete: the filter kept no further cell of it.
				if whole++; full() {
					b.drop()
					return nil
				}
			}
			b.close(lim.midRow)
			if lim.midRow && lim.isCut {
				inject.did(FaultPartialRow)
			}
			if !lim.midRow {
				if whole++; full() {
					return nil
				}
			}
		} else if n := len(b.partial); !*more && n > 0 {
			b.partial[n-1] = false
		}
		if lim.reached(betweenRows) || !*more || len(b.buf) >= enoughBytes {
			return nil
		}
	}
	return nil
}

// setScanMetrics adds the counts of a scan to its answer, in HBase's field for metrics: pairs of a name and a number.
func setScanMetrics(resp *pb.ScanResponse, lim *limits) {
	var metrics []byte
	for _, m := range []struct {
		name  string
		count int64
	}{{"ROWS_SCANNED", lim.rowsScanned}, {"ROWS_FILTERED", lim.rowsFiltered}} {
		pair := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), m.name)
		pair = protowire.AppendVarint(protowire.AppendTag(pair, 2, protowire.VarintType), uint64(m.count))
		metrics = protowire.AppendBytes(protowire.AppendTag(metrics, 1, protowire.BytesType), pair)
	}
	resp.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, fieldScanMetrics, protowire.BytesType), metrics))
}

// endsPartialRow reports whether the open row follows a row of which a part was sent.
func (h *scannerHolder) endsPartialRow(b *block) bool {
	if n := len(b.partial); n > 0 {
		return b.partial[n-1] && !bytes.Equal(b.openRow(), b.rowAt(b.lastRow))
	}
	return h.partialRow != nil && !bytes.Equal(b.openRow(), h.partialRow)
}

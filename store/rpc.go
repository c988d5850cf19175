package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/internal/pause"
)

// cellBlockReader is a call that takes the cells of its answer in wire format.
type cellBlockReader interface {
	DeserializeCellBlocks(proto.Message, []byte) (uint32, error)
}

// borrower is a call that calls release once it needs the cells of its answer no longer, at most once.
type borrower interface{ Lend(release func()) }

// errResend simulates a lost connection, after which the client sends the call again.
var errResend = errors.New("connection lost")

// SendRPC serves any call that gohbase's clients could send: Get, Scan, Mutate and Multi by table and key, all others
// as calls to the master. Like gohbase, it gives the call its region, repeats it after lost answers and moved regions,
// and waits while a table is disabled; the end of the call's context ends every wait. A missing table is
// gohbase.TableNotFound. A refusal by a server is an error whose text starts with "HBase Java exception CLASS:\n".
func (s *Store) SendRPC(rpc hrpc.Call) (proto.Message, error) {
	ctx := rpc.Context()
	backoff := 16 * time.Millisecond
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		msg, err := s.sendOnce(ctx, rpc)
		switch {
		case err == nil:
			return msg, nil
		case err == errResend || isClass(err, classNotServing) || isClass(err, classMoved):
			continue
		case isClass(err, classTooBusy):
			if err := pause.For(ctx, backoff); err != nil {
				return nil, err
			}
			backoff *= 2
		default:
			return nil, err
		}
	}
}

func (s *Store) sendOnce(ctx context.Context, rpc hrpc.Call) (proto.Message, error) {
	switch rpc.Name() {
	case "Get", "Scan", "Mutate", "Multi":
	default:
		var msg proto.Message
		err := s.working(func() (err error) {
			msg, err = s.master(rpc.ToProto())
			return err
		})
		if err != nil {
			return nil, err
		}
		return msg, nil
	}
	t, g, err := s.locate(ctx, string(rpc.Table()), rpc.Key())
	if err != nil {
		return nil, err
	}
	rpc.SetRegion(g.info)
	return s.regionCall(ctx, t, g, rpc)
}

// locate finds the region that serves a key, waiting while the table is disabled.
func (s *Store) locate(ctx context.Context, name string, key []byte) (*table, *region, error) {
	for {
		changed := s.catalog.waitChange()
		if s.closed.Load() {
			return nil, nil, gohbase.ErrClientClosed
		}
		t, ok := s.catalog.lookup(name)
		if !ok { // a new table is in hbase:meta before it is served
			err := s.working(func() error {
				s.catalog.ddl.Lock()
				defer s.catalog.ddl.Unlock()
				t, ok = s.catalog.lookup(name)
				return nil
			})
			if err != nil {
				return nil, nil, err
			}
		}
		if !ok || strings.HasPrefix(name, "default:") {
			return nil, nil, gohbase.TableNotFound
		}
		if !t.disabled {
			return t, t.region(key), nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-changed:
		}
	}
}

// regionCall runs a call on its region, with the faults that are drawn for it.
func (s *Store) regionCall(ctx context.Context, t *table, g *region, rpc hrpc.Call) (proto.Message, error) {
	req := rpc.ToProto()
	inject := s.faults.draw(t)
	if err := s.before(ctx, t, g, req, &inject); err != nil {
		return nil, err
	}
	msg, b, err := s.execute(ctx, req, &inject)
	if inject.loseAnswer {
		kind := FaultAnswerLost
		if m, ok := req.(*pb.ScanRequest); ok && m.ScannerId == nil && err == nil {
			kind = FaultOpenLost
		}
		inject.did(kind)
		return nil, errResend
	}
	if inject.hang {
		inject.did(FaultHang)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return deliver(rpc, msg, b)
}

// execute is the region server.
func (s *Store) execute(ctx context.Context, req proto.Message, inject *injection) (proto.Message, *block, error) {
	var msg proto.Message
	var b *block
	err := s.working(func() (err error) {
		msg, b, err = s.serve(ctx, req, inject)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return msg, b, nil
}

// working runs a function that reads or writes cells, if the store is open and has not failed.
func (s *Store) working(f func() error) error {
	locked := func() error {
		s.life.RLock()
		defer s.life.RUnlock()
		if s.closed.Load() {
			return gohbase.ErrClientClosed
		}
		return f()
	}
	if s.opts.Dir == "" {
		return locked() // a store in memory does not fail
	}
	return s.failure.do(locked)
}

// serve executes a call.
func (s *Store) serve(ctx context.Context, req proto.Message, inject *injection) (proto.Message, *block, error) {
	b := &block{}
	switch m := req.(type) {
	case *pb.ScanRequest:
		resp, b, err := s.scan(ctx, m, inject)
		return resp, b, err
	case *pb.GetRequest:
		t, g, err := s.served(m.GetRegion(), inject)
		if err != nil {
			return nil, nil, err
		}
		g.load.reads.Add(1)
		b.reset()
		r, err := s.get(ctx, t, g, m.GetGet(), b, nil)
		if err != nil {
			return nil, nil, err
		}
		inline(r, b) // servers send the cells of a single Get in the message
		return &pb.GetResponse{Result: r}, nil, nil
	case *pb.MutateRequest:
		t, g, err := s.served(m.GetRegion(), inject)
		if err != nil {
			return nil, nil, err
		}
		g.load.writes.Add(1)
		b.reset()
		resp, err := s.mutateRequest(ctx, t, g, m, b)
		return resp, b, err
	case *pb.MultiRequest:
		b := borrowed()
		resp, err := s.multi(ctx, m, b, inject)
		return resp, b.copied(), err
	}
	return nil, nil, throw(classUnsupported, "%T", req)
}

// served finds an online region by its name.
func (s *Store) served(r *pb.RegionSpecifier, inject *injection) (*table, *region, error) {
	if inject.moved && bytes.Equal(r.GetValue(), inject.region.name) {
		return nil, nil, throw(classMoved, "Region moved to: hostname=%s port=%d startCode=1. As of locationSeqNum=1.", serverHost, serverPort)
	}
	t, g, ok := s.catalog.regionByName(r.GetValue())
	if ok && inject.stray && g == inject.region {
		inject.did(FaultStray)
		ok = false
	}
	if !ok {
		return nil, nil, throw(classNotServing, "%s is not online on %s", r.GetValue(), serverAddr)
	}
	return t, g, nil
}

// deliver passes an answer and the block of its cells to its call. All cells of an answer share one array, which belongs to
// the call.
func deliver(rpc hrpc.Call, msg proto.Message, b *block) (proto.Message, error) {
	if b == nil || len(b.buf) == 0 {
		return msg, nil
	}
	r, ok := rpc.(cellBlockReader)
	if !ok {
		return nil, fmt.Errorf("a %s cannot read cells", rpc.Name())
	}
	n, err := r.DeserializeCellBlocks(msg, b.buf)
	if err != nil {
		return nil, err
	}
	if int(n) != len(b.buf) {
		return nil, errors.New("short read of the cell block")
	}
	if r, ok := rpc.(borrower); ok {
		r.Lend(b.release)
	}
	return msg, nil
}

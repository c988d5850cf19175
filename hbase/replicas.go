package hbase

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"github.com/tsuna/gohbase/region"
	"google.golang.org/protobuf/proto"
)

// gohbase sends every call to the primary of a region. Reads that may be stale go there first. If the primary takes
// long, they are also sent to the region's replicas, over connections that this file keeps. A scanner that a replica
// has opened continues on that replica.

// How long a call waits for the primary alone, as in HBase's own clients.
const (
	primaryGet  = 10 * time.Millisecond
	primaryScan = time.Second
)

// maxReplicas bounds how many replicas of a region are asked, however many hbase:meta names; clusters have two or
// three.
const maxReplicas = 16

// errReplica means that a replica failed. The call itself may be correct.
var errReplica = errors.New("a replica does not answer")

// replica is a copy of a region other than the primary.
type replica struct {
	region Region // the primary
	id     int
	server string
}

// replicaInfo is a region that reports see under its name in hbase:meta, while calls are addressed to the name of a
// replica.
type replicaInfo struct {
	hrpc.RegionInfo
	specifier *pb.RegionSpecifier
}

// RegionSpecifier names the replica for gohbase's calls.
func (i replicaInfo) RegionSpecifier() *pb.RegionSpecifier { return i.specifier }

func (r *replica) info(table string) hrpc.RegionInfo {
	info := region.NewInfo(0, nil, []byte(table), []byte(r.region.Name), r.region.Start, r.region.Stop)
	return replicaInfo{info, &pb.RegionSpecifier{Type: pb.RegionSpecifier_REGION_NAME.Enum(), Value: []byte(r.name())}}
}

// name returns the region's name with the replica's number in it, which also changes the hash at its end:
// table,start,time_number.hash.
func (r *replica) name() string {
	name := r.region.Name
	if cut := len(name) - len(".") - 2*md5.Size - len("."); cut > 0 {
		name = name[:cut]
	}
	name += fmt.Sprintf("_%04X", r.id)
	sum := md5.Sum([]byte(name))
	return name + "." + hex.EncodeToString(sum[:]) + "."
}

// parseReplicas returns the replicas that a row of hbase:meta names, in columns such as server_0001.
func parseReplicas(r Row, reg Region) (out []replica) {
	for _, cell := range r.Cells {
		number, ok := strings.CutPrefix(string(cell.Qualifier), "server_")
		if !ok || string(cell.Family) != "info" || len(cell.Value) == 0 {
			continue
		}
		id, err := strconv.ParseUint(number, 16, 16)
		if err != nil || id == 0 || slices.ContainsFunc(out, func(o replica) bool { return o.id == int(id) }) {
			continue // the newest of several versions comes first
		}
		if _, _, err := net.SplitHostPort(string(cell.Value)); err == nil {
			out = append(out, replica{region: reg, id: int(id), server: string(cell.Value)})
		}
		if len(out) == maxReplicas {
			break
		}
	}
	return out
}

// replicas finds the replicas of regions and keeps connections to their servers.
type replicas struct {
	conns *connections
	user  string

	mu     sync.Mutex
	tables map[string]replicatedTable
	open   map[string]hrpc.RegionClient // by server
	closed bool
}

// replicatedTable holds the replicas of a table from hbase:meta, by the start of regions.
type replicatedTable struct {
	regions []replica
	at      time.Time
}

func newReplicas(dials *dialer, user string) *replicas {
	return &replicas{conns: dials.connections(), user: user, tables: map[string]replicatedTable{}, open: map[string]hrpc.RegionClient{}}
}

func (r *replicas) close() {
	r.conns.close(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.closed = true
		for _, rc := range r.open {
			rc.Close()
		}
	})
}

// forget drops a table's replicas from the cache, so that they are looked up again at the next use.
func (r *replicas) forget(table string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tables, table)
}

// replicasOf returns the replicas of the region that holds a key; none for a client made by New, or if the look-up
// fails.
func (c *client) replicasOf(ctx context.Context, table string, key []byte) []replica {
	r := c.replicas
	if r == nil {
		return nil
	}
	r.mu.Lock()
	known, ok := r.tables[table]
	r.mu.Unlock()
	if !ok || time.Since(known.at) > maxRegionAge {
		known = replicatedTable{at: time.Now()}
		err := c.metaRows(ctx, table, func(row Row, reg Region) { known.regions = append(known.regions, parseReplicas(row, reg)...) })
		if err != nil {
			return nil
		}
		r.mu.Lock()
		if len(r.tables) > 1000 {
			clear(r.tables)
		}
		r.tables[table] = known
		r.mu.Unlock()
	}
	var out []replica
	for _, p := range known.regions {
		if p.region.holds(key) {
			out = append(out, p)
		}
	}
	return out
}

// at returns the connection to a server. It may not be established yet.
func (r *replicas) at(server string) (hrpc.RegionClient, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, net.ErrClosed
	}
	rc, ok := r.open[server]
	if !ok {
		rc = region.NewClient(server, region.RegionClient, 1, 0, r.user, readTimeout, nil, r.conns.dial)
		r.open[server] = rc
	}
	return rc, nil
}

// drop closes a connection and forgets it.
func (r *replicas) drop(server string, rc hrpc.RegionClient) {
	rc.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[server] == rc {
		delete(r.open, server)
	}
}

// replicaSender sends calls to one replica, as gohbase's client does to primaries.
type replicaSender struct {
	*replicas
	to *replica
}

// SendRPC sends a call once.
func (s replicaSender) SendRPC(call hrpc.Call) (proto.Message, error) {
	rc, err := s.at(s.to.server)
	if err != nil {
		return nil, err
	}
	dialling, cancel := context.WithTimeout(context.Background(), askTimeout) // other calls wait for the connection too
	err = rc.Dial(dialling)
	cancel()
	if err != nil {
		s.drop(s.to.server, rc)
		return nil, fmt.Errorf("%w: %w", errReplica, err)
	}
	info := s.to.info(string(call.Table()))
	info.SetClient(rc)
	call.SetRegion(info)
	rc.QueueRPC(call)
	select {
	case res := <-call.ResultChan():
		var broken region.ServerError
		var moved region.NotServingRegionError
		var again region.RetryableError
		switch {
		case errors.As(res.Error, &broken):
			s.drop(s.to.server, rc)
			return nil, fmt.Errorf("%w: %w", errReplica, res.Error)
		case errors.As(res.Error, &moved), errors.As(res.Error, &again):
			s.forget(string(call.Table()))
			return nil, fmt.Errorf("%w: %w", errReplica, res.Error)
		}
		return res.Msg, res.Error
	case <-call.Context().Done():
		return nil, call.Context().Err()
	}
}

// read is the outcome of a read call and the replica that answered.
type read struct {
	msg  proto.Message
	call hrpc.Call
	from *replica // nil: the primary
	err  error
}

// tryStale works like tryAnd for a call that reads rows at key, but also sends the call to replicas if the primary has
// not answered after the time alone. abandoned, which may be nil, receives later answers and the replica that sent them
// (nil: the primary).
func (c *client) tryStale(ctx context.Context, d, alone time.Duration, table string, key []byte, mk call, abandoned func(proto.Message, *replica)) read {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan read, 1)
	go func() {
		var late func(proto.Message)
		if abandoned != nil {
			late = func(m proto.Message) { abandoned(m, nil) }
		}
		var r read
		r.msg, r.call, r.err = c.tryAnd(ctx, d, mk, late)
		first <- r
	}()
	t := time.NewTimer(alone)
	defer t.Stop()
	lookUp := t.C
	found := make(chan []replica, 1)
	others := make(chan read)
	left := 0 // outstanding answers of replicas; -1: unknown
	var primary read
	var given <-chan struct{} // closed when the caller gives up: replicas do not notice that
	for {
		select {
		case primary = <-first:
			if primary.err == nil || ctx.Err() != nil || !repeatable(primary.err) && !errors.Is(primary.err, ErrUnreachable) {
				return primary
			}
			given = ctx.Done()
			if lookUp != nil {
				t.Reset(0)
			}
		case <-lookUp:
			lookUp, left = nil, -1
			go func() { found <- c.replicasOf(ctx, table, key) }()
		case list := <-found:
			left = len(list)
			for _, to := range list {
				go func() {
					m, call, err := c.tryReplica(ctx, d, &to, mk, abandoned)
					select {
					case others <- read{m, call, &to, err}:
					case <-ctx.Done():
						if err == nil && abandoned != nil {
							abandoned(m, &to)
						}
					}
				}()
			}
		case r := <-others:
			if left--; r.err == nil || aboutRights(r.err) {
				cancel()
				if primary.err == nil { // it has been given up, or has just answered
					if late := <-first; late.err == nil && abandoned != nil {
						abandoned(late.msg, nil)
					}
				}
				return r
			}
		case <-given:
			return read{err: fmt.Errorf("%w (last answer: %v)", ctx.Err(), primary.err)}
		}
		if primary.err != nil && lookUp == nil && left == 0 {
			return primary
		}
	}
}

// tryReplica sends one attempt to a replica.
func (c *client) tryReplica(ctx context.Context, d time.Duration, to *replica, mk call, abandoned func(proto.Message, *replica)) (proto.Message, hrpc.Call, error) {
	a := newAttempt(ctx, c.timeout(d))
	if abandoned != nil {
		a.abandoned = func(m proto.Message) { abandoned(m, to) }
	}
	msg, err := mk(a)
	if err != nil {
		return nil, nil, err
	}
	c.stats.rpcs.Add(1)
	m, err := a.send(replicaSender{c.replicas, to}, msg, watch{})
	if err != nil && ctx.Err() == nil && a.late {
		err = errReplica
	}
	return m, msg, err
}

package hbase

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"github.com/tsuna/gohbase/region"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hql-db/hql/internal/pause"
	"github.com/hql-db/hql/internal/wire"
)

const (
	// refreshEvery is how often the list of servers to ask is refreshed: masters and region servers come and go.
	refreshEvery = 5 * time.Minute
	// maxNodes bounds how many of the servers that a cluster names are kept.
	maxNodes = 16
	// maxNodesAnswer bounds an answer that names the servers of a cluster, in bytes; such an answer names some thousand
	// servers at most.
	maxNodesAnswer = 1 << 20
)

// registry finds servers without ZooKeeper, through HBase's ClientMetaService: masters of 2.4 and later and region
// servers of 2.5 and later have it.
type registry struct {
	given []string // the servers in the address: they are always asked
	user  string
	dials *dialer
	stop  context.CancelFunc // ends refreshing
	ended chan struct{}

	mu      sync.Mutex
	named   []string // servers that the cluster named
	cluster string   // the cluster's id, once known
}

func newRegistry(given []string, user string, dials *dialer) *registry {
	ctx, stop := context.WithCancel(context.Background())
	r := &registry{given: given, user: user, dials: dials, stop: stop, ended: make(chan struct{})}
	go r.refreshing(ctx)
	return r
}

func (r *registry) close() {
	r.stop()
	<-r.ended
}

// refreshing asks the cluster for its servers repeatedly, the first time soon.
func (r *registry) refreshing(ctx context.Context) {
	defer close(r.ended)
	wait := time.Second
	for {
		if pause.For(ctx, wait) != nil {
			return
		}
		wait = refreshEvery
		if r.refresh(ctx) != nil {
			wait /= 5
		}
	}
}

// refresh asks one server for others. Masters name the masters; since 2.5 they also name region servers, which spare
// the masters.
func (r *registry) refresh(ctx context.Context) error {
	named, err := firstOf(ctx, r.servers(), func(ctx context.Context, server string) (map[string]bool, error) {
		named := map[string]bool{}
		var failed error
		for method, path := range map[string][]protowire.Number{"GetMasters": {1, 1}, "GetBootstrapNodes": {1}} {
			answer, err := r.ask(ctx, server, method)
			if err != nil {
				failed = err // 2.4 does not have bootstrap nodes
				continue
			}
			for _, b := range fields(answer, path...) {
				if s, err := serverName(b); err == nil {
					named[address(s)] = true
				}
			}
		}
		if len(named) == 0 && failed == nil {
			failed = errors.New("it names no servers")
		}
		if len(named) == 0 {
			return nil, failed
		}
		return named, nil
	})
	if err != nil {
		return err
	}
	list := slices.Collect(maps.Keys(named))
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.named = list[:min(len(list), maxNodes)]
	return nil
}

// servers returns all servers that can be asked.
func (r *registry) servers() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Concat(r.given, r.named)
	slices.Sort(all)
	return slices.Compact(all)
}

// locate asks for the server of hbase:meta or for the active master.
func (r *registry) locate(ctx context.Context, p place) (*pb.ServerName, error) {
	server, err := firstOf(ctx, r.servers(), func(ctx context.Context, server string) (*pb.ServerName, error) {
		if p == masterPlace {
			answer, err := r.ask(ctx, server, "GetActiveMaster")
			if err != nil {
				return nil, err
			}
			return oneServer(fields(answer, 1), "it knows of no active master")
		}
		answer, err := r.ask(ctx, server, "GetMetaRegionLocations")
		if err != nil {
			return nil, err
		}
		return metaServer(answer)
	})
	if err != nil {
		return nil, fmt.Errorf("none of the servers %q can say where %s is: %w", strings.Join(r.given, ","), p, err)
	}
	return server, nil
}

// metaServer reads the server of hbase:meta from a GetMetaRegionLocationsResponse: RegionLocations of the region and
// its replicas.
func metaServer(answer []byte) (*pb.ServerName, error) {
	for _, location := range fields(answer, 1) {
		var info pb.RegionInfo
		if infos := fields(location, 1); len(infos) == 0 || proto.Unmarshal(infos[0], &info) != nil || info.GetReplicaId() != 0 {
			continue
		}
		return oneServer(fields(location, 2), "it does not know who serves hbase:meta")
	}
	return nil, errors.New("it does not know where hbase:meta is")
}

// oneServer parses the first of some ServerNames; none is the error text if there are none.
func oneServer(names [][]byte, none string) (*pb.ServerName, error) {
	if len(names) == 0 {
		return nil, errors.New(none)
	}
	return serverName(names[0])
}

func serverName(b []byte) (*pb.ServerName, error) {
	var s pb.ServerName
	if err := proto.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	return &s, checkServer(&s)
}

// fields returns the values at a path of field numbers in a message that gohbase has no types for: each is a message or
// a text.
func fields(message []byte, path ...protowire.Number) (out [][]byte) {
	if len(path) == 0 {
		return [][]byte{message}
	}
	for f := range wire.Fields(message) {
		if f.Number == path[0] && f.Bytes != nil {
			out = append(out, fields(f.Bytes, path[1:]...)...)
		}
	}
	return out
}

// ask sends a request without content to one server, after checking the server's cluster id: an address may belong to
// another cluster by now.
func (r *registry) ask(ctx context.Context, server, method string) (answer []byte, err error) {
	asking, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	answer, err = r.askOnce(asking, &dialer{tls: r.dials.tls, auth: r.dials.auth, opening: giveUp}, server, method)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		if at := (*net.OpError)(nil); errors.As(err, &at) && at.Op == "dial" {
			return nil, fmt.Errorf("cannot connect (%w)", err)
		}
		return nil, errors.New("it accepts connections but does not answer")
	case asking.Err() != nil: // the connection's error tells more than the context's
		err = context.Cause(asking)
	}
	if (errors.Is(err, errNoWord) || errors.Is(err, errNoTLS)) && answersAsZooKeeper(ctx, server) {
		return nil, fmt.Errorf("this port speaks ZooKeeper's protocol: use the address hbase://%s", server)
	}
	if errors.Is(err, errNoWord) {
		err = fmt.Errorf("%w; region servers before 2.5 do not have it: name masters", err)
	}
	return nil, err
}

func (r *registry) askOnce(ctx context.Context, dials *dialer, server, method string) ([]byte, error) {
	conn, err := dials.dial(ctx, "tcp", server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.answers.most = maxNodesAnswer
	rc := region.NewClient(server, "ClientMetaService", 1, 0, r.user, askTimeout, nil,
		func(context.Context, string, string) (net.Conn, error) { return conn, nil })
	defer rc.Close()
	if err := rc.Dial(ctx); err != nil {
		return nil, err
	}
	id, err := send(ctx, rc, "GetClusterId")
	if err != nil {
		return nil, err
	}
	if err := r.checkCluster(fields(id, 1)); err != nil {
		return nil, err
	}
	return send(ctx, rc, method)
}

// checkCluster compares a cluster's id with the first one received.
func (r *registry) checkCluster(id [][]byte) error {
	if len(id) == 0 || len(id[0]) == 0 {
		return errors.New("it does not know its cluster's id")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cluster == "" {
		r.cluster = string(id[0])
	}
	if r.cluster != string(id[0]) {
		return fmt.Errorf("it belongs to another cluster (%.64q, not %.64q)", id[0], r.cluster)
	}
	return nil
}

// send sends a request without content and returns the bytes of the answer.
func send(ctx context.Context, rc hrpc.RegionClient, method string) ([]byte, error) {
	base, err := hrpc.NewListTableNames(ctx)
	if err != nil {
		return nil, err
	}
	call := &masterCall{base, method, &emptypb.Empty{}, &emptypb.Empty{}}
	rc.QueueRPC(call)
	select {
	case res := <-call.ResultChan():
		if res.Error != nil {
			return nil, explain(res.Error, "ask", method)
		}
		return res.Msg.ProtoReflect().GetUnknown(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

package store

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// serverName is the one region server, as hbase:meta and the cluster's status name it.
const (
	serverHost = "embedded"
	serverPort = 16020
	serverAddr = "embedded:16020"
)

// writeMeta changes the rows of hbase:meta from the regions of old to those of t; either table may be nil.
func (s *Store) writeMeta(b *pebble.Batch, old, t *table) error {
	m, _ := s.catalog.lookup(metaName)
	kept := map[string]bool{}
	if t != nil {
		for _, g := range t.regions {
			kept[string(g.name)] = true
		}
	}
	if old != nil {
		for _, g := range old.regions {
			if !kept[string(g.name)] {
				if err := deleteMetaRow(b, m, g.name); err != nil {
					return err
				}
			}
		}
		if t == nil {
			if err := deleteMetaRow(b, m, []byte(old.name)); err != nil {
				return err
			}
		}
	}
	if t == nil {
		return nil
	}
	w := metaWriter{b: b, table: m, ts: s.now()}
	state, regionState := []byte{0x08, 0x00}, "OPEN"
	if t.disabled {
		state, regionState = []byte{0x08, 0x01}, "CLOSED"
	}
	w.put([]byte(t.name), "table", "state", state)
	for i, g := range t.regions {
		info, err := proto.Marshal(regionInfo(g))
		if err != nil {
			return err
		}
		w.put(g.name, "info", "regioninfo", append([]byte("PBUF"), info...))
		w.put(g.name, "info", "server", []byte(s.serverOf(i)))
		w.put(g.name, "info", "serverstartcode", binary.BigEndian.AppendUint64(nil, 1))
		w.put(g.name, "info", "sn", []byte("embedded,16020,1"))
		w.put(g.name, "info", "state", []byte(regionState))
	}
	return w.err
}

// serverOf names the server of a region by the region's place in its table.
func (s *Store) serverOf(region int) string {
	if n := region % s.opts.Servers; n > 0 {
		return fmt.Sprintf("%s%d:%d", serverHost, n, serverPort)
	}
	return serverAddr
}

func regionInfo(g *region) *pb.RegionInfo {
	return &pb.RegionInfo{
		RegionId:  proto.Uint64(g.id),
		TableName: tableName(g.table),
		StartKey:  g.start,
		EndKey:    g.stop,
		Offline:   proto.Bool(false),
		Split:     proto.Bool(false),
		ReplicaId: proto.Int32(0),
	}
}

func tableName(t *table) *pb.TableName {
	return &pb.TableName{Namespace: []byte(t.namespace), Qualifier: []byte(t.qualifier)}
}

type metaWriter struct {
	b     *pebble.Batch
	table *table
	ts    int64
	err   error
}

func (w *metaWriter) put(row []byte, fam, qualifier string, value []byte) {
	if w.err != nil {
		return
	}
	f := w.table.family([]byte(fam))
	key := appendRow(append([]byte{}, f.prefix...), row, true)
	key = appendVersion(appendColumn(key, []byte(qualifier)), w.ts, typePut)
	w.err = w.b.Set(key, appendValue(nil, value), nil)
}

// deleteMetaRow removes a row of hbase:meta and its history, which nothing reads.
func deleteMetaRow(b *pebble.Batch, m *table, row []byte) error {
	for _, f := range m.families {
		from := appendRow(append([]byte{}, f.prefix...), row, true)
		to := append([]byte{}, from...)
		to[len(to)-1] = pastEnd
		if err := b.DeleteRange(from, to, nil); err != nil {
			return err
		}
	}
	return nil
}

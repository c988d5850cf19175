package store

import (
	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// Admin is a Store as gohbase.AdminClient. Its calls return when the work is done.
type Admin struct{ store *Store }

var (
	_ gohbase.AdminClient = (*Admin)(nil)
	_ gohbase.RPCClient   = (*Admin)(nil)
)

// Admin returns the administration of the store.
func (s *Store) Admin() *Admin { return &Admin{s} }

// SendRPC is Store.SendRPC.
func (a *Admin) SendRPC(rpc hrpc.Call) (proto.Message, error) { return a.store.SendRPC(rpc) }

func (a *Admin) send(rpc hrpc.Call) error {
	_, err := a.store.SendRPC(rpc)
	return err
}

// CreateTable creates a table with its families, all their attributes, and its split keys.
func (a *Admin) CreateTable(t *hrpc.CreateTable) error { return a.send(t) }

// DeleteTable deletes a disabled table.
func (a *Admin) DeleteTable(t *hrpc.DeleteTable) error { return a.send(t) }

// EnableTable enables a disabled table.
func (a *Admin) EnableTable(t *hrpc.EnableTable) error { return a.send(t) }

// DisableTable disables a table: calls to it wait until it is enabled or deleted.
func (a *Admin) DisableTable(t *hrpc.DisableTable) error { return a.send(t) }

// ClusterStatus describes a cluster of one server.
func (a *Admin) ClusterStatus() (*pb.ClusterStatus, error) {
	msg, err := a.store.SendRPC(hrpc.NewClusterStatus())
	if err != nil {
		return nil, err
	}
	return msg.(*pb.GetClusterStatusResponse).GetClusterStatus(), nil
}

// ListTableNames lists tables.
func (a *Admin) ListTableNames(t *hrpc.ListTableNames) ([]*pb.TableName, error) {
	msg, err := a.store.SendRPC(t)
	if err != nil {
		return nil, err
	}
	return msg.(*pb.GetTableNamesResponse).GetTableNames(), nil
}

// SetBalancer stores the state and returns the former one; the store never balances.
func (a *Admin) SetBalancer(sb *hrpc.SetBalancer) (bool, error) {
	msg, err := a.store.SendRPC(sb)
	if err != nil {
		return false, err
	}
	return msg.(*pb.SetBalancerRunningResponse).GetPrevBalanceValue(), nil
}

// MoveRegion reopens a region; its scanners are lost.
func (a *Admin) MoveRegion(mr *hrpc.MoveRegion) error { return a.send(mr) }

// CreateSnapshot is not supported.
func (a *Admin) CreateSnapshot(*hrpc.Snapshot) error { return errSnapshots() }

// DeleteSnapshot is not supported.
func (a *Admin) DeleteSnapshot(*hrpc.Snapshot) error { return errSnapshots() }

// RestoreSnapshot is not supported.
func (a *Admin) RestoreSnapshot(*hrpc.Snapshot) error { return errSnapshots() }

// ListSnapshots always returns none.
func (a *Admin) ListSnapshots(*hrpc.ListSnapshots) ([]*pb.SnapshotDescription, error) {
	return nil, nil
}

func errSnapshots() error { return throw(classUnsupported, "snapshots are not supported") }

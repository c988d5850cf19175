package hbase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hql-db/hql/internal/words"
)

// A server with AccessController answers a read of several families with only the cells that the user may read, and
// does not report that it omits the others: it accepts the read if the user has permission for one family or column. So
// hql asks for the permissions before it reads.

// action is a kind of access to cells, with its number in HBase's AccessControl.proto.
type action uint8

const (
	actionRead  action = 0
	actionWrite action = 1
)

func (a action) String() string { return [...]string{"READ", "WRITE"}[a] }

// rightsAge is how long a confirmed permission is trusted.
const rightsAge = time.Minute

// rights are the permissions that servers confirmed.
type rights struct {
	free    atomic.Bool // the cluster does not check permissions
	granted aged[right, struct{}]
}

// right is a permission for a table, one of its families or one column. "" means all.
type right struct {
	action                   action
	table, family, qualifier string
}

func (r right) String() string {
	place := ""
	if r.family != "" {
		place = ", family=" + r.family
	}
	if r.qualifier != "" {
		place = ", column=" + r.family + ":" + r.qualifier
	}
	return fmt.Sprintf("table=%s%s, action=%s", r.table, place, r.action)
}

// seen reports whether a right was confirmed recently, or the cluster does not check permissions.
func (r *rights) seen(of right) bool {
	_, ok := r.granted.get(of, rightsAge)
	return ok || r.free.Load()
}

// MayWrite checks the permission to write all of these families.
func (c *client) MayWrite(ctx context.Context, table string, families []string) error {
	return c.may(ctx, actionWrite, "write", table, families)
}

// MayRead asks whether all of these families may be read.
func (c *client) MayRead(ctx context.Context, table string, families []string) error {
	return c.may(ctx, actionRead, "read", table, families)
}

func (c *client) may(ctx context.Context, do action, doing, table string, families []string) error {
	columns := (&ReadOptions{Families: families}).columns(nil)
	if err := c.permitted(ctx, do, table, columns, []byte{0}); err != nil {
		return explain(err, doing, table)
	}
	return nil
}

// permitted returns ErrDenied unless the user may do action with all of columns, or with the whole table if there are
// none. It asks the region that holds key.
func (c *client) permitted(ctx context.Context, do action, table string, columns []*pb.Column, key []byte) error {
	whole := right{action: do, table: table}
	if strings.HasPrefix(table, "hbase:") || c.rights.seen(whole) {
		return nil
	}
	wanted := rightsOf(do, table, columns)
	unseen := func(r right) bool {
		return !c.rights.seen(r) && !c.rights.seen(right{action: do, table: table, family: r.family})
	}
	if len(wanted) > 0 && !slices.ContainsFunc(wanted, unseen) {
		return nil
	}
	ctx = aside(ctx)
	if ok, err := c.holds(ctx, whole, key); ok || err != nil {
		return err
	}
	var missing []right
	some := false
	for _, r := range wanted {
		ok, err := c.holds(ctx, right{action: do, table: table, family: r.family}, key)
		if err == nil && !ok && r.qualifier != "" {
			ok, err = c.holds(ctx, r, key)
		}
		if err != nil {
			return err
		}
		if some = some || ok; !ok {
			missing = append(missing, r)
		}
	}
	if some && len(missing) == 0 {
		return nil
	}
	return c.denied(ctx, whole, some, missing)
}

// asideKey marks the context of calls that do not belong to a statement: they are neither traced nor counted.
type asideKey struct{}

func aside(ctx context.Context) context.Context {
	return context.WithValue(context.WithValue(ctx, rpcTracerKey{}, nil), asideKey{}, true)
}

// rightsOf returns the permissions that an action on columns needs: one for each column, or for the family if col has
// no qualifiers.
func rightsOf(do action, table string, columns []*pb.Column) (out []right) {
	for _, col := range columns {
		if len(col.Qualifier) == 0 {
			out = append(out, right{action: do, table: table, family: string(col.Family)})
		}
		for _, q := range col.Qualifier {
			out = append(out, right{do, table, string(col.Family), string(q)})
		}
	}
	return out
}

// denied returns the error for missing permissions, or nil if the cluster turns out not to enforce any.
func (c *client) denied(ctx context.Context, whole right, some bool, missing []right) error {
	m, err := c.callMaster(ctx, "getSecurityCapabilities", &pb.SecurityCapabilitiesRequest{}, &pb.SecurityCapabilitiesResponse{})
	if err == nil && !slices.Contains(m.(*pb.SecurityCapabilitiesResponse).Capabilities, pb.SecurityCapabilitiesResponse_AUTHORIZATION) {
		c.rights.free.Store(true)
		return nil
	}
	who := ""
	if c.user != "" {
		who = " for user '" + c.user + "'"
	}
	if !some {
		return fmt.Errorf("%w: Insufficient permissions%s (%s)", ErrDenied, who, whole)
	}
	return fmt.Errorf("%w: Insufficient permissions%s (%s), without which HBase leaves cells out", ErrDenied, who, words.Join(missing, "; ", right.String))
}

// holds asks a server whether the user has a permission, unless it was confirmed recently.
func (c *client) holds(ctx context.Context, r right, key []byte) (bool, error) {
	if c.rights.seen(r) {
		return true, nil
	}
	_, _, err := c.send(ctx, func(ctx context.Context) (hrpc.Call, error) {
		get, err := hrpc.NewGet(ctx, []byte(r.table), key)
		return &rightCall{get, r}, err
	})
	switch {
	case err == nil:
		c.rights.granted.put(r, struct{}{})
		return true, nil
	case !aboutRights(err):
		return false, err
	case errors.Is(explain(err, "ask", r.table), ErrDenied):
		return false, nil
	}
	c.rights.free.Store(true)
	return true, nil
}

// aboutRights reports whether err is an answer of AccessController, or says that a server does not have one. A refused
// connection is neither.
func aboutRights(err error) bool {
	return errors.Is(explain(err, "ask", ""), ErrDenied) || strings.Contains(err.Error(), "UnknownProtocolException")
}

// rightCall asks AccessController for one permission, by a method that every version has. template determines the
// region and the context.
type rightCall struct {
	*hrpc.Get
	right right
}

func (r *rightCall) Name() string               { return "ExecService" }
func (r *rightCall) Description() string        { return "ExecService" }
func (r *rightCall) SkipBatch() bool            { return true }
func (r *rightCall) NewResponse() proto.Message { return &emptypb.Empty{} }

// DeserializeCellBlocks ignores its input: no server sends cells here.
func (r *rightCall) DeserializeCellBlocks(_ proto.Message, b []byte) (uint32, error) {
	return uint32(len(b)), nil
}

// Fields of HBase's CheckPermissionsRequest, of its Permission, and of the TablePermission in that.
const (
	permissionField      = 1
	permissionTypeField  = 1
	tablePermissionField = 4
	permitTableField     = 1
	permitFamilyField    = 2
	permitQualifierField = 3
	permitActionField    = 4

	tablePermission = 3 // the type of a Permission
)

func (r *rightCall) ToProto() proto.Message {
	text := func(to []byte, field protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), b)
	}
	name, _ := proto.Marshal(tableName(r.right.table)) // two texts: this cannot fail
	of := text(nil, permitTableField, name)
	if r.right.family != "" {
		of = text(of, permitFamilyField, []byte(r.right.family))
	}
	if r.right.qualifier != "" {
		of = text(of, permitQualifierField, []byte(r.right.qualifier))
	}
	of = append(of, varint(permitActionField, uint64(r.right.action))...)
	permission := text(varint(permissionTypeField, tablePermission), tablePermissionField, of)
	call := &pb.CoprocessorServiceCall{Row: append([]byte{}, r.Key()...), ServiceName: proto.String("AccessControlService"), MethodName: proto.String("CheckPermissions"),
		Request: text(nil, permissionField, permission)}
	m := &pb.CoprocessorServiceRequest{Call: call}
	if r.Region() != nil { // otherwise the server is in the same process and has no permissions
		m.Region = regionOf(r)
	}
	return m
}

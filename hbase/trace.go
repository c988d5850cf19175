package hbase

import "context"

// RPCTracer is told of each call to a server and of each repetition of one.
type RPCTracer interface {
	// TraceRPCStart is called before a call is sent. The context it returns is given to TraceRPCEnd.
	TraceRPCStart(ctx context.Context, d RPCStart) context.Context
	// TraceRPCEnd is called when the call was answered, failed or was given up.
	TraceRPCEnd(ctx context.Context, d RPCEnd)
}

// RPCStart says which call is sent.
type RPCStart struct {
	Method string // HBase's name: Scan, Get, Multi, GetTableDescriptors ...
	Table  string // "" for a call that is about none
}

// RPCEnd says how a call ended.
type RPCEnd struct{ Err error }

type rpcTracerKey struct{}

// WithRPCTracer makes t know of the calls that are sent on behalf of the context it returns. The call that
// closes a scanner goes on its own account.
func WithRPCTracer(ctx context.Context, t RPCTracer) context.Context {
	return context.WithValue(ctx, rpcTracerKey{}, t)
}

func rpcTracer(ctx context.Context) RPCTracer {
	t, _ := ctx.Value(rpcTracerKey{}).(RPCTracer)
	return t
}

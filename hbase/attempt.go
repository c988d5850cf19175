package hbase

import (
	"cmp"
	"context"
	"math"
	"sync"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"google.golang.org/protobuf/proto"
)

// abandonedWait is how long a call that opens or reads a scanner continues after its caller has gone, and then how long
// a server may take to close the scanner. A scanner that is not closed by then stays open until its lease ends, by
// default after a minute.
const abandonedWait = 15 * time.Second

// attempt is one attempt at a call. It implements the context that gohbase is given with the call, and ends when nobody
// waits for the answer any more. Package context would need seven allocations for it.
type attempt struct {
	caller context.Context
	limit  time.Duration // how long the caller waits at most
	// abandoned receives an answer that arrives after the caller has gone, within abandonedWait; nil: such an answer is
	// dropped.
	abandoned func(proto.Message)

	late bool // the limit has passed
	done chan struct{}
	err  error // why it ended; valid once done is closed
}

// noLimit is the limit of an attempt that lasts as long as its caller.
const noLimit = time.Duration(math.MaxInt64)

// newAttempt begins an attempt on behalf of caller.
func newAttempt(caller context.Context, limit time.Duration) *attempt {
	return &attempt{caller: caller, limit: limit, done: make(chan struct{})}
}

// Deadline implements context.Context. It returns false: the method end, not a deadline, ends an attempt.
func (*attempt) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context.
func (a *attempt) Done() <-chan struct{} { return a.done }

// Err implements context.Context.
func (a *attempt) Err() error {
	select {
	case <-a.done:
		return a.err
	default:
		return nil
	}
}

// Value implements context.Context.
func (a *attempt) Value(key any) any { return a.caller.Value(key) }

// end ends the call. It must be called only once.
func (a *attempt) end(why error) {
	a.err = why
	close(a.done)
}

// over reports whether the attempt has used its time, or the caller has gone.
func (a *attempt) over() bool { return a.late || a.caller.Err() != nil }

// sendOnce sends one attempt, which lasts until ctx ends. It returns at that time even if gohbase does not.
func sendOnce(ctx context.Context, rpc gohbase.RPCClient, mk call) (proto.Message, error) {
	a := newAttempt(ctx, noLimit)
	msg, err := mk(a)
	if err != nil {
		return nil, err
	}
	return a.send(rpc, msg, watch{})
}

// send sends a call whose context is a. It returns at the attempt's end even if gohbase does not, and earlier if w
// finds a reason to end the call.
func (a *attempt) send(rpc gohbase.RPCClient, msg hrpc.Call, w watch) (m proto.Message, err error) {
	if t := rpcTracer(a.caller); t != nil {
		d := RPCEnd{RPCStart: RPCStart{Method: msg.Name(), Table: string(msg.Table())}, Begin: time.Now()}
		tctx := t.TraceRPCStart(a.caller, d.RPCStart)
		defer func() {
			d.Took, d.Err = time.Since(d.Begin), err
			if err == nil {
				d.read(msg, m)
			}
			t.TraceRPCEnd(tctx, d)
		}()
	}
	if a.abandoned == nil && (a.limit <= 0 || a.caller.Err() != nil) { // else the scanner that the call goes on with would stay open
		a.late, err = a.limit <= 0, cmp.Or(a.caller.Err(), context.DeadlineExceeded)
		a.end(err)
		return nil, err
	}
	p := inboxes.Get().(*inbox)
	onSender(sending{rpc, msg, p.answer})
	answered, r := a.await(p, w)
	if answered {
		a.end(context.Canceled)
		inboxes.Put(p)
		return r.msg, r.err
	}
	if a.abandoned == nil {
		a.end(r.err)
		return nil, r.err
	}
	wait := abandonedWait
	if !a.over() { // the server accepts no connections
		wait = 0
	}
	go func() {
		t := time.AfterFunc(wait, func() { a.end(r.err) })
		late := <-p.answer
		if t.Stop() {
			a.end(r.err)
		}
		if late.err == nil {
			a.abandoned(late.msg)
		}
	}()
	return nil, r.err
}

// await waits for the answer or for the end of the attempt. If the attempt ends first, answered is false and r.err is
// the reason.
func (a *attempt) await(p *inbox, w watch) (answered bool, r reply) {
	left := a.limit
	step := w.patience(left)
	p.limit.Reset(step)
	defer p.limit.Stop()
	refused := w.begin()
	var verdict, state <-chan error
	for {
		select {
		case r = <-p.answer:
			return true, r
		case r.err = <-state:
			if r.err == nil {
				state = nil
				continue
			}
		case <-refused:
			refused, verdict = nil, w.ask(a)
			continue
		case r.err = <-verdict:
			if r.err == nil {
				refused, verdict = w.c.dialer.news(), nil
				continue
			}
		case <-p.limit.C:
			if left -= step; left > 0 {
				if state == nil {
					state = w.askState(a)
				}
				step = w.patience(left)
				p.limit.Reset(step)
				continue
			}
			a.late, r.err = true, context.DeadlineExceeded
		case <-a.caller.Done():
			r.err = a.caller.Err()
		}
		select {
		case r = <-p.answer:
			return true, r
		default:
			return false, r
		}
	}
}

// reply is the outcome of a call.
type reply struct {
	msg proto.Message
	err error
}

// inbox receives one reply; it also holds the timer of the goroutine that waits for it.
type inbox struct {
	answer chan reply
	limit  *time.Timer
}

// inboxes holds the inboxes of answered calls for reuse.
var inboxes = sync.Pool{New: func() any {
	p := &inbox{make(chan reply, 1), time.NewTimer(noLimit)}
	p.limit.Stop()
	return p
}}

// sending is a call to be sent and the inbox for its answer.
type sending struct {
	rpc  gohbase.RPCClient
	call hrpc.Call
	done chan<- reply
}

func (s sending) send() {
	m, err := s.rpc.SendRPC(s.call)
	s.done <- reply{m, err}
}

// senders are idle goroutines that have sent a call and wait for the next one. Reusing them avoids growing a new stack
// for every call.
var senders = make(chan sending)

// senderIdle is how long an idle sender waits for a call.
const senderIdle = 50 * time.Millisecond

// onSender sends s on an idle sender, or on a new one if none is idle.
func onSender(s sending) {
	select {
	case senders <- s:
		return
	default:
	}
	go sender(s)
}

// sender sends s and then the calls that it receives from senders.
func sender(s sending) {
	idle := time.NewTimer(senderIdle)
	defer idle.Stop()
	for {
		s.send()
		s = sending{} // do not keep its memory alive while idle
		idle.Reset(senderIdle)
		select {
		case s = <-senders:
		case <-idle.C:
			return
		}
	}
}

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

// abandonedWait is how long a call goes on whose answer nobody but abandoned wants, and then how long a server has to close the
// scanner. A busy one takes its time; past it the scanner stays until its lease ends, which is a minute by default.
const abandonedWait = 15 * time.Second

// attempt is one attempt at a call. It is the context that gohbase is given with the call: it ends when nobody wants the answer any
// more. The package context would make it of seven pieces of memory, as it does not know that the one who waits for the answer is there
// to end it.
type attempt struct {
	caller context.Context
	limit  time.Duration // how long the caller waits at most
	// abandoned gets an answer that comes after the caller has gone, within abandonedWait; nil: nobody wants it then.
	abandoned func(proto.Message)

	late bool // the limit has passed
	done chan struct{}
	err  error // why it ended; once done is closed
}

// noLimit is that of an attempt which lasts as long as its caller.
const noLimit = time.Duration(math.MaxInt64)

// newAttempt begins an attempt of a caller.
func newAttempt(caller context.Context, limit time.Duration) *attempt {
	return &attempt{caller: caller, limit: limit, done: make(chan struct{})}
}

// Deadline implements context.Context: it ends when it is ended.
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

// end ends the call. It is called once.
func (a *attempt) end(why error) {
	a.err = why
	close(a.done)
}

// over reports whether the attempt has had all its time, or the caller has gone.
func (a *attempt) over() bool { return a.late || a.caller.Err() != nil }

// sendOnce sends one attempt, which lasts until ctx ends. It returns then even if gohbase does not.
func sendOnce(ctx context.Context, rpc any, mk call) (proto.Message, error) {
	a := newAttempt(ctx, noLimit)
	msg, err := mk(a)
	if err != nil {
		return nil, err
	}
	return a.send(rpc, msg, watch{})
}

// send sends a call that was made with a as its context. It returns at the attempt's end even if gohbase does not, and ends when w finds
// a reason.
func (a *attempt) send(rpc any, msg hrpc.Call, w watch) (m proto.Message, err error) {
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
	onSender(sending{rpc.(gohbase.RPCClient), msg, p.answer})
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
	if !a.over() { // the server takes no connections
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

// await waits for the answer, or for the end of the attempt: then the reply says why.
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

// reply is what a call came to.
type reply struct {
	msg proto.Message
	err error
}

// inbox is where a reply goes, and the clock of who waits for it.
type inbox struct {
	answer chan reply
	limit  *time.Timer
}

// inboxes are those of calls that were answered, to be used again.
var inboxes = sync.Pool{New: func() any {
	p := &inbox{make(chan reply, 1), time.NewTimer(noLimit)}
	p.limit.Stop()
	return p
}}

// sending is a call on its way, and where its answer goes.
type sending struct {
	rpc  gohbase.RPCClient
	call hrpc.Call
	done chan<- reply
}

func (s sending) send() {
	m, err := s.rpc.SendRPC(s.call)
	s.done <- reply{m, err}
}

// senders are the goroutines that have sent a call and wait for another one, so that not every call grows a stack anew.
var senders = make(chan sending)

// senderIdle is how long they wait.
const senderIdle = 50 * time.Millisecond

// onSender sends s in one of the senders, or in a new one where none waits.
func onSender(s sending) {
	select {
	case senders <- s:
		return
	default:
	}
	go sender(s)
}

// sender sends s and what is given to it after that.
func sender(s sending) {
	idle := time.NewTimer(senderIdle)
	defer idle.Stop()
	for {
		s.send()
		s = sending{} // what it holds need not wait for the next one
		idle.Reset(senderIdle)
		select {
		case s = <-senders:
		case <-idle.C:
			return
		}
	}
}

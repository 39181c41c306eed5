//go:build wasip1

package kgo

import (
	"context"
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/host"
)

// clients are those that the submission has made in this process; client n is at
// n-1.
var clients []*Client

var (
	errNoClients  = errors.New("kgo.NewClient is not available in this exercise")
	errNoBroker   = errors.New("no seed brokers: pass the options that the function was given to kgo.NewClient")
	errEmptySeeds = errors.New("config erroneously has no seed brokers") // the real client's
	errOnlySends  = errors.New("the client of this exercise only produces")
)

// connect makes a client outside.
func connect(call abi.KafkaCall, opts []Opt) (*Client, error) {
	cl := &Client{cfg: cfg{buffer: 10_000}} // the real client's default
	for _, o := range opts {
		o.apply(&cl.cfg)
	}
	switch {
	case !host.MakesClients():
		return nil, errNoClients
	case cl.cfg.noSeeds:
		return nil, errEmptySeeds
	case !cl.cfg.seeds:
		return nil, errNoBroker
	}
	cl.id = uint64(len(clients) + 1)
	clients = append(clients, cl)
	reply := cl.call(context.Background(), abi.KafkaRequest{Call: call, Settings: cl.cfg.settings})
	if err := asError(reply.Err); err != nil {
		return nil, err
	}
	return cl, nil
}

// call lets the real client outside do something and waits until it is done. While
// it waits, other goroutines go on as time passes, and the callbacks of rebalances
// run: here, and at no other point.
func (cl *Client) call(ctx context.Context, m abi.KafkaRequest) abi.KafkaReply {
	if cl.id == 0 {
		return abi.KafkaReply{Err: abi.Error{Kind: abi.OtherError, Text: errOnlySends.Error()}}
	}
	m.Client = cl.id
	if m.At == (abi.Position{}) {
		m.At = host.Position()
	}
	m.Over = ctx.Err() != nil
	if d, ok := ctx.Deadline(); ok {
		m.Deadline = d
	}
	for {
		answer := host.Call(abi.OpKafka, func(b []byte) []byte { return abi.AppendKafkaRequest(b, m) })
		reply := answer.KafkaReply()
		if err := answer.End(); err != nil {
			return abi.KafkaReply{Err: abi.Error{Kind: abi.OtherError, Text: host.Broken(err).Error()}}
		}
		if reply.Stop {
			host.Stop()
		}
		switch reply.State {
		case abi.KafkaDone:
			if timedOut(reply) && ctx.Done() != nil && host.Ended(ctx) != nil {
				<-ctx.Done() // its timer goes off only when nothing else runs in this process
			}
			return reply
		case abi.KafkaCallback:
			called(reply)
		default:
			host.Yield(3) // timers that are due wake their goroutines, which run
		}
		m = abi.KafkaRequest{At: m.At, Client: cl.id, Call: abi.Resume, Ticket: reply.Ticket, Commit: ctx.Err() != nil}
	}
}

// timedOut says whether a call has ended because the deadline of a context has passed.
// Whoever made it may count on the context having ended, and on other goroutines having
// had that time.
func timedOut(reply abi.KafkaReply) bool {
	late := func(e abi.Error) bool { return e.Kind == abi.DeadlineExceeded || e.Name == "context.DeadlineExceeded" }
	return late(reply.Err) || slices.ContainsFunc(reply.Fetched, func(f abi.KafkaFetch) bool { return late(f.Err) })
}

// called runs the callback that a reply asks for and says that it has returned.
func called(reply abi.KafkaReply) {
	cl := clients[reply.Client-1]
	if fn := cl.cfg.called[reply.Kind]; fn != nil {
		fn(context.Background(), cl, placeMap(reply.Offsets))
	}
	done := abi.KafkaRequest{Client: cl.id, Call: abi.CallbackDone}
	host.Call(abi.OpKafka, func(b []byte) []byte { return abi.AppendKafkaRequest(b, done) })
}

// sentinels are the errors of this package that the real client gives.
func sentinels() map[string]error {
	return map[string]error{
		"ErrAborting": ErrAborting, "ErrClientClosed": ErrClientClosed, "ErrMaxBuffered": ErrMaxBuffered,
		"ErrRecordRetries": ErrRecordRetries, "ErrRecordTimeout": ErrRecordTimeout,
		"context.Canceled": context.Canceled, "context.DeadlineExceeded": context.DeadlineExceeded,
	}
}

// clientError is an error of the real client with more to say than what it wraps.
type clientError struct {
	text string
	of   []error
}

func (e *clientError) Error() string   { return e.text }
func (e *clientError) Unwrap() []error { return e.of }

func asError(e abi.Error) error {
	switch e.Kind {
	case abi.KafkaError:
		return kerr.ErrorForCode(int16(e.Code))
	case abi.ClientError:
		var of []error
		if e.Code != 0 {
			of = append(of, kerr.ErrorForCode(int16(e.Code)))
		}
		if known := sentinels()[e.Name]; known != nil {
			if known.Error() == e.Text {
				return known
			}
			of = append(of, known)
		}
		return &clientError{e.Text, of}
	default:
		return host.Error(e)
	}
}

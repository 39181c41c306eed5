//go:build wasip1

// Package withgateway starts a program whose handler is given a client of the
// payment gateway.
package withgateway

import (
	"context"
	"database/sql"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/gateway"
	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/host"
	"redeliver/grader/guest/sdk"
)

// Handler is the function of the entry "handler" with the service "gateway".
type Handler = func(context.Context, *sql.DB, gateway.Client, *kgo.Record) error

// Start is sdk.Start for such a handler.
func Start(h Handler) {
	gw := client{}
	sdk.Start(func(ctx context.Context, db *sql.DB, rec *kgo.Record) error { return h(ctx, db, gw, rec) })
	host.Offline(func(uint32) []byte {
		return abi.AppendChargeReply(nil, abi.ChargeReply{Text: "x"})
	}, func() {
		_, _ = gw.Charge(context.Background(), gateway.Request{Account: "x", Amount: 1})
	})
}

// client implements gateway.Client with calls to the grader.
type client struct{}

// Charge implements gateway.Client.
func (client) Charge(ctx context.Context, req gateway.Request) (gateway.Receipt, error) {
	if err := host.Ended(ctx); err != nil {
		return gateway.Receipt{}, err
	}
	m := abi.Charge{At: host.Position(), Account: req.Account, Amount: req.Amount, Key: req.IdempotencyKey}
	r := host.Call(abi.OpCharge, func(b []byte) []byte { return abi.AppendCharge(b, m) })
	reply := r.ChargeReply()
	if err := r.End(); err != nil {
		return gateway.Receipt{}, host.Broken(err)
	}
	switch reply.Result {
	case abi.Charged:
		return gateway.Receipt{ID: reply.Text}, nil
	case abi.KeyReused:
		return gateway.Receipt{}, gateway.ErrKeyReused
	case abi.InvalidReq:
		return gateway.Receipt{}, gateway.ErrInvalid
	default:
		return gateway.Receipt{}, noAnswer(reply.Text)
	}
}

// noAnswer is a network error: no answer came in time.
type noAnswer string

func (e noAnswer) Error() string { return string(e) }

// Timeout says, as net.Error does, that time ran out.
func (noAnswer) Timeout() bool { return true }

// Temporary is the other method of net.Error.
func (noAnswer) Temporary() bool { return true }

// Unwrap gives the error that a read past its deadline has.
func (noAnswer) Unwrap() error { return os.ErrDeadlineExceeded }

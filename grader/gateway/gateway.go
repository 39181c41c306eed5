// Package gateway is the payment gateway of one schedule: another company's
// service, which no transaction of the handler's covers and which outlives its
// instances. A charge stands from the moment it was made.
//
// # What it does not imitate
//
//   - An account always has enough money, and nothing is ever refunded.
//   - Keys are kept for the whole schedule. Real gateways forget them after a day
//     or a month.
//   - A charge takes no time, so there is no request that is still being worked on
//     when its repetition comes (status 409 of the IETF draft on the
//     Idempotency-Key header).
package gateway

import (
	"fmt"

	"redeliver/grader/guest/abi"
)

// maxField is how many bytes an account or a key may have.
const maxField = 255

// Charge is one charge that was made.
type Charge struct {
	Receipt string
	Account string
	Amount  int64  // cents
	Key     string // "" when the request had none
}

// Gateway holds the charges of a schedule. The zero value is ready.
type Gateway struct{ charges []Charge }

// Reset forgets every charge.
func (g *Gateway) Reset() { g.charges = nil }

// Charges lists the charges in the order in which they were made.
func (g *Gateway) Charges() []Charge { return g.charges }

// Answer is what a request did.
type Answer struct {
	Reply abi.ChargeReply
	// Made is the new charge, nil when nothing was charged.
	Made *Charge
	// Writes names what the request touched: "gateway", as a whole. The numbers of
	// receipts depend on the order of charges, so no two requests are independent.
	Writes []string
}

// Charge answers a request.
func (g *Gateway) Charge(req abi.Charge) Answer {
	if req.Account == "" || req.Amount <= 0 || len(req.Account) > maxField || len(req.Key) > maxField {
		return Answer{Reply: abi.ChargeReply{Result: abi.InvalidReq}}
	}
	a := Answer{Writes: []string{"gateway"}}
	for _, c := range g.charges {
		if req.Key == "" || c.Key != req.Key {
			continue
		}
		if c.Account != req.Account || c.Amount != req.Amount {
			a.Reply.Result = abi.KeyReused
			return a
		}
		a.Reply.Text = c.Receipt
		return a
	}
	made := Charge{Receipt: fmt.Sprintf("r-%d", len(g.charges)+1), Account: req.Account, Amount: req.Amount, Key: req.Key}
	g.charges = append(g.charges, made)
	a.Reply.Text, a.Made = made.Receipt, &made
	return a
}

// State describes the charges: equal states have equal futures.
func (g *Gateway) State() string {
	var b []byte
	for _, c := range g.charges {
		b = abi.AppendString(abi.AppendString(b, c.Receipt), c.Account)
		b = abi.AppendString(abi.AppendInt(b, c.Amount), c.Key)
	}
	return string(b)
}

// Text writes a request as a step of the timeline shows it.
func Text(req abi.Charge) string {
	key := "no idempotency key"
	if req.Key != "" {
		key = fmt.Sprintf("idempotency key %.80q", req.Key)
	}
	return fmt.Sprintf("Charge %.40q, %d cents, %s", req.Account, req.Amount, key)
}

// Result writes an answer.
func (a Answer) Result() string {
	switch a.Reply.Result { //nolint:exhaustive // a charge is the default
	case abi.KeyReused:
		return "error: the key was used for another charge"
	case abi.InvalidReq:
		return "error: the request is invalid"
	case abi.NoAnswer:
		return "error: " + a.Reply.Text
	}
	if a.Made == nil {
		return "receipt " + a.Reply.Text + " of the first request with this key; nothing is charged"
	}
	return "receipt " + a.Reply.Text
}

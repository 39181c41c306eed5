// Package gateway is the client of a payment gateway, an HTTP service of another
// company, as a submission sees it. The harness hands a Client to the handler.
//
// The gateway charges an account once for each idempotency key, as the IETF draft
// "The Idempotency-Key HTTP Header Field" describes: a request that repeats a key
// gets the receipt of the first one and charges nothing. A request without a key
// charges every time. The package has no network: in the sandbox a call leaves
// the process and is answered by the grader.
package gateway

import (
	"context"
	"errors"
)

// ErrKeyReused is returned when an idempotency key comes again with another
// account or amount. Nothing is charged. The draft's status for it is 422.
var ErrKeyReused = errors.New("gateway: the idempotency key was used for another charge")

// ErrInvalid is returned when a request has no account, an amount that is not
// positive, or a field of more than 255 bytes. Nothing is charged.
var ErrInvalid = errors.New("gateway: the request is invalid")

// Request asks for one charge.
type Request struct {
	Account string // at most 255 bytes
	Amount  int64  // cents, at least 1
	// IdempotencyKey makes a repetition harmless; at most 255 bytes. With "" each
	// request is a charge of its own.
	IdempotencyKey string
}

// Receipt is the gateway's answer to a charge.
type Receipt struct {
	ID string // one per charge
}

// Client charges accounts.
type Client interface {
	// Charge takes an amount from an account. Any other error than ErrKeyReused and
	// ErrInvalid leaves open whether the account was charged: the request or the
	// answer may have been lost on the way.
	Charge(ctx context.Context, req Request) (Receipt, error)
}

// Package redis stands in for github.com/redis/go-redis/v9 in a submission. The
// client is handed to the handler, so there is none to open.
package redis

import "redeliver/grader/guest/redis"

// The types of the real package that the exercises need.
type (
	Client      = redis.Client
	Cmdable     = redis.Cmdable
	Pipeliner   = redis.Pipeliner
	Cmder       = redis.Cmder
	SetArgs     = redis.SetArgs
	StatusCmd   = redis.StatusCmd
	StringCmd   = redis.StringCmd
	IntCmd      = redis.IntCmd
	BoolCmd     = redis.BoolCmd
	DurationCmd = redis.DurationCmd
	Cmd         = redis.Cmd
	Error       = redis.Error
	Scripter    = redis.Scripter
	Script      = redis.Script
)

const (
	// Nil is the error of a reply without a value: the key does not exist.
	Nil = redis.Nil
	// KeepTTL as an expiration leaves the expiry of a key as it is.
	KeepTTL = redis.KeepTTL
	// TxFailedErr is the error of a transaction that Redis did not execute.
	TxFailedErr = redis.TxFailedErr
)

// ErrNoScript is returned by EvalSha when the server does not know the script.
var ErrNoScript = redis.ErrNoScript

// NewScript returns a script; nothing is sent.
func NewScript(src string) *Script { return redis.NewScript(src) }

// HasErrorPrefix says whether err is the server's and its text begins with
// prefix.
func HasErrorPrefix(err error, prefix string) bool { return redis.HasErrorPrefix(err, prefix) }

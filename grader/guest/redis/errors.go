package redis

import (
	"errors"
	"os"
	"strings"

	"redeliver/grader/guest/redis/proto"
)

// Nil is the error of a reply without a value: the key does not exist.
const Nil = proto.RedisError("redis: nil") //nolint:errname // the name of go-redis

// KeepTTL as an expiration leaves the expiry of a key as it is.
const KeepTTL = -1

// TxFailedErr is the error of a transaction that Redis did not execute.
const TxFailedErr = proto.RedisError("redis: transaction failed") //nolint:errname // the name of go-redis

// ErrNoScript is returned by EvalSha when the server does not know the script.
var ErrNoScript = proto.RedisError("NOSCRIPT No matching script. Please use EVAL.")

// Error is an error that the server answered with, and Nil.
type Error interface {
	error

	// RedisError marks the errors of the server.
	RedisError()
}

// HasErrorPrefix says whether err is the server's and its text, without a
// leading "ERR ", begins with prefix.
func HasErrorPrefix(err error, prefix string) bool {
	var e Error
	return errors.As(err, &e) && strings.HasPrefix(strings.TrimPrefix(e.Error(), "ERR "), prefix)
}

// lost is a network error: no answer came in time.
type lost string

func (e lost) Error() string { return string(e) }

// Timeout says, as net.Error does, that time ran out.
func (lost) Timeout() bool { return true }

// Temporary is the other method of net.Error.
func (lost) Temporary() bool { return true }

// Unwrap gives the error that a read past its deadline has.
func (lost) Unwrap() error { return os.ErrDeadlineExceeded }

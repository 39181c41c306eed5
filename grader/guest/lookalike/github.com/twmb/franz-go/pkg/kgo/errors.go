package kgo

import "errors"

// Errors that a promise can be given.
var (
	ErrAborting      = errors.New("client is aborting buffered records")
	ErrClientClosed  = errors.New("client closed")
	ErrMaxBuffered   = errors.New("the maximum amount of records are buffered, cannot buffer more")
	ErrRecordRetries = errors.New("record failed after being retried too many times")
	ErrRecordTimeout = errors.New("records have timed out before they were able to be produced")
)

var (
	errNoTopic          = errors.New("cannot produce record with no topic and no default topic")
	errNotGroup         = errors.New("invalid group function call when not assigned a group")
	errNotInTransaction = errors.New("cannot produce record transactionally if not in a transaction")
)

// Package abi is the binary encoding between a submission (the guest) and the
// grader (the host). There is one import,
//
//	redeliver.call(op, inPtr, inLen, outPtr, outCap uint32) (outLen uint32)
//
// and what goes through it is uvarints, length-prefixed strings and one tag
// byte per value. No JSON: in an interpreter it would cost more than everything
// else a handler does. When outLen exceeds outCap the host has kept the reply
// and the guest asks for it with OpMore and a larger buffer.
//
// Host and guest are compiled from the same sources, so there is no version in
// the encoding. The host treats the guest's bytes as hostile: every method of
// Reader reports a short or malformed buffer through Err and never panics.
package abi

// Operations, with the request and the reply of each. Those of SQL, OpProduce,
// OpRedis and OpCharge are effects, except OpPrepare and OpCloseConn: each is a
// point at which the host may schedule another instance, crash this one, or
// answer with an error.
// OpTask, OpReturn, OpPrepare, OpMore and OpCloseConn are no effects; of the calls
// of OpKafka, which are those of a client that the submission made itself, some are.
//
// A connection is a number from 1 to MaxConns that the guest chooses. The host
// opens it when it is first mentioned, so that a fresh process pays no call for
// it, and forgets it at OpCloseConn or when the process dies.
const (
	OpTask      = 1  // –         → Task
	OpReturn    = 2  // Return    → –
	OpMore      = 3  // –         → the reply that did not fit
	OpPrepare   = 4  // Statement → Error
	OpExec      = 5  // Statement → ExecReply
	OpQuery     = 6  // Statement → QueryReply
	OpBegin     = 7  // Begin     → Error
	OpCommit    = 8  // End       → Error
	OpRollback  = 9  // End       → Error
	OpCloseConn = 10 // End       → –
	OpProduce   = 11 // Produce   → ProduceReply
	OpRedis     = 12 // RedisRequest → RedisReply
	OpCharge    = 13 // Charge    → ChargeReply
	OpKafka     = 14 // KafkaRequest → KafkaReply
)

// Limits that the host enforces; the guest's sources know them only to give
// an early and clear error.
const (
	MaxRequest = 1 << 20 // bytes of one request
	MaxReply   = 4 << 20 // bytes of one reply
	MaxConns   = 8       // connections that one instance has open at once
)

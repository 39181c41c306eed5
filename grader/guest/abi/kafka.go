package abi

import (
	"math"
	"time"
)

// KafkaCall is what a client of a submission is asked to do. Each is the call of
// the real client's method that has the name, but for the last two.
type KafkaCall byte

// The calls, with the fields of KafkaRequest that they use besides Client, At and
// Deadline, and those of KafkaReply that they are answered with.
const (
	NewClient          KafkaCall = iota // Options
	NewSession                          // Options: NewGroupTransactSession
	PollRecords                         // Max, 0 for all → Fetched
	CommitOffsets                       // Offsets, synchronously
	CommitUncommitted                   // CommitUncommittedOffsets
	CommitMarked                        // CommitMarkedOffsets
	MarkOffsets                         // Offsets
	SetOffsets                          // Offsets
	UncommittedOffsets                  // → Offsets
	CommittedOffsets                    // → Offsets
	MarkedOffsets                       // → Offsets
	PausePartitions                     // Offsets, without their offset → Offsets: all that are paused
	ResumePartitions                    // Offsets, as above
	AllowRebalance
	ForceRebalance
	LeaveGroup
	Close
	ProduceRecord // Record → Fetched, with the one record where it is in the log
	BeginTransaction
	EndTransaction // Commit
	EndSession     // Commit → Commit
	CallbackDone   // Ticket: the callback of that number has returned
	Resume         // Ticket: goes on waiting for the call of that number; with Commit, it is cancelled
	kafkaCalls
)

// KafkaOption is an option of a client. What Ints and Texts mean depends on it.
type KafkaOption byte

// The options; the names are those of package kgo.
const (
	ConsumerGroup      KafkaOption = iota // Texts: the group
	ConsumeTopics                         // Texts
	ConsumeResetOffset                    // Ints: at, relative, epoch, noReset as 0 or 1, afterMilli
	ConsumeStartOffset                    // as ConsumeResetOffset
	ConsumePartitions                     // Texts: a topic; Ints: a partition, then as ConsumeResetOffset
	DisableAutoCommit
	GreedyAutoCommit
	AutoCommitMarks
	AutoCommitInterval // Ints: nanoseconds, as are all times here
	BlockRebalanceOnPoll
	Balancers // Texts: names of package kgo
	SessionTimeout
	RebalanceTimeout
	HeartbeatInterval
	FetchIsolationLevel // Ints: 1 for read committed
	FetchMaxWait
	RequireStableFetchOffsets
	InstanceID // Texts
	TransactionalID
	TransactionTimeout
	DisableIdempotentWrite
	RequiredAcks // Ints: -1, 0 or 1
	RecordRetries
	RecordDeliveryTimeout
	ManualPartitioner
	HasAssigned // the client has the callback OnPartitionsAssigned
	HasRevoked
	HasLost
	ClientID // the ones from here on are checked, and change nothing
	ProducerLinger
	MaxBufferedRecords // the guest sees to it
	FetchMaxBytes
	FetchMaxPartitionBytes
	kafkaOptions
)

// KafkaSetting is an option with its values.
type KafkaSetting struct {
	Option KafkaOption
	Ints   []int64
	Texts  []string
}

// KafkaOffset is a place in a partition.
type KafkaOffset struct {
	Topic     string
	Partition int32
	Epoch     int32
	Offset    int64
}

// KafkaRequest is a call of a client, of those that the guest made itself.
type KafkaRequest struct {
	At       Position
	Client   uint64 // chosen by the guest, from 1
	Call     KafkaCall
	Ticket   uint64
	Max      int64
	Deadline time.Time // of the call's context, in virtual time; zero: none
	Commit   bool
	Over     bool // the call's context has ended before it
	Record   Record
	Settings []KafkaSetting
	Offsets  []KafkaOffset
}

// AppendKafkaRequest appends m.
func AppendKafkaRequest(b []byte, m KafkaRequest) []byte {
	b = AppendUint(AppendPosition(b, m.At), m.Client)
	b = AppendUint(append(b, byte(m.Call)), m.Ticket)
	b = AppendBool(AppendBool(AppendTime(AppendInt(b, m.Max), m.Deadline), m.Commit), m.Over)
	if m.Call == ProduceRecord {
		b = AppendRecord(b, m.Record)
	}
	b = AppendUint(b, uint64(len(m.Settings)))
	for _, s := range m.Settings {
		b = AppendUint(append(b, byte(s.Option)), uint64(len(s.Ints)))
		for _, n := range s.Ints {
			b = AppendInt(b, n)
		}
		b = AppendUint(b, uint64(len(s.Texts)))
		for _, t := range s.Texts {
			b = AppendString(b, t)
		}
	}
	return appendOffsets(b, m.Offsets)
}

// KafkaRequest reads what AppendKafkaRequest wrote.
func (r *Reader) KafkaRequest() KafkaRequest {
	m := KafkaRequest{At: r.Position(), Client: r.Uint(), Call: KafkaCall(r.byte()), Ticket: r.Uint()}
	if m.Call >= kafkaCalls {
		r.fail(errMalformed)
	}
	m.Max, m.Deadline, m.Commit, m.Over = r.Int(), r.Time(), r.Bool(), r.Bool()
	if m.Call == ProduceRecord {
		m.Record = r.Record()
	}
	for range r.Count() {
		s := KafkaSetting{Option: KafkaOption(r.byte())}
		if s.Option >= kafkaOptions {
			r.fail(errMalformed)
		}
		for range r.Count() {
			s.Ints = append(s.Ints, r.Int())
		}
		for range r.Count() {
			s.Texts = append(s.Texts, r.String())
		}
		m.Settings = append(m.Settings, s)
	}
	m.Offsets = r.offsets()
	return m
}

func appendOffsets(b []byte, list []KafkaOffset) []byte {
	b = AppendUint(b, uint64(len(list)))
	for _, o := range list {
		b = AppendInt(AppendInt(AppendString(b, o.Topic), int64(o.Partition)), int64(o.Epoch))
		b = AppendInt(b, o.Offset)
	}
	return b
}

func (r *Reader) offsets() (list []KafkaOffset) {
	for range r.Count() {
		list = append(list, KafkaOffset{Topic: r.String(), Partition: r.int32(), Epoch: r.int32(), Offset: r.Int()})
	}
	return list
}

func (r *Reader) int32() int32 { return int32(r.int(math.MinInt32, math.MaxInt32)) }

// KafkaState says how far a call is.
type KafkaState byte

// The states of a call.
const (
	KafkaDone     KafkaState = iota // the reply is here
	KafkaWaits                      // not yet: time has passed, and the guest's other goroutines may go on
	KafkaCallback                   // not yet: first the guest has to run a callback
	kafkaStates
)

// KafkaCallbackKind says which callback to run.
type KafkaCallbackKind byte

// The callbacks.
const (
	Assigned KafkaCallbackKind = iota
	Revoked
	Lost
	callbackKinds
)

// KafkaReply answers a KafkaRequest. The fields from Err on are those of a call
// that is done.
type KafkaReply struct {
	State  KafkaState
	Ticket uint64 // of the call, or of the callback
	// Stop says that the context of Run shall end.
	Stop bool
	// Client and Kind say which callback of which client, Offsets its partitions.
	Client uint64
	Kind   KafkaCallbackKind

	Err     Error
	Commit  bool
	Fetched []KafkaFetch
	Offsets []KafkaOffset
}

// KafkaFetch is what a poll returned of a partition.
type KafkaFetch struct {
	Topic                      string
	Partition                  int32
	Err                        Error
	High, LastStable, LogStart int64
	Records                    []KafkaRecord
}

// KafkaRecord is a record of a poll, whose topic and partition are its fetch's.
type KafkaRecord struct {
	Record Record
	Attrs  uint8
	Epoch  int32 // of the leader
}

// AppendKafkaReply appends m.
func AppendKafkaReply(b []byte, m KafkaReply) []byte {
	b = AppendBool(AppendUint(append(b, byte(m.State)), m.Ticket), m.Stop)
	b = append(AppendUint(b, m.Client), byte(m.Kind))
	b = AppendBool(AppendError(b, m.Err), m.Commit)
	b = AppendUint(b, uint64(len(m.Fetched)))
	for _, f := range m.Fetched {
		b = AppendError(AppendInt(AppendString(b, f.Topic), int64(f.Partition)), f.Err)
		b = AppendInt(AppendInt(AppendInt(b, f.High), f.LastStable), f.LogStart)
		b = AppendUint(b, uint64(len(f.Records)))
		for _, rec := range f.Records {
			b = AppendInt(append(AppendRecord(b, rec.Record), rec.Attrs), int64(rec.Epoch))
		}
	}
	return appendOffsets(b, m.Offsets)
}

// KafkaReply reads what AppendKafkaReply wrote.
func (r *Reader) KafkaReply() KafkaReply {
	m := KafkaReply{State: KafkaState(r.byte()), Ticket: r.Uint(), Stop: r.Bool(), Client: r.Uint(), Kind: KafkaCallbackKind(r.byte())}
	if m.State >= kafkaStates || m.Kind >= callbackKinds {
		r.fail(errMalformed)
	}
	m.Err, m.Commit = r.Error(), r.Bool()
	for range r.Count() {
		f := KafkaFetch{Topic: r.String(), Partition: r.int32(), Err: r.Error()}
		f.High, f.LastStable, f.LogStart = r.Int(), r.Int(), r.Int()
		for range r.Count() {
			f.Records = append(f.Records, KafkaRecord{r.Record(), r.byte(), r.int32()})
		}
		m.Fetched = append(m.Fetched, f)
	}
	m.Offsets = r.offsets()
	return m
}

// Package kgo stands in for github.com/twmb/franz-go/pkg/kgo in a submission,
// with the names and signatures of the real package for what the exercises
// need: records, a client that produces, and for the entry consumer clients that
// the submission makes itself. The real clients run outside the sandbox.
//
// What is left out: everything that names a type of package kmsg, adding and removing
// what is consumed later, regular expressions for topics, share groups, hooks and
// loggers, the formatting of records.
//
// What a client does not imitate: it sends each record as a batch of its own, in
// the order of Produce, also to different partitions, and not before the goroutine
// that produces waits for something; a record without a key goes to partition 0,
// where a real client takes a random one and stays with it for a batch; producer id
// and epoch stay 0 in every record.
//
// The callbacks of rebalances run inside the submission's next call of a client
// that waits, a poll or a commit, as they would with BlockRebalanceOnPoll; a real
// client without that option calls them at any moment. Until then the rebalance
// waits.
//
// The client that the sandbox hands to a handler does not retry, because no answer
// is lost but by the grader, whose error then stands for a client that has given up.
package kgo

import (
	"context"
	"time"
)

// RecordHeader is a key and a value that travel with a record. A key may occur
// several times.
type RecordHeader struct {
	Key   string
	Value []byte
}

// Record is one record of a topic.
type Record struct {
	// Key chooses the partition; nil when the record has none.
	Key []byte
	// Value is what the producer sent.
	Value []byte
	// Headers are in the order in which the producer set them.
	Headers []RecordHeader
	// Timestamp is when the record was produced.
	Timestamp time.Time
	// Topic and Partition say where the record was read.
	Topic     string
	Partition int32
	// Attrs says how the record was written.
	Attrs RecordAttrs
	// ProducerEpoch and ProducerID are the idempotent producer's, else 0.
	ProducerEpoch int16
	ProducerID    int64
	// LeaderEpoch is the epoch of the partition's leader at the write.
	LeaderEpoch int32
	// Offset is the record's place in its partition.
	Offset int64
	// Context may carry values along with the record.
	Context context.Context
}

// RecordAttrs says how a record was written. Records of the sandbox are not
// compressed, in no transaction, and have the producer's time.
type RecordAttrs struct{ attrs uint8 }

// Bits of RecordAttrs, as they are in Kafka's batches; noTimestamp is ours.
const (
	compressionBits = 1<<0 | 1<<1 | 1<<2
	appendTimeBit   = 1 << 3
	transactionBit  = 1 << 4
	controlBit      = 1 << 5
	noTimestampBit  = 1 << 7
)

// TimestampType is 0 for the producer's time, 1 for the broker's, -1 for none.
func (a RecordAttrs) TimestampType() int8 {
	switch {
	case a.attrs&noTimestampBit != 0:
		return -1
	case a.attrs&appendTimeBit != 0:
		return 1
	default:
		return 0
	}
}

// CompressionType is 0 for none, then gzip, snappy, lz4, zstd.
func (a RecordAttrs) CompressionType() uint8 { return a.attrs & compressionBits }

// IsTransactional reports whether the record belongs to a transaction.
func (a RecordAttrs) IsTransactional() bool { return a.attrs&transactionBit != 0 }

// IsControl reports whether the record ends a transaction and carries no data.
func (a RecordAttrs) IsControl() bool { return a.attrs&controlBit != 0 }

// StringRecord returns a record with a value.
func StringRecord(value string) *Record { return &Record{Value: []byte(value)} }

// KeyStringRecord returns a record with a key and a value.
func KeyStringRecord(key, value string) *Record {
	return &Record{Key: []byte(key), Value: []byte(value)}
}

// SliceRecord returns a record with a value, which is not copied.
func SliceRecord(value []byte) *Record { return &Record{Value: value} }

// KeySliceRecord returns a record with a key and a value, which are not copied.
func KeySliceRecord(key, value []byte) *Record { return &Record{Key: key, Value: value} }

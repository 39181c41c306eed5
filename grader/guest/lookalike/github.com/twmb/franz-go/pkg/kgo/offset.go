package kgo

import "redeliver/grader/guest/abi"

// EpochOffset is an offset to commit or to read from, with the leader epoch of
// the record before it.
type EpochOffset struct {
	Epoch  int32
	Offset int64
}

// Less says whether this one is before another.
func (e EpochOffset) Less(o EpochOffset) bool {
	ee, oe := max(e.Epoch, -1), max(o.Epoch, -1)
	return ee < oe || ee == oe && e.Offset < o.Offset
}

// Offset is where consuming starts in a partition without a committed offset.
type Offset struct {
	at, relative int64
	epoch        int32
	noReset      bool
	afterMilli   bool
}

// NewOffset returns the offset at the end.
func NewOffset() Offset { return Offset{at: -1, epoch: -1} }

// NoResetOffset returns an offset that makes a partition fail whose offset is out
// of range, instead of starting over.
func NoResetOffset() Offset { return Offset{at: -1, epoch: -1, noReset: true} }

// AtStart returns the offset at the beginning of a partition.
func (o Offset) AtStart() Offset {
	o.at, o.afterMilli = -2, false
	return o
}

// AtEnd returns the offset at the end of a partition.
func (o Offset) AtEnd() Offset {
	o.at, o.afterMilli = -1, false
	return o
}

// Relative returns the offset n after what it is.
func (o Offset) Relative(n int64) Offset {
	o.relative, o.afterMilli = n, false
	return o
}

// WithEpoch returns the offset with a leader epoch.
func (o Offset) WithEpoch(e int32) Offset {
	o.epoch, o.afterMilli = max(e, -1), false
	return o
}

// At returns exactly that offset; -2 is the start, -1 the end.
func (o Offset) At(at int64) Offset {
	o.at, o.afterMilli = max(at, -2), false
	return o
}

// AfterMilli returns the first offset after a time, in milliseconds since 1970.
func (o Offset) AfterMilli(millisec int64) Offset {
	return Offset{at: millisec, epoch: -1, noReset: o.noReset, afterMilli: true}
}

func (o Offset) ints() []int64 {
	ints := []int64{o.at, o.relative, int64(o.epoch), 0, 0}
	if o.noReset {
		ints[3] = 1
	}
	if o.afterMilli {
		ints[4] = 1
	}
	return ints
}

// byPartition lists offsets by topic and partition, in any order.
func byPartition(offsets map[string]map[int32]EpochOffset) []abi.KafkaOffset {
	var list []abi.KafkaOffset
	for topic, partitions := range offsets {
		for p, o := range partitions {
			list = append(list, abi.KafkaOffset{Topic: topic, Partition: p, Epoch: o.Epoch, Offset: o.Offset})
		}
	}
	sortOffsets(list)
	return list
}

func offsetMap(list []abi.KafkaOffset) map[string]map[int32]EpochOffset {
	if len(list) == 0 {
		return nil
	}
	offsets := map[string]map[int32]EpochOffset{}
	for _, o := range list {
		if offsets[o.Topic] == nil {
			offsets[o.Topic] = map[int32]EpochOffset{}
		}
		offsets[o.Topic][o.Partition] = EpochOffset{o.Epoch, o.Offset}
	}
	return offsets
}

// places lists partitions, without offsets.
func places(partitions map[string][]int32) []abi.KafkaOffset {
	var list []abi.KafkaOffset
	for topic, ids := range partitions {
		for _, id := range ids {
			list = append(list, abi.KafkaOffset{Topic: topic, Partition: id})
		}
	}
	sortOffsets(list)
	return list
}

func placeMap(list []abi.KafkaOffset) map[string][]int32 {
	partitions := map[string][]int32{}
	for _, o := range list {
		partitions[o.Topic] = append(partitions[o.Topic], o.Partition)
	}
	return partitions
}

// noID is the id of a topic from a broker that knows none; the sandbox passes no
// ids.
var noID [16]byte

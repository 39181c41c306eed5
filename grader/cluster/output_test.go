package cluster_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/cluster"
)

func TestOutputs(t *testing.T) {
	t.Parallel()
	topics := []cluster.Topic{{Name: "one", Partitions: 1}, {Name: "three", Partitions: 3}}
	c, err := cluster.Start(t.Context(), topics)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	o, err := c.Outputs(topics)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()

	for schedule := range 2 {
		if err := o.Reset(); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i, rec := range []*kgo.Record{
			{Topic: "one", Value: []byte("no key"), Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte("e1")}}},
			{Topic: "one", Key: []byte("k"), Value: []byte("key")},
			{Topic: "three", Key: []byte("k"), Value: []byte("a")},
			{Topic: "three", Key: []byte("k"), Value: []byte("b")},
		} {
			if rec.Partition, err = o.Partition(rec); err != nil {
				t.Fatal(err)
			}
			at, err := o.Produce(t.Context(), rec)
			if err != nil || at != int64(i%2) {
				t.Fatalf("schedule %d: %s is at offset %d: %v", schedule, rec.Value, at, err)
			}
			want = append(want, fmt.Sprintf("%s/%d %d %s", rec.Topic, rec.Partition, at, rec.Value))
		}
		records, err := o.Records(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rec := range records {
			got = append(got, fmt.Sprintf("%s/%d %d %s", rec.Topic, rec.Partition, rec.Offset, rec.Value))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("schedule %d (-produced +read):\n%s", schedule, d)
		}
	}
	if _, err := o.Partition(&kgo.Record{Topic: "two"}); !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("a topic that is no output: %v", err)
	}
}

// A record with a key goes where the real client's default sends it.
func TestOutputsPartitionAsTheClientDoes(t *testing.T) {
	t.Parallel()
	topics := []cluster.Topic{{Name: "seven", Partitions: 7}}
	c, err := cluster.Start(t.Context(), topics)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	o, err := c.Outputs(topics)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	var net kfake.VirtualNetwork
	broker, err := kfake.NewCluster(kfake.Ports(9092), kfake.ListenFn(net.Listen), kfake.SeedTopics(7, "seven"))
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	real, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...), kgo.Dialer(net.DialContext))
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	for i := range 50 {
		rec := &kgo.Record{Topic: "seven", Key: fmt.Appendf(nil, "key-%d", i)}
		got, err := o.Partition(rec)
		if err != nil {
			t.Fatal(err)
		}
		if err := real.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if got != rec.Partition {
			t.Errorf("%s: %d, the real client chose %d", rec.Key, got, rec.Partition)
		}
	}
}

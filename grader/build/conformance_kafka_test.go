package build_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	handler "redeliver/grader/build/conformance/kafka"
	"redeliver/grader/cluster"
	"redeliver/grader/guest/abi"
)

// A program that produces sees the same in the sandbox as with the real client.
func TestConformanceOfTheKafkaClient(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("conformance/kafka/programs.go")
	if err != nil {
		t.Fatal(err)
	}
	guest := loadProgram(t, buildFor(t, "handler+kafka", string(source)))
	for _, program := range handler.Programs() {
		t.Run(program.Name, func(t *testing.T) {
			t.Parallel()
			want := producedNatively(t, program.Name)
			h := newHost(t, "")
			h.outputs = outputsOf(t)
			if err := guest.deliver(h, abi.Record{Key: []byte(program.Name)}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, h.ret.Text); d != "" {
				t.Errorf("the real client (-) and the sandbox (+) differ:\n%s", d)
			}
		})
	}
}

func producedNatively(t *testing.T, name string) string {
	t.Helper()
	var net kfake.VirtualNetwork
	broker, err := kfake.NewCluster(kfake.Ports(9092), kfake.ListenFn(net.Listen), kfake.SeedTopics(1, handler.One), kfake.SeedTopics(3, handler.Three))
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...), kgo.Dialer(net.DialContext),
		kgo.MetadataMinAge(10*time.Millisecond), kgo.RetryBackoffFn(func(int) time.Duration { return time.Millisecond }))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	err = handler.Handle(t.Context(), nil, cl, &kgo.Record{Key: []byte(name)})
	if err == nil {
		t.Fatal("the program returned nil")
	}
	return err.Error()
}

func outputsOf(t *testing.T) *cluster.Outputs {
	t.Helper()
	topics := []cluster.Topic{{Name: handler.One, Partitions: 1}, {Name: handler.Three, Partitions: 3}}
	c, err := cluster.Start(t.Context(), topics)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	o, err := c.Outputs(topics)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// produce answers OpProduce from the outputs, as the grader does.
func (h *host) produce(m abi.Produce) abi.ProduceReply {
	rec := &kgo.Record{Topic: m.Record.Topic, Key: m.Record.Key, Value: m.Record.Value, Timestamp: m.Record.Timestamp}
	for _, header := range m.Record.Headers {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: header.Key, Value: header.Value})
	}
	var answer *kerr.Error
	part, err := h.outputs.Partition(rec)
	if errors.As(err, &answer) {
		return abi.ProduceReply{Err: abi.Error{Kind: abi.KafkaError, Code: int(answer.Code)}}
	}
	rec.Partition = part
	offset, err := h.outputs.Produce(h.t.Context(), rec)
	if err != nil {
		h.t.Error(err)
	}
	return abi.ProduceReply{Partition: part, Offset: offset}
}

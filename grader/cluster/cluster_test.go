package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/cluster"
)

const topic = "payments"

func setup(t testing.TB) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Start(t.Context(), []cluster.Topic{{Name: topic, Partitions: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func record(i int) *kgo.Record {
	return &kgo.Record{
		Topic: topic, Key: []byte("k"), Value: fmt.Append(nil, "v", i), Timestamp: time.UnixMilli(1_767_225_600_000),
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte("e")}},
	}
}

// A record comes again because the committed offset did not move, and no more
// once it has.
func TestRedelivery(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for i := range 2 {
		if _, err := c.Produce(t.Context(), record(i), cluster.AckArrives); err != nil {
			t.Fatal(err)
		}
	}
	g := c.Consumer("g")
	next := func() string {
		t.Helper()
		at, err := g.Committed(t.Context(), topic, 0)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := g.Fetch(t.Context(), topic, 0, max(at, 0))
		if err != nil {
			t.Fatal(err)
		}
		if rec == nil {
			return "end"
		}
		return fmt.Sprintf("%s at %d, %s", rec.Value, rec.Offset, rec.Headers[0].Key)
	}
	got := []string{next(), next()}
	if err := g.RefuseCommit(t.Context(), topic, 0, 1); err != nil {
		t.Fatal(err)
	}
	got = append(got, next())
	for i := range int64(2) {
		if err := g.Commit(t.Context(), topic, 0, i+1); err != nil {
			t.Fatal(err)
		}
		got = append(got, next())
	}
	want := []string{"v0 at 0, event-id", "v0 at 0, event-id", "v0 at 0, event-id", "v1 at 1, event-id", "end"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if at, err := c.Consumer("another").Committed(t.Context(), topic, 0); err != nil || at != -1 {
		t.Errorf("a new group stands at %d, %v; want -1", at, err)
	}
}

// The answer to a commit is lost: the offset is stored, nothing comes again.
func TestLostCommitReply(t *testing.T) {
	t.Parallel()
	g := setup(t).Consumer("g")
	if err := g.LoseCommitReply(t.Context(), topic, 0, 1); err != nil {
		t.Fatal(err)
	}
	if at, err := g.Committed(t.Context(), topic, 0); err != nil || at != 1 {
		t.Errorf("the group stands at %d, %v; want 1", at, err)
	}
}

// A member that was evicted is fenced: another one takes over, and the late
// commit of the first is refused.
func TestFencing(t *testing.T) {
	t.Parallel()
	g := setup(t).Consumer("g")
	a, err := g.Join(t.Context(), []string{topic})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.RefuseCommit(t.Context(), topic, 0, 1); err != nil {
		t.Error(err)
	}
	if err := a.Evict(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := g.Join(t.Context(), []string{topic})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context(), topic, 0, 2); err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(t.Context(), topic, 0, 1); !errors.Is(err, kerr.UnknownMemberID) {
		t.Errorf("the late commit got %v, want UNKNOWN_MEMBER_ID", err)
	}
	if err := b.LoseCommitReply(t.Context(), topic, 0, 3); err != nil {
		t.Error(err)
	}
	if at, err := g.Committed(t.Context(), topic, 0); err != nil || at != 3 {
		t.Errorf("the group stands at %d, %v; want 3", at, err)
	}
}

// A lost acknowledgement puts the record into the log twice without
// idempotence, and once with it.
func TestLostAcknowledgement(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		ack  cluster.Ack
		want []int64
	}{
		{"Arrives", cluster.AckArrives, []int64{0}},
		{"Lost", cluster.AckLost, []int64{0, 1}},
		{"LostIdempotent", cluster.AckLostIdempotent, []int64{0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := setup(t).Produce(t.Context(), record(0), tc.ack)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("offsets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingIsLeft(t *testing.T) { //nolint:paralleltest // it counts goroutines
	before := runtime.NumGoroutine()
	for range 20 {
		c, err := cluster.Start(context.Background(), []cluster.Topic{{Name: topic, Partitions: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Produce(context.Background(), record(0), cluster.AckLost); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	deadline := time.After(5 * time.Second)
	for runtime.NumGoroutine() > before {
		select {
		case <-deadline:
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		default:
			runtime.Gosched()
		}
	}
}

func BenchmarkStartAndProduce(b *testing.B) {
	for b.Loop() {
		c, err := cluster.Start(b.Context(), []cluster.Topic{{Name: topic, Partitions: 1}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Produce(b.Context(), record(0), cluster.AckLost); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

func BenchmarkRedelivery(b *testing.B) {
	c := setup(b)
	if _, err := c.Produce(b.Context(), record(0), cluster.AckArrives); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		g := c.Consumer(fmt.Sprint("g", i))
		for range 2 {
			at, err := g.Committed(b.Context(), topic, 0)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := g.Fetch(b.Context(), topic, 0, max(at, 0)); err != nil {
				b.Fatal(err)
			}
		}
		if err := g.Commit(b.Context(), topic, 0, 1); err != nil {
			b.Fatal(err)
		}
	}
}

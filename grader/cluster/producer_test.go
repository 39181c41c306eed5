package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type producerBundle struct {
	ctx context.Context
	c   *Cluster
}

func setupProducer(t *testing.T) *producerBundle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // against hanging, not slowness
	t.Cleanup(cancel)
	c, err := Start(ctx, []Topic{{Name: "in", Partitions: 1}, {Name: "out", Partitions: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &producerBundle{ctx, c}
}

func (b *producerBundle) producer(t *testing.T, o ProducerOptions) *Producer {
	t.Helper()
	p, err := b.c.Producer(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func (b *producerBundle) log(t *testing.T, topic string) []Entry {
	t.Helper()
	log, err := b.c.Log(b.ctx, topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func payment(topic, id string) *kgo.Record {
	return &kgo.Record{Topic: topic, Key: []byte(id), Value: []byte("49")}
}

// An answer that is lost on the network makes the client send again. What the log
// holds then depends on idempotence alone: acks makes no difference.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		o    ProducerOptions
		want int
	}{
		{"IdempotentIsDropped", ProducerOptions{Idempotent: true}, 2},
		{"AllAcksAreStoredTwice", ProducerOptions{}, 3},
		{"LeaderAcksAreStoredTwice", ProducerOptions{LeaderAcks: true}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := setupProducer(t)
			p := b.producer(t, tc.o)
			must(t, p.Send(b.ctx, payment("in", "p-1")))
			f, err := p.Hold(b.ctx, payment("in", "p-2"))
			must(t, err)
			if n := len(b.log(t, "in")); n != 2 {
				t.Errorf("%d records while the answer is held", n)
			}
			must(t, f.Lose(b.ctx))
			must(t, f.Deliver(b.ctx))
			log := b.log(t, "in")
			if len(log) != tc.want {
				t.Fatalf("the log: %+v", log)
			}
			sent, err := p.Requests()
			must(t, err)
			if len(sent) != 3 || sent[1].Key != "p-2" || sent[1].Sequence != sent[2].Sequence || sent[1].ProducerID != sent[2].ProducerID {
				t.Fatalf("the requests: %+v", sent)
			}
			if last := log[len(log)-1]; last.ProducerID != sent[2].ProducerID || last.Sequence != sent[2].Sequence || (last.ProducerID >= 0) != tc.o.Idempotent {
				t.Errorf("the log says %+v, the request %+v", last, sent[2])
			}
			if tc.o.Idempotent {
				id, epoch, err := p.ID(b.ctx)
				must(t, err)
				if log[0].ProducerID != id || log[0].Epoch != epoch || log[0].Sequence != 0 || log[1].Sequence != 1 {
					t.Errorf("the producer is %d/%d, the log %+v", id, epoch, log)
				}
			}
		})
	}
}

func TestClosedWithAnAnswerHeld(t *testing.T) {
	t.Parallel()
	b := setupProducer(t)
	p := b.producer(t, ProducerOptions{Idempotent: true})
	_, err := p.Hold(b.ctx, payment("in", "p-1"))
	must(t, err)
	p.Close()
	q := b.producer(t, ProducerOptions{Idempotent: true})
	must(t, q.Send(b.ctx, payment("in", "p-1")))
	log := b.log(t, "in")
	if len(log) != 2 || log[0].ProducerID == log[1].ProducerID || log[1].Sequence != 0 {
		t.Errorf("the log: %+v", log)
	}
}

func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	b := setupProducer(t)
	_, err := b.c.Producer(ProducerOptions{Idempotent: true, LeaderAcks: true})
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Text == "" {
		t.Errorf("%v", err)
	}
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	b := setupProducer(t)
	o := ProducerOptions{TransactionalID: "copier"}
	group := b.c.Consumer("copier")
	committed := func() int64 {
		at, err := group.Committed(b.ctx, "in", 0)
		must(t, err)
		return at
	}
	p := b.producer(t, o)
	write := func(p *Producer, id string, offset int64) {
		must(t, p.Begin())
		must(t, p.Send(b.ctx, payment("out", id)))
		must(t, p.AddOffset(b.ctx, o.TransactionalID, "copier", "in", 0, offset))
	}
	visible := func() (keys []string) {
		records, _, err := b.c.ReadCommitted(b.ctx, "out", 0)
		must(t, err)
		for _, r := range records {
			keys = append(keys, string(r.Key))
		}
		return keys
	}
	write(p, "r-1", 1)
	if at := committed(); at != -1 || len(visible()) != 0 || len(b.log(t, "out")) != 1 {
		t.Errorf("open: committed %d, visible %v", at, visible())
	}
	must(t, p.End(b.ctx, true))
	if at := committed(); at != 1 || len(visible()) != 1 {
		t.Errorf("committed: %d, visible %v", at, visible())
	}
	write(p, "r-2", 2)
	must(t, p.End(b.ctx, false))
	if at := committed(); at != 1 || len(visible()) != 1 {
		t.Errorf("aborted: %d, visible %v", at, visible())
	}
	write(p, "r-2", 2)
	q := b.producer(t, o)
	_, _, err := q.ID(b.ctx) // fences p and aborts what it had open
	must(t, err)
	write(q, "r-2", 2)
	// kfake takes an end by the epoch before for a repeat while nothing newer is
	// open, and answers INVALID_TXN_STATE; Kafka fences then too.
	if err := p.End(b.ctx, true); !errors.Is(err, kerr.ProducerFenced) {
		t.Errorf("the fenced producer got %v", err)
	}
	if at := committed(); at != 1 || len(visible()) != 1 {
		t.Errorf("fenced: %d, visible %v", at, visible())
	}
	must(t, q.End(b.ctx, true))
	if at := committed(); at != 2 || len(visible()) != 2 {
		t.Errorf("again: %d, visible %v", at, visible())
	}
	var controls []string
	for _, e := range b.log(t, "out") {
		if e.Control != "" {
			controls = append(controls, e.Control)
		}
	}
	if len(controls) != 4 || controls[0] != "commit" || controls[1] != "abort" || controls[2] != "abort" || controls[3] != "commit" {
		t.Errorf("markers: %v", controls)
	}
}

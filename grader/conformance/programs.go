// Package handler is a submission that makes its Kafka clients itself and uses them in
// every way that a submission may. A test runs each program with the real package kgo
// and, in the sandbox, with the one that stands in for it, and compares what they write.
//
// A program writes what a candidate could see and what the protocol determines. It does
// not write times, member ids, how a broker's answer was cut into fetches, or which of
// two members comes first where the group leaves that open.
package handler

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Topics that exist, with their partitions. There is no other.
const (
	One   = "one"   // 1
	Two   = "two"   // 2
	Three = "three" // 3
)

// Program writes down what it can see of a client.
type Program struct {
	Name string
	run  func(ctx context.Context, p *protocol)
	// Differs is why the sandbox is another one here on purpose: a sentence of
	// docs/authoring.md. It is empty where both must be the same.
	Differs string
}

// Programs lists the programs.
func Programs() []Program {
	return slices.Concat(producePrograms(), optionPrograms(), consumePrograms(), commitPrograms(), groupPrograms(), transactionPrograms())
}

// Publish runs the program that the order's id names, in the sandbox, and keeps what it
// wrote in the database.
func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error {
	text, err := Run(ctx, kafka, orderID)
	if err == nil {
		_, err = db.ExecContext(context.Background(), "INSERT INTO written (program, text) VALUES (?, ?)", orderID, text)
	}
	return err
}

// Run runs the program with a name and returns what it wrote.
func Run(ctx context.Context, kafka []kgo.Opt, name string) (string, error) {
	for _, program := range Programs() {
		if program.Name == name {
			p := &protocol{kafka: kafka}
			program.run(context.WithoutCancel(ctx), p)
			p.end()
			return p.String(), nil
		}
	}
	return "", fmt.Errorf("there is no program %q", name)
}

// protocol is what a program writes, and the clients that it has made.
type protocol struct {
	strings.Builder
	kafka   []kgo.Opt
	clients []*kgo.Client
}

func (p *protocol) say(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// client makes one that the end of the program closes.
func (p *protocol) client(opts ...kgo.Opt) *kgo.Client {
	cl, err := kgo.NewClient(slices.Concat(p.kafka, opts)...)
	if err != nil {
		panic(err)
	}
	p.clients = append(p.clients, cl)
	return cl
}

// session makes one that the end of the program closes.
func (p *protocol) session(opts ...kgo.Opt) *kgo.GroupTransactSession {
	s, err := kgo.NewGroupTransactSession(slices.Concat(p.kafka, opts)...)
	if err != nil {
		panic(err)
	}
	p.clients = append(p.clients, s.Client())
	return s
}

func (p *protocol) end() {
	for _, cl := range p.clients {
		cl.CloseAllowingRebalance()
	}
}

// member makes a client that consumes a topic in a group and commits by itself only
// when it is told to.
func (p *protocol) member(group, topic string, opts ...kgo.Opt) *kgo.Client {
	return p.client(append([]kgo.Opt{kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit()}, opts...)...)
}

// fill produces values to a partition, each record with its value as key.
func (p *protocol) fill(topic string, partition int32, values ...string) {
	cl := p.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for _, v := range values {
		rec := &kgo.Record{Topic: topic, Partition: partition, Key: []byte(v), Value: []byte(v)}
		if err := cl.ProduceSync(context.Background(), rec).FirstErr(); err != nil {
			panic(err)
		}
	}
}

// wait is how long a program waits for what must come, in virtual time.
const wait = 2 * time.Minute

// read polls until n records have come, and returns them by topic and partition.
func read(cl *kgo.Client, n int) []*kgo.Record {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	var rs []*kgo.Record
	for len(rs) < n && ctx.Err() == nil {
		rs = append(rs, cl.PollFetches(ctx).Records()...)
	}
	slices.SortStableFunc(rs, func(a, b *kgo.Record) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		return int(a.Partition - b.Partition)
	})
	return rs
}

// more polls for five seconds and returns what has come.
func more(cl *kgo.Client) []*kgo.Record {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var rs []*kgo.Record
	for ctx.Err() == nil {
		rs = append(rs, cl.PollFetches(ctx).Records()...)
	}
	return rs
}

// records writes records in their order.
func (p *protocol) records(what string, rs []*kgo.Record) {
	var texts []string
	for _, r := range rs {
		texts = append(texts, fmt.Sprintf("%s/%d/%d=%s", r.Topic, r.Partition, r.Offset, r.Value))
	}
	p.say("%s: %d [%s]", what, len(rs), strings.Join(texts, " "))
}

// failed writes an error: its text, and which errors it is.
func (p *protocol) failed(what string, err error) {
	p.say("%s: %v%s", what, err, kinds(err))
}

func kinds(err error) string {
	if err == nil {
		return ""
	}
	var is []string
	var kafka *kerr.Error
	if errors.As(err, &kafka) {
		is = append(is, fmt.Sprintf("kafka %d %s retriable %t", kafka.Code, kafka.Message, kafka.Retriable))
	}
	for _, known := range []error{
		context.Canceled, context.DeadlineExceeded, kgo.ErrAborting, kgo.ErrClientClosed, kgo.ErrMaxBuffered, kgo.ErrRecordRetries, kgo.ErrRecordTimeout,
		kerr.ProducerFenced, kerr.InvalidProducerEpoch, kerr.UnknownTopicOrPartition, kerr.MessageTooLarge, kerr.UnknownMemberID, kerr.InvalidTxnState,
	} {
		if errors.Is(err, known) {
			is = append(is, "is "+known.Error())
		}
	}
	return fmt.Sprintf(" %q", is)
}

// offsets writes offsets by topic and partition.
func (p *protocol) offsets(what string, of map[string]map[int32]kgo.EpochOffset) {
	var list []string
	for topic, partitions := range of {
		for id, o := range partitions {
			list = append(list, fmt.Sprintf("%s/%d=%d epoch %d", topic, id, o.Offset, o.Epoch))
		}
	}
	slices.Sort(list)
	p.say("%s: nil %t %v", what, of == nil, list)
}

// places writes partitions by topic.
func places(of map[string][]int32) string {
	var list []string
	for topic, ids := range of {
		for _, id := range ids {
			list = append(list, fmt.Sprintf("%s/%d", topic, id))
		}
	}
	slices.Sort(list)
	return fmt.Sprint(list)
}

// diary is what the callbacks of one member have heard.
type diary struct {
	counts bool // of partitions, instead of which
	mu     sync.Mutex
	lines  []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.lines, ", ")
}

// has waits until a line is there that begins with prefix, polling with the clients
// meanwhile, one after the other.
func (d *diary) has(prefix string, polling ...*kgo.Client) bool {
	for end := time.Now().Add(wait); time.Now().Before(end); {
		d.mu.Lock()
		found := slices.ContainsFunc(d.lines, func(line string) bool { return strings.HasPrefix(line, prefix) })
		d.mu.Unlock()
		if found {
			return true
		}
		for _, cl := range polling {
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			cl.PollFetches(ctx)
			cl.AllowRebalance()
			cancel()
		}
	}
	return false
}

// callbacks writes into the diary what a member is told.
func (d *diary) callbacks() []kgo.Opt {
	heard := func(what string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			if d.counts {
				n := 0
				for _, ids := range partitions {
					n += len(ids)
				}
				if n > 0 { // how often a cooperative group rebalances in between is chance
					d.note("%s %d", what, n)
				}
				return
			}
			d.note("%s %s", what, places(partitions))
		}
	}
	return []kgo.Opt{kgo.OnPartitionsAssigned(heard("assigned")), kgo.OnPartitionsRevoked(heard("revoked")), kgo.OnPartitionsLost(heard("lost"))}
}

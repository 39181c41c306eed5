package grader

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/cluster"
	"redeliver/grader/guest/abi"
	"redeliver/grader/invariant"
	"redeliver/grader/ledger"
	"redeliver/grader/trace"
)

// produceEffect is one record that the submission sends to a topic.
type produceEffect struct {
	at  abi.Position
	rec *kgo.Record
}

func readProduce(q request) (produceEffect, error) {
	r := abi.NewReader(q.in)
	m := r.Produce()
	if err := r.End(); err != nil {
		return produceEffect{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return produceEffect{m.At, producedRecord(m.Record)}, nil
}

// producedRecord is a record as a client sends it.
func producedRecord(m abi.Record) *kgo.Record {
	rec := &kgo.Record{Topic: m.Topic, Key: m.Key, Value: m.Value, Timestamp: m.Timestamp}
	for _, h := range m.Headers {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return rec
}

func (e produceEffect) position() abi.Position { return e.at }

func (e produceEffect) event() string { return trace.Send }

func (e produceEffect) text() string {
	var parts []string
	if e.rec.Key != nil {
		parts = append(parts, "key "+ledger.Shorten(string(e.rec.Key), 80))
	}
	for _, h := range e.rec.Headers {
		parts = append(parts, ledger.Shorten(h.Key, 40)+" "+ledger.Shorten(string(h.Value), 80))
	}
	parts = append(parts, ledger.Shorten(string(e.rec.Value), 120))
	return "Produces to " + ledger.Shorten(e.rec.Topic, 80) + ": " + strings.Join(parts, ", ")
}

func (e produceEffect) noun() string { return "the produce to " + ledger.Shorten(e.rec.Topic, 80) }

func (e produceEffect) perform(ctx context.Context, w *world, _ string) (outcome, error) {
	if w.kafka == nil {
		return e.refused(abi.Error{Kind: abi.OtherError, Text: "the exercise has no Kafka client"}), nil
	}
	return w.kafka.produce(ctx, e)
}

// fault is REQUEST_TIMED_OUT: what a client gets that has given up waiting for
// the broker's answer. It says the same whether the record was stored or not.
func (e produceEffect) fault(what string) outcome {
	out := e.refused(kafkaError(kerr.RequestTimedOut))
	out.result, out.fault = "error: "+kerr.RequestTimedOut.Message+" ("+what+")", true
	return out
}

func (produceEffect) abandon(*world, string) error { return nil }

func (produceEffect) refused(err abi.Error) outcome {
	text := err.Text
	if err.Kind == abi.KafkaError {
		text = kerr.TypedErrorForCode(int16(err.Code)).Message
	}
	return outcome{reply: abi.AppendProduceReply(nil, abi.ProduceReply{Err: err}), result: "error: " + text}
}

func kafkaError(err *kerr.Error) abi.Error {
	return abi.Error{Kind: abi.KafkaError, Code: int(err.Code)}
}

// producer is the service behind the submission's Kafka client: the outputs of
// the cluster that the schedule runs against.
type producer struct{ outputs *cluster.Outputs }

func (p *producer) reset(_ context.Context, set *recordSet) error {
	p.outputs = set.outputs
	return p.outputs.Reset()
}

func (p *producer) kill(string) error { return nil }

func (p *producer) produce(ctx context.Context, e produceEffect) (outcome, error) {
	var answer *kerr.Error
	part, err := p.outputs.Partition(e.rec)
	if errors.As(err, &answer) {
		return e.refused(kafkaError(answer)), nil
	}
	if err != nil {
		return outcome{}, err
	}
	rec := *e.rec // it may be performed again, after a wait for a lock of another system
	rec.Partition = part
	offset, err := p.outputs.Produce(ctx, &rec)
	if errors.As(err, &answer) {
		return e.refused(kafkaError(answer)), nil
	}
	if err != nil {
		return outcome{}, err
	}
	return outcome{
		reply:  abi.AppendProduceReply(nil, abi.ProduceReply{Partition: part, Offset: offset}),
		result: fmt.Sprintf("%d/%d", part, offset),
		access: ledger.Access{Writes: []string{fmt.Sprintf("topic:%s/%d", rec.Topic, part)}, Durable: true},
	}, nil
}

func (p *producer) state(ctx context.Context, w io.Writer) error {
	recs, err := p.outputs.Records(ctx)
	for _, rec := range recs {
		fmt.Fprintf(w, "%q %d %q %q %q\n", rec.Topic, rec.Partition, rec.Key, rec.Value, rec.Headers)
	}
	return err
}

func (p *producer) tables(ctx context.Context) (map[string]invariant.Table, error) {
	recs, err := p.outputs.Records(ctx)
	if err != nil {
		return nil, err
	}
	t := invariant.Table{Columns: invariant.OutputColumns()}
	for _, rec := range recs {
		headers, err := headersJSON(rec.Headers)
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, []driver.Value{rec.Topic, int64(rec.Partition), rec.Offset, rec.Key, rec.Value, headers, int64(1)})
	}
	return map[string]invariant.Table{invariant.OutputTable: t}, nil
}

// headersJSON writes headers as an object; of several with one name, the last one
// counts, as for most readers. JSON is UTF-8, so other bytes are replaced.
func headersJSON(headers []kgo.RecordHeader) (string, error) {
	object := map[string]string{}
	for _, h := range headers {
		object[strings.ToValidUTF8(h.Key, "�")] = strings.ToValidUTF8(string(h.Value), "�")
	}
	text, err := json.Marshal(object)
	return string(text), err
}

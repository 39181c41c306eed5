package grader

import (
	"context"
	"database/sql/driver"
	"io"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/invariant"
)

// clientEntry is the entry consumer: the submission polls and commits by itself.
type clientEntry struct{}

func (clientEntry) next(context.Context, *run, *lane) (*work, error) { return nil, nil } //nolint:nilnil // clientRun begins

func (clientEntry) returned(*run, *lane, *work, bool) laneState { return idle }

func (clientEntry) started(*lane) {}

func (clientEntry) settle(*run) *lane { return nil }

// output is a record that a submission's own client has produced.
type output struct {
	rec       *kgo.Record
	committed bool
}

// readOutput reads a partition as a reader that sees all records, and marks what one
// sees that reads committed ones only.
func (c *clientRun) readOutput(ctx context.Context, topic string, part int32) ([]output, error) {
	all, err := c.set.ReadAll(ctx, topic, part, false)
	if err != nil {
		return nil, err
	}
	committed, err := c.set.ReadAll(ctx, topic, part, true)
	if err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	for _, rec := range committed {
		seen[rec.Offset] = true
	}
	var rows []output
	for _, rec := range all {
		rows = append(rows, output{rec, seen[rec.Offset]})
	}
	return rows, nil
}

// producedRecords is the service that shows them to invariants.
type producedRecords struct{ rows []output }

func (p *producedRecords) reset(context.Context, *recordSet) error {
	p.rows = nil
	return nil
}

func (*producedRecords) kill(string) error { return nil }

func (*producedRecords) state(context.Context, io.Writer) error { return nil }

func (p *producedRecords) tables(context.Context) (map[string]invariant.Table, error) {
	t := invariant.Table{Columns: invariant.OutputColumns()}
	for _, o := range p.rows {
		headers, err := headersJSON(o.rec.Headers)
		if err != nil {
			return nil, err
		}
		committed := int64(0)
		if o.committed {
			committed = 1
		}
		t.Rows = append(t.Rows, []driver.Value{o.rec.Topic, int64(o.rec.Partition), o.rec.Offset, o.rec.Key, o.rec.Value, headers, committed})
	}
	return map[string]invariant.Table{invariant.OutputTable: t}, nil
}

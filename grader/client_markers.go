package grader

import (
	"context"
	"fmt"

	"redeliver/grader/guest/abi"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// extent is how far the partition of an output goes: its log, and what a reader
// with read_committed gets, the last stable offset (KIP-98).
type extent struct{ log, stable int64 }

// usesTransactions says whether a call is one of a transaction.
func usesTransactions(call abi.KafkaCall) bool {
	return call == abi.BeginTransaction || call == abi.EndTransaction || call == abi.EndSession
}

// tellMarkers tells of the markers that the broker has written to the outputs since
// it was last called, unless a client's answer is due: what a marker confirms is
// told first.
func (c *clientRun) tellMarkers(ctx context.Context) error {
	if !c.transactions {
		return nil
	}
	for _, w := range c.calls {
		if w.call.Done() {
			return nil
		}
	}
	for _, p := range c.outputPartitions() {
		if err := c.tellMarkersOf(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// outputPartitions are the partitions that the submission writes to.
func (c *clientRun) outputPartitions() (all []partition) {
	for _, t := range c.sub.exercise.Events.Outputs {
		for id := range t.Partitions {
			all = append(all, partition{t.Name, id})
		}
	}
	return all
}

func (c *clientRun) tellMarkersOf(ctx context.Context, p partition) error {
	var now extent
	var err error
	if now.log, now.stable, err = c.set.Ends(p.topic, p.id); err != nil {
		return fmt.Errorf("tell of markers: %w", err)
	}
	was := c.ends[p]
	if now == was {
		return nil
	}
	c.ends[p] = now
	entries, err := c.set.LogFrom(ctx, p.topic, p.id, was.log)
	if err != nil {
		return fmt.Errorf("tell of markers: %w", err)
	}
	for _, e := range entries {
		if e.Control != "" {
			c.rec.Add(verdict.Step{Lane: trace.Middle, Event: trace.Marker, Text: fmt.Sprintf(
				"The broker writes the %s marker at offset %d of %s. A reader with read_committed gets the records before offset %d.",
				e.Control, e.Offset, p, now.stable)})
		}
	}
	return nil
}

// tellOpen tells how much readers with read_committed do not get, because a process
// is gone that had a transaction open.
func (c *clientRun) tellOpen() error {
	if !c.transactions {
		return nil
	}
	for _, p := range c.outputPartitions() {
		log, stable, err := c.set.Ends(p.topic, p.id)
		if err != nil {
			return fmt.Errorf("tell of open transactions: %w", err)
		}
		if stable == log {
			continue
		}
		c.rec.Add(verdict.Step{Lane: trace.Middle, Event: trace.Marker, Text: fmt.Sprintf(
			"A transaction is open in %s, whose log ends at offset %d. A reader with read_committed gets the records before offset %d, until the transaction ends or times out.",
			p, log, stable)})
	}
	return nil
}

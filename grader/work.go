package grader

import (
	"fmt"
	"strings"

	"redeliver/grader/guest/abi"
)

// work is one call of a function of the submission: what an instance has in hand.
type work struct {
	task       abi.Task
	deliveries []*delivery // of the records that the function is given
	attempt    int         // how often it was tried, from 1
	allowed    int         // attempts that a deviation of the schedule excuses
	step       int         // of the timeline
	sent       bool        // it has produced a record
	changed    bool        // it has changed a row
}

// function is the name of the submission's function.
func (w *work) function() string {
	switch w.task.Kind {
	case abi.HandleBatch:
		return "HandleBatch"
	case abi.StartOffset:
		return "StartOffset"
	case abi.Relay:
		return "Relay"
	case abi.Run:
		return "Run"
	case abi.Publish:
		return "Publish"
	default:
		return "Handle"
	}
}

// end says how the deliveries ended. Run ends with a part of them committed.
func (w *work) end(how string) {
	for _, d := range w.deliveries {
		if d.passed == 0 {
			d.Ended = how
		}
	}
}

// partition is where the records come from.
func (w *work) partition() partition {
	if len(w.deliveries) == 0 {
		return partition{w.task.Topic, w.task.Partition}
	}
	return partition{w.deliveries[0].record.Topic, w.deliveries[0].record.Partition}
}

// next is the offset after the last record.
func (w *work) next() int64 { return w.deliveries[len(w.deliveries)-1].Offset + 1 }

// begins is the timeline's sentence about the call.
func (w *work) begins(instance string, set *recordSet) string {
	switch w.task.Kind {
	case abi.StartOffset:
		return fmt.Sprintf("%s is assigned %s and asks StartOffset where to begin.", instance, w.partition())
	case abi.Relay:
		return instance + " calls Relay."
	case abi.Run:
		return instance + " calls Run."
	case abi.Publish:
		if w.attempt > 1 {
			return fmt.Sprintf("%s is asked for %s again (call %d).", instance, w.task.Key, w.attempt)
		}
		return fmt.Sprintf("%s is asked to publish %s.", instance, w.task.Key)
	case abi.Handle:
		return deliverText(w.deliveries[0], set)
	default:
	}
	first, last := w.deliveries[0], w.deliveries[len(w.deliveries)-1]
	if first == last {
		return strings.TrimSuffix(deliverText(first, set), ".") + ", as a batch of one."
	}
	var names []string
	for _, d := range w.deliveries {
		if e, ok := set.events[d.eventID]; ok {
			names = append(names, nameOf(e))
		}
	}
	text := fmt.Sprintf("%s receives a batch of %d, %s offsets %d to %d, %s",
		instance, len(w.deliveries), w.partition(), first.Offset, last.Offset, strings.Join(names, ", "))
	if w.attempt > 1 {
		text += fmt.Sprintf(", again (delivery %d of the first)", first.Attempt)
	}
	return text + "."
}

// what names the call in a sentence about its repetition: the first record, or
// the function.
func (w *work) what(set *recordSet) (text, object string) {
	switch w.task.Kind {
	case abi.StartOffset:
		return "StartOffset for " + w.partition().String(), ""
	case abi.Relay:
		return "Relay", ""
	case abi.Run:
		return "Run", ""
	default:
	}
	if e, ok := set.events[w.deliveries[0].eventID]; ok {
		return nameOf(e), nameOf(e)
	}
	return fmt.Sprintf("offset %d", w.deliveries[0].Offset), ""
}

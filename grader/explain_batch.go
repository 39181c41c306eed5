package grader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// doneIn counts the records of a call for which it made a change durable.
func (e *evidence) doneIn(t *turn) int {
	n := 0
	for _, d := range t.deliveries {
		if slices.ContainsFunc(e.acts, func(a *act) bool { return a.kept > 0 && a.delivery == d }) {
			n++
		}
	}
	return n
}

// inTurn lists the calls that were made inside a call of the submission.
func (e *evidence) inTurn(t *turn) []*act {
	return slices.DeleteFunc(slices.Clone(e.acts), func(a *act) bool { return a.in.step != t.step })
}

// batches lists the calls with several records that returned nil without having
// done the record that the failure names.
func (e *evidence) passedOver() []*delivery {
	if e.entry != "batch" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.deliveries), func(d *delivery) bool {
		t := e.turnOf(d)
		return !e.about(d) || len(t.deliveries) < 2 || !e.returnedNil(d) ||
			slices.ContainsFunc(e.inTurn(t), func(a *act) bool { return a.kept > 0 && a.mentions(e.failure.object) })
	})
}

// objectOf names the record of a delivery.
func (e *evidence) objectOf(d *delivery) string { return nameOf(e.set.events[d.eventID]) }

// batchTakenForDone: one mark was found, and the whole batch counted as done.
func batchTakenForDone(e *evidence) *story {
	for _, d := range e.passedOver() {
		all := e.inTurn(e.turnOf(d))
		found := lastOf(all, func(a *act) bool { return a.refused() || a.sawSomething() })
		after := found != nil && slices.ContainsFunc(all, func(a *act) bool { return a.step > found.step && a.changes() })
		asked := slices.ContainsFunc(all, func(a *act) bool { return a.delivery == d && (a.refused() || a.sawSomething()) })
		if found == nil || after || asked {
			continue
		}
		about := ""
		if found.delivery != nil {
			about = " for " + e.objectOf(found.delivery)
		}
		t := e.turnOf(d)
		return &story{
			name: "batch taken for done", acts: []*act{found}, steps: []int{e.returnOf(d).Step}, key: keyOf(found),
			short: fmt.Sprintf("%s%s %s, and HandleBatch returned nil without having looked at %s", found.label, about, found.found(), e.objectOf(d)),
			text: sentences(fmt.Sprintf("%s received %d records as one batch, among them %s.", d.Instance, len(t.deliveries), e.objectOf(d)),
				fmt.Sprintf("%s%s %s: that one was done.", capital(found.label), about, found.found()),
				fmt.Sprintf("HandleBatch returned nil without having done %s, the offset behind the batch was committed, and the record never came again.", e.objectOf(d))),
		}
	}
	return nil
}

// restOfBatch: a call failed for one record, and nil covered it or the records
// behind it too.
func restOfBatch(e *evidence) *story {
	for _, d := range e.passedOver() {
		failed := lastOf(e.inTurn(e.turnOf(d)), func(a *act) bool { return a.failed && !a.refused() && a.verb != "ROLLBACK" })
		if failed == nil {
			continue
		}
		s := &story{
			name: "rest of the batch", acts: []*act{failed}, steps: []int{e.returnOf(d).Step}, key: keyOf(failed),
			short: fmt.Sprintf("%s answered an error, and HandleBatch returned nil all the same", failed.label),
		}
		whose := ""
		if failed.delivery != nil && failed.delivery != d {
			whose = " for " + e.objectOf(failed.delivery)
		}
		s.text = sentences(fmt.Sprintf("%s answered %q%s.", capital(failed.label), failed.errorText(), whose),
			fmt.Sprintf("HandleBatch returned nil all the same, without having done %s.", e.objectOf(d)),
			"The offset behind the batch was committed, so the record never came again.")
		return s
	}
	return nil
}

// twiceInBatch: a batch held two copies of an event, and what was asked before
// the first was done counted for both.
func twiceInBatch(e *evidence) *story {
	if e.entry != "batch" {
		return nil
	}
	first, second := e.repeated()
	if first == nil || first.in.step != second.in.step {
		return nil
	}
	var offsets []string
	for _, d := range first.in.deliveries {
		if d.eventID == first.delivery.eventID {
			offsets = append(offsets, strconv.FormatInt(d.Offset, 10))
		}
	}
	if len(offsets) < 2 {
		return nil
	}
	s := &story{
		name: "twice in a batch", acts: []*act{first, second}, key: keyOf(first, second),
		short: "the producer's copy was in the same batch, and the handler did both",
	}
	asked := "No statement between the two asks whether it was done."
	if check := lastOf(e.inTurn(first.in), func(a *act) bool { return a.asks() && a.step < first.step }); check != nil {
		s.acts = []*act{check, first, second}
		asked = fmt.Sprintf("%s asked once, before the first of the two was done, and nothing asked again.", capital(check.label))
	}
	s.text = sentences("The producer lost an acknowledgement and sent the record again.",
		fmt.Sprintf("The batch held the event twice, at the offsets %s.", strings.Join(offsets, " and ")), asked,
		fmt.Sprintf("So %s ran for both.", second.label))
	return s
}

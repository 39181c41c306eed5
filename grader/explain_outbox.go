package grader

import (
	"fmt"
	"slices"
	"strings"

	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// readSend reads a record that is produced; see produceEffect.text.
func (a *act) readSend() {
	topic, _, _ := strings.Cut(strings.TrimPrefix(a.text, "Produces to "), ": ")
	a.verb, a.table, a.label = "PRODUCE", "topic:"+topic, "the produce to "+topic
}

// sendKey is the key of a record that is produced.
func (a *act) sendKey() string { return a.sendPart("key") }

// sendPart is the key or a header of a record that is produced.
func (a *act) sendPart(name string) string {
	_, rest, _ := strings.Cut(a.text, ": ")
	for part := range strings.SplitSeq(rest, ", ") {
		if value, ok := strings.CutPrefix(part, name+" "); ok {
			return value
		}
	}
	return ""
}

// sends lists the records of the object that a handler produced or tried to, in
// their order.
func (e *evidence) sends() []*act {
	return slices.DeleteFunc(slices.Clone(e.acts), func(a *act) bool {
		return a.system != trace.Send || !a.mentions(e.failure.object)
	})
}

// aboutRow says that a call changed a row of the object, also one that is named
// by its primary key: the row's insertion says which object that is.
func (e *evidence) aboutRow(a *act) bool {
	if a.mentions(e.failure.object) {
		return true
	}
	for _, row := range a.rows {
		table, _, _ := strings.Cut(strings.TrimLeft(row, "+-"), "(")
		id := valuesOf(row)
		for _, b := range e.acts {
			for _, made := range b.rows {
				values := valuesOf(made)
				if len(id) > 0 && strings.HasPrefix(made, "+"+table+"(") && len(values) > 0 && values[0] == id[0] && slices.Contains(values, e.failure.object) {
					return true
				}
			}
		}
	}
	return false
}

// sentMark is the call of Relay that said, for good, that the object's event was
// sent.
func (e *evidence) sentMark() *act {
	return lastOf(e.acts, func(a *act) bool {
		return a.in.function == "Relay" && a.kept > 0 && (a.verb == "UPDATE" || a.verb == "DELETE") && e.aboutRow(a)
	})
}

// unsent says that no record of the object got into Kafka.
func (e *evidence) unsent() bool {
	return !slices.ContainsFunc(e.sends(), func(a *act) bool { return a.kept > 0 })
}

// markedBeforeSent: Relay wrote down that the event was sent, and did not get to
// sending it.
func markedBeforeSent(e *evidence) *story {
	mark := e.sentMark()
	if e.entry != "relay" || mark == nil || !e.unsent() {
		return nil
	}
	refused := firstOf(e.sends(), func(a *act) bool { return a.failed })
	if refused != nil && refused.step < mark.step {
		return nil
	}
	s := &story{name: "marked before sent", acts: []*act{mark}, key: keyOf(mark)}
	var end string
	switch crash := e.crashAfter(mark); {
	case refused != nil:
		s.acts = append(s.acts, refused)
		end = fmt.Sprintf("Then %s answered %q: nothing was sent.", refused.label, refused.errorText())
		s.short = fmt.Sprintf("%s had marked the event as sent when %s failed", mark.label, refused.label)
	case crash != "":
		end = crash + ": nothing was sent."
		s.short = fmt.Sprintf("%s had marked the event as sent, and %s", mark.label, lower(crash))
	default:
		end = "Nothing was sent after that."
		s.short = fmt.Sprintf("%s marked the event as sent, and nothing sent it", mark.label)
	}
	s.text = sentences(fmt.Sprintf("Relay marked the event as sent with %s, before it sent it.", mark.label), end,
		"The mark is durable, so no later call of Relay takes the event up.")
	return s
}

// crashAfter says where the process died that had made a call; "" when it did not.
func (e *evidence) crashAfter(a *act) string {
	for _, s := range e.steps {
		if s.Event == trace.Crash && s.Lane == a.lane && s.Step > a.step {
			text, _, _ := strings.Cut(s.Text, ". ")
			return strings.Replace(strings.TrimSuffix(text, "."), s.Lane+" dies", "The process died", 1)
		}
	}
	return ""
}

// diedUnheard says whether the caller did not hear of a call that had succeeded, and the
// process that had made it died after that.
func (e *evidence) diedUnheard(a *act) bool {
	unheard := slices.IndexFunc(e.effects, func(eff done) bool {
		return eff.label == callerHears && eff.fault == schedule.Fail && eff.instance == a.lane && eff.step > a.step
	})
	return unheard >= 0 && slices.ContainsFunc(e.steps, func(s verdict.Step) bool {
		return s.Event == trace.Crash && s.Lane == a.lane && s.Step > e.effects[unheard].step
	})
}

// sendRefused: the broker did not take the record, and the event counted as sent.
func sendRefused(e *evidence) *story {
	refused := firstOf(e.sends(), func(a *act) bool { return a.failed && !a.lost })
	mark := e.sentMark()
	if e.entry != "relay" || refused == nil || mark == nil || mark.step < refused.step || !e.unsent() {
		return nil
	}
	return &story{
		name: "send refused", acts: []*act{refused, mark}, key: keyOf(refused, mark),
		short: fmt.Sprintf("%s answered an error, and Relay marked the event as sent all the same", refused.label),
		text: sentences(fmt.Sprintf("%s answered %q: the broker had not stored the record.", capital(refused.label), refused.errorText()),
			fmt.Sprintf("Relay marked the event as sent all the same, with %s, so no later call takes it up.", mark.label)),
	}
}

// queueGone: what was to be sent stood in memory only, and the process died.
func queueGone(e *evidence) *story {
	asks := slices.ContainsFunc(e.acts, func(a *act) bool { return a.in.function == "Relay" && a.system == trace.SQL })
	if e.entry != "relay" || asks || !e.unsent() {
		return nil
	}
	wrote := firstOf(e.acts, func(a *act) bool { return a.kept > 0 && a.mentions(e.failure.object) })
	if wrote == nil {
		return nil
	}
	crash := e.crashAfter(wrote)
	if crash == "" {
		return nil
	}
	s := &story{
		name: "queue in memory", acts: []*act{wrote}, key: keyOf(wrote),
		short: fmt.Sprintf("%s, and what it had to send stood in its memory only", lower(crash)),
	}
	found := lastOf(e.acts, func(a *act) bool { return a.step > wrote.step && a.refused() && e.about(a.delivery) })
	again := ""
	if found != nil && len(e.keptIn(found.delivery)) == 0 {
		s.acts = append(s.acts, found)
		again = fmt.Sprintf("On redelivery %s %s, so the handler returned nil and did not make the event again.", found.label, found.found())
	}
	s.text = sentences(fmt.Sprintf("%s was durable.", capital(wrote.label)), crash+".",
		"What was to be sent stood only in the memory of that process; the next one begins with none, and no table says what is to be sent.", again)
	return s
}

// eventIDsDiffer: two records of one object carry two event ids.
func eventIDsDiffer(e *evidence) *story {
	var first, second *act
	for _, a := range e.sends() {
		switch {
		case a.kept == 0:
		case first == nil:
			first = a
		case a.sendPart("event-id") != first.sendPart("event-id") && second == nil:
			second = a
		}
	}
	if second == nil {
		return nil
	}
	one, two := first.sendPart("event-id"), second.sendPart("event-id")
	s := &story{name: "event ids differ", acts: []*act{first, second}, key: keyOf(first, second)}
	events := slices.DeleteFunc(slices.Clone(e.acts), func(a *act) bool {
		return a.kept == 0 || a.verb != "INSERT" || !slices.ContainsFunc(a.rows, func(row string) bool {
			values := valuesOf(row)
			return slices.Contains(values, one) || slices.Contains(values, two)
		})
	})
	if len(events) > 1 && e.deliveryOf(events[0]) != nil && e.deliveryOf(events[1]) != nil {
		s.acts = []*act{events[0], events[1], second}
		s.short = fmt.Sprintf("%s wrote a second event when the record came again", events[1].label)
		s.text = sentences(e.again(e.deliveryOf(events[0]), e.deliveryOf(events[1])),
			fmt.Sprintf("%s wrote an event with the id %s the first time, and one with the id %s the second time.", capital(events[1].label), one, two),
			"Both were sent, and a consumer that looks at the ids takes them for two events.")
		return s
	}
	why := "The record was sent twice."
	made := "the id is made for each sending"
	if e.diedUnheard(first) {
		// Two faults: the lost answer is why the event was asked for once more, and the
		// death is why the second call did not find the id of the first.
		why = "The answer did not reach the caller, who called again; but then the process died, and what it had kept in memory was gone, so a new process sent it again."
		made = "the first id lived no longer than its process"
	} else if crash := e.crashAfter(first); crash != "" {
		why = crash + ", so it was sent again."
	} else if cause := causeOf(e.result); cause != "" {
		why = capital(cause) + ", so it was sent again."
	}
	if first.lost {
		why = fmt.Sprintf("%s took place, but its answer was lost, so it was sent again.", capital(first.label))
	}
	if e.schedule.Has(schedule.Rebalance) && steadyLane(first.lane) != steadyLane(second.lane) {
		why = fmt.Sprintf("%s and %s both sent it.", first.lane, second.lane)
	}
	s.short = fmt.Sprintf("%s, with another event id", lower(strings.TrimSuffix(why, ".")))
	s.text = sentences(why, fmt.Sprintf("The first record has the event id %s, the second %s: %s.", one, two, made),
		"A consumer that looks at the ids takes them for two events.")
	return s
}

package grader

import (
	"fmt"
	"slices"
	"strings"

	"redeliver/grader/schedule"
	"redeliver/grader/trace"
)

// lostUpdate: one instance read a value, the other changed it, and the first
// wrote what it had computed from the old value.
func lostUpdate(e *evidence) *story {
	for _, read := range e.acts {
		if !read.asks() || read.answer == "" {
			continue
		}
		theirs := firstOf(e.acts, func(w *act) bool {
			from, _ := changeOf(w)
			return w.kept > read.step && w.lane != read.lane && w.table == read.table && read.answer == from
		})
		if theirs == nil {
			continue
		}
		_, now := changeOf(theirs)
		mine := firstOf(e.acts, func(w *act) bool {
			from, to := changeOf(w)
			return w.kept > 0 && w.step > theirs.step && w.lane == read.lane && w.table == read.table && from == now && setsTo(w.text, to)
		})
		if mine == nil {
			continue
		}
		_, last := changeOf(mine)
		return &story{
			name: "lost update", acts: []*act{read, theirs, mine}, key: keyOf(read, mine),
			short: fmt.Sprintf("%s read the value before %s changed it, and wrote over the change", read.lane, theirs.lane),
			text: fmt.Sprintf("%s read %s with %s. %s wrote %s with %s. %s, which still counted on %s, wrote %s with %s: the change of %s vanished.",
				read.lane, read.answer, read.label, theirs.lane, now, theirs.label, read.lane, read.answer, last, mine.label, theirs.lane),
		}
	}
	return nil
}

// changeOf reads the one column that an UPDATE of one row changed.
func changeOf(a *act) (from, to string) {
	if a.verb != "UPDATE" || len(a.rows) != 1 {
		return "", ""
	}
	_, change, ok := strings.Cut(a.rows[0], "): ")
	if !ok || strings.Contains(change, ", ") {
		return "", ""
	}
	_, change, _ = strings.Cut(change, " ")
	from, to, _ = strings.Cut(change, " → ")
	return from, to
}

// setsTo says that a statement names the new value itself: it does not compute
// it from what is in the row.
func setsTo(text, value string) bool {
	return value != "" && (strings.Contains(text, "= "+value+" ") || strings.Contains(text, "="+value+" "))
}

// neverCommitted: Handle returned nil, and its transaction ended without COMMIT or
// is open still.
func neverCommitted(e *evidence) *story {
	for _, d := range e.deliveries {
		if !e.about(d) || !e.returnedNil(d) || len(e.keptIn(d)) > 0 {
			continue
		}
		write := firstOf(e.of(d), func(a *act) bool { return a.changes() && a.mentions(e.failure.object) })
		if write == nil { // the row need not name the object
			write = firstOf(e.of(d), func(a *act) bool { return a.changes() && a.system == trace.SQL })
		}
		bad := firstOf(e.of(d), func(a *act) bool { return a.failed || a.verb == "COMMIT" })
		if write == nil || bad != nil {
			continue
		}
		ret := e.returnOf(d)
		s := &story{name: "never committed", acts: []*act{write}, steps: []int{ret.Step}, key: keyOf(write)}
		end := e.function() + " returned nil without a COMMIT"
		s.short = end
		if back := firstOf(e.of(d), func(a *act) bool { return a.verb == "ROLLBACK" && a.step > write.step }); back != nil {
			s.acts = append(s.acts, back)
			end = fmt.Sprintf("No COMMIT followed; %s took the change back, and %s returned nil", back.label, e.function())
		} else if strings.Contains(ret.Text, "transaction is still open") {
			end = e.function() + " returned nil while the transaction was still open"
		}
		s.text = sentences(fmt.Sprintf("%s changed a row inside a transaction.", write.label), end+".",
			"So "+e.wentOn("the change was not, and ")+".")
		return s
	}
	return nil
}

// wentOn says what follows from nil, with a remark in the middle.
func (e *evidence) wentOn(remark string) string {
	first, second := "the offset was committed", "the record never came again"
	switch e.entry {
	case "offsets":
		first, second = "the consumer went on to the next record", "this one never came again"
	case "batch":
		first = "the offset behind the batch was committed"
	}
	if remark == "" {
		return first + " and " + second
	}
	return first + ", " + remark + second
}

// passedOn says that nothing brings a delivery's record again.
func (d *delivery) passedOn() bool {
	return strings.HasPrefix(d.Ended, "committed") || d.Ended == "handled"
}

// errorSwallowed: a call answered an error, Handle returned nil, and the record
// never came again.
func errorSwallowed(e *evidence) *story {
	for _, d := range e.deliveries {
		if !e.about(d) || !e.returnedNil(d) || !d.passedOn() {
			continue
		}
		failed := firstOf(e.of(d), func(a *act) bool { return a.failed && !a.refused() && a.verb != "ROLLBACK" })
		if failed == nil {
			continue
		}
		took := ""
		if failed.lost {
			took = " although it had taken place"
		}
		s := &story{
			name: "error swallowed", acts: []*act{failed}, steps: []int{e.returnOf(d).Step}, key: keyOf(failed),
			short: failed.label + " answered an error and the handler returned nil all the same, so the record never came again",
			text: sentences(fmt.Sprintf("%s answered %q%s.", capital(failed.label), failed.errorText(), took), noRefusal(failed),
				"The handler returned nil all the same, so "+e.wentOn("")+"."),
		}
		next := firstOf(e.keptIn(d), func(a *act) bool { return a.kept > failed.step })
		if next != nil {
			s.acts = append(s.acts, next)
			if next.step > failed.step {
				s.text = sentences(fmt.Sprintf("%s answered %q%s, and the handler went on.", capital(failed.label), failed.errorText(), took), noRefusal(failed),
					fmt.Sprintf("%s became durable, %s returned nil, %s.", capital(next.label), e.function(), e.wentOn("and ")))
			}
		}
		if failed.busy() {
			s.text = sentences(s.text, "The error means that another connection held the lock: the call had changed nothing.")
		}
		return s
	}
	return nil
}

// takenForDone: a delivery found a mark and returned nil, although the work of
// the event was not done.
func takenForDone(e *evidence) *story {
	for _, d := range e.deliveries {
		if !e.about(d) || !e.returnedNil(d) && d.passed == 0 {
			continue
		}
		found := lastOf(e.of(d), func(a *act) bool { return a.refused() || a.sawSomething() })
		if found == nil || firstOf(e.keptIn(d), func(a *act) bool { return a != found }) != nil {
			continue // an INCR that finds its key there counts on
		}
		return e.skipped(d, found)
	}
	return nil
}

// skipped tells who had left the mark that delivery d found.
func (e *evidence) skipped(d *delivery, found *act) *story {
	var mark *act
	var o *delivery // the one that left it; of a batch, the call alone need not tell which
	for _, other := range e.deliveries {
		if other == d || other.eventID != d.eventID {
			continue
		}
		if w := writes(e.keptIn(other), found.table); w != nil && w.kept < found.step {
			mark, o = w, other
		}
	}
	s := &story{name: "marker first", key: keyOf(found)}
	if mark == nil {
		return e.mistaken(d, found)
	}
	if e.takenBack(o) != nil {
		return nil
	}
	s.acts = []*act{mark, found}
	var end string
	switch {
	case strings.HasPrefix(o.Ended, "crashed") && o.Attempt < d.Attempt && steadyLane(o.Instance) == steadyLane(d.Instance):
		end = e.death(o) + "."
	case steadyLane(o.Instance) != steadyLane(d.Instance):
		s.short = fmt.Sprintf("%s took the record for done when %s had only left the mark", d.Instance, o.Instance)
		s.text = sentences(fmt.Sprintf("%s had committed %s, but not the rest of the work.", o.Instance, mark.label),
			fmt.Sprintf("%s asked with %s, which %s: it took the record for done%s.", d.Instance, found.label, found.found(), e.andReturnedNil(d)),
			e.unfinished(o))
		return s
	case o.Ended == "returned an error":
		end = fmt.Sprintf("%s was durable when %s returned an error.", capital(mark.label), e.function())
		if mark.lost {
			end = fmt.Sprintf("%s took place, but its answer was lost, and %s returned an error.", capital(mark.label), e.function())
		}
	default:
		return nil
	}
	s.short = lower(strings.TrimSuffix(end, ".")) + "; " + again(e.result) + " found the mark and skipped the work"
	s.text = sentences(end, e.leftBehind(o, mark, strings.Contains(end, mark.label)),
		fmt.Sprintf("%s %s %s, so the work was skipped for ever.", onceMore(e.result), found.label, found.found()))
	return s
}

// andReturnedNil is the end of a sentence about a delivery that found a mark.
func (e *evidence) andReturnedNil(d *delivery) string {
	if e.returnedNil(d) {
		return " and returned nil"
	}
	return ""
}

// leftBehind says what of a delivery was durable: its mark, and not the rest. named
// says that the sentence before has named the mark.
func (e *evidence) leftBehind(d *delivery, mark *act, named bool) string {
	rest := "the rest of the work was not"
	if mark.system == trace.Redis {
		rest = "the rest of the work was not durable"
	}
	if charge := firstOf(e.keptIn(d), func(a *act) bool { return a.system == trace.Charge }); charge != nil {
		rest = "and the charge was made; what comes after it was not done"
	}
	switch {
	case mark.system == trace.Redis && named:
		return fmt.Sprintf("Redis kept its key, %s: Redis knows nothing of a transaction in the database.", rest)
	case mark.system == trace.Redis:
		return fmt.Sprintf("Redis kept the key that %s had set, %s.", mark.label, rest)
	case named:
		return fmt.Sprintf("Its row was durable, %s.", rest)
	default:
		return fmt.Sprintf("The row that %s had written was durable, %s.", mark.label, rest)
	}
}

// unfinished says how the delivery ended that had left the mark.
func (e *evidence) unfinished(d *delivery) string {
	switch {
	case strings.HasPrefix(d.Ended, "crashed"):
		return capital(d.Instance) + " then " + strings.Replace(d.Ended, "crashed", "died", 1) + "."
	case d.Ended == "returned an error":
		failed := lastOf(e.of(d), func(a *act) bool { return a.failed && a.verb != "ROLLBACK" })
		if failed == nil {
			return d.Instance + " then returned an error."
		}
		return fmt.Sprintf("%s then got an error from %s and returned it, but the offset was already committed.", d.Instance, failed.label)
	default:
		return ""
	}
}

// mistaken: the mark that was found was left by no delivery of this event.
func (e *evidence) mistaken(d *delivery, found *act) *story {
	if d.Attempt > 1 {
		return nil
	}
	if s := e.rowKept(d, found); s != nil {
		return s
	}
	for _, o := range e.deliveries {
		if o == d || o.eventID == d.eventID || e.objectOf(o) == e.objectOf(d) {
			continue
		}
		mark := writes(e.keptIn(o), found.table)
		if mark == nil || mark.kept > found.step {
			continue
		}
		other := nameOf(e.set.events[o.eventID])
		return &story{
			name: "mistaken for another", acts: []*act{mark, found}, key: keyOf(found),
			short: fmt.Sprintf("%s took its record for one that had been handled, because of another record's mark", d.Instance),
			text: sentences(fmt.Sprintf("The record of %s came for the first time.", nameOf(e.set.events[d.eventID])),
				fmt.Sprintf("%s %s, so the handler returned nil without doing the work.", found.label, found.found()),
				e.writtenForAnother(mark, other)),
		}
	}
	return nil
}

// rowKept: an earlier event of the same object had written the row, and the
// handler left it as it was.
func (e *evidence) rowKept(d *delivery, found *act) *story {
	for _, o := range slices.Backward(e.deliveries) {
		wrote := writes(e.keptIn(o), found.table)
		if o.eventID == d.eventID || e.objectOf(o) != e.objectOf(d) || wrote == nil || wrote.kept > found.step {
			continue
		}
		return &story{
			name: "row kept", acts: []*act{wrote, found}, key: keyOf(wrote, found),
			short: fmt.Sprintf("for the record at offset %d %s %s, so the handler returned nil and left the row as it was", d.Offset, found.label, found.found()),
			text: sentences(fmt.Sprintf("%s had written the row of %s for the record at offset %d.", capital(wrote.label), e.objectOf(d), o.Offset),
				fmt.Sprintf("For the record at offset %d, another event of %s, %s %s.", d.Offset, e.objectOf(d), found.label, found.found()),
				"The handler returned nil and left the row as it was, so the offset was committed and the event never came again."),
		}
	}
	return nil
}

// rememberedAsDone: a delivery failed, and the next one to the same process did
// nothing at all. What tells the handler that the work was done is in its memory.
func rememberedAsDone(e *evidence) *story {
	for _, d := range e.deliveries {
		if !e.about(d) || d.Attempt == 1 || !e.returnedNil(d) || !d.passedOn() || len(e.of(d)) > 0 {
			continue
		}
		for _, o := range slices.Backward(e.deliveries) {
			failed := lastOf(e.of(o), func(a *act) bool { return a.failed && !a.lost && a.verb != "ROLLBACK" })
			if o.eventID != d.eventID || o.Instance != d.Instance || o.Attempt >= d.Attempt || failed == nil || len(e.keptIn(o)) > 0 {
				continue
			}
			return &story{
				name: "remembered as done", acts: []*act{failed}, steps: []int{e.returnOf(d).Step}, key: keyOf(failed),
				short: fmt.Sprintf("%s failed and nothing was done, but %s remembered the record as done and made no call on redelivery", failed.label, d.Instance),
				text: sentences(fmt.Sprintf("%s answered %q, and nothing of the work was done.", capital(failed.label), failed.errorText()), e.again(o, d),
					fmt.Sprintf("This time %s made no call at all and returned nil: something that the process %s keeps in memory said that the record was done.", e.function(), d.Instance),
					capital(e.wentOn(""))+"."),
			}
		}
	}
	return nil
}

// nothingWritten: the function returned nil for a record, and nothing of what it
// did is durable.
func nothingWritten(e *evidence) *story {
	for _, d := range e.deliveries {
		if !e.about(d) || !e.returnedNil(d) || !d.passedOn() || len(e.keptIn(d)) > 0 || d.Attempt > 1 {
			continue
		}
		if firstOf(e.of(d), func(a *act) bool { return a.failed || a.changes() || a.refused() || a.sawSomething() }) != nil {
			continue
		}
		did := "made no call at all"
		s := &story{name: "nothing written", steps: []int{e.returnOf(d).Step}, key: "nothing"}
		if last := lastOf(e.of(d), func(*act) bool { return true }); last != nil {
			s.acts, s.key = []*act{last}, keyOf(last)
			did = fmt.Sprintf("wrote nothing; the last call was %s%s", last.label, last.which())
		}
		s.short = fmt.Sprintf("%s returned nil for the record at offset %d and wrote nothing", e.function(), d.Offset)
		s.text = sentences(fmt.Sprintf("For the record of %s at offset %d the handler %s.", e.objectOf(d), d.Offset, did),
			fmt.Sprintf("%s returned nil, so %s.", e.function(), e.wentOn("")))
		return s
	}
	return nil
}

func (e *evidence) writtenForAnother(mark *act, other string) string {
	if mark.system == trace.Redis {
		return fmt.Sprintf("That key was set by %s for %s.", mark.label, other)
	}
	return fmt.Sprintf("Of the rows there, the one from %s was written for %s.", mark.label, other)
}

// takenBack finds a delete of the object's row that another delivery of the event
// made durable after delivery d had written it.
func (e *evidence) takenBack(d *delivery) *act {
	return lastOf(e.acts, func(a *act) bool {
		return a.kept > 0 && a.delivery != nil && a.delivery != d && a.delivery.eventID == d.eventID && a.removes(e.failure.object)
	})
}

// removes says that the call deleted a row that has the object as a value.
func (a *act) removes(object string) bool {
	return slices.ContainsFunc(a.rows, func(row string) bool {
		return strings.HasPrefix(row, "-") && slices.Contains(valuesOf(row), object)
	})
}

// removed: a row of the object was written and deleted again, for good.
func removed(e *evidence) *story {
	back := lastOf(e.acts, func(a *act) bool {
		return a.kept > 0 && a.delivery != nil && a.verb == "DELETE" && a.removes(e.failure.object)
	})
	if back == nil || e.schedule.Set == schedule.Two {
		return nil
	}
	again := firstOf(e.acts, func(a *act) bool {
		return a.step > back.step && a.kept > 0 && a.table == back.table && a.mentions(e.failure.object)
	})
	wrote := firstOf(e.acts, func(a *act) bool {
		return a.step < back.step && a.kept > 0 && a.table == back.table && a.verb == "INSERT" && a.mentions(e.failure.object)
	})
	if again != nil || wrote == nil {
		return nil
	}
	s := &story{
		name: "removed", acts: []*act{wrote, back}, key: keyOf(wrote, back),
		short: fmt.Sprintf("%s deleted the row with %s, and nothing wrote it again", back.lane, back.label),
	}
	rest := "Nothing wrote it again."
	found := lastOf(e.acts, func(a *act) bool {
		return a.step > back.step && (a.sawSomething() || a.refused()) && e.about(a.delivery)
	})
	if found != nil && found.delivery != back.delivery && len(e.keptIn(found.delivery)) == 0 && e.returnedNil(found.delivery) {
		s.acts = append(s.acts, found)
		rest = fmt.Sprintf("Nothing wrote it again: %s %s, so %s took the record for done.", found.label, found.found(), found.lane)
	}
	s.text = sentences(capital(causeOf(e.result))+".", fmt.Sprintf("%s had written a row with %s; %s deleted it with %s.", wrote.lane, wrote.label, back.lane, back.label), rest)
	return s
}

// doneTwice: a call that takes something back, as a refund does, was made durable
// twice for one event.
func doneTwice(e *evidence) *story {
	for i, b := range e.acts {
		a := firstOf(e.acts[:i], func(a *act) bool {
			return a.kept > 0 && a.label == b.label && a.changes() && a.mentions(e.failure.object) &&
				a.delivery != nil && b.delivery != nil && a.delivery.eventID == b.delivery.eventID
		})
		cause := causeOf(e.result)
		if b.kept == 0 || !b.mentions(e.failure.object) || a == nil || cause == "" {
			continue
		}
		return &story{
			name: "done twice", acts: []*act{a, b}, key: keyOf(a),
			short: fmt.Sprintf("%s became durable twice, first by %s and then by %s", a.label, a.lane, b.lane),
			text:  sentences(capital(cause)+".", fmt.Sprintf("%s became durable twice for this record: by %s, and again by %s.", a.label, a.lane, b.lane)),
		}
	}
	return nil
}

// undone: a later call of the handler took back what had been done.
func undone(e *evidence) *story {
	for _, back := range e.acts {
		if back.kept == 0 || !back.mentions(e.failure.object) || back.delivery == nil {
			continue
		}
		lost := lastOf(e.of(back.delivery), func(a *act) bool { return a.failed && a.step < back.step && (a.verb == "COMMIT" || a.lost) })
		if lost == nil || len(e.of(back.delivery)) == 0 {
			continue
		}
		what := "nothing of it was done"
		if lost.lost {
			what = "it took place, but its answer was lost"
		}
		return &story{
			name: "undone", acts: []*act{lost, back}, key: keyOf(lost, back),
			short: fmt.Sprintf("%s answered an error, and the handler then did %s", lost.label, back.label),
			text: sentences(fmt.Sprintf("%s answered an error; %s.", lost.label, what),
				fmt.Sprintf("After the error the handler did %s, which became durable.", back.label)),
		}
	}
	return nil
}

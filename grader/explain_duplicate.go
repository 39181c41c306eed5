package grader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redeliver/grader/trace"
)

// checkThenAct: one instance asked, the other committed what was asked for, and
// the first acted on its old answer. It also tells of the race of an instance
// that commits the effect before the mark that the other one looks for.
func checkThenAct(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || !e.together() || steadyLane(first.lane) == steadyLane(second.lane) {
		return nil
	}
	check := lastOf(e.of(second.delivery), func(a *act) bool { return a.sawNothing() && a.step < second.step })
	if check == nil {
		return nil
	}
	a, b := second.lane, first.lane
	s := &story{name: "check-then-act", acts: []*act{check, first, second}, key: keyOf(check, second)}
	if check.step < first.kept {
		saw := fmt.Sprintf("%s asked with %s, which %s.", a, check.label, check.found())
		meanwhile := fmt.Sprintf("After that, %s committed %s.", b, first.label)
		if mark := e.markAfter(first, check); mark != nil && mark.system == trace.Redis {
			meanwhile = fmt.Sprintf("After that, %s did %s and %s.", b, first.label, mark.label)
		} else if mark != nil {
			meanwhile = fmt.Sprintf("After that, %s committed %s and %s.", b, mark.label, first.label)
		}
		s.short = fmt.Sprintf("%s had asked with %s before %s committed, and acted on its old answer", a, check.label, b)
		asleep := ""
		if e.entry == consumerEntry {
			asleep = capital(causeOf(e.result)) + "."
		}
		s.text = sentences(asleep, saw, meanwhile, fmt.Sprintf("%s acted on its old answer: %s.", a, second.label), nothingForbade(second))
		return s
	}
	mark := e.missingMark(first, check.table)
	if mark == nil || mark.step < check.step {
		return nil
	}
	s.name, s.acts = "effect before mark", []*act{first, check, second}
	s.short = fmt.Sprintf("%s had committed %s and not yet %s, so %s did it too", b, first.label, mark.label, a)
	s.text = sentences(
		fmt.Sprintf("%s had committed %s, but not yet %s.", b, first.label, mark.label),
		fmt.Sprintf("In between, %s asked with %s, which %s, and went on to %s.", a, check.label, check.found(), second.label),
		nothingForbade(second))
	return s
}

func nothingForbade(second *act) string {
	switch second.verb {
	case "CHARGE":
		return "Nothing told the gateway that it was the same charge."
	case "INSERT":
		return "Nothing in the database forbade the second row."
	default:
		return "Nothing in the database stopped the second change."
	}
}

// markAfter is what the delivery of an effect wrote, for good and after a
// question, into the table that the question was about.
func (e *evidence) markAfter(effect, check *act) *act {
	if check.table == effect.table {
		return nil
	}
	return firstOf(e.keptIn(effect.delivery), func(a *act) bool {
		return a.kept > check.step && a.table == check.table && a.changes()
	})
}

// missingMark is a write to a table that was not yet durable when the effect was.
func (e *evidence) missingMark(effect *act, table string) *act {
	if table == effect.table {
		return nil
	}
	return firstOf(e.of(effect.delivery), func(a *act) bool {
		return a.table == table && a.changes() && (a.kept == 0 || a.kept > effect.kept)
	})
}

// ambiguousAnswer: a COMMIT or a write took place, its answer was lost, and the
// handler took it for failed.
func ambiguousAnswer(e *evidence) *story {
	first, second := e.repeated()
	if first == nil {
		return nil
	}
	lost := firstOf(e.of(first.delivery), func(a *act) bool { return a.lost && a.step >= first.step && a.step < second.step })
	if lost == nil || lost.step != first.kept {
		return nil
	}
	s := &story{name: "ambiguous answer", acts: []*act{first, lost, second}, key: keyOf(lost, second)}
	did := "the handler took it for failed"
	next := fmt.Sprintf("In the same delivery it did %s again.", second.label)
	if second.label != first.label {
		next = fmt.Sprintf("In the same delivery it went on with %s.", second.label)
	}
	if second.delivery != first.delivery {
		did = "the handler saw an error"
		next = fmt.Sprintf("On %s %s ran again.", second.delivery.name(), second.label)
		if check := e.emptyCheck(second); check != nil {
			next = fmt.Sprintf("On %s %s %s, so %s ran again.", second.delivery.name(), check.label, check.found(), second.label)
			s.acts = []*act{lost, check, second}
		}
	}
	s.short = fmt.Sprintf("%s took place, its answer was lost, and the work was done again", lost.label)
	s.text = sentences(fmt.Sprintf("%s took place, but its answer was lost and %s.", lost.label, did), next)
	return s
}

// emptyCheck is the last question before an effect, in its delivery, that found
// nothing.
func (e *evidence) emptyCheck(effect *act) *act {
	return lastOf(e.of(effect.delivery), func(a *act) bool { return a.sawNothing() && a.step < effect.step })
}

// expiredKey: the mark was there and no longer counts after the clock moved.
func expiredKey(e *evidence) *story {
	if !e.schedule.Jumps() {
		return nil
	}
	first, second := e.repeated()
	if first == nil || first.delivery == second.delivery {
		return nil
	}
	before := strings.TrimSuffix(strings.TrimPrefix(e.passed(), ", "), " later")
	if mark, gone := e.deletedMark(first, second); gone != nil {
		return &story{
			name: "expired key", acts: []*act{mark, gone, second}, key: keyOf(gone, second),
			short: fmt.Sprintf("%s passed, the handler deleted its mark with %s, and the record came again", before, gone.label),
			text: sentences(fmt.Sprintf("%s passed between two deliveries of the record.", capital(before)),
				fmt.Sprintf("The mark that %s had left was deleted by %s.", mark.label, gone.label),
				fmt.Sprintf("After that nothing said that the record was done, and %s ran again.", second.label)),
		}
	}
	check := e.emptyCheck(second)
	for _, mark := range e.marksOf(first) {
		if check != nil && check.table == mark.table {
			return &story{
				name: "expired key", acts: []*act{mark, check, second}, key: keyOf(check, second),
				short: fmt.Sprintf("%s passed, and %s no longer found the mark", before, check.label),
				text: sentences(fmt.Sprintf("%s had been committed; then %s passed.", mark.label, before),
					fmt.Sprintf("When the record came again, %s %s, so %s ran again.", check.label, check.found(), second.label)),
			}
		}
	}
	return nil
}

// markDeleted: the mark was there and the handler took it away, in the delivery
// that had left it or in a later one.
func markDeleted(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || first.delivery == second.delivery {
		return nil
	}
	mark, gone := e.deletedMark(first, second)
	if gone == nil {
		return nil
	}
	return &story{
		name: "mark deleted", acts: []*act{mark, gone, second}, key: keyOf(gone, second),
		short: fmt.Sprintf("%s deleted the mark that %s had left, so nothing said that the record was done", gone.label, mark.label),
		text: sentences(e.again(first.delivery, second.delivery),
			fmt.Sprintf("The mark that %s had left was deleted by %s.", mark.label, gone.label),
			fmt.Sprintf("After that nothing said that the record was done, and %s ran again.", second.label)),
	}
}

// marksOf are the rows that the delivery of an effect inserted for good into
// other tables.
func (e *evidence) marksOf(effect *act) []*act {
	return slices.DeleteFunc(e.keptIn(effect.delivery), func(a *act) bool { return a.table == effect.table || a.verb != "INSERT" })
}

// deletedMark finds a mark of the first delivery and the call that deleted its
// row for good before the effect happened again.
func (e *evidence) deletedMark(first, second *act) (mark, gone *act) {
	for _, mark := range e.marksOf(first) {
		gone := firstOf(e.acts, func(a *act) bool {
			return a.verb == "DELETE" && a.kept > 0 && a.table == mark.table && a.step > mark.step && a.step < second.step &&
				slices.ContainsFunc(mark.rows, func(row string) bool { return slices.Contains(a.rows, "-"+strings.TrimPrefix(row, "+")) })
		})
		if gone != nil {
			return mark, gone
		}
	}
	return nil, nil
}

// answerIgnored: the database said that the row was there, and the handler went on.
func answerIgnored(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || first.delivery == second.delivery {
		return nil
	}
	told := lastOf(e.of(second.delivery), func(a *act) bool { return a.refused() && a.step < second.step })
	if told == nil || slices.ContainsFunc(e.of(second.delivery), func(a *act) bool { return a.step > told.step && a.table == told.table && a.tookKey() }) {
		return nil
	}
	there := ": its row was there."
	if told.system == trace.Redis {
		there = "."
	}
	return &story{
		name: "answer ignored", acts: []*act{first, told, second}, key: keyOf(told, second),
		short: fmt.Sprintf("%s %s for the copy, and the handler went on to %s", told.label, told.found(), second.label),
		text: sentences(e.again(first.delivery, second.delivery),
			fmt.Sprintf("This time %s %s%s", told.label, told.found(), there),
			fmt.Sprintf("The handler went on to %s all the same.", second.label)),
	}
}

// keysDiffer: both deliveries left a mark, and the marks are not alike, or the
// second one overwrote the first.
func keysDiffer(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || first.delivery == second.delivery {
		return nil
	}
	for _, one := range e.keptIn(first.delivery) {
		two := firstOf(e.keptIn(second.delivery), func(a *act) bool { return a.label == one.label && a.table == one.table })
		if two == nil || one.table == first.table || one.verb != "INSERT" || len(one.rows) == 0 {
			continue
		}
		if key, other, ok := keyValues(one, two); ok {
			return marksDiffer(e, first, second, one, two, key, other)
		}
	}
	return nil
}

// markReplaced: the second delivery wrote over the mark of the first one instead
// of being stopped by it.
func markReplaced(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || first.delivery == second.delivery {
		return nil
	}
	for _, mark := range e.marksOf(first) {
		over := firstOf(e.of(second.delivery), func(a *act) bool {
			return a.label == mark.label && a.table == mark.table && a.step < second.step && a.replaced()
		})
		if over == nil {
			continue
		}
		s := &story{name: "mark replaced", acts: []*act{mark, over, second}, key: keyOf(mark, second)}
		told := fmt.Sprintf("%s found the mark of the first delivery, wrote over it and answered %s, as for a new event.", capital(over.label), over.answer)
		s.short = fmt.Sprintf("%s wrote over the mark of the first delivery and answered %s, as for a new event", over.label, over.answer)
		from, to := first.delivery.Offset, second.delivery.Offset
		if from != to && slices.ContainsFunc(over.rows, func(row string) bool {
			return strings.HasSuffix(strings.ReplaceAll(row, "'", ""), fmt.Sprintf(" %d → %d", from, to))
		}) {
			s.short = fmt.Sprintf("what %s keeps is the last offset, and the producer's copy has a higher one", over.label)
			told = fmt.Sprintf("The mark is the last offset: %s raised it from %d to %d, and an event that stands at a higher offset again passes for a new one.", over.label, from, to)
		}
		s.text = sentences(e.again(first.delivery, second.delivery), told, fmt.Sprintf("So %s ran again.", second.label))
		return s
	}
	return nil
}

// replaced says that an insert met a row, and put its own in the place of it.
func (a *act) replaced() bool {
	starts := func(with string) bool {
		return slices.ContainsFunc(a.rows, func(row string) bool { return strings.HasPrefix(row, with) })
	}
	return a.verb == "INSERT" && !a.failed && !a.refused() && (starts("-") || !starts("+"))
}

// keyValues are the first values of the rows that two calls inserted, when each
// inserted one row and they differ.
func keyValues(one, two *act) (key, other string, ok bool) {
	if len(one.rows) != 1 || len(two.rows) != 1 || !strings.HasPrefix(one.rows[0], "+") || !strings.HasPrefix(two.rows[0], "+") {
		return "", "", false
	}
	a, b := valuesOf(one.rows[0]), valuesOf(two.rows[0])
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i], b[i], i == 0
		}
	}
	return "", "", false
}

func marksDiffer(e *evidence, first, second, one, two *act, key, other string) *story {
	a, b := first.delivery, second.delivery
	s := &story{name: "keys differ", acts: []*act{one, two, second}, key: keyOf(one, second)}
	told := fmt.Sprintf("%s left the key %s the first time and %s the second time, so nothing showed that it was the same event.", one.label, key, other)
	s.short = fmt.Sprintf("%s left a different key for each of the two deliveries", one.label)
	if a.Offset != b.Offset && follows(key, other, a.Offset, b.Offset) {
		s.short = fmt.Sprintf("the producer's copy has another offset, and the key of %s is the offset", one.label)
		told = fmt.Sprintf("%s left the key %s for offset %d and %s for offset %d: the key is made from the offset, so the copy did not look like one.",
			one.label, key, a.Offset, other, b.Offset)
	}
	s.text = sentences(e.again(a, b), told, fmt.Sprintf("%s ran again.", second.label))
	return s
}

// follows says that two keys differ as their offsets do: the one becomes the
// other when its offset is replaced.
func follows(key, other string, from, to int64) bool {
	old, now := strconv.FormatInt(from, 10), strconv.FormatInt(to, 10)
	i := strings.LastIndex(key, old)
	return i >= 0 && key[:i]+now+key[i+len(old):] == other
}

// markerMissing: the effect was durable and its mark was not when the record came
// again.
func markerMissing(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || first.delivery == second.delivery {
		return nil
	}
	mark := e.markOf(first, second)
	if mark == nil {
		return nil
	}
	s := &story{name: "crash gap", acts: []*act{first, second}, key: keyOf(first, mark)}
	came := e.again(first.delivery, second.delivery)
	if strings.HasPrefix(first.delivery.Ended, "crashed") {
		came = fmt.Sprintf("The process died after %s and before %s.", e.lastBeforeDeath(first), mark.label)
		s.short = fmt.Sprintf("the process died after %s and before %s, and the redelivery did the work again", e.lastBeforeDeath(first), mark.label)
	} else {
		came = sentences(fmt.Sprintf("%s was durable, but %s was not.", first.label, mark.label), came)
		s.short = fmt.Sprintf("%s was durable and %s was not, and the record came again", first.label, mark.label)
	}
	missed := fmt.Sprintf("On redelivery its row was missing, so %s ran again.", second.label)
	if mark.system == trace.Redis {
		missed = fmt.Sprintf("On redelivery Redis did not know of it, so %s ran again.", second.label)
	}
	if check := e.emptyCheck(second); check != nil {
		missed = fmt.Sprintf("On redelivery %s %s, so %s ran again.", check.label, check.found(), second.label)
		s.acts = []*act{first, check, second}
	}
	if one := writes(e.keptInTurn(first.in), mark.table); one != nil && one.delivery != nil {
		s.acts = []*act{one, first, second}
		s.short = fmt.Sprintf("%s had left a mark for one record of the batch only", one.label)
		came = sentences(fmt.Sprintf("%s had left a mark for %s only, one of the %d records of the batch.", one.label, e.objectOf(one.delivery), len(first.in.deliveries)),
			e.again(first.delivery, second.delivery))
	}
	s.text = sentences(came, missed)
	return s
}

// keptInTurn lists the calls whose changes became durable, of all records of a
// batch.
func (e *evidence) keptInTurn(t *turn) []*act {
	return slices.DeleteFunc(e.inTurn(t), func(a *act) bool { return a.kept == 0 })
}

// markOf is what the delivery that repeats an effect inserts into a table in
// which the first one left nothing durable.
func (e *evidence) markOf(first, second *act) *act {
	return firstOf(e.keptIn(second.delivery), func(a *act) bool {
		return (a.verb == "INSERT" || a.setsKey()) && a.table != first.table && writes(e.keptIn(first.delivery), a.table) == nil
	})
}

// lastBeforeDeath names the last call of the delivery of an effect.
func (e *evidence) lastBeforeDeath(effect *act) string {
	all := e.of(effect.delivery)
	return all[len(all)-1].label
}

// unguarded: no statement asked whether the record had been handled.
func unguarded(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || first.delivery == second.delivery {
		return nil
	}
	asked := firstOf(e.of(second.delivery), func(a *act) bool {
		return a.step < second.step && (a.asks() || a.tookKey() || a.verb == "INSERT" && a.table != second.table)
	})
	came := e.again(first.delivery, second.delivery)
	if asked != nil || came == "" {
		return nil
	}
	s := &story{name: "unguarded", acts: []*act{first, second}, key: keyOf(second)}
	if first.delivery.Offset != second.delivery.Offset {
		s.name = "unguarded copy"
	}
	memory := ""
	if strings.Contains(second.lane, steadyLane(first.lane)) && second.lane != first.lane {
		memory = fmt.Sprintf("%s is a new process: what %s kept in memory is gone.", second.lane, first.lane)
		s.name = "unguarded restart"
	}
	s.short = lower(strings.TrimSuffix(came, "."))
	if memory != "" {
		s.short += " to a new process with empty memory"
	}
	whom := "the database"
	if second.system == trace.Charge {
		whom = "anything"
	}
	s.short += fmt.Sprintf("; no statement asks %s whether it was done before", whom)
	s.text = sentences(came, memory, fmt.Sprintf("No statement before %s asks %s whether the record was handled, so it ran again.", second.label, whom))
	return s
}

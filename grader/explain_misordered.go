package grader

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// staleWrite: one instance asked what is there, the other changed it, and the
// first wrote what its old answer allowed.
func staleWrite(e *evidence) *story {
	for _, write := range e.acts {
		if write.kept == 0 || write.delivery == nil || !write.mentions(e.failure.object) {
			continue
		}
		check := lastOf(e.of(write.delivery), func(a *act) bool { return a.asks() && a.step < write.step })
		if check == nil {
			continue
		}
		theirs := firstOf(e.acts, func(a *act) bool {
			return a.kept > check.step && a.kept < write.step && a.table == check.table && a.mentions(e.failure.object) &&
				steadyLane(a.lane) != steadyLane(write.lane)
		})
		if theirs == nil {
			continue
		}
		return &story{
			name: "stale write", acts: []*act{check, theirs, write}, key: keyOf(check, write),
			short: fmt.Sprintf("%s had asked with %s before %s committed, and wrote over what had become newer", write.lane, check.label, theirs.lane),
			text: sentences(fmt.Sprintf("%s asked with %s, which %s.", write.lane, check.label, check.found()),
				fmt.Sprintf("After that, %s committed %s.", theirs.lane, theirs.label),
				fmt.Sprintf("%s acted on its old answer: %s wrote over the newer state.", write.lane, write.label)),
		}
	}
	return nil
}

// olderOver: records came in another order than their versions, and a later one
// wrote its older state over a newer one.
func olderOver(e *evidence) *story {
	for _, write := range e.acts {
		if write.kept == 0 || write.delivery == nil || !write.mentions(e.failure.object) {
			continue
		}
		down := cmp.Or(wentDown(write), e.replacedByLess(write))
		if down == "" {
			continue
		}
		newer := lastOf(e.acts, func(a *act) bool {
			return a.kept > 0 && a.step < write.step && a.delivery != nil && a.delivery.eventID != write.delivery.eventID && a.mentions(e.failure.object)
		})
		if newer == nil {
			continue
		}
		compares := "No statement before it asks which state is the newer one."
		if asked := lastOf(e.of(write.delivery), func(a *act) bool { return a.asks() && a.step < write.step }); asked != nil {
			compares = fmt.Sprintf("%s had asked, and what it answered did not stop the write.", capital(asked.label))
		}
		return &story{
			name: "older over newer", acts: []*act{newer, write}, key: keyOf(write),
			short: fmt.Sprintf("%s wrote the state of the record at offset %d over a newer one", write.label, write.delivery.Offset),
			text: sentences(fmt.Sprintf("%s had written the state of the record at offset %d.", capital(newer.label), newer.delivery.Offset),
				fmt.Sprintf("Then %s wrote that of the record at offset %d over it: %s.", write.label, write.delivery.Offset, down), compares),
		}
	}
	return nil
}

// replacedByLess is what became of a row that the delivery of a call had deleted
// and that the call inserted again, when a number in it became smaller.
func (e *evidence) replacedByLess(write *act) string {
	for _, gone := range e.of(write.delivery) {
		if gone.step >= write.step || gone.table != write.table || !gone.removes(e.failure.object) {
			continue
		}
		for _, old := range gone.rows {
			for _, row := range write.rows {
				if strings.HasPrefix(row, "+") && less(valuesOf(row), valuesOf(old)) {
					return fmt.Sprintf("%s became %s", old[1:], row[1:])
				}
			}
		}
	}
	return ""
}

// less says that a number in a row is smaller than in the one that it replaces.
func less(row, old []string) bool {
	for i := range min(len(row), len(old)) {
		was, err := strconv.ParseInt(old[i], 10, 64)
		now, err2 := strconv.ParseInt(row[i], 10, 64)
		if err == nil && err2 == nil && now < was {
			return true
		}
	}
	return false
}

// wentDown is the row difference of a call in which a number became smaller.
func wentDown(a *act) string {
	for _, row := range a.rows {
		_, changes, _ := strings.Cut(row, "): ")
		for part := range strings.SplitSeq(changes, ", ") {
			from, to, ok := strings.Cut(part, " → ")
			fields := strings.Fields(from)
			if !ok || len(fields) == 0 {
				continue
			}
			was, err := strconv.ParseInt(fields[len(fields)-1], 10, 64)
			now, err2 := strconv.ParseInt(to, 10, 64)
			if err == nil && err2 == nil && now < was {
				return row
			}
		}
	}
	return ""
}

package grader

import "fmt"

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

package trace

import "strings"

// maxShown is how many rows a timeline shows before steps are folded.
const maxShown = 12

// Block is what stands together in a drawing: one row, or rows that are folded
// into one.
type Block struct {
	Folded bool
	Rows   []Row
}

// Blocks groups the rows by their folds.
func (t *Timeline) Blocks() []Block {
	var blocks []Block
	for i, r := range t.Rows {
		if r.Fold > 0 && i > 0 && t.Rows[i-1].Fold == r.Fold {
			last := &blocks[len(blocks)-1]
			last.Rows = append(last.Rows, r)
			continue
		}
		blocks = append(blocks, Block{Folded: r.Fold > 0, Rows: []Row{r}})
	}
	return blocks
}

// fold hides what changes nothing until about maxShown rows are left. A story
// that has more rows than that which matter stays longer: they are never
// folded.
func (t *Timeline) fold() {
	for _, pass := range []func(i int) bool{t.changesNothing, t.isRoutine} {
		if t.shown() <= maxShown {
			return
		}
		t.foldRuns(pass)
	}
}

func (t *Timeline) shown() int { return len(t.Blocks()) }

// foldRuns numbers the runs of at least two rows that may be folded: one alone
// would take as much room folded.
func (t *Timeline) foldRuns(may func(i int) bool) {
	number := 0
	for i := 0; i < len(t.Rows); {
		end := i
		for end < len(t.Rows) && may(end) && t.Rows[end].Step.Lane == t.Rows[i].Step.Lane {
			end++
		}
		if end-i >= 2 {
			number++
			for ; i < end; i++ {
				t.Rows[i].Fold = number
			}
			continue
		}
		t.Rows[i].Fold = 0
		i = max(end, i+1)
	}
}

// changesNothing says that a row may be folded first: a read, a BEGIN, a
// ROLLBACK without effect, a return of nil.
func (t *Timeline) changesNothing(i int) bool {
	r := t.Rows[i]
	if t.matters(i) {
		return false
	}
	switch r.Step.Event {
	case SQL:
		return !beginsWith(r.Step.Text, "COMMIT")
	case Return:
		return true
	default:
		return false
	}
}

// isRoutine says that a row may be folded when there are still too many: what
// happens in every run, such as a first delivery or a COMMIT.
func (t *Timeline) isRoutine(i int) bool { return !t.matters(i) }

// matters says that a row is never folded.
func (t *Timeline) matters(i int) bool {
	r := t.Rows[i]
	return r.Step.Decisive || r.Fault || r.Again || r.Waits || len(r.Step.Rows) > 0 || t.isLastLook(i) ||
		r.Step.Event == Check || r.Step.Event == Restart || r.Step.Event == Produce
}

// isLastLook says that a row is the last read of an instance before another one
// goes on: what it saw then is what it acts on later.
func (t *Timeline) isLastLook(i int) bool {
	if i+1 >= len(t.Rows) || t.Rows[i].Step.Event != SQL || !beginsWith(t.Rows[i].Step.Text, "SELECT") {
		return false
	}
	next := t.Rows[i+1]
	return t.Lanes[next.Lane].Name != Middle && next.Lane != t.Rows[i].Lane
}

// beginsWith compares the first word of a statement.
func beginsWith(statement, word string) bool {
	fields := strings.Fields(statement)
	return len(fields) > 0 && strings.EqualFold(fields[0], word)
}

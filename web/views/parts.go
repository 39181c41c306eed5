package views

import (
	"time"

	"redeliver/grader/verdict"
)

// SubmissionLine is one entry in a list of submissions.
type SubmissionLine struct {
	PublicID string
	Title    string          // of the exercise
	Outcome  verdict.Outcome // empty: not graded yet
	At       time.Time
}

// Withheld is the outcome of a submission whose reader may see the happy path only.
const Withheld verdict.Outcome = "withheld"

// replaced is the outcome of a submission that has no verdict, because a newer one took
// its place: the store's word.
const replaced verdict.Outcome = "replaced"

func stateName(o verdict.Outcome) string {
	if o == "" {
		return "queued"
	}
	return string(o)
}

func stateSign(o verdict.Outcome) string {
	switch o {
	case verdict.Passed:
		return "✓"
	case verdict.Failed:
		return "✗"
	case verdict.Rejected:
		return "⊘"
	case verdict.Inconclusive:
		return "?"
	case replaced:
		return "–"
	case Withheld:
		return "•"
	default:
		return "…"
	}
}

package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"redeliver/grader/verdict"
)

// Covered says in a few words what a phase looks at; the phase's name when
// there are none.
func Covered(phase string) string {
	switch phase {
	case "happy-path":
		return "each record delivered once and committed; the first schedule twice, with equal traces"
	case "redelivery":
		return "the offset commit not stored: the record again, to the same process and to a fresh one"
	case "producer-duplicate":
		return "the producer's acknowledgement lost: the event at two offsets; as a control an idempotent producer"
	case "crash-points":
		return "the process killed before the first call, between every two, and around the offset commit"
	case "zombie":
		return "the partition moved to a second instance before each call, while the first one goes on"
	case "transient-errors":
		return "each call and the offset commit answered with an error, nothing done"
	case "lost-replies":
		return "each call that changes something for good, COMMIT and the offset commit included, done with its answer lost"
	case "two-records":
		return "two instances with a record each, one change from one to the other before each call"
	case "interleavings":
		return "two instances, with the same record and with two: every order of their calls that can make a difference"
	case "double-crash":
		return "a second crash at each point of the recovery, once for each state that the first one leaves behind"
	case "crash-and-interleave":
		return "one of two instances that have the same record in hand killed at each of its calls"
	case "clock-jumps":
		return "25 hours and 8 days passing before a record comes again, and between calls"
	case "rewind":
		return "the group put back to offset 0 after everything was committed, at once, 25 hours and 8 days later"
	case "cluster":
		return "two members of a real group: eviction, session time-out, rebalances, a refused and a lost offset commit, a crash"
	case "random":
		return "several records with up to three faults, mixed by a seed that the exercise fixes"
	default:
		return phase
	}
}

// model says what the database of that name is.
const model = "The database read-committed is a model of PostgreSQL's READ COMMITTED, executed by SQLite's SQL engine and checked against a real PostgreSQL in our tests."

func hasModel(all []verdict.Coverage) bool {
	return slices.ContainsFunc(all, func(c verdict.Coverage) bool { return c.Database == verdict.ReadCommitted })
}

func covered(c verdict.Coverage) string {
	if c.Note == "" {
		return Covered(c.Phase)
	}
	return Covered(c.Phase) + "; " + c.Note
}

// NotCovered lists what this engine does not look at. A passed verdict says so.
func NotCovered(all []verdict.Coverage) []string {
	databases := "databases other than SQLite as it is set up here"
	if hasModel(all) {
		databases += " and the model of READ COMMITTED: no other isolation level, no triggers, no foreign keys"
	}
	return []string{
		"three or more instances at the same time",
		"the order in which goroutines inside the handler run",
		"real time: the network, the disk, the garbage collector",
		databases,
		"errors of the database other than a failed call, a lost answer and a lock",
		"loss of what the database or the broker has acknowledged",
	}
}

// Report is a verdict as text for a terminal: the sentence, each finding with
// its timeline and replay token, what was looked at and what was not.
func Report(v verdict.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s (version %s, engine %s)\n\n%s\n", strings.ToUpper(string(v.Outcome)), v.Exercise, v.ExerciseVersion, v.Engine, v.Summary)
	for i, f := range v.Findings {
		finding(&b, i+1, f, v.Coverage)
	}
	if v.Replay != nil && len(v.Findings) == 0 {
		fmt.Fprintf(&b, "\n%s", Text(v.Replay.Trace))
	}
	printed(&b, "standard output", v.Stdout)
	printed(&b, "standard error", v.Stderr)
	coverage(&b, v)
	return visible(b.String())
}

// visible replaces what could drive a terminal: control characters except the
// end of a line, and those that turn the direction of writing. A submission's
// output, its errors and its SQL are part of a report.
func visible(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '\n' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
			b.WriteRune(r)
		case r == '\t':
			b.WriteString("    ")
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

func finding(b *strings.Builder, n int, f verdict.Finding, coverage []verdict.Coverage) {
	fmt.Fprintf(b, "\n%d. %s", n, f.Kind)
	if f.Invariant != "" {
		fmt.Fprintf(b, ": %s", f.Invariant)
	}
	switch {
	case f.Phase != "" && hasModel(coverage): // else there is no other database
		fmt.Fprintf(b, " (%s, on %s)", f.Phase, f.Database)
	case f.Phase != "":
		fmt.Fprintf(b, " (%s)", f.Phase)
	}
	b.WriteString("\n")
	place := ""
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d: ", f.File, f.Line)
		if f.Column > 0 {
			place = fmt.Sprintf("%s:%d:%d: ", f.File, f.Line, f.Column)
		}
	}
	for _, line := range wrap(place+f.Message+" "+f.Explanation, textWidth) {
		b.WriteString("   " + line + "\n")
	}
	if len(f.Trace) > 0 {
		b.WriteString("\n" + Text(f.Trace))
	}
	if f.Schedule != "" {
		fmt.Fprintf(b, "\n   again:           --replay %s\n", f.Schedule)
	}
	if f.PassingTwin != "" {
		if f.PassesWhen != "" {
			for _, line := range wrap("It passes when "+f.PassesWhen+".", textWidth) {
				b.WriteString("   " + line + "\n")
			}
		}
		fmt.Fprintf(b, "   nearest passing: --replay %s\n", f.PassingTwin)
	}
}

func printed(b *strings.Builder, name, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, "\nThe submission printed on %s (in the first schedule):\n", name)
	for line := range strings.Lines(text) {
		b.WriteString("   " + strings.TrimRight(line, "\r\n") + "\n")
	}
}

// coverage lists the phases that were looked at completely, those of which a
// sample ran, and what no phase looks at.
func coverage(b *strings.Builder, v verdict.Verdict) {
	if len(v.Coverage) == 0 {
		return
	}
	b.WriteString("\n")
	phases(b, "Complete:", v.Coverage, func(c verdict.Coverage) bool { return c.Complete })
	phases(b, "Sampled:", v.Coverage, func(c verdict.Coverage) bool { return !c.Complete && c.LeftOut == "" && len(c.Outside) == 0 })
	phases(b, "In part, because the model cannot tell about some schedules:", v.Coverage, func(c verdict.Coverage) bool { return len(c.Outside) > 0 })
	leftOut(b, v.Coverage)
	b.WriteString("Not covered:\n")
	for _, text := range NotCovered(v.Coverage) {
		b.WriteString("   " + text + "\n")
	}
	if hasModel(v.Coverage) {
		b.WriteString("\n" + strings.Join(wrap(model, textWidth), "\n") + "\n")
	}
	fmt.Fprintf(b, "\n%d schedules, %d ms in all (check %d, build %d, load %d, explore %d)\ntrace %s\n",
		v.Schedules, v.Timings.Total, v.Timings.Check, v.Timings.Build, v.Timings.Load, v.Timings.Explore, v.TraceHash)
}

// leftOut lists the phases that make no sense for the kind of exercise, each once:
// that is so on every database.
func leftOut(b *strings.Builder, all []verdict.Coverage) {
	title := "Left out:\n"
	for _, c := range all {
		if c.LeftOut == "" || c.Database != all[0].Database {
			continue
		}
		b.WriteString(title)
		title = ""
		head := fmt.Sprintf("   %-20s ", c.Phase)
		for _, line := range wrap(c.LeftOut, textWidth-len(head)) {
			b.WriteString(head + line + "\n")
			head = strings.Repeat(" ", len(head))
		}
	}
}

func phases(b *strings.Builder, title string, all []verdict.Coverage, belongs func(verdict.Coverage) bool) {
	database := ""
	for _, c := range all {
		if !belongs(c) {
			continue
		}
		if title != "" {
			b.WriteString(title + "\n")
			title = ""
		}
		if c.Database != database {
			database = c.Database
			b.WriteString(" on " + database + ":\n")
		}
		head := fmt.Sprintf("   %-20s %3d schedules, %2d failed: ", c.Phase, c.Schedules, c.Failed)
		for i, line := range wrap(covered(c), textWidth-len(head)) {
			if i > 0 {
				head = strings.Repeat(" ", len(head))
			}
			b.WriteString(head + line + "\n")
		}
		for _, why := range c.Outside {
			for _, line := range wrap("cannot be told: "+why, textWidth-6) {
				b.WriteString("      " + line + "\n")
			}
		}
	}
}

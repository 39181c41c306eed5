package trace

import (
	"fmt"
	"strings"

	"redeliver/grader/verdict"
)

// notCovered is what no phase of this engine looks at. A passed verdict says so.
var notCovered = []string{ //nolint:gochecknoglobals // a constant table
	"two instances at the same time (zombies, rebalances while a record is handled)",
	"errors and lost replies of the database",
	"more than one crash in a schedule",
	"the order of goroutines inside the handler, and real time",
}

// covered says what a phase did, for people.
var covered = map[string]string{ //nolint:gochecknoglobals // a constant table
	"happy-path":         "each record delivered once, twice over with equal traces",
	"redelivery":         "the offset commit not stored: again to the same process and to a fresh one",
	"producer-duplicate": "the producer's acknowledgement lost: two copies in the log, and the control with idempotence on",
	"crash-points":       "the process killed before the first call, between every two, and around the offset commit",
}

// Covered says in a few words what a phase looks at; the phase's name when
// there are none.
func Covered(phase string) string {
	if text, ok := covered[phase]; ok {
		return text
	}
	return phase
}

// NotCovered lists what this engine does not look at.
func NotCovered() []string { return notCovered }

// Report is a verdict as text for a terminal: the sentence, each finding with
// its timeline and replay token, what was looked at and what was not.
func Report(v verdict.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s (version %s, engine %s)\n\n%s\n", strings.ToUpper(string(v.Outcome)), v.Exercise, v.ExerciseVersion, v.Engine, v.Summary)
	for i, f := range v.Findings {
		finding(&b, i+1, f)
	}
	if v.Replay != nil && len(v.Findings) == 0 {
		fmt.Fprintf(&b, "\n%s", Text(v.Replay.Trace))
	}
	printed(&b, "standard output", v.Stdout)
	printed(&b, "standard error", v.Stderr)
	coverage(&b, v)
	return b.String()
}

func finding(b *strings.Builder, n int, f verdict.Finding) {
	fmt.Fprintf(b, "\n%d. %s", n, f.Kind)
	if f.Invariant != "" {
		fmt.Fprintf(b, ": %s", f.Invariant)
	}
	if f.Phase != "" {
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

func coverage(b *strings.Builder, v verdict.Verdict) {
	if len(v.Coverage) == 0 {
		return
	}
	b.WriteString("\nLooked at:\n")
	for _, c := range v.Coverage {
		how := "complete"
		if !c.Complete {
			how = "in part"
		}
		fmt.Fprintf(b, "   %-19s %3d schedules, %d failed, %s: %s\n", c.Phase, c.Schedules, c.Failed, how, Covered(c.Phase))
	}
	b.WriteString("Not looked at:\n")
	for _, text := range notCovered {
		b.WriteString("   " + text + "\n")
	}
	fmt.Fprintf(b, "\n%d schedules, %d ms in all (check %d, build %d, load %d, explore %d)\ntrace %s\n",
		v.Schedules, v.Timings.Total, v.Timings.Check, v.Timings.Build, v.Timings.Load, v.Timings.Explore, v.TraceHash)
}

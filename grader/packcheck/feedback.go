package packcheck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"redeliver/exercises"
	"redeliver/grader/verdict"
)

// says looks for words where a candidate reads them.
func says(f verdict.Finding, words string) bool {
	return strings.Contains(f.Message+" "+f.Explanation, words)
}

// checkFeedback compares what candidates are told with feedback.golden, or writes
// it. After a sample of which nothing is known there is nothing to compare.
func (c *checker) checkFeedback(e *exerciseCheck) error {
	if len(e.report.Samples) == 0 {
		return nil
	}
	for _, s := range e.report.Samples {
		if s.Outcome == verdict.Inconclusive {
			return nil
		}
	}
	got := e.feedback()
	if c.Update {
		name := filepath.Join(c.dir, e.Slug, exercises.FeedbackFile)
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			return fmt.Errorf("update the golden file: %w", err)
		}
		return nil
	}
	switch {
	case e.Feedback == "":
		e.problem("%s is missing: read what candidates are told, then write it with --update.", exercises.FeedbackFile)
	case e.Feedback != got:
		line, want, have := firstDifference(e.Feedback, got)
		e.problem("%s:%d differs (--update writes what is told now):\n    file: %s\n    told: %s", exercises.FeedbackFile, line, want, have)
	}
	return nil
}

// feedback is what the starter and the wrong handlers are told. Tokens and times
// are left out: they change with every version.
func (e *exerciseCheck) feedback() string {
	var b strings.Builder
	fmt.Fprintf(&b, "What %s tells its starter and its wrong handlers. Written by `redeliver pack check --update`; made to be read.\n", e.Name())
	for i, s := range e.report.Samples {
		if s.Role == Solution {
			continue
		}
		v := e.verdicts[i]
		fmt.Fprintf(&b, "\n== %s: %s\n%s\n", s.short(), v.Outcome, v.Summary)
		for _, f := range v.Findings {
			fmt.Fprintf(&b, "\n%s%s\n  %s\n", f.Kind, where(f), indented(f.Message))
			if f.Explanation != "" {
				fmt.Fprintf(&b, "  %s\n", indented(f.Explanation))
			}
		}
	}
	return b.String()
}

func where(f verdict.Finding) string {
	text := ""
	if f.Phase != "" {
		text += ", " + f.Phase
	}
	if f.Database != "" {
		text += ", " + f.Database
	}
	if f.Invariant != "" {
		text += ": " + f.Invariant
	}
	return text
}

func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

func firstDifference(want, got string) (line int, wantLine, gotLine string) {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		wantLine, gotLine = lineAt(a, i), lineAt(b, i)
		if wantLine != gotLine {
			return i + 1, wantLine, gotLine
		}
	}
	return 0, "", ""
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}

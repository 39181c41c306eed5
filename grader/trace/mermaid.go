package trace

import (
	"fmt"
	"strings"

	"redeliver/grader/verdict"
)

// Mermaid writes a trace as a sequence diagram in Mermaid's language, for
// documents that render it. Every step is there; none is folded.
func Mermaid(steps []verdict.Step) string {
	t := NewTimeline(steps)
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	for i, l := range t.Lanes {
		name := "Instance " + l.Name
		if l.Name == Middle {
			name = "Kafka and database"
		}
		fmt.Fprintf(&b, "    participant %s as %s\n", participant(i), mermaidText(name))
	}
	middle := t.middle()
	for _, r := range t.Rows {
		text := mermaidText(textOf(r))
		from := participant(r.Lane)
		switch r.Arrow {
		case ToMiddle:
			arrow := "->>"
			if r.Fault {
				arrow = "-x"
			}
			fmt.Fprintf(&b, "    %s%s%s: %s\n", from, arrow, participant(middle), text)
		case FromMiddle:
			fmt.Fprintf(&b, "    %s->>%s: %s\n", participant(middle), from, text)
		default:
			fmt.Fprintf(&b, "    Note over %s: %s\n", from, text)
		}
		for _, row := range r.Step.Rows {
			fmt.Fprintf(&b, "    Note over %s: %s\n", participant(middle), mermaidText(row))
		}
	}
	return b.String()
}

// participant names a lane. The names are ours, so that no instance can be
// called like a word of the language.
func participant(lane int) string { return fmt.Sprintf("lane%d", lane) }

func (t *Timeline) middle() int {
	for i, l := range t.Lanes {
		if l.Name == Middle {
			return i
		}
	}
	return 0
}

// textOf is a step in one line: which life of the instance, what, where.
func textOf(r Row) string {
	text := r.Step.Text
	if LaneOf(r.Step.Lane) != r.Step.Lane {
		text = r.Step.Lane + ": " + text
	}
	if r.Step.Line > 0 {
		text += fmt.Sprintf(" (%s:%d)", r.Step.File, r.Step.Line)
	}
	return text
}

// mermaidText escapes what means something to Mermaid: the end of a statement,
// entities, directives, formulas and HTML. Control characters become spaces.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		switch {
		case strings.ContainsRune(`;#{}$<>"&%`, r):
			fmt.Fprintf(&b, "#%d;", r)
		case r < ' ' || r == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	text := b.String()
	for _, option := range []string{"wrap:", "nowrap:"} { // in front of a text they say how to lay it out
		if rest, ok := strings.CutPrefix(text, option); ok {
			return strings.TrimSuffix(option, ":") + "#58;" + rest
		}
	}
	return text
}

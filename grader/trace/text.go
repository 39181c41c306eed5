package trace

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"redeliver/grader/verdict"
)

// textWidth is where Text begins a new line, in runes.
const textWidth = 100

// Text writes a timeline for a terminal: one step a line, the instance in front,
// the candidate's line behind, row differences below, ">" before decisive steps
// and "!" before faults.
func Text(steps []verdict.Step) string {
	lanes := 1
	for _, s := range steps {
		lanes = max(lanes, utf8.RuneCountInString(s.Lane))
	}
	var b strings.Builder
	for _, s := range steps {
		mark := " "
		switch {
		case s.Event == Crash || s.Event == Fault || s.Event == Limit || s.Event == Leak:
			mark = "!"
		case s.Decisive:
			mark = ">"
		}
		place := ""
		if s.Line > 0 {
			place = fmt.Sprintf("%s:%d", s.File, s.Line)
		}
		head := fmt.Sprintf("%s %3d  %-*s  ", mark, s.Step, lanes, s.Lane)
		indent := strings.Repeat(" ", utf8.RuneCountInString(head))
		lines := wrap(s.Text, textWidth-len(indent))
		for i, line := range lines {
			if i == 0 {
				b.WriteString(head)
			} else {
				b.WriteString(indent)
			}
			b.WriteString(line)
			if i == 0 && place != "" {
				pad := max(1, textWidth-len(indent)-utf8.RuneCountInString(line)+2)
				b.WriteString(strings.Repeat(" ", pad) + place)
			}
			b.WriteByte('\n')
		}
		for _, row := range s.Rows {
			b.WriteString(indent + "  " + row + "\n")
		}
	}
	return b.String()
}

// wrap cuts text into lines of at most width runes, at spaces where there are any.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for utf8.RuneCountInString(word) > width {
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			r := []rune(word)
			lines = append(lines, string(r[:width]))
			word = string(r[width:])
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

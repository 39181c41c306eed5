package views

import (
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// FileDiff is what changed in one file.
type FileDiff struct {
	Name           string
	Lines          []DiffLine // none: nothing changed
	Added, Removed int        // lines
}

// DiffLine is a line of a difference, or a gap between two places that changed.
type DiffLine struct {
	Sign     string // "+", "-", "" for a line that both have
	Old, New int    // line numbers from 1; 0 where the line is not
	Text     string
	Gap      bool
}

// diffOf compares two texts line by line and shows three lines around each change.
// The library finds unique lines first, so that no text makes it slow.
func diffOf(name, before, after string) FileDiff {
	d := FileDiff{Name: name}
	unified := string(diff.Diff("a", []byte(before), "b", []byte(after)))
	if unified == "" {
		return d
	}
	lines := strings.Split(strings.TrimSuffix(unified, "\n"), "\n")
	var oldLine, newLine int
	for _, line := range lines[3:] { // the head names the files
		sign, text := line[:1], line[1:]
		switch sign {
		case "@":
			oldLine, newLine = hunk(line)
			if oldLine > 1 || newLine > 1 {
				d.Lines = append(d.Lines, DiffLine{Gap: true})
			}
		case "+":
			d.Lines = append(d.Lines, DiffLine{Sign: "+", New: newLine, Text: text})
			d.Added, newLine = d.Added+1, newLine+1
		case "-":
			d.Lines = append(d.Lines, DiffLine{Sign: "-", Old: oldLine, Text: text})
			d.Removed, oldLine = d.Removed+1, oldLine+1
		case " ":
			d.Lines = append(d.Lines, DiffLine{Old: oldLine, New: newLine, Text: text})
			oldLine, newLine = oldLine+1, newLine+1
		}
	}
	return d
}

// hunk reads where a part of a unified difference begins: "@@ -3,7 +3,8 @@".
func hunk(line string) (oldLine, newLine int) {
	fields := strings.Fields(line)
	return firstLine(fields[1]), firstLine(fields[2])
}

func firstLine(span string) int {
	number, _, _ := strings.Cut(span[1:], ",")
	n, err := strconv.Atoi(number)
	if err != nil {
		panic("views: line number of a difference: " + span) // the library wrote it
	}
	return n
}

// orNone writes a line number, or nothing where the line is not.
func orNone(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

package content

import (
	"fmt"
	"strings"
)

// Problem is one thing that keeps the bank from being used.
type Problem struct {
	File    string // from the folder of this package: "questions/acks-all/question.ru.md"
	Line    int    // from 1; 0 when the file as a whole is meant
	Column  int    // counts characters from 1; 0 with Line
	Message string // a sentence
}

// String gives the form in which compilers report: file:line:column: message.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems are all that was found, in the order of the files.
type Problems []Problem

// String is one problem a line.
func (ps Problems) String() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (ps *Problems) add(file string, line, column int, format string, args ...any) {
	*ps = append(*ps, Problem{File: file, Line: line, Column: column, Message: fmt.Sprintf(format, args...)})
}

package exercises

import (
	"slices"
	"strings"
)

// Statement is SQL with named parameters.
type Statement struct {
	SQL  string
	Args []Arg // each is named once, in the order of its first use
}

// Arg is the value of a named parameter: text or int64. The name has no colon.
type Arg struct {
	Name  string
	Value any
}

// Table is the content of the table "expected".
type Table struct {
	Columns []Column // event_id is the first
	Rows    [][]any  // text and int64, one row per event
}

// Setup gives what runs after the schema and before the first event: each
// statement of `setup` once per event, with the event's fields as parameters.
func (e Events) Setup(events []Event) []Statement {
	var statements []Statement
	for _, event := range events {
		for _, sql := range e.SetupSQL {
			statement := Statement{SQL: sql}
			for _, name := range parameters(sql) {
				statement.Args = append(statement.Args, Arg{Name: name, Value: event.Fields[name]})
			}
			statements = append(statements, statement)
		}
	}
	return statements
}

// Expected gives the table "expected" for the events that a run has sent. The
// grader creates it beside the submission's tables when the run has ended.
func (e Events) Expected(events []Event) Table {
	table := Table{Columns: append([]Column{{Name: "event_id", Type: "TEXT"}}, e.Columns...)}
	for _, event := range events {
		row := []any{event.ID}
		for _, column := range e.Columns {
			row = append(row, column.value(event))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func (c Column) value(event Event) any {
	template, ok := c.Value.(string)
	if !ok {
		return c.Value
	}
	if c.Type == "INTEGER" {
		return event.Fields[strings.Trim(template, "{}")]
	}
	return render(template, event.Fields)
}

// parameters lists the :names in a statement, each once.
func parameters(sql string) []string {
	var names []string
	for sql = sqlCode(sql); ; {
		_, after, found := strings.Cut(sql, ":")
		if !found {
			return names
		}
		name := after[:wordLength(after)]
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		sql = after
	}
}

// sqlCode is the SQL with a space in the place of each byte that stands in quotes
// or in a comment.
func sqlCode(sql string) string {
	code := []byte(sql)
	for i := 0; i < len(sql); {
		n := 0
		switch {
		case strings.IndexByte("'\"`", sql[i]) >= 0:
			n = skipTo(sql[i+1:], sql[i:i+1]) + 1
		case sql[i] == '[':
			n = skipTo(sql[i:], "]")
		case strings.HasPrefix(sql[i:], "--"):
			n = skipTo(sql[i:], "\n")
		case strings.HasPrefix(sql[i:], "/*"):
			n = skipTo(sql[i:], "*/")
		}
		for k := range n {
			code[i+k] = ' '
		}
		i += max(n, 1)
	}
	return string(code)
}

// skipTo is the length of text up to and including end, or all of it.
func skipTo(text, end string) int {
	if before, _, found := strings.Cut(text, end); found {
		return len(before) + len(end)
	}
	return len(text)
}

func wordLength(text string) int {
	for i := range len(text) {
		c := text[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return i
		}
	}
	return len(text)
}

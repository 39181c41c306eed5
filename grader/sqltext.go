package grader

import (
	"database/sql/driver"
	"strings"
	"unicode"

	"redeliver/grader/ledger"
)

// fillIn writes a statement with its arguments in place of the parameters, as
// people read it. It is never executed. Text in quotes is left alone.
func fillIn(query string, args []driver.NamedValue) string {
	var b strings.Builder
	next := 0
	for i := 0; i < len(query); {
		c := query[i]
		switch c {
		case '\'', '"', '`':
			end := closing(query, i)
			b.WriteString(query[i:end])
			i = end
		case '?', ':', '@', '$':
			end := i + 1
			for end < len(query) && isName(query[end]) {
				end++
			}
			b.WriteString(parameter(query[i:end], args, &next))
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// closing is the index after the quoted text that begins at i. A doubled quote
// closes and opens again, which comes to the same.
func closing(query string, i int) int {
	if n := strings.IndexByte(query[i+1:], query[i]); n >= 0 {
		return i + n + 2
	}
	return len(query)
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// parameter returns the value of one parameter, or its own text when there is
// none. next counts the plain question marks.
func parameter(text string, args []driver.NamedValue, next *int) string {
	want := *next
	switch {
	case text == "?":
		*next++
	case text[0] == '?':
		n := 0
		for _, d := range text[1:] {
			n = n*10 + int(d-'0')
		}
		want = n - 1
	default:
		for _, a := range args {
			if a.Name != "" && strings.EqualFold(a.Name, text[1:]) {
				return ledger.Format(a.Value)
			}
		}
		return text
	}
	if want < 0 || want >= len(args) {
		return text
	}
	return ledger.Format(args[want].Value)
}

// verbAndTable names a statement: "INSERT INTO charges", "SELECT FROM accounts".
// It reads the words and may be wrong for unusual SQL; it only makes sentences.
func verbAndTable(query string) string {
	words := strings.FieldsFunc(query, func(r rune) bool {
		return unicode.IsSpace(r) || r == '(' || r == ')' || r == ',' || r == ';'
	})
	if len(words) == 0 {
		return "an empty statement"
	}
	verb := strings.ToUpper(words[0])
	after := map[string]string{"INSERT": "INTO", "REPLACE": "INTO", "SELECT": "FROM", "DELETE": "FROM", "WITH": "FROM"}
	if verb == "UPDATE" {
		for _, w := range words[1:] {
			if up := strings.ToUpper(w); up != "OR" && up != "IGNORE" && up != "REPLACE" && up != "ROLLBACK" && up != "ABORT" && up != "FAIL" {
				return "UPDATE " + ledger.Shorten(w, 40)
			}
		}
	}
	for i, w := range words[:len(words)-1] {
		if after[verb] != "" && strings.EqualFold(w, after[verb]) {
			return verb + " " + after[verb] + " " + ledger.Shorten(words[i+1], 40)
		}
	}
	return ledger.Shorten(verb, 40)
}

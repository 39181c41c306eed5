package readcommitted

import (
	"slices"
	"strings"
)

// word is a word, a quoted name, a text, a parameter or a sign of a statement.
type word struct {
	text    string // words in capitals; names without their quotes
	quoted  bool
	at, end int // bytes
	depth   int // of parentheses
}

func isLetter(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// words splits a statement. SQLite has compiled it or will refuse it, so what
// makes no sense here need not be reported.
func words(query string) []word {
	var all []word
	depth := 0
	for i := 0; i < len(query); {
		c, end := query[i], i+1
		switch {
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			i++
			continue
		case strings.HasPrefix(query[i:], "--"):
			i = after(query, i, "\n")
			continue
		case strings.HasPrefix(query[i:], "/*"):
			i = after(query, i+2, "*/")
			continue
		case strings.IndexByte("'\"`[", c) >= 0:
			end = closing(query, i)
			all = append(all, word{strings.Trim(query[i:end], "'\"`[]"), true, i, end, depth})
			i = end
			continue
		case isLetter(c):
			for end < len(query) && isLetter(query[end]) {
				end++
			}
		case c == ')':
			depth--
		}
		all = append(all, word{strings.ToUpper(query[i:end]), false, i, end, depth})
		if c == '(' {
			depth++
		}
		i = end
	}
	return all
}

func after(s string, from int, mark string) int {
	if n := strings.Index(s[from:], mark); n >= 0 {
		return from + n + len(mark)
	}
	return len(s)
}

// closing is the index after the quoted text that begins at i. A doubled quote
// closes and opens again, which comes to the same.
func closing(query string, i int) int {
	mark := query[i : i+1]
	if mark == "[" {
		mark = "]"
	}
	return after(query, i+1, mark)
}

// resolution is what an INSERT does with a row whose key is there.
type resolution int

const (
	refuse resolution = iota
	skip              // ON CONFLICT DO NOTHING, OR IGNORE
	update            // ON CONFLICT DO UPDATE, OR REPLACE
)

// statement is what has to be known of a text before it is executed.
type statement struct {
	text      string // without FOR UPDATE
	verb      string // SELECT, INSERT, UPDATE, DELETE, BEGIN, COMMIT, ROLLBACK or the first word
	table     string // INSERT: where, in small letters
	conflict  resolution
	selects   int  // how often the word SELECT stands there
	joined    bool // UPDATE … FROM
	returning bool
	forUpdate bool
	from      int    // SELECT … FOR UPDATE: where FROM begins
	problem   string // what the model has not
}

// parse reads a statement as far as the model needs it.
func parse(query string) statement {
	all := words(query)
	for len(all) > 0 && all[len(all)-1].text == ";" {
		all = all[:len(all)-1]
	}
	st := statement{text: query}
	if len(all) == 0 {
		return st
	}
	st.verb = verbOf(all)
	for i, w := range all {
		if w.quoted {
			continue
		}
		switch next := textAt(all, i+1); {
		case w.text == ";":
			st.problem = "a call with several statements"
		case w.text == "SELECT":
			st.selects++
		case w.text == "RETURNING":
			st.returning = true
		case w.text == "OR" && i > 0 && (all[i-1].text == "INSERT" || all[i-1].text == "UPDATE"):
			st.resolve(next)
		case w.text == "DO" && next == "NOTHING":
			st.conflict = max(st.conflict, skip)
		case w.text == "DO" && next == "UPDATE":
			st.conflict = update
		case w.text == "FROM" && w.depth == 0:
			st.joined = st.verb == "UPDATE"
		case w.text == "INTO" && st.table == "":
			st.table = tableAt(all, i+1)
		}
	}
	switch st.verb {
	case "REPLACE":
		st.verb, st.conflict = "INSERT", update
	case "CREATE", "DROP", "ALTER", "REINDEX", "ANALYZE", "SAVEPOINT", "RELEASE":
		st.problem = st.verb
	case "ROLLBACK":
		if slices.ContainsFunc(all, func(w word) bool { return w.text == "TO" }) {
			st.problem = "ROLLBACK TO"
		}
	case "SELECT":
		st.lockClause(all)
	}
	return st
}

// Text is a statement as SQLite knows it: without FOR UPDATE.
func Text(query string) string { return parse(query).text }

// resolve reads INSERT OR … and UPDATE OR ….
func (st *statement) resolve(how string) {
	switch how {
	case "IGNORE":
		st.conflict = skip
	case "REPLACE":
		st.conflict = update
	case "ROLLBACK", "FAIL":
		st.problem = "OR " + how
	}
	if st.verb == "UPDATE" && st.conflict != refuse {
		st.problem = "UPDATE OR " + how
	}
}

func textAt(all []word, i int) string {
	if i < len(all) && !all[i].quoted {
		return all[i].text
	}
	return ""
}

// tableAt is the name of a table, without its schema.
func tableAt(all []word, i int) string {
	if textAt(all, i+1) == "." {
		i += 2
	}
	if i < len(all) {
		return strings.ToLower(all[i].text)
	}
	return ""
}

// verbOf is the first word, or behind WITH the one that the names are for.
func verbOf(all []word) string {
	verb := all[0].text
	if verb == "WITH" {
		for _, w := range all[1:] {
			if w.depth == 0 && slices.Contains([]string{"SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE", "VALUES"}, w.text) {
				verb = w.text
				break
			}
		}
	}
	switch verb {
	case "START":
		return "BEGIN"
	case "END":
		return "COMMIT"
	case "VALUES":
		return "SELECT"
	}
	return verb
}

// lockClause cuts FOR UPDATE off, which SQLite does not know. PostgreSQL refuses
// it together with grouping; the model has it for one table.
func (st *statement) lockClause(all []word) {
	n := len(all) - 2
	if n < 1 || textAt(all, n) != "FOR" || textAt(all, n+1) != "UPDATE" {
		return
	}
	st.forUpdate, st.text, st.from = true, st.text[:all[n].at], -1
	for i, w := range all[:n] {
		switch {
		case w.quoted:
		case w.text == "FROM" && w.depth == 0 && st.from < 0:
			st.from, st.table = w.at, tableAt(all, i+1)
		case slices.Contains([]string{"?", ":", "@", "$"}, w.text) && st.from < 0:
			st.problem = "FOR UPDATE with a parameter in the list of columns"
		case w.depth == 0 && slices.Contains([]string{"JOIN", "GROUP", "HAVING", "DISTINCT", "UNION", "EXCEPT", "INTERSECT", "WITH", "VALUES"}, w.text),
			w.depth == 0 && w.text == "," && st.from >= 0 && !ordered(all[:i]),
			st.from < 0 && textAt(all, i+1) == "(" && slices.Contains([]string{"COUNT", "SUM", "MIN", "MAX", "AVG", "TOTAL"}, w.text):
			st.problem = "FOR UPDATE with more than the rows of one table"
		}
	}
	if st.from < 0 {
		st.problem = "FOR UPDATE without a table"
	}
}

// ordered says that ORDER BY has begun, where a comma joins no tables.
func ordered(all []word) bool {
	return slices.ContainsFunc(all, func(w word) bool { return w.depth == 0 && !w.quoted && (w.text == "ORDER" || w.text == "LIMIT") })
}

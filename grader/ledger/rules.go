package ledger

import (
	"slices"
	"strings"

	"modernc.org/sqlite"
)

// rules are what the authoriser said of the statements of one call.
type rules struct {
	refused string // "" when nothing
	seen    seen
	schema  bool // a statement makes, changes or drops something, temporary or not
}

func (r rules) clone() rules {
	r.seen.reads, r.seen.writes, r.seen.control = slices.Clone(r.seen.reads), slices.Clone(r.seen.writes), slices.Clone(r.seen.control)
	return r
}

// authorise decides while a statement is compiled whether it stays inside the
// submission's database. It looks at what SQLite is about to do and never at
// the text, so no spelling gets around it: VACUUM INTO arrives as an ATTACH,
// and pragma_table_info() as a PRAGMA. https://sqlite.org/c3ref/set_authorizer.html
func (r *rules) authorise(l *Ledger, action sqlite.AuthorizerActionCode, arg1, arg2 string) sqlite.AuthorizerReturnCode {
	if why := l.refuses(action, arg1, arg2); why != "" {
		r.refused = why
		return sqlite.AuthorizerDeny
	}
	r.seen.note(action, arg1, arg2)
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthFunction, sqlite.AuthInsert, sqlite.AuthUpdate, sqlite.AuthDelete,
		sqlite.AuthTransaction, sqlite.AuthSavepoint, sqlite.AuthRecursive:
	default:
		r.schema = true
	}
	return sqlite.AuthorizerOK
}

func (l *Ledger) refuses(action sqlite.AuthorizerActionCode, arg1, arg2 string) string {
	switch action {
	case sqlite.AuthAttach, sqlite.AuthDetach:
		return "ATTACH, DETACH and VACUUM reach files outside the sandbox's database."
	case sqlite.AuthPragma:
		return "PRAGMA changes the connection, which belongs to the harness."
	case sqlite.AuthCreateVTable, sqlite.AuthDropVTable:
		return "Virtual tables are not available in the sandbox."
	case sqlite.AuthFunction:
		if strings.EqualFold(arg2, "load_extension") {
			return "load_extension would run code outside the sandbox."
		}
		if strings.EqualFold(arg2, "total_changes") {
			return "total_changes() counts over the life of a connection, and the sandbox keeps connections open from one process to the next."
		}
	case sqlite.AuthDropTable, sqlite.AuthDropView, sqlite.AuthDropTrigger, sqlite.AuthDropIndex:
		if l.guard[strings.ToLower(arg1)] {
			return "The tables of the exercise cannot be dropped."
		}
	case sqlite.AuthAlterTable: // arg1 is the database, arg2 the table
		if l.guard[strings.ToLower(arg2)] {
			return "The tables of the exercise cannot be altered."
		}
	default:
	}
	return ""
}

// trust says whose SQL runs on the grader's connection. A pack can come from
// anybody: with ATTACH its SQL could read and write every file of the server.
type trust int

const (
	ourSQL        trust = iota
	tablesOfAPack       // may make and fill tables
	queryOfAPack        // may read
)

// authoriseOwn decides on the grader's connection.
func (l *Ledger) authoriseOwn(action sqlite.AuthorizerActionCode, arg1, arg2, _, _ string) sqlite.AuthorizerReturnCode {
	why := ""
	switch l.trust {
	case ourSQL:
		return sqlite.AuthorizerOK
	case tablesOfAPack:
		why = l.refuses(action, arg1, arg2)
	case queryOfAPack:
		switch action {
		case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		case sqlite.AuthFunction:
			why = l.refuses(action, arg1, arg2)
		default:
			why = "A query may only read."
		}
	}
	if why != "" {
		l.refused = why
		return sqlite.AuthorizerDeny
	}
	return sqlite.AuthorizerOK
}

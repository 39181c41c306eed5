package ledger

import (
	"errors"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Access is what an effect touched, for those who ask whether the order of two
// effects matters. Names are "lock" (SQLite's one write lock), "db" (the last
// commit, which a transaction's first read or write pins) and "table:…".
type Access struct {
	Reads, Writes []string
	// Durable says that the effect changed what is committed.
	Durable bool
}

const (
	lockName = "lock"
	dbName   = "db"
	// tablePrefix is followed by a table's name in lower case.
	tablePrefix = "table:"
)

// session is what a connection is in the middle of. Statements may begin and end
// transactions themselves (BEGIN IMMEDIATE through Exec), so it is followed
// through the authoriser and not through the calls.
type session struct {
	open      bool   // a transaction
	savepoint string // the one that opened it
	pinned    bool   // it has read or written: its view of the database is fixed
	locked    bool   // it holds the write lock
	written   []string
}

// seen is what the authoriser said of the statements of one call.
type seen struct {
	reads, writes []string
	control       []string // BEGIN, COMMIT, ROLLBACK, and savepoints as "SAVEPOINT BEGIN name"
}

// note collects one action of the authoriser.
func (s *seen) note(action sqlite.AuthorizerActionCode, arg1, arg2 string) {
	add := func(list *[]string, name string) {
		if name = tablePrefix + strings.ToLower(name); !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	switch action {
	case sqlite.AuthRead:
		add(&s.reads, arg1)
	case sqlite.AuthInsert, sqlite.AuthUpdate, sqlite.AuthDelete:
		add(&s.writes, arg1)
	case sqlite.AuthTransaction:
		s.control = append(s.control, arg1)
	case sqlite.AuthSavepoint:
		s.control = append(s.control, "SAVEPOINT "+arg1+" "+arg2)
	default:
	}
}

// settle updates the session after a call and says what the call touched.
func (c *fileConn) settle(err error) Access {
	s, did := &c.session, c.rules.seen
	var a Access
	if len(did.control) > 0 {
		// Several statements at once, a BEGIN that may be IMMEDIATE, a savepoint:
		// rare, and anything that is said too much costs only time.
		a = Access{Reads: []string{dbName}, Writes: []string{lockName}}
		c.follow(did.control, err, &a)
		return a
	}
	switch writes := len(did.writes) > 0; {
	case !s.open && writes: // a transaction of its own
		a = Access{Reads: []string{dbName}, Writes: append([]string{lockName, dbName}, did.writes...), Durable: err == nil}
	case !s.open:
		a.Reads = did.reads
	case writes && !s.locked:
		a = Access{Reads: []string{dbName}, Writes: []string{lockName}}
		s.locked, s.pinned = !isBusy(err), true
	case !s.pinned && len(did.reads) > 0:
		a.Reads = []string{dbName}
		s.pinned = true
	}
	if s.open && err == nil {
		s.written = append(s.written, did.writes...)
	}
	return a
}

// follow applies statements that begin or end transactions.
func (c *fileConn) follow(control []string, err error, a *Access) {
	s := &c.session
	for _, text := range control {
		word, name, _ := strings.Cut(strings.TrimPrefix(text, "SAVEPOINT "), " ")
		switch {
		case text == "BEGIN" && err == nil:
			*s = session{open: true, locked: s.locked}
		case text == "COMMIT" && err == nil:
			a.Writes, a.Durable = append(append(a.Writes, dbName), s.written...), len(s.written) > 0
			*s = session{}
		case text == "ROLLBACK":
			*s = session{}
		case word == "BEGIN" && !s.open:
			*s = session{open: true, savepoint: name}
		case word == "RELEASE" && s.savepoint != "" && s.savepoint == name:
			a.Writes, a.Durable = append(append(a.Writes, dbName), s.written...), len(s.written) > 0
			*s = session{}
		}
	}
}

// ended says what a COMMIT or ROLLBACK through the driver touched.
func (c *fileConn) ended(commit bool, err error) Access {
	s := c.session
	c.session = session{}
	switch {
	case !s.locked && len(s.written) == 0:
		return Access{}
	case commit:
		return Access{Writes: append([]string{lockName, dbName}, s.written...), Durable: err == nil}
	default:
		return Access{Writes: []string{lockName}}
	}
}

func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

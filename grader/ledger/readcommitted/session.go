package readcommitted

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
)

// Session is one connection: at most one transaction at a time.
type Session struct {
	d      *Database
	name   string
	number int

	open     bool // BEGIN was said
	readOnly bool
	aborted  bool
	redo     []Change
	held     []string // locks, in the order in which they were taken
	waitsFor string   // a lock; "" when the session does not wait
	first    *attempt // at the statement that waits
}

// Evaluate executes the text of a statement on the database's connection. Its
// error is SQLite's, or one that ends the schedule.
type Evaluate func(ctx context.Context, query string) (Result, error)

// Result is what a statement answers.
type Result struct {
	Columns      []Column
	Rows         [][]driver.Value
	Affected     int64
	LastInsertID int64
}

// Column is the name and declared type of a column of a result.
type Column struct{ Name, Type string }

// Outcome is a result with what the statement touched.
type Outcome struct {
	Result
	Changes []Change
	// Reads and Writes name what decides whether the order of this and of
	// another session's statement matters, beside the tables that it read: locks
	// that it took or wanted, rows in doubt, counters of ids, and "table:…" for
	// what became durable. See Flanagan and Godefroid's dependent transitions.
	Reads, Writes []string
	Durable       bool
}

// Name is what Database.Session was given.
func (s *Session) Name() string { return s.name }

// Open says that a transaction is open, aborted or not.
func (s *Session) Open() bool { return s.open }

// Blocked returns the session that this one waits for; nil when its statement
// can be tried, for the first time or again.
func (s *Session) Blocked() *Session {
	if s.waitsFor == "" {
		return nil
	}
	return s.d.holder(s, s.waitsFor)
}

// Begin starts a transaction. It takes no snapshot.
func (s *Session) Begin(readOnly bool) error {
	if s.open {
		return errInTransaction
	}
	s.open, s.readOnly = true, readOnly
	return nil
}

// Do executes a statement; run is called for its text, sometimes more than once,
// on rows that differ. The error is SQLite's, an *Error, or anything that run
// returned; *Waiting and *Outside are no answers.
func (s *Session) Do(ctx context.Context, query string, args []driver.NamedValue, run Evaluate) (Outcome, error) {
	st := parse(query)
	switch {
	case st.problem != "":
		return s.fail(Outcome{}, unsupported(st.problem))
	case st.verb == "BEGIN":
		return Outcome{}, s.Begin(false)
	case st.verb == "COMMIT":
		return s.Commit(ctx)
	case st.verb == "ROLLBACK":
		return s.Rollback()
	case s.aborted:
		return Outcome{}, ErrAborted
	}
	first := s.first
	s.first, s.waitsFor = nil, ""
	if first != nil && first.query != query {
		first = nil
	}
	at, err := s.d.evaluate(ctx, s, st, args, run, first)
	if err != nil {
		return Outcome{}, broken(err)
	}
	at.query = query
	return s.finish(ctx, st, at, first)
}

// finish decides what becomes of an attempt: it waits, it fails, or it holds.
func (s *Session) finish(ctx context.Context, st statement, at, first *attempt) (Outcome, error) {
	out := Outcome{Result: at.result, Changes: at.changes}
	if st.verb == "INSERT" {
		out.Reads = append(out.Reads, "doubt:"+st.table, "table:"+st.table)
	}
	for _, c := range at.changes {
		if t := s.d.tables[fold(c.Table)]; t != nil && t.counter && c.Old == nil {
			out.Writes = append(out.Writes, "counter:"+fold(c.Table))
		}
	}
	locks := s.d.locksOf(append(slices.Clone(at.changes), at.touched...))
	wanted := s.wanted(locks)
	out.Writes = append(out.Writes, wanted...)
	if len(s.redo)+len(at.changes) > maxChanges {
		return s.fail(out, unsupported(fmt.Sprintf("a transaction that changes more than %d rows", maxChanges)))
	}
	if s.readOnly && len(at.changes) > 0 {
		return s.fail(out, errReadOnly)
	}
	if blocked := s.take(locks); blocked != nil {
		if first == nil {
			first = at
		}
		return s.wait(out, *blocked, first)
	}
	if at.err != nil {
		return s.fail(out, at.err)
	}
	s.redo = append(s.redo, at.changes...)
	if !s.open {
		return s.end(ctx, out)
	}
	out.Writes = append(out.Writes, s.d.doubts(at.changes)...)
	return out, nil
}

// wanted names the locks that the session has not got, up to the first that
// another one holds. A lock that it holds already is no acquisition.
func (s *Session) wanted(locks []lock) []string {
	var names []string
	for _, l := range locks {
		if s.d.locks[l.name] == s {
			continue
		}
		names = append(names, "lock:"+l.name)
		if s.d.locks[l.name] != nil {
			break
		}
	}
	return names
}

func (s *Session) wait(out Outcome, l lock, first *attempt) (Outcome, error) {
	h := s.d.locks[l.name]
	if l.vague {
		return out, &Outside{"whether " + l.name + " is one key in both transactions"}
	}
	out.Writes = append(out.Writes, "waits") // who closes a circle depends on who waits first
	for w := h; w != nil; w = w.Blocked() {
		if w == s {
			return s.fail(out, ErrDeadlock)
		}
	}
	s.waitsFor, s.first = l.name, first
	out.Result, out.Changes = Result{}, nil
	return out, &Waiting{For: h, Key: l.name}
}

// fail answers with an error: inside a transaction that aborts it, and its locks
// are free at once.
func (s *Session) fail(out Outcome, err error) (Outcome, error) {
	out.Result, out.Changes = Result{}, nil
	out.Writes = append(out.Writes, s.Abort()...)
	return out, err
}

// Abort is an error inside a transaction, whatever it comes from. It returns
// what it touched.
func (s *Session) Abort() []string {
	touched := s.d.doubts(s.redo)
	for _, name := range s.release() {
		touched = append(touched, "lock:"+name)
	}
	s.redo, s.aborted = nil, s.open
	return touched
}

// Commit ends the transaction.
func (s *Session) Commit(ctx context.Context) (Outcome, error) {
	switch {
	case !s.open:
		return Outcome{}, errNoTransaction
	case s.aborted:
		_, _ = s.Rollback()
		return Outcome{}, ErrCommitAborted
	}
	return s.end(ctx, Outcome{})
}

// end makes the changes durable and gives the locks back.
func (s *Session) end(ctx context.Context, out Outcome) (Outcome, error) {
	err := s.d.settle(ctx, s)
	if err == nil {
		out.Durable = len(s.redo) > 0
		for _, c := range s.redo {
			if name := "table:" + fold(c.Table); !slices.Contains(out.Writes, name) {
				out.Writes = append(out.Writes, name)
			}
		}
	}
	out.Writes = append(out.Writes, s.Abort()...)
	s.open, s.aborted, s.readOnly = false, false, false
	return out, broken(err)
}

// Rollback gives the transaction up.
func (s *Session) Rollback() (Outcome, error) {
	if !s.open {
		return Outcome{}, errNoTransaction
	}
	out := Outcome{Writes: s.Abort()}
	s.open, s.aborted, s.readOnly = false, false, false
	return out, nil
}

// Close is the end of the connection: what it has open is rolled back.
func (s *Session) Close() {
	if _, err := s.Rollback(); errors.Is(err, errNoTransaction) {
		s.Abort() // a statement of its own may wait
	}
	delete(s.d.sessions, s)
}

// doubts names the tables in which the changes leave something undecided that
// decides about other rows: existing rows, and rows with several keys.
func (d *Database) doubts(changes []Change) []string {
	var all []string
	for _, c := range changes {
		t := d.tables[fold(c.Table)]
		several := t != nil && len(t.unique) > 1
		if name := "doubt:" + fold(c.Table); (c.Old != nil || several) && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

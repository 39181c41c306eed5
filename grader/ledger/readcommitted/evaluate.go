package readcommitted

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
)

// attempt is one execution of a statement.
type attempt struct {
	query   string
	changes []Change
	touched []Change // rows that FOR UPDATE selected
	result  Result
	err     error // the statement's own
	guessed bool  // made without the rows in doubt: only its locks mean something
	rows    map[string]int
}

// evaluate executes a statement on the newest committed rows and the session's
// own changes. first is the attempt that had to wait. An error is no answer.
func (d *Database) evaluate(ctx context.Context, s *Session, st statement, args []driver.NamedValue, run Evaluate, first *attempt) (*attempt, error) {
	if st.verb == "INSERT" {
		return d.insert(ctx, s, st, run, first)
	}
	at, err := d.try(ctx, s, st, args, run, nil)
	if err != nil {
		return nil, err
	}
	if st.verb == "UPDATE" && isUnique(at.err) {
		for _, c := range at.changes {
			if len(d.doubtful(s, fold(c.Table))) > 0 {
				return nil, &Outside{"an UPDATE meets a key whose row another transaction is changing"}
			}
		}
	}
	if first != nil {
		return at, d.narrow(st, at, first)
	}
	return at, nil
}

// try executes the statement once; without are rows that it must not see.
func (d *Database) try(ctx context.Context, s *Session, st statement, args []driver.NamedValue, run Evaluate, without []Change) (*attempt, error) {
	at := &attempt{guessed: without != nil}
	err := d.aside(ctx, s, func() error {
		for _, c := range without {
			if err := d.apply(ctx, c); err != nil {
				return fmt.Errorf("leave out a row in doubt: %w", err)
			}
		}
		if err := d.setCounters(ctx, st); err != nil {
			return err
		}
		d.changes, d.broken = nil, nil
		at.result, at.err = run(ctx, st.text)
		at.changes = d.changes
		if d.broken != nil {
			return fmt.Errorf("read the changes of a statement: %w", d.broken)
		}
		if st.forUpdate && at.err == nil {
			return d.touch(ctx, st, args, at)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.count(at.changes)
	d.renumber(at.changes)
	at.rows = map[string]int{}
	for _, c := range append(slices.Clone(at.changes), at.touched...) {
		if t := d.tables[fold(c.Table)]; t != nil && c.Old != nil {
			id := t.identity(c.Old, c.from)
			at.rows[id] = d.born[id]
		}
	}
	return at, nil
}

// touch finds the rows that SELECT … FOR UPDATE locks.
func (d *Database) touch(ctx context.Context, st statement, args []driver.NamedValue, at *attempt) error {
	t := d.tables[st.table]
	if t == nil {
		return &Outside{"FOR UPDATE of " + st.table + ", which is no table"}
	}
	list := t.rowid
	if list == "" {
		list = "0"
	}
	rows, err := d.rowsOf(ctx, "SELECT "+list+", "+strings.Join(quoted(t.columns), ", ")+" "+st.text[st.from:], args)
	if err != nil {
		return fmt.Errorf("find the rows of FOR UPDATE: %w", err)
	}
	for _, row := range rows {
		c := Change{Table: t.name}
		c.from, _ = row[0].(int64)
		for _, v := range row[1:] {
			c.Old = append(c.Old, v)
		}
		at.touched = append(at.touched, c)
	}
	return nil
}

// narrow applies PostgreSQL's rule for a statement that has waited: it looks
// again at the rows that its first attempt found, in their newest version, and
// at no others. https://www.postgresql.org/docs/current/transaction-iso.html
func (d *Database) narrow(st statement, at, first *attempt) error {
	own := 0
	if st.forUpdate {
		own = 1
	}
	if st.selects > own || st.joined {
		return &Outside{"a statement with a sub-select or a join has waited; PostgreSQL reads part of it as it was before"}
	}
	var kept []Change
	for _, c := range at.changes {
		if d.known(c, first) {
			kept = append(kept, c)
		}
	}
	dropped := len(at.changes) - len(kept)
	for _, c := range at.touched {
		if !d.known(c, first) {
			dropped++
		}
	}
	if dropped == 0 {
		return nil
	}
	if d.moved || st.returning || st.forUpdate || at.err != nil {
		return &Outside{"after a wait the statement meets rows that it had not found before"}
	}
	at.changes = kept
	at.result.Affected -= int64(dropped)
	return nil
}

func (d *Database) known(c Change, first *attempt) bool {
	t := d.tables[fold(c.Table)]
	if t == nil || c.Old == nil {
		return true
	}
	id := t.identity(c.Old, c.from)
	born, ok := first.rows[id]
	return ok && born == d.born[id]
}

// insert executes an INSERT. Rows in doubt (changed or deleted by a transaction
// that is open) are left out at first: a key that meets one has to wait.
func (d *Database) insert(ctx context.Context, s *Session, st statement, run Evaluate, first *attempt) (*attempt, error) {
	t := d.tables[st.table]
	again := st.conflict == update || t != nil && t.resolve
	doubtful := d.doubtful(s, st.table)
	if first != nil && st.selects > 0 && (again || first.guessed) {
		return nil, &Outside{"an INSERT from a SELECT has waited; PostgreSQL keeps some of the rows that it had found"}
	}
	if first != nil && !again {
		if len(doubtful) > 0 {
			return nil, &Outside{"an INSERT waits for a third transaction"}
		}
		return d.late(ctx, s, st, first)
	}
	if len(doubtful) > 0 && st.selects == 0 {
		at, err := d.try(ctx, s, st, nil, run, doubtful)
		if err != nil {
			return nil, err
		}
		for _, l := range d.locksOf(at.changes) {
			if d.holder(s, l.name) != nil {
				return at, nil
			}
		}
	}
	at, err := d.try(ctx, s, st, nil, run, nil)
	if err != nil {
		return nil, err
	}
	if isUnique(at.err) && t != nil && len(t.unique) > 1 && d.undecided(s, t) {
		return nil, &Outside{"an INSERT meets a key that is there, and perhaps another one that is not decided"}
	}
	if len(doubtful) > 0 && st.selects > 0 && (at.err != nil || st.conflict != refuse) {
		return nil, &Outside{"an INSERT from a SELECT meets rows that another transaction is changing"}
	}
	return at, nil
}

// late brings the rows of an INSERT that has waited to the newest rows: a key
// that is there now is an error, or a row that is skipped.
func (d *Database) late(ctx context.Context, s *Session, st statement, first *attempt) (*attempt, error) {
	at := &attempt{result: first.result, rows: first.rows, guessed: first.guessed}
	if first.err != nil {
		return nil, &Outside{"an INSERT of several rows has waited before it failed"}
	}
	err := d.aside(ctx, s, func() error {
		for _, c := range first.changes {
			err := d.apply(ctx, c)
			switch {
			case err == nil:
				at.changes = append(at.changes, c)
			case !isUnique(err):
				return fmt.Errorf("insert after a wait: %w", err)
			case st.conflict == skip:
				at.result.Affected--
				if st.returning {
					return &Outside{"RETURNING of a row that was skipped after a wait"}
				}
			default:
				at.err = err
				return nil
			}
		}
		return nil
	})
	return at, err
}

// setCounters lets generated ids begin after the last that anybody was given.
func (d *Database) setCounters(ctx context.Context, st statement) error {
	if st.verb != "INSERT" {
		return nil
	}
	t := d.tables[st.table]
	if t == nil || !t.counter {
		return nil
	}
	if err := d.exec(ctx, "DELETE FROM sqlite_sequence WHERE name = ?", t.name); err != nil {
		return fmt.Errorf("set a counter: %w", err)
	}
	if err := d.exec(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", t.name, d.counters[st.table]); err != nil {
		return fmt.Errorf("set a counter: %w", err)
	}
	return nil
}

// count moves the counters on. What was given stays given, also after an error.
func (d *Database) count(changes []Change) {
	for _, c := range changes {
		name := fold(c.Table)
		t := d.tables[name]
		if t == nil || !t.counter || c.Old != nil {
			continue
		}
		if id, _ := c.New[t.alias].(int64); id > d.counters[name] {
			d.counters[name] = id
		}
	}
}

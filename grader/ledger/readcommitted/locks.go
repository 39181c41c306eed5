package readcommitted

import (
	"fmt"
	"slices"
	"strings"
)

// lock is what a transaction needs for a row change.
type lock struct {
	name  string
	vague bool // it may not be the same row at all
}

// identity names a row for as long as it lives.
func (t *table) identity(row []any, rowid int64) string {
	if t.rowid != "" {
		return fmt.Sprintf("%s row %d", t.name, rowid)
	}
	return t.name + " row " + t.values(t.primary, row)
}

// values writes columns and their values as people read them.
func (t *table) values(columns []int, row []any) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = t.columns[c] + " " + format(row[c])
	}
	return strings.Join(parts, ", ")
}

func format(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(x, "'", "''") + "'"
	case []byte:
		return fmt.Sprintf("x'%x'", x)
	default:
		return fmt.Sprint(x)
	}
}

// keys are the locks of the unique keys of a row. NULLs are distinct.
func (t *table) keys(row []any) []lock {
	var all []lock
	for n, ix := range t.unique {
		if slices.ContainsFunc(ix.columns, func(c int) bool { return row[c] == nil }) {
			continue
		}
		name := t.name + "(" + t.values(ix.columns, row) + ")"
		if ix.vague {
			name = fmt.Sprintf("%s index %d", name, n)
		}
		all = append(all, lock{name, ix.vague})
	}
	if t.alias >= 0 && !t.counter {
		// Ids that SQLite chose may meet although PostgreSQL's would not.
		for i := range all {
			all[i].vague = all[i].vague || strings.HasPrefix(all[i].name, t.name+"("+t.columns[t.alias]+" ") && len(t.unique[i].columns) == 1
		}
	}
	return all
}

// locksOf lists what the changes need, in their order.
func (d *Database) locksOf(changes []Change) []lock {
	var all []lock
	add := func(l lock) {
		if !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	for _, c := range changes {
		t := d.tables[fold(c.Table)]
		if t == nil {
			continue
		}
		for _, row := range [][]any{c.Old, c.New} {
			if row != nil {
				for _, l := range t.keys(row) {
					add(l)
				}
			}
		}
		if c.Old != nil {
			add(lock{name: t.identity(c.Old, c.from)})
		}
	}
	return all
}

// holder returns the session that keeps s from the lock.
func (d *Database) holder(s *Session, name string) *Session {
	if h := d.locks[name]; h != nil && h != s {
		return h
	}
	return nil
}

// take locks what is free, in order, up to the first that another session holds.
// The rows before the one that has to be waited for stay locked.
func (s *Session) take(locks []lock) (blocked *lock) {
	for i, l := range locks {
		if s.d.holder(s, l.name) != nil {
			return &locks[i]
		}
		if s.d.locks[l.name] == nil {
			s.d.locks[l.name] = s
			s.held = append(s.held, l.name)
		}
	}
	return nil
}

// release frees every lock and says which.
func (s *Session) release() []string {
	held := s.held
	for _, name := range held {
		delete(s.d.locks, name)
	}
	s.held, s.waitsFor, s.first = nil, "", nil
	return held
}

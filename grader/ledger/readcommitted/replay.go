package readcommitted

import (
	"context"
	"fmt"
	"strings"
)

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func fold(name string) string { return strings.ToLower(name) }

// apply makes one row change. OR ABORT overrides what the table's definition has
// for conflicts: here a conflict is an error.
func (d *Database) apply(ctx context.Context, c Change) error {
	t := d.tables[fold(c.Table)]
	if t == nil {
		return fmt.Errorf("change of an unknown table %s", c.Table)
	}
	switch {
	case c.Old == nil:
		columns, values := quoted(t.columns), c.New
		if t.rowid != "" && t.alias < 0 {
			columns, values = append([]string{t.rowid}, columns...), append([]any{c.to}, values...)
		}
		return d.exec(ctx, fmt.Sprintf("INSERT OR ABORT INTO %s (%s) VALUES (?%s)",
			quote(t.name), strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)-1)), values...)
	case c.New == nil:
		where, args := t.find(c)
		return d.exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s", quote(t.name), where), args...)
	default:
		where, args := t.find(c)
		return d.exec(ctx, fmt.Sprintf("UPDATE OR ABORT %s SET %s = ? WHERE %s",
			quote(t.name), strings.Join(quoted(t.columns), " = ?, "), where), append(append([]any(nil), c.New...), args...)...)
	}
}

// find is the condition for the row that a change begins from.
func (t *table) find(c Change) (where string, args []any) {
	if t.rowid != "" {
		return t.rowid + " = ?", []any{c.from}
	}
	var parts []string
	for _, i := range t.primary {
		parts, args = append(parts, quote(t.columns[i])+" = ?"), append(args, c.Old[i])
	}
	return strings.Join(parts, " AND "), args
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return out
}

// aside executes fn on what the session sees and takes everything back.
func (d *Database) aside(ctx context.Context, s *Session, fn func() error) error {
	if err := d.exec(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("begin aside: %w", err)
	}
	err := d.replay(ctx, s)
	if err == nil {
		err = fn()
	}
	// The statement's own time may be over, but not that of its undoing.
	if back := d.exec(context.WithoutCancel(ctx), "ROLLBACK"); back != nil {
		return fmt.Errorf("undo a statement: %w", back)
	}
	return err
}

// replay makes the session's changes. Its locks keep others away from them; what
// fails all the same is a conflict that the keys did not show.
func (d *Database) replay(ctx context.Context, s *Session) error {
	for _, c := range s.redo {
		if err := d.apply(ctx, c); isUnique(err) {
			return &Outside{"two transactions wrote rows of " + c.Table + " whose keys are equal in a way that the model does not see"}
		} else if err != nil {
			return fmt.Errorf("replay a change of %s: %w", c.Table, err)
		}
	}
	return nil
}

// settle makes the session's changes durable.
func (d *Database) settle(ctx context.Context, s *Session) error {
	if len(s.redo) == 0 {
		return nil
	}
	if err := d.exec(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	err := d.replay(ctx, s)
	if err == nil {
		err = d.exec(ctx, "COMMIT")
	}
	if err != nil {
		if back := d.exec(context.WithoutCancel(ctx), "ROLLBACK"); back != nil {
			return fmt.Errorf("commit: %w (%w)", err, back)
		}
		return err
	}
	for _, c := range s.redo {
		t := d.tables[fold(c.Table)]
		switch {
		case c.Old == nil:
			d.born[t.identity(c.New, c.to)]++
		case c.New != nil && t.identity(c.Old, c.from) != t.identity(c.New, c.to):
			d.moved = true
		}
	}
	return nil
}

// renumber gives inserted rows whose rowid is no column one that no other
// transaction has: SQLite's choice is the next one that this transaction sees.
func (d *Database) renumber(changes []Change) {
	type place struct {
		table string
		rowid int64
	}
	moved := map[place]int64{}
	for i := range changes {
		c := &changes[i]
		name := fold(c.Table)
		if t := d.tables[name]; t == nil || t.rowid == "" || t.alias >= 0 {
			continue
		}
		if c.Old == nil {
			d.rows[name]++
			moved[place{name, c.to}] = d.rows[name]
			c.to = d.rows[name]
			continue
		}
		if to, ok := moved[place{name, c.from}]; ok {
			c.from, c.to = to, to
		}
	}
}

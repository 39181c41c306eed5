package grader

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"redeliver/exercises"
	"redeliver/grader/invariant"
	"redeliver/grader/ledger"
)

// histories keep what stood in tables of the exercise after each commit. The
// grader reads them through its own connection once an effect has become
// durable: nothing of it is in the submission's database, so there is nothing
// to forge, and a transaction's inner steps, which no other connection can see,
// are not in it. Several statements in one call count as one commit.
type histories struct {
	commits int
	all     []*history
}

// history is one of an exercise's histories under way.
type history struct {
	exercises.History
	query string
	start [][]driver.Value // the rows before the first record
	now   [][]driver.Value // the rows after the last commit
	rows  [][]driver.Value // at, and the columns
}

// newHistories reads the start of every schedule. A submitted schema that lacks
// a table or a column is a *ledger.SchemaError.
func newHistories(ctx context.Context, l *ledger.Ledger, sub *submission) (*histories, error) {
	hs := &histories{}
	for _, e := range sub.exercise.Histories {
		columns := make([]string, len(e.Columns))
		for i, c := range e.Columns {
			// Qualified, because SQLite takes a "name" that is no column for a text.
			columns[i] = `t."` + c + `"` // the loader lets through letters, digits and underscores only
		}
		h := &history{History: e}
		h.query = "SELECT " + strings.Join(columns, ", ") + ` FROM main."` + e.Table + `" t ORDER BY ` + strings.Join(columns, ", ")
		rows, err := l.Query(ctx, h.query)
		if err != nil && sub.schema.Submitted && ctx.Err() == nil {
			return nil, &ledger.SchemaError{Text: fmt.Sprintf("The harness cannot read the columns %s of the table %s: %v.", strings.Join(e.Columns, ", "), e.Table, err)}
		}
		if err != nil {
			return nil, fmt.Errorf("history %s: %w", e.Name, err)
		}
		h.start = rows.Rows
		hs.all = append(hs.all, h)
	}
	hs.reset()
	return hs, nil
}

// reset begins another schedule.
func (hs *histories) reset() {
	hs.commits = 0
	for _, h := range hs.all {
		h.now, h.rows = nil, nil
		h.add(0, h.start)
	}
}

// commit adds what the last commit has changed.
func (hs *histories) commit(ctx context.Context, l *ledger.Ledger) error {
	hs.commits++
	for _, h := range hs.all {
		rows, err := l.Query(ctx, h.query)
		if err != nil {
			return fmt.Errorf("history %s: %w", h.Name, err)
		}
		h.add(hs.commits, rows.Rows)
	}
	return nil
}

// add keeps the rows that were not there before. Two equal rows are two rows.
func (h *history) add(at int, rows [][]driver.Value) {
	left := map[string]int{}
	for _, row := range h.now {
		left[rowKey(row)]++
	}
	for _, row := range rows {
		if key := rowKey(row); left[key] > 0 {
			left[key]--
			continue
		}
		h.rows = append(h.rows, append([]driver.Value{int64(at)}, row...))
	}
	h.now = rows
}

// rowKey is equal for rows that SQLite would call identical.
func rowKey(row []driver.Value) string {
	var b strings.Builder
	for _, v := range row {
		fmt.Fprintf(&b, "%T %q ", v, fmt.Sprint(v))
	}
	return b.String()
}

// tables gives the histories as the queries of invariants see them.
func (hs *histories) tables() map[string]invariant.Table {
	tables := map[string]invariant.Table{}
	for _, h := range hs.all {
		tables[h.Name] = invariant.Table{Columns: append([]string{"at"}, slices.Clone(h.Columns)...), Rows: h.rows}
	}
	return tables
}

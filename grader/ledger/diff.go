package ledger

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// maxChanges bounds the row differences of one statement that are kept for the
// trace; the rest is counted.
const maxChanges = 20

// collect is SQLite's pre-update hook: it is called before each row changes,
// inside the statement, so it sees what is rolled back later too.
func (c *fileConn) collect(d sqlite.SQLitePreUpdateData) {
	if len(c.changes) > maxChanges {
		return
	}
	if len(c.changes) == maxChanges {
		c.changes = append(c.changes, "… and more rows")
		return
	}
	n := d.Count()
	var before, after []any
	if d.Op != sqlite3.SQLITE_INSERT {
		before = make([]any, n)
		if err := d.Old(before...); err != nil {
			c.changes = append(c.changes, "? "+d.TableName+": "+err.Error())
			return
		}
	}
	if d.Op != sqlite3.SQLITE_DELETE {
		after = make([]any, n)
		if err := d.New(after...); err != nil {
			c.changes = append(c.changes, "? "+d.TableName+": "+err.Error())
			return
		}
	}
	c.changes = append(c.changes, difference(d.TableName, c.l.columnsOf(d.TableName), before, after))
}

// difference writes one row change as people read it:
//
//	+charges(1, 'p-7f3', 'acc-1', 4900)
//	-processed_events('e-1', '…')
//	accounts('acc-1'): balance 50000 → 45100
func difference(table string, columns []string, before, after []any) string {
	switch {
	case before == nil:
		return "+" + table + "(" + formatList(after) + ")"
	case after == nil:
		return "-" + table + "(" + formatList(before) + ")"
	}
	var changed []string
	for i := range after {
		old, now := Format(before[i]), Format(after[i])
		if old == now {
			continue
		}
		name := "column " + strconv.Itoa(i+1)
		if i < len(columns) {
			name = columns[i]
		}
		changed = append(changed, name+" "+old+" → "+now)
	}
	if changed == nil {
		changed = []string{"unchanged"}
	}
	return table + "(" + Format(after[0]) + "): " + strings.Join(changed, ", ")
}

// columnsOf returns a table's column names. It is asked inside a statement of
// another connection, which WAL allows. A table that is not committed yet has
// none, and its differences are written by position.
func (l *Ledger) columnsOf(table string) []string {
	if names, ok := l.columns[table]; ok {
		return names
	}
	rows, err := l.Query(context.Background(), "SELECT name FROM pragma_table_info(?, 'main')", driver.NamedValue{Ordinal: 1, Value: table})
	if err != nil {
		return nil
	}
	var names []string
	for _, r := range rows.Rows {
		names = append(names, fmt.Sprint(r[0]))
	}
	if names != nil {
		l.columns[table] = names
	}
	return names
}

func formatList(values []any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = Format(v)
	}
	return strings.Join(parts, ", ")
}

func formatRows(rows [][]driver.Value) string {
	var b strings.Builder
	for _, r := range rows {
		for _, v := range r {
			b.WriteString(formatFull(v))
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Format writes a value as an SQL literal, shortened for people.
func Format(v any) string { return Shorten(formatFull(v), 60) }

func formatFull(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(x, "'", "''") + "'"
	case []byte:
		return fmt.Sprintf("x'%x'", x)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	default:
		return fmt.Sprint(x)
	}
}

// Shorten cuts s to at most n runes on one line and marks the cut.
func Shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func orderAll(n int) string {
	parts := make([]string, max(n, 1))
	for i := range parts {
		parts[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(parts, ", ")
}

package ledger

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
)

// startTables say how the tables are put back to the rows that they have at the
// start of a schedule, from a copy of the file that is attached for that.
type startTables struct {
	// simple says that this can be done with SQL: no triggers, which would fire,
	// no generated columns, which cannot be inserted, no virtual tables.
	simple bool
	copies map[string]string // by table as Access names it: the INSERT
}

// startSchema is the name under which the copy is attached.
const startSchema = "redeliver_start"

// startPath is where the copy is.
func (f *file) startPath() string { return f.path + "-start" }

// readStart looks at the tables that are there.
func readStart(ctx context.Context, l *Ledger) (startTables, error) {
	t := startTables{copies: map[string]string{}}
	odd, err := l.Query(ctx, `SELECT 1 FROM sqlite_master WHERE type = 'trigger' OR sql LIKE 'CREATE VIRTUAL%'`)
	if err != nil || len(odd.Rows) > 0 {
		return t, err
	}
	tables, err := l.Query(ctx, `SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
		AND (name NOT LIKE 'sqlite\_%' ESCAPE '\' OR name = 'sqlite_sequence')`)
	if err != nil {
		return t, err
	}
	for _, row := range tables.Rows {
		name, withoutRowID := fmt.Sprint(row[0]), row[1] != int64(0)
		columns, err := copied(ctx, l, name, withoutRowID)
		if err != nil || columns == nil {
			return startTables{}, err
		}
		list := strings.Join(columns, ", ")
		t.copies[tablePrefix+strings.ToLower(name)] = fmt.Sprintf("INSERT INTO main.%s (%s) SELECT %s FROM %s.%s",
			quote(name), list, list, startSchema, quote(name))
	}
	t.simple = true
	return t, nil
}

// copied lists the columns of a table that a copy needs; nil when it cannot be
// copied.
func copied(ctx context.Context, l *Ledger, table string, withoutRowID bool) ([]string, error) {
	rows, err := l.Query(ctx, fmt.Sprintf(`SELECT name, hidden, type, pk FROM pragma_table_xinfo('%s')`, strings.ReplaceAll(table, "'", "''")))
	if err != nil {
		return nil, err
	}
	rowID := []string{"rowid", "_rowid_", "oid"}
	alias := withoutRowID
	var columns []string
	for _, row := range rows.Rows {
		name := fmt.Sprint(row[0])
		if row[1] != int64(0) {
			return nil, nil // a generated one
		}
		alias = alias || row[3] != int64(0) && strings.EqualFold(fmt.Sprint(row[2]), "INTEGER")
		rowID = slices.DeleteFunc(rowID, func(s string) bool { return strings.EqualFold(s, name) })
		columns = append(columns, quote(name))
	}
	switch {
	case alias:
		return columns, nil
	case len(rowID) == 0:
		return nil, nil
	default:
		return append([]string{rowID[0]}, columns...), nil
	}
}

// Places of the file format versions in a database's first page. 1 is a database
// without a log, which an immutable file must be. https://sqlite.org/fileformat.html
const (
	writeVersion = 18
	readVersion  = 19
)

// save writes the copy.
func (t startTables) save(path string, image []byte) error {
	if !t.simple {
		return nil
	}
	start := bytes.Clone(image)
	start[writeVersion], start[readVersion] = 1, 1
	return os.WriteFile(path, start, 0o600)
}

// known says that every table that the schedule has written is one that putBack
// can put back.
func (f *file) known() bool {
	for table := range f.dirty {
		if f.tables.copies[table] == "" {
			return false
		}
	}
	return true
}

// putBack gives the tables that the schedule has written the rows of its start.
func (f *file) putBack(ctx context.Context) error {
	c, err := f.own()
	if err != nil {
		return err
	}
	texts := []string{"BEGIN IMMEDIATE"}
	if !f.attached {
		address := (&url.URL{Scheme: "file", Path: f.startPath(), RawQuery: "immutable=1"}).String()
		texts = append([]string{"ATTACH '" + strings.ReplaceAll(address, "'", "''") + "' AS " + startSchema}, texts...)
		f.attached = true
	}
	tables := slices.DeleteFunc(slices.Sorted(maps.Keys(f.dirty)), func(t string) bool { return t == sequences })
	if f.tables.copies[sequences] != "" { // SQLite writes it beside the others, so it comes last
		tables = append(tables, sequences)
	}
	for _, t := range tables {
		texts = append(texts, "DELETE FROM main."+quote(strings.TrimPrefix(t, tablePrefix)), f.tables.copies[t])
	}
	for _, text := range append(texts, "COMMIT") {
		if _, err := execRaw(ctx, c, text, nil); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// sequences is the table of what AUTOINCREMENT has given out.
const sequences = tablePrefix + "sqlite_sequence"

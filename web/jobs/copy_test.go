package jobs

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// What people wrote is there afterwards, and what waited is graded.
func TestCopyGoesOn(t *testing.T) {
	t.Parallel()
	from := setup(t, filepath.Join(t.TempDir(), "redeliver.db"), passes)
	from.start(t)
	from.practise(t, "ada")
	from.stop(t)
	waiting := from.submit(t, handIn("ada", "waits"), Created)

	to := setup(t, storetest.Postgres(t), passes)
	counts, err := Copy(t.Context(), from.st, to.st)
	if err != nil {
		t.Fatal(err)
	}
	if counts["submissions"] != 2 || counts["river_job"] != 1 || counts["cards"] != 1 {
		t.Errorf("copied %v", counts)
	}
	want, err1 := from.st.Practice(t.Context(), store.BrowserOf("ada"))
	got, err2 := to.st.Practice(t.Context(), store.BrowserOf("ada"))
	if err := errors.Join(err1, err2); err != nil || !cmp.Equal(want, got) {
		t.Errorf("practice: %s, err %v", cmp.Diff(want, got), err)
	}
	to.start(t)
	to.next(t)
	if s := to.submission(t, "ada", waiting); s.State != store.Graded || s.Verdict.Outcome != verdict.Passed {
		t.Errorf("what waited: %+v", s)
	}
	to.submit(t, handIn("ada", "a number that nobody has"), Created)
	if _, err := Copy(t.Context(), from.st, to.st); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("a second time: err %v", err)
	}
}

// Every table of the schema, also one that is added tomorrow: each gets a row in
// which each column has a value, and all must arrive.
func TestCopyLeavesNoTableOut(t *testing.T) {
	t.Parallel()
	from := storetest.Open(t, filepath.Join(t.TempDir(), "redeliver.db"), Migrate)
	to := storetest.Open(t, storetest.Postgres(t), Migrate)
	dropChecks(t, to.Write)
	all := column(t, from.Read, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
	tables := slices.DeleteFunc(all, func(name string) bool {
		return name == "goose_db_version" || strings.HasPrefix(name, "river_")
	})
	conn, err := from.Write.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, pragma := range []string{"PRAGMA ignore_check_constraints = 1", "PRAGMA foreign_keys = 0"} {
		if _, err := conn.ExecContext(t.Context(), pragma); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range tables {
		if _, err := conn.ExecContext(t.Context(), rowFor(t, from.Read, table)); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
	if err := conn.Close(); err != nil { // the only one that writes
		t.Fatal(err)
	}
	counts, err := Copy(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	delete(counts, "river_job")
	if len(counts) != len(tables) {
		t.Errorf("copied %v of %v", counts, tables)
	}
	for _, table := range tables {
		names := column(t, from.Read, fmt.Sprintf("SELECT name FROM pragma_table_info('%s') ORDER BY name", table))
		query := fmt.Sprintf(`SELECT "%s" FROM %s`, strings.Join(names, `", "`), table)
		want, got := row(t, from.Read, query, len(names)), row(t, to.Read, query, len(names))
		if !cmp.Equal(want, got) {
			t.Errorf("%s (%v): %s", table, names, cmp.Diff(want, got))
		}
	}
}

// rowFor inserts a row: numbers are 1, so that rows refer to each other, and texts
// are the name of the column that they refer to, or their own.
func rowFor(t *testing.T, read *sql.DB, table string) string {
	t.Helper()
	names := column(t, read, fmt.Sprintf("SELECT name FROM pragma_table_info('%s') ORDER BY cid", table))
	var values []string
	for _, name := range names {
		values = append(values, column(t, read, fmt.Sprintf(`
			SELECT CASE WHEN c.type LIKE '%%TEXT%%' THEN '''' || coalesce((SELECT f."to" FROM pragma_foreign_key_list('%[1]s') f WHERE f."from" = c.name), c.name) || ''''
			            WHEN c.type LIKE '%%DOUBLE%%' OR c.type LIKE '%%REAL%%' THEN '1.5' WHEN c.type LIKE '%%BLOB%%' THEN 'x''01FF''' ELSE '1' END
			FROM pragma_table_info('%[1]s') c WHERE c.name = '%[2]s'`, table, name))...)
	}
	return fmt.Sprintf(`INSERT INTO "%s" ("%s") VALUES (%s)`, table, strings.Join(names, `", "`), strings.Join(values, ", "))
}

// dropChecks lets rows in that make no sense.
func dropChecks(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, statement := range column(t, db, `
		SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint
		WHERE contype = 'c' AND connamespace = current_schema()::regnamespace AND conrelid <> 0 AND conrelid::regclass::text NOT LIKE '%river%'`) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func column(t *testing.T, db *sql.DB, query string) (list []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// row reads the only row of a table as text, with true for both databases' one.
func row(t *testing.T, db *sql.DB, query string, n int) []string {
	t.Helper()
	texts, pointers := make([]string, n), make([]any, n)
	for i := range texts {
		pointers[i] = &texts[i]
	}
	if err := db.QueryRowContext(t.Context(), query).Scan(pointers...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	for i, text := range texts {
		if text == "true" {
			texts[i] = "1"
		}
	}
	return texts
}

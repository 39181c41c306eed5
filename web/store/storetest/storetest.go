// Package storetest opens throw-away databases for tests.
package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redeliver/web/store"
)

// PostgresEnv names the variable with the address of a database in which tests
// may create schemas. Without it the PostgreSQL half of each test is skipped.
const PostgresEnv = "REDELIVER_TEST_POSTGRES"

// Each runs fn once on SQLite and once on PostgreSQL, with the address of an
// empty database.
func Each(t *testing.T, fn func(t *testing.T, pathOrURL string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, filepath.Join(t.TempDir(), "redeliver.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, Postgres(t))
	})
}

// Open opens a database, migrates it with the given function and closes it when
// the test ends.
func Open(t *testing.T, pathOrURL string, migrate func(context.Context, *store.Store) error) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), pathOrURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := migrate(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	return st
}

// Postgres makes a schema of its own, so that tests can run in parallel in one
// database, and returns its address. Without PostgresEnv it skips the test.
func Postgres(t *testing.T) string {
	t.Helper()
	base := os.Getenv(PostgresEnv)
	if base == "" {
		t.Skip("set " + PostgresEnv + " to run on PostgreSQL too")
	}
	admin, err := sql.Open("pgx", base)
	if err != nil {
		t.Fatal(err)
	}
	name := "t" + strings.ToLower(rand.Text())
	if _, err := admin.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context()) // the test's own has ended here
		if _, err := admin.ExecContext(ctx, "DROP SCHEMA "+name+" CASCADE"); err != nil {
			t.Error(err)
		}
		if err := admin.Close(); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

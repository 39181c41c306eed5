package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redeliver/web/store"
	"redeliver/web/store/db"
	"redeliver/web/store/storetest"
)

func migrate(ctx context.Context, st *store.Store) error {
	return st.Migrate(ctx, func(context.Context) error { return nil })
}

func TestMigrations(t *testing.T) {
	t.Parallel()

	names := func(t *testing.T, dialect string) []string {
		t.Helper()
		files, err := fs.Glob(os.DirFS("migrations/"+dialect), "*.sql")
		if err != nil || len(files) == 0 {
			t.Fatalf("%d migrations, err %v", len(files), err)
		}
		return files
	}

	t.Run("SameNamesInBothDialects", func(t *testing.T) {
		t.Parallel()
		if a, b := names(t, "sqlite"), names(t, "postgres"); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Errorf("sqlite has %v, postgres has %v", a, b)
		}
	})

	t.Run("NumberedWithoutGaps", func(t *testing.T) {
		t.Parallel()
		for i, name := range names(t, "sqlite") {
			if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(name, want) {
				t.Errorf("file %d is called %s", i+1, name)
			}
		}
	})

	t.Run("SecondRunChangesNothing", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			st := storetest.Open(t, pathOrURL, migrate)
			if _, err := db.New(st.Write).TouchBrowser(t.Context(), db.TouchBrowserParams{TokenHash: "h", Now: 1}); err != nil {
				t.Fatal(err)
			}
			if err := migrate(t.Context(), st); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM browsers").Scan(&n); err != nil || n != 1 {
				t.Errorf("%d browsers left, err %v", n, err)
			}
		})
	})
}

func TestSchemaRefusesImpossibleStates(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		id := createSubmission(t, st, newSubmission{token: "ada"})
		for _, statement := range []string{
			"UPDATE submissions SET state = 'lost' WHERE id = $1",
			"UPDATE submissions SET finished_at = 1 WHERE id = $1",
			"UPDATE submissions SET outcome = 'passed' WHERE id = $1",
			"UPDATE submissions SET state = 'graded', finished_at = 1, verdict = '{}' WHERE id = $1",
			"UPDATE submissions SET state = 'graded', finished_at = 1, verdict = '{}', outcome = 'maybe' WHERE id = $1",
			"INSERT INTO submissions (public_id, browser_id, exercise, exercise_version, engine, seed, files, source_hash, state, created_at)" +
				" SELECT 'other', browser_id, exercise, '1', '1', 1, '[]', 'h', 'queued', 1 FROM submissions WHERE id = $1",
			"UPDATE submissions SET browser_id = 12345 WHERE id = $1",
		} {
			if _, err := st.Write.ExecContext(t.Context(), statement, id); err == nil {
				t.Errorf("accepted: %s", statement)
			}
		}
	})
}

func TestSQLite(t *testing.T) {
	t.Parallel()

	open := func(t *testing.T) *store.Store {
		t.Helper()
		// The characters that an address put together by hand gets wrong.
		return storetest.Open(t, filepath.Join(t.TempDir(), "a b?c#d%20.db"), migrate)
	}

	t.Run("EveryConnectionHasTheSettings", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		var conns []*sql.Conn
		for range 4 {
			c, err := st.Read.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
		}
		for _, c := range conns {
			var keys, busy, synchronous int
			var journal string
			err := errors.Join(
				c.QueryRowContext(t.Context(), "PRAGMA foreign_keys").Scan(&keys),
				c.QueryRowContext(t.Context(), "PRAGMA busy_timeout").Scan(&busy),
				c.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&synchronous),
				c.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&journal),
				c.Close(),
			)
			if err != nil || keys != 1 || busy != 5000 || synchronous != 1 || journal != "wal" {
				t.Errorf("foreign_keys=%d busy_timeout=%d synchronous=%d journal_mode=%s err=%v", keys, busy, synchronous, journal, err)
			}
		}
	})

	t.Run("ReadPoolCannotWrite", func(t *testing.T) {
		t.Parallel()
		if _, err := open(t).Read.ExecContext(t.Context(), "DELETE FROM browsers"); err == nil {
			t.Error("the read pool wrote")
		}
	})

	t.Run("UnusablePathIsAnError", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "missing", "redeliver.db")
		if st, err := store.Open(t.Context(), path); err == nil {
			t.Errorf("opened, close: %v", st.Close())
		}
	})
}

func TestInTx(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		stop := errors.New("stop")
		err := st.InTx(t.Context(), func(_ *sql.Tx, q *db.Queries) error {
			if _, err := store.TouchBrowser(t.Context(), q, store.BrowserOf("ada"), time.UnixMilli(1)); err != nil {
				return err
			}
			return stop
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		var n int
		if err := st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM browsers").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows survived the rollback, err %v", n, err)
		}
	})
}

package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// A copy that is made while the site has the database open holds what was
// committed, and is a database like any other.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "redeliver.db"), filepath.Join(dir, "copy.db")
	st := storetest.Open(t, path, migrate)
	id := createSubmission(t, st, newSubmission{token: "ada", at: 1})
	finish(t, st, id, verdictOf(verdict.Failed))

	reader, err := store.OpenToRead(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := reader.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	if err := reader.Backup(t.Context(), copied); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second copy into the same file: %v, want %v", err, fs.ErrExist)
	}
	info, err := os.Stat(copied)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the copy: %v, err %v", info.Mode(), err)
	}
	restored := storetest.Open(t, copied, migrate)
	got, err := restored.SubmissionByID(t.Context(), id)
	if err != nil || got.Verdict == nil || got.Verdict.Outcome != verdict.Failed {
		t.Errorf("in the copy: %+v, err %v", got, err)
	}
}

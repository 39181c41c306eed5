//go:build unix

package store_test

import (
	"errors"
	"path/filepath"
	"testing"

	"redeliver/web/store"
)

func TestLockFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := store.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.LockFolder(dir); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a second time: err %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	release, err = store.LockFolder(dir)
	if err != nil {
		t.Fatalf("after it was released: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if _, err := store.LockFolder(filepath.Join(dir, "missing")); err == nil {
		t.Error("a folder that is not there can be locked")
	}
}

package store_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// Who reads what was judged sees all of it, and changes nothing.
func TestGraded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		var want []int64
		for i := range 53 { // more than a page
			id := createSubmission(t, st, newSubmission{token: "ada", publicID: fmt.Sprint("s", i), hash: store.SourceHash(files("package handler")), at: 1})
			finish(t, st, id, verdictOf(verdict.Failed))
			want = append(want, id)
		}
		createSubmission(t, st, newSubmission{token: "bob", at: 2}) // waits

		reader, err := store.OpenToRead(t.Context(), pathOrURL)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := reader.Close(); err != nil {
				t.Error(err)
			}
		}()
		var got []int64
		for sub, err := range reader.Graded(t.Context()) {
			if err != nil || sub.Verdict == nil || sub.Verdict.Outcome != verdict.Failed {
				t.Fatalf("%+v, err %v", sub, err)
			}
			got = append(got, sub.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if _, err := reader.Read.ExecContext(t.Context(), "DELETE FROM submissions"); err == nil {
			t.Error("the reader could delete")
		}
	})
	t.Run("NoFile", func(t *testing.T) {
		t.Parallel()
		if _, err := store.OpenToRead(t.Context(), filepath.Join(t.TempDir(), "none.db")); err == nil {
			t.Error("a file that is not there was opened")
		}
	})
}

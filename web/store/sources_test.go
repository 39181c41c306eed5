package store_test

import (
	"errors"
	"strings"
	"testing"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

func TestFindSource(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		hash := store.SourceHash(files("package handler"))
		prefix := hash[:16]
		createSubmission(t, st, newSubmission{token: "ada", publicID: "other", hash: strings.Repeat("0", 64), at: 1})
		createSubmission(t, st, newSubmission{token: "ada", publicID: "elsewhere", exercise: "core/other", hash: hash, at: 2})

		if _, err := st.FindSource(t.Context(), exercise, prefix); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("before it was submitted: err %v", err)
		}
		createSubmission(t, st, newSubmission{token: "bob", publicID: "waits", hash: hash, at: 3})
		found, err := st.FindSource(t.Context(), exercise, prefix)
		if err != nil || string(found.Files[0].Content) != "package handler" || found.Verdict != nil {
			t.Errorf("while it waits: %+v, err %v", found, err)
		}
		finish(t, st, createSubmission(t, st, newSubmission{token: "eve", publicID: "graded", hash: hash, at: 4}), verdictOf(verdict.Failed))
		found, err = st.FindSource(t.Context(), exercise, prefix)
		if err != nil || found.Verdict == nil || found.Verdict.Outcome != verdict.Failed {
			t.Errorf("the one with a verdict comes first: %+v, err %v", found, err)
		}
	})
}

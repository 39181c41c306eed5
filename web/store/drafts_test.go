package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

const exercise = "core/charge-once"

func files(text string) []store.File {
	return []store.File{{Name: "handler.go", Content: []byte(text)}}
}

func TestSaveDraft(t *testing.T) {
	t.Parallel()

	type testBundle struct {
		st      *store.Store
		browser store.Browser
	}
	setup := func(t *testing.T, pathOrURL string) *testBundle {
		t.Helper()
		return &testBundle{st: storetest.Open(t, pathOrURL, migrate), browser: store.BrowserOf("ada")}
	}
	save := func(t *testing.T, b *testBundle, base int64, text string) (int64, error) {
		t.Helper()
		return b.st.SaveDraft(t.Context(), b.browser, store.NewDraft{Exercise: exercise, Base: base, Files: files(text)}, time.UnixMilli(1000))
	}
	mustSave := func(t *testing.T, b *testBundle, base int64, text string, want int64) {
		t.Helper()
		if version, err := save(t, b, base, text); version != want || err != nil {
			t.Fatalf("saved version %d, want %d, err %v", version, want, err)
		}
	}
	newest := func(t *testing.T, b *testBundle) store.Draft {
		t.Helper()
		d, err := b.st.NewestDraft(t.Context(), b.browser, exercise)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}

	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setup(t, pathOrURL)

		t.Run("NothingAtFirst", func(t *testing.T) {
			if _, err := b.st.NewestDraft(t.Context(), b.browser, exercise); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("err %v", err)
			}
			if _, err := b.st.SaveDraft(t.Context(), "", store.NewDraft{Exercise: exercise}, time.UnixMilli(1)); err == nil {
				t.Error("saved a draft of no browser")
			}
		})

		t.Run("EveryVersionIsKept", func(t *testing.T) {
			mustSave(t, b, 0, "one\x00\xff", 1)
			mustSave(t, b, 1, "two", 2)
			for version, want := range map[int64]string{1: "one\x00\xff", 2: "two"} {
				d, err := b.st.Draft(t.Context(), b.browser, exercise, version)
				if err != nil || string(d.Files[0].Content) != want || !d.SavedAt.Equal(time.UnixMilli(1000)) {
					t.Errorf("version %d is %+v, err %v", version, d, err)
				}
			}
			list, err := b.st.Drafts(t.Context(), b.browser, exercise, 10)
			if err != nil || len(list) != 2 || list[0].Version != 2 || list[1].Size != int64(len("handler.go")+5) {
				t.Errorf("list %+v, err %v", list, err)
			}
		})

		t.Run("SameTextIsNotStoredAgain", func(t *testing.T) {
			mustSave(t, b, 2, "two", 2)
			mustSave(t, b, 0, "two", 2) // also for another tab that wrote the same
		})

		t.Run("NewerVersionIsAConflict", func(t *testing.T) {
			_, err := save(t, b, 1, "three")
			var conflict *store.ConflictError
			if !errors.As(err, &conflict) || string(conflict.Newest.Files[0].Content) != "two" || conflict.Newest.Version != 2 {
				t.Fatalf("err %v", err)
			}
			if d := newest(t, b); d.Version != 2 {
				t.Errorf("version %d was stored", d.Version)
			}
			mustSave(t, b, conflict.Newest.Version, "three", 3)
		})

		t.Run("OthersSeeNothing", func(t *testing.T) {
			for _, who := range []store.Browser{"", store.BrowserOf("bob")} {
				if _, err := b.st.NewestDraft(t.Context(), who, exercise); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%q: newest: err %v", who, err)
				}
				if _, err := b.st.Draft(t.Context(), who, exercise, 1); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%q: version 1: err %v", who, err)
				}
				if list, err := b.st.Drafts(t.Context(), who, exercise, 10); len(list) != 0 || err != nil {
					t.Errorf("%q: list %v, err %v", who, list, err)
				}
			}
		})

		t.Run("OldestGoBeyondTheNumber", func(t *testing.T) {
			for v := newest(t, b).Version; v < store.MaxDraftVersions+5; v++ {
				mustSave(t, b, v, fmt.Sprint("text ", v), v+1)
			}
			list, err := b.st.Drafts(t.Context(), b.browser, exercise, 1000)
			if err != nil || len(list) != store.MaxDraftVersions || list[0].Version != store.MaxDraftVersions+5 {
				t.Errorf("%d versions, err %v", len(list), err)
			}
		})

		t.Run("WhatWasSavedByItselfGoesFirst", func(t *testing.T) {
			const another = "core/redis-gap"
			saveTo := func(v int64, text string, auto bool) {
				t.Helper()
				got, err := b.st.SaveDraft(t.Context(), b.browser, store.NewDraft{Exercise: another, Base: v, Files: files(text), Auto: auto}, time.UnixMilli(1000))
				if err != nil || got > v+1 {
					t.Fatalf("saved version %d, err %v", got, err)
				}
			}
			saveTo(0, "mine", false)
			saveTo(1, "saved by itself, then wanted", true)
			saveTo(2, "saved by itself, then wanted", false)
			for v := int64(2); v < store.MaxDraftVersions+5; v++ {
				saveTo(v, fmt.Sprint("text ", v), true)
			}
			list, err := b.st.Drafts(t.Context(), b.browser, another, 1000)
			if err != nil || len(list) != store.MaxDraftVersions {
				t.Fatalf("%d versions, err %v", len(list), err)
			}
			if list[0].Version != store.MaxDraftVersions+5 || !list[0].Auto {
				t.Errorf("the newest is %+v", list[0])
			}
			last := list[len(list)-2:]
			if last[0].Version != 2 || last[0].Auto || last[1].Version != 1 || last[1].Auto {
				t.Errorf("the oldest are %+v", last)
			}
		})

		t.Run("OldestGoBeyondTheSize", func(t *testing.T) {
			const each = store.MaxDraftBytes / 3
			for i := range 4 {
				v := newest(t, b).Version
				mustSave(t, b, v, strings.Repeat(fmt.Sprint(i), each), v+1)
			}
			list, err := b.st.Drafts(t.Context(), b.browser, exercise, 1000)
			if err != nil || len(list) != 2 {
				t.Errorf("%d versions of %d bytes, err %v", len(list), each, err)
			}
		})
	})
}

func TestSourceHash(t *testing.T) {
	t.Parallel()
	two := []store.File{{Name: "a.go", Content: []byte("x")}, {Name: "b.go", Content: []byte("y")}}
	same := slices.Clone(two)
	slices.Reverse(same)
	if store.SourceHash(two) != store.SourceHash(same) {
		t.Error("the order of the files counts")
	}
	for name, other := range map[string][]store.File{
		"OtherContent":  {{Name: "a.go", Content: []byte("x")}, {Name: "b.go", Content: []byte("z")}},
		"OtherName":     {{Name: "a.go", Content: []byte("x")}, {Name: "c.go", Content: []byte("y")}},
		"BorderMoved":   {{Name: "a.gox"}, {Name: "b.go", Content: []byte("y")}},
		"FileLeftOut":   {{Name: "a.go", Content: []byte("x")}},
		"FilesSwapped":  {{Name: "a.go", Content: []byte("y")}, {Name: "b.go", Content: []byte("x")}},
		"NoFilesAtAll":  nil,
		"JoinedInOne":   {{Name: "a.go", Content: []byte("xb.goy")}},
		"TrailingSpace": {{Name: "a.go", Content: []byte("x ")}, {Name: "b.go", Content: []byte("y")}},
	} {
		if store.SourceHash(two) == store.SourceHash(other) {
			t.Errorf("%s has the same hash", name)
		}
	}
}

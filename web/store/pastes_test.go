package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

func TestPastes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		const exercise = "core/charge-once"
		grace := store.BrowserOf("grace")
		mark := func(id string) store.Paste {
			return store.Paste{Mark: id, File: "handler.go", From: 2, To: 4, Lines: 3, Size: 80, Moved: true, At: time.UnixMilli(900)}
		}
		save := func(base int64, text string, pastes ...store.Paste) int64 {
			t.Helper()
			d := store.NewDraft{Exercise: exercise, Base: base, Files: []store.File{{Name: "handler.go", Content: []byte(text)}}, Noted: store.Noted{ByEditor: true, Pastes: pastes}}
			version, err := st.SaveDraft(t.Context(), grace, d, time.UnixMilli(1000))
			if err != nil {
				t.Fatal(err)
			}
			return version
		}
		list := func(b store.Browser, exercise string) []store.KeptPaste {
			t.Helper()
			kept, err := st.Pastes(t.Context(), b, exercise)
			if err != nil {
				t.Fatal(err)
			}
			return kept
		}
		save(0, "one", mark("a"))
		again := mark("a")
		again.From, again.To = 7, 9
		save(1, "two", again, mark("b"))
		save(2, "two", mark("c")) // the text is the newest: no version is made for it
		want := []store.KeptPaste{{mark("a"), 1}, {mark("b"), 2}, {mark("c"), 2}}
		if got := list(grace, exercise); !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		if got := append(list(store.BrowserOf("bob"), exercise), list(grace, "core/other")...); len(got) != 0 {
			t.Errorf("others have %v", got)
		}
		if drafts, err := st.Drafts(t.Context(), grace, exercise, 9); err != nil || !drafts[0].ByEditor {
			t.Errorf("%+v, err %v", drafts, err)
		}
		for i := range store.MaxPastes + 5 {
			save(int64(i+2), fmt.Sprint(i), mark(fmt.Sprint("m", i)))
		}
		if n := len(list(grace, exercise)); n != store.MaxPastes {
			t.Errorf("%d marks are kept", n)
		}
	})
}

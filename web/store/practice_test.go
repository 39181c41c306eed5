package store_test

import (
	"database/sql"
	"io/fs"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/db"
	"redeliver/web/store/storetest"
)

func at(ms int64) time.Time { return time.UnixMilli(ms) }

func practice(t *testing.T, st *store.Store, token string) store.Practice {
	t.Helper()
	p, err := st.Practice(t.Context(), store.BrowserOf(token))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func finishAt(t *testing.T, st *store.Store, id int64, v verdict.Verdict, ms int64) {
	t.Helper()
	err := st.InTx(t.Context(), func(_ *sql.Tx, q *db.Queries) error {
		_, err := store.FinishTx(t.Context(), q, id, v, at(ms))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func failedWith(kinds ...verdict.Kind) verdict.Verdict {
	v := verdictOf(verdict.Failed)
	for _, k := range kinds {
		v.Findings = append(v.Findings, verdict.Finding{Kind: k})
	}
	return v
}

// What a verdict says of a browser's practice is kept with it.
func TestPracticeFollowsVerdicts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		if p := practice(t, st, "ada"); !cmp.Equal(p, store.Practice{}) {
			t.Errorf("at first %+v", p)
		}
		ada := store.BrowserOf("ada")
		predict := func(guess store.Guess, ms int64) bool {
			t.Helper()
			kept, err := st.Predict(t.Context(), ada, store.Prediction{Exercise: exercise, Guess: guess, SourceHash: "starter", MadeAt: at(ms)})
			if err != nil {
				t.Fatal(err)
			}
			return kept
		}
		if !predict(store.GuessPassed, 1) || !predict("lost", 2) {
			t.Error("a prediction before the first run was refused")
		}
		submit := func(publicID, hash string, v verdict.Verdict, ms int64) {
			t.Helper()
			finishAt(t, st, createSubmission(t, st, newSubmission{token: "ada", publicID: publicID, hash: hash, at: ms}), v, ms)
		}
		submit("a", "starter", verdictOf(verdict.Inconclusive), 10) // ours, so it says nothing
		submit("b", "own", failedWith("compile"), 20)
		if p := practice(t, st, "ada"); len(p.Predictions[0].Came) != 0 || p.Predictions[0].Guess != "lost" {
			t.Errorf("the prediction is about the starter: %+v", p.Predictions)
		}
		submit("c", "starter", failedWith("lost", "duplicate", "duplicate"), 30)
		submit("d", "starter", verdictOf(verdict.Passed), 40)
		submit("e", "own", failedWith("duplicate"), 50)
		submit("f", "own", verdictOf(verdict.Passed), 60)
		if predict(store.GuessPassed, 70) {
			t.Error("a prediction after the run was kept")
		}
		want := store.Practice{
			Exercises: []store.Practised{{Exercise: exercise, TriedAt: at(20), PassedAt: at(40)}},
			Predictions: []store.Prediction{{
				Exercise: exercise, Guess: "lost", SourceHash: "starter", MadeAt: at(2), Came: []string{"duplicate", "lost"}, CameAt: at(30),
			}},
			Mistakes: []store.Mistake{
				{Exercise: exercise, Kind: "compile", Times: 1, LastAt: at(20)},
				{Exercise: exercise, Kind: "duplicate", Times: 2, LastAt: at(50)},
				{Exercise: exercise, Kind: "lost", Times: 1, LastAt: at(30)},
			},
		}
		if diff := cmp.Diff(want, practice(t, st, "ada")); diff != "" {
			t.Errorf("practice (-want +got):\n%s", diff)
		}
		if p := practice(t, st, "bob"); !cmp.Equal(p, store.Practice{}) {
			t.Errorf("another browser sees %+v", p)
		}
	})
}

func TestPredictionRight(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		guess store.Guess
		came  []string
		want  bool
	}{
		{"duplicate", []string{"duplicate", "lost"}, true},
		{"lost", []string{"duplicate"}, false},
		{"passed", []string{"passed"}, true},
		{"passed", []string{"duplicate"}, false},
		{"other", []string{"crash"}, true},
		{"other", []string{"crash", "lost"}, true},
		{"other", []string{"stuck"}, false},
		{"other", nil, false},
	} {
		if got := (store.Prediction{Guess: tc.guess, Came: tc.came}).Right(); got != tc.want {
			t.Errorf("%s, came %v: right %v, want %v", tc.guess, tc.came, got, tc.want)
		}
	}
}

func TestRateCard(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		rate := func(token string, reps int, ms int64) bool {
			t.Helper()
			rated, err := st.RateCard(t.Context(), store.BrowserOf(token), "question/first", reps, at(ms), func(c store.Card) store.Card {
				if c.Reps == 0 {
					c.CreatedAt = at(ms)
				}
				c.Reps, c.Stability, c.Difficulty, c.ReviewedAt, c.DueAt = c.Reps+1, c.Stability+1.5, 5.25, at(ms), at(ms+100)
				return c
			})
			if err != nil {
				t.Fatal(err)
			}
			return rated
		}
		if !rate("ada", 0, 10) || rate("ada", 0, 11) || !rate("ada", 1, 20) || rate("ada", 5, 30) {
			t.Error("a card is rated once for each time that it was seen")
		}
		if rate("bob", 1, 40) {
			t.Error("a card that bob has never seen was rated for the second time")
		}
		want := []store.Card{{
			Name: "question/first", Stability: 3, Difficulty: 5.25, Reps: 2, CreatedAt: at(10), ReviewedAt: at(20), DueAt: at(120),
		}}
		if diff := cmp.Diff(want, practice(t, st, "ada").Cards); diff != "" {
			t.Errorf("cards (-want +got):\n%s", diff)
		}
		if _, err := st.RateCard(t.Context(), "", "question/first", 0, at(1), func(c store.Card) store.Card { return c }); err == nil {
			t.Error("rated a card of no browser")
		}
	})
}

func TestMergePractice(t *testing.T) {
	t.Parallel()
	here := store.Practice{
		Exercises: []store.Practised{{Exercise: "core/a", TriedAt: at(20)}, {Exercise: "core/b", TriedAt: at(30), PassedAt: at(40)}},
		Predictions: []store.Prediction{
			{Exercise: "core/a", Guess: "lost", SourceHash: "a", MadeAt: at(1)},
			{Exercise: "core/b", Guess: "stuck", SourceHash: "b", MadeAt: at(2), Came: []string{"stuck"}, CameAt: at(3)},
		},
		Mistakes: []store.Mistake{{Exercise: "core/a", Kind: "lost", Times: 4, LastAt: at(5)}},
		Cards:    []store.Card{{Name: "question/x", Stability: 1, Difficulty: 2, Reps: 3, Lapses: 1, CreatedAt: at(1), ReviewedAt: at(10), DueAt: at(20)}},
	}
	there := store.Practice{
		Exercises: []store.Practised{
			{Exercise: "core/a", TriedAt: at(25), PassedAt: at(50)}, {Exercise: "core/b", TriedAt: at(10)}, {Exercise: "core/c", TriedAt: at(1)},
		},
		Predictions: []store.Prediction{
			{Exercise: "core/a", Guess: "duplicate", SourceHash: "a2", MadeAt: at(4), Came: []string{"duplicate", "lost"}, CameAt: at(5)},
			{Exercise: "core/b", Guess: "passed", SourceHash: "b2", MadeAt: at(6), Came: []string{"stuck"}, CameAt: at(7)},
		},
		Mistakes: []store.Mistake{{Exercise: "core/a", Kind: "lost", Times: 2, LastAt: at(9)}},
		Cards: []store.Card{
			{Name: "question/x", Stability: 9, Difficulty: 3, Reps: 1, CreatedAt: at(5), ReviewedAt: at(9), DueAt: at(90)}, // older
			{Name: "question/y", Stability: 8, Difficulty: 4, Reps: 2, CreatedAt: at(5), ReviewedAt: at(9), DueAt: at(90)},
		},
	}
	want := store.Practice{
		Exercises: []store.Practised{
			{Exercise: "core/a", TriedAt: at(20), PassedAt: at(50)}, {Exercise: "core/b", TriedAt: at(10), PassedAt: at(40)}, {Exercise: "core/c", TriedAt: at(1)},
		},
		Predictions: []store.Prediction{there.Predictions[0], here.Predictions[1]},
		Mistakes:    []store.Mistake{{Exercise: "core/a", Kind: "lost", Times: 4, LastAt: at(9)}},
		Cards:       []store.Card{here.Cards[0], there.Cards[1]},
	}
	newer := there.Cards[1]
	newer.Stability, newer.ReviewedAt, newer.CreatedAt = 20, at(100), at(99)
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		merge := func(p store.Practice) {
			t.Helper()
			if err := st.MergePractice(t.Context(), store.BrowserOf("ada"), p, at(200)); err != nil {
				t.Fatal(err)
			}
		}
		merge(here)
		merge(there)
		merge(there) // changes nothing
		if diff := cmp.Diff(want, practice(t, st, "ada")); diff != "" {
			t.Errorf("practice (-want +got):\n%s", diff)
		}
		merge(store.Practice{Cards: []store.Card{newer}})
		newer.CreatedAt = at(5) // the first rating stays the first
		if diff := cmp.Diff(newer, practice(t, st, "ada").Cards[1]); diff != "" {
			t.Errorf("the card that was rated later (-want +got):\n%s", diff)
		}
		bad := store.Practice{Exercises: []store.Practised{{Exercise: "core/z", TriedAt: at(1)}}, Cards: []store.Card{{Name: "question/z"}}}
		if err := st.MergePractice(t.Context(), store.BrowserOf("ada"), bad, at(1)); err == nil {
			t.Error("a card without a stability was stored")
		}
		if n := len(practice(t, st, "ada").Exercises); n != 3 {
			t.Errorf("half of a refused practice was stored: %d exercises", n)
		}
	})
}

// migrateAgain undoes the migration with a name and all after it, and does them
// again on the rows that are there.
func migrateAgain(t *testing.T, st *store.Store, name string) {
	t.Helper()
	folder := os.DirFS("migrations/" + string(st.Dialect))
	found, err := fs.Glob(folder, "*_"+name+".sql")
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, err %v", found, err)
	}
	version, err := strconv.ParseInt(found[0][:4], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	dialect := goose.DialectSQLite3
	if st.Dialect == store.Postgres {
		dialect = goose.DialectPostgres
	}
	provider, err := goose.NewProvider(dialect, st.Write, folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), version-1); err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The rows that were there before the tables of practice count.
func TestMigrationCountsWhatWasGraded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		for i, o := range []verdict.Outcome{verdict.Inconclusive, verdict.Failed, verdict.Passed} {
			finishAt(t, st, createSubmission(t, st, newSubmission{token: "ada", publicID: string(o), at: int64(i)}), verdictOf(o), int64(100*(i+1)))
		}
		createSubmission(t, st, newSubmission{token: "bob", publicID: "queued", at: 5})
		migrateAgain(t, st, "practice")
		want := []store.Practised{{Exercise: exercise, TriedAt: at(200), PassedAt: at(300)}}
		if diff := cmp.Diff(want, practice(t, st, "ada").Exercises); diff != "" {
			t.Errorf("exercises (-want +got):\n%s", diff)
		}
		if p := practice(t, st, "bob"); len(p.Exercises) != 0 {
			t.Errorf("what waits counts: %+v", p)
		}
	})
}

func TestOwnAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		ada := store.BrowserOf("ada")
		for i, text := range []string{"With a key.", "С ключом.", ""} {
			want := store.OwnAnswer{Text: text, SavedAt: at(int64(i + 1))}
			if err := st.SaveOwnAnswer(t.Context(), ada, "question", want); err != nil {
				t.Fatal(err)
			}
			if text == "" {
				want = store.OwnAnswer{}
			}
			for browser, want := range map[store.Browser]store.OwnAnswer{ada: want, store.BrowserOf("bob"): {}} {
				if got, err := st.OwnAnswer(t.Context(), browser, "question"); err != nil || !cmp.Equal(got, want) {
					t.Errorf("got %+v, %v, want %+v", got, err, want)
				}
			}
		}
	})
}

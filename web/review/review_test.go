package review_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/content"
	"redeliver/exercises"
	"redeliver/web/review"
	"redeliver/web/store"
)

var now = time.Date(2026, 11, 30, 20, 15, 0, 0, time.UTC)

func deck(t *testing.T) *review.Deck {
	t.Helper()
	bank, err := content.Questions()
	if err != nil {
		t.Fatal(err)
	}
	return review.NewDeck(bank, exercises.Open(exercises.Builtin(), nil))
}

func names(entries []review.Entry) (out []string) {
	for _, e := range entries {
		out = append(out, string(e.Why)+" "+e.Name)
	}
	return out
}

func days(n int) time.Time { return now.AddDate(0, 0, n) }

func TestNext(t *testing.T) {
	t.Parallel()
	fresh := store.Card{Name: "question/acks-all"}
	due := 0
	for _, r := range review.Ratings() {
		c := review.Next(fresh, r, now)
		n := review.DaysUntil(c, now)
		if n <= due || c.Reps != 1 || c.ReviewedAt != now || c.CreatedAt != now || c.DueAt.Hour() != 0 {
			t.Errorf("%s: in %d days, after %d for the rating below: %+v", r, n, due, c)
		}
		due = n
	}
	if n := review.DaysUntil(review.Next(fresh, review.Again, now), now); n != 1 {
		t.Errorf("what was forgotten comes in %d days", n)
	}

	// Known for ever, a card still comes before its browser is forgotten.
	c := review.Next(fresh, review.Easy, now)
	for range 30 {
		at := c.DueAt.Add(time.Hour)
		next := review.Next(c, review.Easy, at)
		if n := review.DaysUntil(next, at); n < 1 || n > 120 {
			t.Fatalf("in %d days: %+v", n, next)
		}
		c = next
	}
	if c.Reps != 31 || c.Lapses != 0 || c.CreatedAt != now {
		t.Errorf("at the end %+v", c)
	}
	if c = review.Next(c, review.Again, c.DueAt); c.Lapses != 1 {
		t.Errorf("a forgotten card has %d lapses", c.Lapses)
	}
	if review.Rating("maybe").Known() {
		t.Error("an unknown rating is known")
	}
}

// Whatever a file may bring, and a clock that was put back, FSRS must bear.
func TestNextBearsEveryCard(t *testing.T) {
	t.Parallel()
	for _, stability := range []float64{0.001, 1, 36500} {
		for _, difficulty := range []float64{1, 10} {
			for _, last := range []time.Time{now.AddDate(-6, 0, 0), now, now.Add(23 * time.Hour)} {
				c := store.Card{Stability: stability, Difficulty: difficulty, Reps: 5, ReviewedAt: last, CreatedAt: last}
				for range 50 {
					for _, r := range review.Ratings() {
						next := review.Next(c, r, now)
						if n := review.DaysUntil(next, now); n < 1 || n > 120 || !(next.Stability >= 0.001 && next.Stability <= 36500) || !(next.Difficulty >= 1 && next.Difficulty <= 10) {
							t.Fatalf("%+v, %s: %+v", c, r, next)
						}
					}
					c = review.Next(c, review.Again, now)
				}
			}
		}
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	d := deck(t)

	t.Run("FirstVisitGetsTheBeginningOfTheBank", func(t *testing.T) {
		t.Parallel()
		today := d.Plan(store.Practice{}, now, 0)
		if len(today.Entries) != review.NewPerDay || today.Entries[0].Name != "question/process-idempotently" ||
			today.Entries[1].Name != "pitfall/process-idempotently/producer-setting" || today.Fresh < 100 || !today.Next.IsZero() || today.Waiting() != 0 {
			t.Errorf("%q, %d more, next %v", names(today.Entries), today.Fresh, today.Next)
		}
	})

	t.Run("MistakesThenPredictionsThenDueThenNew", func(t *testing.T) {
		t.Parallel()
		p := store.Practice{
			Mistakes: []store.Mistake{{Exercise: "core/check-then-insert", Kind: "stuck", LastAt: days(-9)}, {Exercise: "core/poison-pill", Kind: "lost", LastAt: days(-1)}},
			Predictions: []store.Prediction{
				{Exercise: "core/outbox", Guess: "passed", Came: []string{"lost"}},
				{Exercise: "core/redis-gap", Guess: "duplicate", Came: []string{"duplicate"}},
				{Exercise: "core/charge-once", Guess: "lost"},
				{Exercise: "gone/gone", Guess: "lost", Came: []string{"stuck"}},
			},
			Cards: []store.Card{
				{Name: "question/acks-all", Reps: 1, CreatedAt: days(-5), DueAt: days(-1)},
				{Name: "question/exactly-once", Reps: 1, CreatedAt: days(-5), DueAt: days(-2)},
				{Name: "question/compaction", Reps: 1, CreatedAt: days(-5), DueAt: days(3)},
				{Name: "question/not-there-any-more", Reps: 1, CreatedAt: days(-5), DueAt: days(-2)},
				{Name: "pitfall/poison-pill/log-and-skip", Reps: 1, CreatedAt: days(-5), ReviewedAt: days(0), DueAt: days(7)}, // after the mistake
			},
		}
		today := d.Plan(p, now, 0)
		got := names(today.Entries)
		fresh := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "fresh") })
		want := []string{
			"mistaken pitfall/poison-pill/every-error-is-poison", "mistaken pitfall/poison-pill/always-return-the-error",
			"mistaken pitfall/rebalances-and-zombies/lock-with-lease", // the older mistake
			"missed prediction/core/outbox", "due question/exactly-once", "due question/acks-all",
		}
		if diff := cmp.Diff(want, got[:fresh]); diff != "" {
			t.Errorf("before what is new (-want +got):\n%s", diff)
		}
		if len(got)-fresh != review.NewPerDay || today.Next != days(3) || today.Waiting() != fresh {
			t.Errorf("%d new, next %v, %d wait", len(got)-fresh, today.Next, today.Waiting())
		}
	})

	t.Run("ADayBringsSoManyNewOnes", func(t *testing.T) {
		t.Parallel()
		var p store.Practice
		for _, e := range d.Plan(p, now, 0).Entries {
			p.Cards = append(p.Cards, review.Next(e.Seen, review.Good, now))
		}
		today := d.Plan(p, now, 0)
		if len(today.Entries) != 0 || today.Next.IsZero() || today.Fresh == 0 {
			t.Errorf("%q left, next %v", names(today.Entries), today.Next)
		}
		if more := d.Plan(p, now, 5); len(more.Entries) != 5 || more.Fresh != today.Fresh-5 {
			t.Errorf("asked for five more: %q", names(more.Entries))
		}
		if tomorrow := d.Plan(p, days(1), 0); len(tomorrow.Entries) != review.NewPerDay {
			t.Errorf("tomorrow %q", names(tomorrow.Entries))
		}
	})

	t.Run("AMissedPredictionComesAgain", func(t *testing.T) {
		t.Parallel()
		p := store.Practice{Predictions: []store.Prediction{{Exercise: "core/outbox", Guess: "passed", Came: []string{"lost"}}}}
		card := review.Next(d.Plan(p, now, 0).Entries[0].Seen, review.Again, now)
		p.Cards = []store.Card{card}
		if today := d.Plan(p, now, 0); today.Waiting() != 0 || !today.Next.Equal(card.DueAt) {
			t.Errorf("%q, next %v", names(today.Entries), today.Next)
		}
		if got := names(d.Plan(p, days(1), 0).Entries); got[0] != "due prediction/core/outbox" {
			t.Errorf("tomorrow %q", got)
		}
	})
}

// The pitfalls that a finding brings forward are refuted in that exercise by
// handlers that fail like this.
func TestAbout(t *testing.T) {
	t.Parallel()
	d := deck(t)
	catalog := exercises.Open(exercises.Builtin(), nil)
	for _, head := range catalog.Public() {
		e, _ := catalog.Exercise(head.Name())
		about := 0
		for _, kind := range []string{"duplicate", "lost", "misordered", "stuck"} {
			cards := d.About(head.Name(), kind)
			if len(cards) > 5 {
				t.Errorf("%s, %s: a pile of %d cards", head.Name(), kind, len(cards))
			}
			for _, c := range cards {
				run := c.Question.Text["en"].Pitfalls[c.Pitfall].Run
				if run.Exercise != head.Name() || run.Wrong != "" && !slices.Contains(e.Expect[run.Wrong].Kinds, kind) {
					t.Errorf("%s, %s: %s", head.Name(), kind, c.Name)
				}
			}
			about += len(cards)
		}
		if about == 0 {
			t.Errorf("no mistake in %s brings a card forward", head.Name())
		}
	}
	got := []string{}
	for _, c := range d.About("core/charge-once", "stuck") {
		got = append(got, c.Name)
	}
	if len(got) == 0 || got[0] != "pitfall/process-idempotently/report-the-copy" {
		t.Errorf("who reports the copy as an error gets %q", got)
	}
	if cards := append(d.About("core/charge-once", "compile"), d.About("core/nothing", "lost")...); len(cards) != 0 {
		t.Errorf("%d cards about nothing", len(cards))
	}
}

func full() store.Practice {
	at := now.Truncate(time.Millisecond)
	return store.Practice{
		Exercises: []store.Practised{{Exercise: "core/charge-once", TriedAt: at, PassedAt: at}, {Exercise: "core/outbox", TriedAt: at}},
		Predictions: []store.Prediction{
			{Exercise: "core/charge-once", Guess: "lost", SourceHash: strings.Repeat("a", 64), MadeAt: at, Came: []string{"duplicate", "lost"}, CameAt: at},
			{Exercise: "core/outbox", Guess: "passed", SourceHash: strings.Repeat("0", 64), MadeAt: at},
		},
		Mistakes: []store.Mistake{{Exercise: "core/outbox", Kind: "lost", Times: 3, LastAt: at}},
		Cards: []store.Card{
			review.Next(store.Card{Name: "pitfall/acks-all/acks-zero-has-no-duplicates"}, review.Good, at),
			review.Next(store.Card{Name: "prediction/core/outbox"}, review.Again, at),
			review.Next(store.Card{Name: "question/acks-all"}, review.Easy, at),
		},
	}
}

func TestFileIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	d := deck(t)
	for name, p := range map[string]store.Practice{"full": full(), "empty": {}} {
		text, err := review.Export(p, now)
		if err != nil {
			t.Fatal(err)
		}
		got, leftOut, err := d.Import(append([]byte("\xef\xbb\xbf"), text...), now)
		if err != nil || leftOut != 0 {
			t.Fatalf("%s: left out %d, err %v", name, leftOut, err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The largest file that this site can write is accepted by it.
func TestTheLargestFileFits(t *testing.T) {
	t.Parallel()
	d := deck(t)
	p := store.Practice{}
	for _, e := range d.Plan(p, now, 10_000).Entries {
		p.Cards = append(p.Cards, review.Next(e.Seen, review.Good, now))
	}
	for _, head := range exercises.Open(exercises.Builtin(), nil).Public() {
		p.Cards = append(p.Cards, review.Next(store.Card{Name: "prediction/" + head.Name()}, review.Good, now))
		for _, kind := range []string{"duplicate", "lost", "stuck"} {
			p.Mistakes = append(p.Mistakes, store.Mistake{Exercise: head.Name(), Kind: "lost", Times: len(kind), LastAt: now})
		}
	}
	text, err := review.Export(p, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cards are %d bytes of %d", len(p.Cards), len(text), review.MaxFile)
	if _, _, err := d.Import(text, now); err != nil || len(text) > review.MaxFile/2 {
		t.Errorf("%d bytes, err %v", len(text), err)
	}
}

func TestFileFromElsewhereLeavesOut(t *testing.T) {
	t.Parallel()
	p := full()
	p.Exercises[0].Exercise = "acme/other"
	p.Predictions[0].Exercise = "acme/other"
	p.Mistakes[0].Exercise = "acme/other"
	p.Cards[0].Name, p.Cards[1].Name = "question/other", "prediction/acme/other"
	text, err := review.Export(p, now)
	if err != nil {
		t.Fatal(err)
	}
	got, leftOut, err := deck(t).Import(text, now)
	if err != nil || leftOut != 5 || len(got.Exercises) != 1 || len(got.Predictions) != 1 || len(got.Mistakes) != 0 || len(got.Cards) != 1 {
		t.Errorf("left out %d of %+v, err %v", leftOut, got, err)
	}
}

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	d := deck(t)
	sound, err := review.Export(full(), now)
	if err != nil {
		t.Fatal(err)
	}
	// with changes one place of a sound file.
	with := func(change func(f map[string]any)) string {
		var f map[string]any
		if err := json.Unmarshal(sound, &f); err != nil {
			t.Fatal(err)
		}
		change(f)
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	field := func(list string, i int, name string, value any) string {
		return with(func(f map[string]any) { f[list].([]any)[i].(map[string]any)[name] = value })
	}
	for name, tc := range map[string]struct {
		text  string
		fault review.Fault
		place string
	}{
		"Empty":          {"", review.NoJSON, ""},
		"NoJSON":         {"Dear site,", review.NoJSON, ""},
		"CutOff":         {string(sound[:len(sound)/2]), review.NoJSON, ""},
		"SomethingAfter": {string(sound) + "{}", review.NoJSON, ""},
		"Array":          {"[]", review.NotOurs, ""},
		"Null":           {"null", review.NotOurs, ""},
		"Other":          {`{"name": "package.json", "version": "1"}`, review.NotOurs, ""},
		"Deep":           {strings.Repeat("[", 100_000), review.NoJSON, ""},
		"Version":        {with(func(f map[string]any) { f["version"] = 2 }), review.TooNew, "2"},
		"VersionOfGreatLength": {
			with(func(f map[string]any) { f["version"] = strings.Repeat("x", 1000) }), review.TooNew, `"` + strings.Repeat("x", 39) + "…",
		},
		"UnknownField":    {with(func(f map[string]any) { f["admin"] = true }), review.WrongType, "admin"},
		"UnknownInACard":  {field("cards", 0, "owner", "ada"), review.WrongType, "owner"},
		"WrongType":       {field("cards", 0, "reps", "many"), review.WrongType, "cards.reps"},
		"Fraction":        {field("cards", 0, "reps", 1.5), review.WrongType, "cards.reps"},
		"TooManyCards":    {with(func(f map[string]any) { f["cards"] = make([]struct{}, 2001) }), review.TooMany, "cards"},
		"StabilityZero":   {field("cards", 1, "stability", 0), review.Impossible, "cards 2, stability"},
		"StabilityHuge":   {field("cards", 1, "stability", 1e300), review.Impossible, "cards 2, stability"},
		"DifficultyBelow": {field("cards", 2, "difficulty", 0.5), review.Impossible, "cards 3, difficulty"},
		"RepsZero":        {field("cards", 0, "reps", 0), review.Impossible, "cards 1, reps"},
		"RepsHuge":        {field("cards", 0, "reps", 1<<40), review.Impossible, "cards 1, reps"},
		"LapsesBelow":     {field("cards", 0, "lapses", -1), review.Impossible, "cards 1, lapses"},
		"RatedTomorrow":   {field("cards", 0, "reviewed_at", "2026-12-03T00:00:00Z"), review.Impossible, "cards 1, reviewed_at"},
		"RatedInYear1":    {field("cards", 0, "created_at", "0001-01-01T00:00:00Z"), review.Impossible, "cards 1, created_at"},
		"NeverDue":        {field("cards", 0, "due_at", "9999-01-01T00:00:00Z"), review.Impossible, "cards 1, due_at"},
		"Guess":           {field("predictions", 0, "guess", "'; DROP TABLE cards"), review.Impossible, "predictions 1, guess"},
		"Source":          {field("predictions", 0, "source", "x"), review.Impossible, "predictions 1, source"},
		"Came":            {field("predictions", 0, "came", []string{"rain"}), review.Impossible, "predictions 1, came"},
		"CameNever":       {field("predictions", 0, "came_at", nil), review.Impossible, "predictions 1, came_at"},
		"Kind":            {field("mistakes", 0, "kind", "<script>"), review.Impossible, "mistakes 1, kind"},
		"TimesZero":       {field("mistakes", 0, "times", 0), review.Impossible, "mistakes 1, times"},
		"TriedLater":      {field("exercises", 1, "tried_at", "2027-01-01T00:00:00Z"), review.Impossible, "exercises 2, tried_at"},
		"TooLarge":        {strings.Repeat(" ", review.MaxFile+1), review.TooLarge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, err := d.Import([]byte(tc.text), now)
			var fault *review.FileError
			if !errors.As(err, &fault) || fault.Fault != tc.fault || fault.Place != tc.place {
				t.Errorf("err %v, want %s at %q", err, tc.fault, tc.place)
			}
			if !cmp.Equal(p, store.Practice{}) {
				t.Errorf("something was read: %+v", p)
			}
		})
	}
}

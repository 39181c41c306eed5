package jobs

import (
	"context"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// rowsPerTable counts everything in the database but the migrations, which are
// nobody's, and what River keeps for itself.
func (b *testBundle) rowsPerTable(t *testing.T) map[string]int {
	t.Helper()
	list := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	if b.st.Dialect == store.Postgres {
		list = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
	}
	rows, err := b.st.Read.QueryContext(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, name := range names {
		switch name {
		case "people", "identities", "invitations", "sessions", "audit", "api_tokens", "api_answers", "webhooks": // of accounts, which no browser leads to
		case "outages", "alive": // of the site
		case "goose_db_version", "river_migration", "river_notification", "river_leader", "river_queue", "river_client", "river_client_queue":
		case "river_job":
			counts[name] = b.count(t, "SELECT count(*) FROM river_job WHERE kind IN ('grade', 'webhook')")
		default:
			counts[name] = b.count(t, "SELECT count(*) FROM "+name)
		}
	}
	if len(counts) < 9 {
		t.Fatalf("looked at %v only", counts)
	}
	return counts
}

// practise makes ada leave a row in every table: a verdict for a starter that she
// predicted, a card, an answer, and something that waits or runs.
func (b *testBundle) practise(t *testing.T, token string) {
	t.Helper()
	browser := store.BrowserOf(token)
	hash := store.SourceHash([]store.File{{Name: "handler.go", Content: []byte("wrong by " + token)}})
	if kept, err := b.st.Predict(t.Context(), browser, store.Prediction{Exercise: exercise, Guess: store.GuessPassed, SourceHash: hash, MadeAt: b.clock.now()}); err != nil || !kept {
		t.Fatalf("prediction kept %v, err %v", kept, err)
	}
	rated, err := b.st.RateCard(t.Context(), browser, "question/acks-all", 0, b.clock.now(), func(c store.Card) store.Card {
		c.Stability, c.Difficulty, c.Reps = 1, 5, 1
		return c
	})
	if err != nil || !rated {
		t.Fatalf("rated %v, err %v", rated, err)
	}
	if err := b.st.SaveOwnAnswer(t.Context(), browser, "acks-all", store.OwnAnswer{Text: "all replicas", SavedAt: b.clock.now()}); err != nil {
		t.Fatal(err)
	}
	b.submit(t, handIn(token, "wrong by "+token), Created)
	b.next(t)
}

// ofAssignments are the tables that only sittings fill.
var ofAssignments = map[string]bool{"assignments": true, "assignment_exercises": true, "candidates": true, "candidate_notes": true, "pastes": true, "webhook_deliveries": true}

func TestForget(t *testing.T) {
	t.Parallel()
	// The source "slow" is graded until it is given up.
	grade := func(running chan<- struct{}) gradeFunc {
		return func(ctx context.Context, r Request, _ func(Progress)) (verdict.Verdict, error) {
			if string(r.Files[0].Content) != "slow" {
				v := verdictOf(verdict.Failed)
				v.Findings = []verdict.Finding{{Kind: verdict.Duplicate}}
				return v, nil
			}
			running <- struct{}{}
			<-ctx.Done()
			return verdict.Verdict{}, ctx.Err()
		}
	}

	t.Run("DownToTheLastRow", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, grade(nil))
			b.start(t)
			b.practise(t, "bob") // whose rows stay
			before := b.rowsPerTable(t)
			b.practise(t, "ada")
			b.stop(t)
			b.submit(t, handIn("ada", "waits"), Created)
			for name, n := range b.rowsPerTable(t) {
				if ofAssignments[name] { // TestForgetCandidate has them
					continue
				}
				if n <= before[name] {
					t.Errorf("ada left nothing in %s, so this test says nothing of it", name)
				}
			}
			if err := b.queue.Forget(t.Context(), store.BrowserOf("ada")); err != nil {
				t.Fatal(err)
			}
			for name, n := range b.rowsPerTable(t) {
				if n != before[name] {
					t.Errorf("%s: %d rows, %d before ada came", name, n, before[name])
				}
			}
			if p, err := b.st.Practice(t.Context(), store.BrowserOf("bob")); err != nil || len(p.Cards) != 1 || len(p.Predictions) != 1 {
				t.Errorf("what is left of bob: %+v, err %v", p, err)
			}
			if err := b.queue.Forget(t.Context(), store.BrowserOf("ada")); err != nil {
				t.Errorf("forgotten twice: %v", err)
			}
		})
	})

	t.Run("RunningGradingEnds", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			running := make(chan struct{}, 8)
			b := setup(t, pathOrURL, grade(running))
			b.start(t)
			before := b.rowsPerTable(t)
			b.submit(t, handIn("ada", "slow"), Created)
			receive(t, running)
			if err := b.queue.Forget(t.Context(), store.BrowserOf("ada")); err != nil {
				t.Fatal(err)
			}
			if e := b.next(t); e.Kind != river.EventKindJobCancelled || e.Job.State != rivertype.JobStateCancelled {
				t.Errorf("event %s, state %s", e.Kind, e.Job.State)
			}
			after := b.rowsPerTable(t)
			before["river_job"]++ // a number without a submission, which River deletes after a day
			for name, n := range after {
				if n != before[name] {
					t.Errorf("%s: %d rows, %d before", name, n, before[name])
				}
			}
		})
	})
}

func receive(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second): // against hanging
		t.Fatal("the grading did not start")
	}
}

// A sample of an exercise is judged like any text, and nobody's draft.
func TestSampleIsNoDraft(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setup(t, pathOrURL, passes)
		b.start(t)
		sample := handIn("ada", "the starter")
		sample.Sample = true
		b.submit(t, sample, Created)
		b.next(t)
		if n := b.count(t, "SELECT count(*) FROM drafts"); n != 0 {
			t.Errorf("%d drafts", n)
		}
	})
}

package main

import (
	"context"
	"errors"
	"fmt"

	"redeliver/web/store"
)

// check asks the database what became of each submission.
func check(ctx context.Context, s *site, made []submission) (err error) {
	st, err := store.OpenToRead(ctx, s.database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	outcomes, again := map[string]int{}, 0
	for _, sub := range made {
		var rows, attempts, finished int
		var outcome string
		err := st.Read.QueryRowContext(ctx, `
			SELECT count(*), coalesce(max(s.attempt), 0), coalesce(max(s.outcome), ''), count(s.finished_at)
			FROM submissions s JOIN browsers b ON b.id = s.browser_id WHERE b.token_hash = $1`,
			string(store.BrowserOf(sub.cookie))).Scan(&rows, &attempts, &outcome, &finished)
		if err != nil {
			return fmt.Errorf("read a submission: %w", err)
		}
		if attempts > 1 {
			again++
		}
		outcomes[outcome]++
		switch {
		case rows != 1 || finished != 1:
			return fmt.Errorf("%s has %d submissions, %d of them finished", sub.cookie, rows, finished)
		case outcome == "inconclusive" && attempts == 3: // killed three times while it was graded
		case outcome != sub.outcome:
			return fmt.Errorf("%s was judged %s after %d attempts, want %s", sub.cookie, outcome, attempts, sub.outcome)
		}
	}
	fmt.Printf("verdicts: %v; graded more than once: %d\n", outcomes, again)
	// What must be zero.
	for what, query := range map[string]string{
		"submissions that nobody made": fmt.Sprintf("SELECT count(*) - %d FROM submissions", len(made)),
		// A verdict adds to the kinds of mistakes of its browser: twice, if it came twice.
		"mistakes that were counted twice": "SELECT count(*) FROM mistakes WHERE times <> 1",
		"rejected without a mistake": `SELECT count(*) FROM submissions s WHERE s.outcome = 'rejected'
			AND NOT EXISTS (SELECT 1 FROM mistakes m WHERE m.browser_id = s.browser_id)`,
		"jobs that still run or wait": "SELECT count(*) FROM river_job WHERE kind = 'grade' AND state NOT IN ('completed', 'discarded')",
		"submissions without their one job": `SELECT count(*) FROM submissions s
			WHERE (SELECT count(*) FROM river_job j WHERE j.id = s.job_id AND j.kind = 'grade') <> 1`,
		"jobs without a submission": `SELECT count(*) FROM river_job j WHERE j.kind = 'grade' AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.job_id = j.id)`,
	} {
		var n int
		if err := st.Read.QueryRowContext(ctx, query).Scan(&n); err != nil {
			return fmt.Errorf("count %s: %w", what, err)
		}
		if n != 0 {
			return fmt.Errorf("%d %s", n, what)
		}
	}
	return nil
}

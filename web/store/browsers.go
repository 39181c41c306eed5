package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// Browser names the browser that wrote something: the hash of the token in its
// cookie. The zero value is a browser without a cookie, which owns nothing.
type Browser string

// BrowserOf hashes a token.
func BrowserOf(token string) Browser {
	if token == "" {
		return ""
	}
	return Browser(HashToken(token))
}

// HashToken is what the database keeps of a random token of 128 bits or more,
// which nobody can find from its hash.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// TouchBrowser finds or creates the row of a browser inside a transaction and
// returns its key.
func TouchBrowser(ctx context.Context, q *db.Queries, b Browser, now time.Time) (int64, error) {
	if b == "" {
		return 0, fmt.Errorf("touch browser: %w", ErrNotFound)
	}
	id, err := q.TouchBrowser(ctx, db.TouchBrowserParams{TokenHash: string(b), Now: now.UnixMilli()})
	if err != nil {
		return 0, fmt.Errorf("touch browser: %w", err)
	}
	return id, nil
}

// KnowsBrowser reports whether a browser has written anything yet.
func (s *Store) KnowsBrowser(ctx context.Context, b Browser) (bool, error) {
	known, err := s.reading(ctx).BrowserExists(ctx, string(b))
	if err != nil {
		return false, fmt.Errorf("find browser: %w", err)
	}
	return known, nil
}

// ForgetBrowsers deletes browsers that have written nothing since before, with
// their drafts and submissions, and says how many there were.
func (s *Store) ForgetBrowsers(ctx context.Context, before time.Time) (int64, error) {
	n, err := s.writing(ctx).DeleteBrowsersUnseen(ctx, before.UnixMilli())
	if err != nil {
		return 0, fmt.Errorf("forget browsers: %w", err)
	}
	return n, nil
}

// Job is a job of the queue, and the submission that it grades; 0: it tells an address
// of a candidate.
type Job struct{ Submission, ID int64 }

// ForgetTx deletes a browser with everything that it wrote, inside a transaction,
// and returns the jobs that were for it: those are the queue's to delete.
func ForgetTx(ctx context.Context, q *db.Queries, b Browser) ([]Job, error) {
	rows, err := q.ListJobsOfBrowser(ctx, string(b))
	if err != nil {
		return nil, fmt.Errorf("forget browser: %w", err)
	}
	jobs := make([]Job, 0, len(rows))
	for _, r := range rows {
		jobs = append(jobs, Job{Submission: r.ID, ID: r.JobID})
	}
	messages, err := q.ListDeliveryJobsOfBrowser(ctx, string(b))
	if err != nil {
		return nil, fmt.Errorf("forget browser: %w", err)
	}
	for _, id := range messages {
		jobs = append(jobs, Job{ID: id})
	}
	if err := q.DeleteBrowser(ctx, string(b)); err != nil {
		return nil, fmt.Errorf("forget browser: %w", err)
	}
	return jobs, nil
}

package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// answersBundle has a person with two tokens, and what is made under keys: assignments.
type answersBundle struct {
	*peopleBundle
	bob store.Actor
}

func setupAnswers(t *testing.T, pathOrURL string) *answersBundle {
	b := &answersBundle{peopleBundle: setupPeople(t, pathOrURL)}
	b.bob = b.join(t, "bob", store.Interviewer)
	for _, hash := range []string{"one", "two"} {
		if err := b.st.AddToken(t.Context(), b.bob, hash, store.Token{Name: hash}, b.now); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// assign makes an assignment, reads it and tells its id.
func (b *answersBundle) assign(ctx context.Context) (string, error) {
	id, err := b.st.Assign(ctx, b.bob, store.Assignment{Title: "Backend", Lang: "en", Exercises: []string{"core/outbox"}, RetainDays: 30}, b.now)
	if err != nil {
		return "", err
	}
	made, err := b.st.Assignment(ctx, b.bob, id)
	return fmt.Sprint(made.ID), err
}

func (b *answersBundle) assignments(t *testing.T) int {
	t.Helper()
	list, err := b.st.Assignments(t.Context(), b.bob, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupAnswers(t, pathOrURL)
		ctx := t.Context()

		t.Run("TheSameAnswerForADay", func(t *testing.T) {
			before := b.assignments(t)
			k := store.Keyed{TokenHash: "one", Key: "k1", Request: "r"}
			first, err := b.st.Once(ctx, k, b.now, b.assign)
			if err != nil || first == "" {
				t.Fatal(first, err)
			}
			if again, err := b.st.Once(ctx, k, b.now.Add(store.KeepAnswers), b.assign); err != nil || again != first {
				t.Errorf("again %q, err %v, first %q", again, err, first)
			}
			k.Request = "another"
			if _, err := b.st.Once(ctx, k, b.now, b.assign); !errors.Is(err, store.ErrOtherRequest) {
				t.Errorf("another request: %v", err)
			}
			k.TokenHash = "two"
			if other, err := b.st.Once(ctx, k, b.now, b.assign); err != nil || other == first {
				t.Errorf("another token: %q, err %v", other, err)
			}
			k.TokenHash = "one"
			if later, err := b.st.Once(ctx, k, b.now.Add(store.KeepAnswers+time.Millisecond), b.assign); err != nil || later == first {
				t.Errorf("a day later: %q, err %v", later, err)
			}
			k.TokenHash = "none"
			if _, err := b.st.Once(ctx, k, b.now, b.assign); !errors.Is(err, store.ErrNoToken) {
				t.Errorf("a token that is not there: %v", err)
			}
			if n := b.assignments(t) - before; n != 3 {
				t.Errorf("%d assignments", n)
			}
		})

		t.Run("NothingIsKeptOfAnError", func(t *testing.T) {
			before := b.assignments(t)
			k := store.Keyed{TokenHash: "one", Key: "k2", Request: "r"}
			broken := errors.New("broken")
			_, err := b.st.Once(ctx, k, b.now, func(ctx context.Context) (string, error) {
				if _, err := b.assign(ctx); err != nil {
					return "", err
				}
				return "", broken
			})
			if !errors.Is(err, broken) || b.assignments(t) != before {
				t.Errorf("err %v, %d assignments, were %d", err, b.assignments(t), before)
			}
			k.Request = "corrected"
			if _, err := b.st.Once(ctx, k, b.now, b.assign); err != nil {
				t.Error(err)
			}
		})

		t.Run("TwoAtOnceDoItOnce", func(t *testing.T) {
			before := b.assignments(t)
			k := store.Keyed{TokenHash: "one", Key: "k3", Request: "r"}
			var done atomic.Int32
			var all sync.WaitGroup
			answers := make([]string, 8)
			for i := range answers {
				all.Go(func() {
					var err error
					answers[i], err = b.st.Once(ctx, k, b.now, func(ctx context.Context) (string, error) {
						done.Add(1)
						return b.assign(ctx)
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for _, a := range answers {
				if a != answers[0] || a == "" {
					t.Errorf("answers %q", answers)
				}
			}
			if done.Load() != 1 || b.assignments(t) != before+1 {
				t.Errorf("done %d times, %d assignments, were %d", done.Load(), b.assignments(t), before)
			}
		})

		t.Run("GoesWithItsToken", func(t *testing.T) {
			if err := b.st.AddToken(ctx, b.bob, "three", store.Token{Name: "three"}, b.now); err != nil {
				t.Fatal(err)
			}
			if _, err := b.st.Once(ctx, store.Keyed{TokenHash: "three", Key: "k", Request: "r"}, b.now, b.assign); err != nil {
				t.Fatal(err)
			}
			list, err := b.st.Tokens(ctx, b.bob.Person.ID, b.now)
			if err != nil {
				t.Fatal(err)
			}
			before := b.answers(t)
			if err := b.st.RevokeToken(ctx, b.bob, list[len(list)-1].ID, b.now); err != nil {
				t.Fatal(err)
			}
			if n := b.answers(t); n != before-1 {
				t.Errorf("%d answers, were %d", n, before)
			}
		})

		t.Run("AsManyAsAreKept", func(t *testing.T) {
			_, err := b.st.Write.ExecContext(ctx, `INSERT INTO api_answers (token_id, key, request, answer, created_at)
				WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
				SELECT (SELECT id FROM api_tokens WHERE token_hash = 'two'), 'full' || i, 'r', 'x', $2 FROM n`, store.MaxAnswers, b.now.UnixMilli())
			if err != nil {
				t.Fatal(err)
			}
			before := b.assignments(t)
			k := store.Keyed{TokenHash: "two", Key: "one more", Request: "r"}
			if _, err := b.st.Once(ctx, k, b.now, b.assign); !errors.Is(err, store.ErrManyAnswers) || b.assignments(t) != before {
				t.Errorf("err %v, %d assignments, were %d", err, b.assignments(t), before)
			}
			if again, err := b.st.Once(ctx, store.Keyed{TokenHash: "two", Key: "full7", Request: "r"}, b.now, b.assign); err != nil || again != "x" {
				t.Errorf("one that is kept: %q, err %v", again, err)
			}
			if _, err := b.st.Once(ctx, k, b.now.Add(store.KeepAnswers+time.Millisecond), b.assign); err != nil {
				t.Errorf("a day later: %v", err)
			}
			if err := b.st.ForgetAccess(ctx, b.now.Add(2*store.KeepAnswers+time.Second)); err != nil {
				t.Fatal(err)
			}
			if n := b.answers(t); n != 0 {
				t.Errorf("%d answers are left", n)
			}
		})

		t.Run("TooLargeToBeKept", func(t *testing.T) {
			k := store.Keyed{TokenHash: "one", Key: "large", Request: "r"}
			large := func(context.Context) (string, error) { return strings.Repeat("é", store.MaxAnswerBytes/2+1), nil } // bytes, not characters
			if _, err := b.st.Once(ctx, k, b.now, large); err != nil {
				t.Fatal(err)
			}
			k.Key = "next"
			if _, err := b.st.Once(ctx, k, b.now, b.assign); !errors.Is(err, store.ErrManyAnswers) {
				t.Errorf("err %v", err)
			}
		})
	})
}

func (b *answersBundle) answers(t *testing.T) (n int) {
	t.Helper()
	if err := b.st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM api_answers").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// What a server that dies between making something and its answer leaves behind is
// neither, so the program's second request is the first.
func TestOnceAfterACrash(t *testing.T) {
	t.Parallel()
	k := store.Keyed{TokenHash: "one", Key: "k", Request: "r"}

	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "redeliver.db")
		b := setupAnswers(t, path)
		left := filepath.Join(t.TempDir(), "redeliver.db")
		if _, err := b.st.Once(t.Context(), k, b.now, func(ctx context.Context) (string, error) {
			answer, err := b.assign(ctx)
			for _, end := range []string{"", "-wal"} { // the files as the server leaves them that dies here
				data, e := os.ReadFile(path + end)
				err = errors.Join(err, e, os.WriteFile(left+end, data, 0o600))
			}
			return answer, err
		}); err != nil {
			t.Fatal(err)
		}
		b.st = storetest.Open(t, left, migrate)
		b.afterCrash(t, k)
	})

	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		b := setupAnswers(t, storetest.Postgres(t))
		_, err := b.st.Once(t.Context(), k, b.now, func(ctx context.Context) (string, error) {
			if _, err := b.assign(ctx); err != nil {
				return "", err
			}
			_, err := b.st.Read.ExecContext(context.WithoutCancel(t.Context()), `SELECT pg_terminate_backend(pid) FROM pg_locks
				WHERE relation = 'api_answers'::regclass AND mode = 'RowExclusiveLock'`)
			return "an answer", err
		})
		if err == nil {
			t.Fatal("the connection has not ended")
		}
		b.afterCrash(t, k)
	})
}

func (b *answersBundle) afterCrash(t *testing.T, k store.Keyed) {
	t.Helper()
	if n := b.assignments(t); n != 0 || b.answers(t) != 0 {
		t.Errorf("the crash left %d assignments and %d answers", n, b.answers(t))
	}
	if answer, err := b.st.Once(t.Context(), k, b.now, b.assign); err != nil || answer == "" || b.assignments(t) != 1 {
		t.Errorf("again: %q, err %v, %d assignments", answer, err, b.assignments(t))
	}
}

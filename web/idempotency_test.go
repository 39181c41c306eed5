package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// onceBundle is a program that sends under keys, and an assignment of its person.
type onceBundle struct {
	*testBundle
	*program
	clock *testTime
	one   string // address of the assignment
	owner *visitor
}

const newTask = `{"title":"Backend","lang":"en","exercises":["core/charge-once"],"minutes":60,"retain_days":30}`

func setupOnce(t *testing.T, pathOrURL string) *onceBundle {
	t.Helper()
	clock := &testTime{}
	clock.Store(1_700_000_000_000)
	b := setupOn(t, pathOrURL, Config{BaseURL: "https://practice.example", Now: clock.now}, testCatalog())
	owner := b.owner(t)
	p := owner.program(t, "90")
	made := p.ask(t, "POST", "/api/v1/assignments", newTask, http.StatusCreated)
	return &onceBundle{b, p, clock, fmt.Sprintf("/api/v1/assignments/%v", made["id"]), owner}
}

// under wants an answer with this status and as described.
func (b *onceBundle) under(t *testing.T, key, path, body string, status int) answer {
	t.Helper()
	a := b.sendUnder(t, "POST", path, body, key)
	if a.status != status {
		t.Fatalf("%s under %s: status %d, want %d: %s", path, key, a.status, status, a.body)
	}
	b.spec.holds(t, "POST", path, a)
	return a
}

func (b *onceBundle) candidates(t *testing.T) int {
	t.Helper()
	list, _ := b.ask(t, "GET", b.one+"/candidates", "", http.StatusOK)["items"].([]any)
	return len(list)
}

// revoke ends the program's token.
func (b *onceBundle) revoke(t *testing.T) {
	t.Helper()
	by, err := b.st.PersonByToken(t.Context(), store.HashToken(b.token), b.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	list, err := b.st.Tokens(t.Context(), by.ID, b.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	newest := slices.MaxFunc(list, func(x, y store.Token) int { return cmp.Compare(x.ID, y.ID) })
	if err := b.st.RevokeToken(t.Context(), store.Actor{Person: by}, newest.ID, b.clock.now()); err != nil {
		t.Fatal(err)
	}
}

// A request under a key is done once.
func TestAPIOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupOnce(t, pathOrURL)

		t.Run("Again", func(t *testing.T) {
			grace := b.under(t, `"invite"`, b.one+"/candidates", `{"name":"Grace"}`, http.StatusCreated)
			var invited apiInvited
			if err := json.Unmarshal([]byte(grace.body), &invited); err != nil || !strings.HasPrefix(invited.Link, "https://practice.example/en/a/") {
				t.Fatal(grace.body, err)
			}
			candidate := fmt.Sprintf("%s/candidates/%d", b.one, invited.Candidate)
			for _, r := range []struct {
				path, body string
				status     int
			}{
				{"/api/v1/assignments", newTask, http.StatusCreated},
				{b.one + "/candidates", `{"name":"Linus"}`, http.StatusCreated},
				{candidate + "/cancel", "", http.StatusOK},
				{b.one + "/close", "", http.StatusOK},
			} {
				first := b.under(t, `"`+r.path+`"`, r.path, r.body, r.status)
				again := b.under(t, r.path, r.path, r.body, r.status) // the same key
				if again.body != first.body || again.header.Get("Content-Type") != first.header.Get("Content-Type") {
					t.Errorf("%s: first %s\nagain %s", r.path, first.body, again.body)
				}
			}
			if again := b.under(t, "invite", b.one+"/candidates", `{"name":"Grace"}`, http.StatusCreated); again.body != grace.body {
				t.Errorf("first %s\nagain %s", grace.body, again.body)
			}
			if n := b.candidates(t); n != 2 {
				t.Errorf("%d candidates", n)
			}
			var kept string
			if err := b.st.Read.QueryRowContext(t.Context(), "SELECT answer FROM api_answers WHERE key = 'invite'").Scan(&kept); err != nil || strings.Contains(kept, "Grace") || kept == "" {
				t.Errorf("kept %q, err %v", kept, err)
			}
			b.clock.advance(store.KeepAnswers + time.Second)
			b.under(t, "invite", b.one+"/candidates", `{"name":"Grace"}`, http.StatusCreated)
			if n := b.candidates(t); n != 3 {
				t.Errorf("%d candidates a day later", n)
			}
		})

		t.Run("Another", func(t *testing.T) {
			b.under(t, "other", b.one+"/candidates", `{"name":"Barbara"}`, http.StatusCreated)
			a := b.under(t, "other", b.one+"/candidates", `{"name":"Ada"}`, http.StatusUnprocessableEntity)
			if !strings.Contains(a.body, "another request") {
				t.Error(a.body)
			}
			b.under(t, "other", "/api/v1/assignments", `{"name":"Barbara"}`, http.StatusUnprocessableEntity)
		})

		t.Run("CorrectedUnderTheSameKey", func(t *testing.T) {
			before := b.candidates(t)
			b.under(t, "wrong", b.one+"/candidates", `{"name":""}`, http.StatusUnprocessableEntity)
			b.under(t, "wrong", b.one+"/candidates", `{`, http.StatusBadRequest)
			b.under(t, "wrong", b.one+"/candidates", `{"name":"`+strings.Repeat("x", maxAPIBody)+`"}`, http.StatusRequestEntityTooLarge)
			b.under(t, "wrong", b.one+"/candidates", `{"name":"Radia"}`, http.StatusCreated)
			if n := b.candidates(t); n != before+1 {
				t.Errorf("%d candidates, were %d", n, before)
			}
		})

		t.Run("AtOnce", func(t *testing.T) {
			before := b.candidates(t)
			answers := make([]answer, 8)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() { answers[i] = b.sendUnder(t, "POST", b.one+"/candidates", `{"name":"Edsger"}`, "at-once") })
			}
			all.Wait()
			made := map[string]bool{}
			for _, a := range answers {
				b.spec.holds(t, "POST", b.one+"/candidates", a)
				switch a.status {
				case http.StatusCreated:
					made[a.body] = true
				case http.StatusConflict:
					if a.header.Get("Retry-After") != "1" || !strings.Contains(a.body, "under way") {
						t.Errorf("%v %s", a.header, a.body)
					}
				default:
					t.Errorf("status %d: %s", a.status, a.body)
				}
			}
			if n := b.candidates(t); n != before+1 || len(made) != 1 {
				t.Errorf("%d candidates, were %d; %d answers", n, before, len(made))
			}
		})

		t.Run("UnderWay", func(t *testing.T) {
			busy := store.HashToken(b.token) + " busy"
			b.srv.keysUnderWay.Store(busy, true)
			b.under(t, "busy", b.one+"/candidates", `{"name":"Tony"}`, http.StatusConflict)
			b.srv.keysUnderWay.Delete(busy)
			b.under(t, "busy", b.one+"/candidates", `{"name":"Tony"}`, http.StatusCreated)
		})

		t.Run("RevokedToken", func(t *testing.T) {
			other := &onceBundle{b.testBundle, b.owner.program(t, "90"), b.clock, b.one, b.owner}
			other.under(t, "kept", b.one+"/candidates", `{"name":"Niklaus"}`, http.StatusCreated)
			other.revoke(t)
			other.under(t, "kept", b.one+"/candidates", `{"name":"Niklaus"}`, http.StatusUnauthorized)
		})

		t.Run("NoKey", func(t *testing.T) {
			for _, keys := range [][]string{{""}, {`""`}, {`"a`}, {`a"b`}, {"a b"}, {`"a\"b"`}, {"ключ"}, {strings.Repeat("k", 256)}, {"one", "two"}} {
				if a := b.sendUnder(t, "POST", b.one+"/candidates", `{"name":"Tony"}`, keys...); a.status != http.StatusBadRequest || !strings.Contains(a.body, idempotencyHeader) {
					t.Errorf("%q: status %d: %s", keys, a.status, a.body)
				}
			}
			if a := b.sendUnder(t, "GET", b.one, "", `"`); a.status != http.StatusOK { // which needs none
				t.Errorf("status %d", a.status)
			}
		})
	})
}

// Handlers that the site does not have behave under a key as they must, too.
func TestAPIOnceHandlers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupOnce(t, pathOrURL)
		router, ok := b.srv.handler.(*echo.Echo)
		if !ok {
			t.Fatalf("the handler is a %T", b.srv.handler)
		}
		invite := func(c echo.Context) error { // as a part of a handler
			a, err := b.st.Assignment(c.Request().Context(), b.srv.actor(c), 1)
			if err != nil {
				return err
			}
			_, err = b.srv.invite(c, a, "Grace", 0)
			return err
		}
		broken := true
		router.POST("/api/v1/panic", func(c echo.Context) error {
			if err := invite(c); err != nil {
				return err
			}
			if broken {
				panic("broken")
			}
			return c.JSON(http.StatusOK, "mended")
		}, b.srv.bearer, b.srv.once)
		router.POST("/api/v1/location", func(c echo.Context) error {
			c.Response().Header().Set(echo.HeaderLocation, "/somewhere")
			return errors.Join(invite(c), c.JSON(http.StatusCreated, "made"))
		}, b.srv.bearer, b.srv.once)
		router.POST("/api/v1/nothing", func(c echo.Context) error {
			return errors.Join(invite(c), c.NoContent(http.StatusNoContent))
		}, b.srv.bearer, b.srv.once)
		router.POST("/api/v1/ending", invite, b.srv.bearer, func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c echo.Context) error { b.revoke(t); return next(c) }
		}, b.srv.once)

		send := func(path string, status, candidates int) answer {
			t.Helper()
			a := b.sendUnder(t, "POST", path, "", path)
			if a.status != status {
				t.Errorf("%s: status %d, want %d: %s", path, a.status, status, a.body)
			}
			var n int
			if err := b.st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM candidates").Scan(&n); err != nil || n != candidates {
				t.Errorf("%s: %d candidates, want %d, err %v", path, n, candidates, err)
			}
			return a
		}
		// Nothing is kept, and the key is free.
		send("/api/v1/panic", http.StatusInternalServerError, 0)
		broken = false
		send("/api/v1/panic", http.StatusOK, 1)
		send("/api/v1/panic", http.StatusOK, 1)

		// An answer that cannot be given again as it was is none.
		send("/api/v1/location", http.StatusInternalServerError, 1)
		for range 2 {
			if a := send("/api/v1/nothing", http.StatusNoContent, 2); a.header.Values(echo.HeaderContentType) != nil {
				t.Errorf("an answer without a body has %v", a.header)
			}
		}

		// The token ends between its check and the transaction.
		if a := send("/api/v1/ending", http.StatusUnauthorized, 2); a.header.Get(echo.HeaderWWWAuthenticate) == "" {
			t.Errorf("%v %s", a.header, a.body)
		}
	})
}

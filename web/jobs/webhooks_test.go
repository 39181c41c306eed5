package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
	"redeliver/web/webhook"
)

// received is what came to the address of a webhook.
type received struct {
	id, signature string
	body          struct {
		Type string
		Data map[string]any
	}
}

// webhookBundle is a sitting with an address that is told of it.
type webhookBundle struct {
	*sittingBundle
	hook   store.Webhook
	status atomic.Int64 // what the address answers
	got    chan received
}

func setupWebhook(t *testing.T, pathOrURL string, grade gradeFunc) *webhookBundle {
	t.Helper()
	b := &webhookBundle{sittingBundle: setupSitting(t, pathOrURL, grade), got: make(chan received, 100)}
	b.status.Store(http.StatusOK)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		got := received{id: r.Header.Get("webhook-id"), signature: r.Header.Get("webhook-signature")}
		want, signErr := webhook.Sign(b.hook.Secret, got.id, b.clock.now().Unix(), text)
		if err := errors.Join(err, signErr, json.Unmarshal(text, &got.body)); err != nil || got.signature != want {
			t.Errorf("signed %q, want %q, err %v", got.signature, want, err)
		}
		w.WriteHeader(int(b.status.Load()))
		b.got <- got
	}))
	t.Cleanup(ts.Close)
	b.allow(t, "127.0.0.1")
	b.queue.pauses = []time.Duration{0}
	b.hook = store.Webhook{URL: ts.URL + "/hook", Secret: webhook.NewSecret()}
	var err error
	if b.hook.ID, err = b.st.AddWebhook(t.Context(), b.by, b.hook, b.clock.now()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *webhookBundle) allow(t *testing.T, list ...string) {
	t.Helper()
	p, err := webhook.ParsePolicy(list)
	if err != nil {
		t.Fatal(err)
	}
	b.queue.sender = webhook.New(p, nil)
}

// sent is the event about the next message that was tried, and what came.
func (b *webhookBundle) sent(t *testing.T) *river.Event {
	t.Helper()
	return b.ended(t, webhookArgs{}.Kind())
}

func (b *webhookBundle) reconcile(t *testing.T) {
	t.Helper()
	if err := b.queue.reconcileDeliveries(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b *webhookBundle) log(t *testing.T) []store.Delivery {
	t.Helper()
	list, err := b.st.Deliveries(t.Context(), b.hook.ID, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	each := func(name string, fn func(t *testing.T, b *webhookBundle)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, pathOrURL string) { fn(t, setupWebhook(t, pathOrURL, passes)) })
		})
	}

	each("TellsOfASitting", func(t *testing.T, b *webhookBundle) {
		b.start(t)
		c := b.sits(t)
		if err := b.queue.StartSitting(t.Context(), c, ""); err != nil { // a second click
			t.Fatal(err)
		}
		b.sent(t)
		b.submit(t, submissionOf(c, "one"), Created)
		b.sent(t)
		b.submit(t, handIn("a visitor", "two"), Created) // who is nobody's candidate
		b.next(t)
		for range 2 { // the second one has nothing to end
			if _, err := b.queue.EndSitting(t.Context(), c.ID, store.ByCandidate); err != nil {
				t.Fatal(err)
			}
		}
		b.sent(t)
		b.upkeep(t)
		want := []string{"sitting.started", "submission.graded", "sitting.ended"}
		log := b.log(t)
		if len(log) != len(want) {
			t.Fatalf("%d messages: %+v", len(log), log)
		}
		for i, event := range want {
			got, entry := <-b.got, log[len(want)-1-i]
			report := fmt.Sprintf("/api/v1/assignments/%d/candidates/%d", c.Assignment, c.ID)
			if got.body.Type != event || got.body.Data["report"] != report || got.id != entry.MessageID || !strings.HasPrefix(got.id, "msg_") {
				t.Errorf("message %d: %+v", i, got)
			}
			if entry.State != store.Delivered || entry.Status != 200 || entry.Attempts != 1 || entry.Error != "" || entry.TriedAt.IsZero() || strings.Contains(entry.Body, "Grace") {
				t.Errorf("log %d: %+v", i, entry)
			}
			switch event {
			case "submission.graded":
				if got.body.Data["outcome"] != "passed" || got.body.Data["exercise"] != exercise || got.body.Data["submission"] == nil {
					t.Errorf("graded: %v", got.body.Data)
				}
			case "sitting.ended":
				if got.body.Data["ended_by"] != "candidate" {
					t.Errorf("ended: %v", got.body.Data)
				}
			}
		}
	})

	each("AgainWithTheSameID", func(t *testing.T, b *webhookBundle) {
		b.status.Store(http.StatusServiceUnavailable)
		b.start(t)
		b.sits(t)
		b.sent(t)
		first := <-b.got
		if log := b.log(t); log[0].State != store.DeliveryWaits || log[0].Status != 503 || log[0].Error == "" {
			t.Errorf("%+v", log[0])
		}
		b.status.Store(http.StatusNoContent)
		second := <-b.got
		for b.log(t)[0].State == store.DeliveryWaits {
			b.sent(t)
		}
		if log := b.log(t); first.id != second.id || log[0].State != store.Delivered || log[0].Attempts < 2 {
			t.Errorf("%q, then %q: %+v", first.id, second.id, log[0])
		}
	})

	each("GivesUpAndIsSentAgainByHand", func(t *testing.T, b *webhookBundle) {
		b.status.Store(http.StatusGone) // of which one attempt is enough
		b.start(t)
		if err := b.queue.SendTest(t.Context(), b.by, b.hook.ID); err != nil {
			t.Fatal(err)
		}
		b.sent(t)
		first := <-b.got
		failed := b.log(t)[0]
		if failed.State != store.NotDelivered || failed.Status != http.StatusGone || first.body.Type != "test" {
			t.Fatalf("%+v", failed)
		}
		b.status.Store(http.StatusOK)
		if err := b.queue.SendAgain(t.Context(), b.by, b.hook.ID, failed.ID); err != nil {
			t.Fatal(err)
		}
		b.sent(t)
		second := <-b.got
		if log := b.log(t); len(log) != 1 || log[0].State != store.Delivered || log[0].Attempts != 2 || second.id != first.id {
			t.Errorf("%+v", log)
		}
		stranger := store.Actor{Person: store.Person{ID: 12345}}
		for name, err := range map[string]error{
			"AgainByAStranger": b.queue.SendAgain(t.Context(), stranger, b.hook.ID, failed.ID),
			"TestByAStranger":  b.queue.SendTest(t.Context(), stranger, b.hook.ID),
			"OfAnother":        b.queue.SendAgain(t.Context(), b.by, b.hook.ID+1, failed.ID),
			"Unknown":          b.queue.SendTest(t.Context(), b.by, 12345),
		} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})

	each("NowhereUnlessAllowed", func(t *testing.T, b *webhookBundle) {
		b.allow(t)
		b.start(t)
		if err := b.queue.SendTest(t.Context(), b.by, b.hook.ID); err != nil {
			t.Fatal(err)
		}
		b.sent(t)
		if log := b.log(t); len(b.got) != 0 || log[0].State != store.DeliveryWaits || !strings.Contains(log[0].Error, "--webhook-allow") {
			t.Errorf("%+v, received %d", log[0], len(b.got))
		}
	})

	each("WhatNoJobSendsIsGivenUp", func(t *testing.T, b *webhookBundle) {
		if err := b.queue.SendTest(t.Context(), b.by, b.hook.ID); err != nil {
			t.Fatal(err)
		}
		b.reconcile(t)
		if log := b.log(t); log[0].State != store.DeliveryWaits {
			t.Fatalf("%+v", log[0])
		}
		if _, err := b.st.Write.ExecContext(t.Context(), "DELETE FROM river_job WHERE kind = 'webhook'"); err != nil {
			t.Fatal(err)
		}
		b.reconcile(t)
		if log := b.log(t); log[0].State != store.NotDelivered || log[0].Error == "" {
			t.Errorf("%+v", log[0])
		}
		b.clock.advance(store.KeepDeliveries + time.Hour)
		b.reconcile(t)
		if log := b.log(t); len(log) != 0 {
			t.Errorf("kept for ever: %+v", log)
		}
	})

	each("LogIsBounded", func(t *testing.T, b *webhookBundle) {
		for range 3 {
			if err := b.queue.SendTest(t.Context(), b.by, b.hook.ID); err != nil {
				t.Fatal(err)
			}
		}
		_, err := b.st.Write.ExecContext(t.Context(), `
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO webhook_deliveries (webhook_id, message_id, event, body, state, created_at)
			SELECT $2, 'm' || n.i, 'test', '{}', 'failed', 1 FROM n`, store.MaxDeliveries, b.hook.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.queue.SendTest(t.Context(), b.by, b.hook.ID); err != nil {
			t.Fatal(err)
		}
		if n := b.count(t, "SELECT count(*) FROM webhook_deliveries"); n != store.MaxDeliveries {
			t.Errorf("%d are kept", n)
		}
	})

	each("BelongToOwnersAndAreFew", func(t *testing.T, b *webhookBundle) {
		stranger := store.Actor{Person: store.Person{ID: 12345}}
		if _, err := b.st.AddWebhook(t.Context(), stranger, b.hook, b.clock.now()); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("added by a stranger: %v", err)
		}
		if err := b.st.DeleteWebhook(t.Context(), stranger, b.hook.ID, b.clock.now()); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("deleted by a stranger: %v", err)
		}
		for range store.MaxWebhooks - 1 {
			if _, err := b.st.AddWebhook(t.Context(), b.by, b.hook, b.clock.now()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.st.AddWebhook(t.Context(), b.by, b.hook, b.clock.now()); !errors.Is(err, store.ErrFull) {
			t.Errorf("one more: %v", err)
		}
		if err := b.queue.SendTest(t.Context(), b.by, b.hook.ID); err != nil {
			t.Fatal(err)
		}
		if err := b.st.DeleteWebhook(t.Context(), b.by, b.hook.ID, b.clock.now()); err != nil {
			t.Fatal(err)
		}
		if n := b.count(t, "SELECT count(*) FROM webhook_deliveries"); n != 0 {
			t.Errorf("%d messages outlive their address", n)
		}
		b.start(t) // the job finds nothing to send
		if e := b.sent(t); e.Kind != river.EventKindJobCancelled || len(b.got) != 0 {
			t.Errorf("%s, received %d", e.Kind, len(b.got))
		}
	})

	each("TheSlowKeepNoGradingWaiting", func(t *testing.T, b *webhookBundle) {
		release := make(chan struct{})
		ts := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
		t.Cleanup(ts.Close)
		t.Cleanup(func() { close(release) })
		slow, err := b.st.AddWebhook(t.Context(), b.by, store.Webhook{URL: ts.URL, Secret: b.hook.Secret}, b.clock.now())
		if err != nil {
			t.Fatal(err)
		}
		for range webhookWorkers {
			if err := b.queue.SendTest(t.Context(), b.by, slow); err != nil {
				t.Fatal(err)
			}
		}
		b.start(t)
		b.submit(t, handIn("ada", "one"), Created)
		if e := b.next(t); e.Kind != river.EventKindJobCompleted {
			t.Errorf("%s", e.Kind)
		}
	})
}

// The transaction that fails tells nobody.
func TestWebhookIsInTheTransaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupWebhook(t, pathOrURL, func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			return verdictOf(verdict.Passed), nil
		})
		c := b.candidate(t, b.assignment, 0)
		if _, err := b.st.Write.ExecContext(t.Context(), "DROP TABLE river_job"); err != nil { // no job can be made
			t.Fatal(err)
		}
		if err := b.queue.StartSitting(t.Context(), c, ""); err == nil {
			t.Fatal("started without a job")
		}
		if c := b.again(t, c); c.Sits() || len(b.log(t)) != 0 {
			t.Errorf("started %v, told %v", c.Sits(), b.log(t))
		}
	})
}

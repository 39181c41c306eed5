package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/riverqueue/river"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/db"
	"redeliver/web/webhook"
)

// webhookQueue is a queue of its own: who receives slowly keeps no grading waiting.
const webhookQueue = "webhooks"

// webhookWorkers is how many messages a process sends at once.
const webhookWorkers = 4

// webhookPauses are the pauses between the attempts, some twenty hours in all.
var webhookPauses = []time.Duration{
	10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour,
}

// webhookArgs hold a number and nothing that would outlive the candidate.
type webhookArgs struct {
	DeliveryID int64 `json:"delivery_id"`
}

// Kind names the job in the database.
func (webhookArgs) Kind() string { return "webhook" }

// InsertOpts bounds the attempts.
func (webhookArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: webhookQueue, MaxAttempts: len(webhookPauses) + 1}
}

type webhookWorker struct {
	river.WorkerDefaults[webhookArgs]
	q *Queue
}

// Timeout is above that of the request.
func (w *webhookWorker) Timeout(*river.Job[webhookArgs]) time.Duration { return 30 * time.Second }

// NextRetry lets a receiver that is down come back.
func (w *webhookWorker) NextRetry(job *river.Job[webhookArgs]) time.Time {
	return time.Now().Add(w.q.pauses[min(job.Attempt, len(w.q.pauses))-1])
}

// Work sends outside of any transaction and then writes down what became of it. A
// process that dies in between sends again: a message comes at least once, with the same
// id, which is what this site teaches how to bear.
func (w *webhookWorker) Work(ctx context.Context, job *river.Job[webhookArgs]) error {
	d, hook, err := w.q.st.Delivery(ctx, job.Args.DeliveryID)
	if errors.Is(err, store.ErrNotFound) {
		return river.JobCancel(err) // deleted while it waited
	}
	if err != nil {
		return err
	}
	if d.State != store.DeliveryWaits || d.JobID != job.ID {
		return nil // another job has it
	}
	status, failure := w.q.sender.Send(ctx, webhook.Message{ID: d.MessageID, URL: hook.URL, Secret: hook.Secret, Body: []byte(d.Body)}, w.q.cfg.Now())
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("send message %d: %w", d.ID, ctx.Err()) // the process stops
	}
	a := store.Attempt{State: store.Delivered, Status: status}
	gone := status == http.StatusGone // the receiver says that it wants no more of it
	if failure != nil {
		a.State, a.Error = store.DeliveryWaits, failure.Error()
		if gone || job.Attempt >= job.MaxAttempts {
			a.State = store.NotDelivered
		}
	}
	if err := w.q.st.NoteAttempt(ctx, d.ID, a, w.q.cfg.Now()); err != nil {
		return err
	}
	switch {
	case failure == nil:
		return nil
	case gone:
		return river.JobCancel(failure)
	default:
		return fmt.Errorf("send message %d: %w", d.ID, failure)
	}
}

// sendTx makes the jobs for messages, in the transaction that wrote them.
func (q *Queue) sendTx(ctx context.Context, tx *sql.Tx, queries *db.Queries, deliveries ...int64) error {
	for _, id := range deliveries {
		res, err := q.client.InsertTx(ctx, tx, webhookArgs{DeliveryID: id}, nil)
		if err != nil {
			return fmt.Errorf("enqueue message: %w", err)
		}
		n, err := queries.SetDeliveryJob(ctx, db.SetDeliveryJobParams{ID: id, JobID: sql.NullInt64{Int64: res.Job.ID, Valid: true}})
		if err == nil && n == 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("set job of message: %w", err)
		}
	}
	return nil
}

// announceTx tells every address what happens in this transaction.
func (q *Queue) announceTx(ctx context.Context, tx *sql.Tx, queries *db.Queries, h store.Happening) error {
	deliveries, err := store.AnnounceTx(ctx, queries, q.cfg.BasePath, h, q.cfg.Now())
	if err != nil {
		return err
	}
	return q.sendTx(ctx, tx, queries, deliveries...)
}

// finishTx stores the first verdict of a submission and tells of it.
func (q *Queue) finishTx(ctx context.Context, tx *sql.Tx, queries *db.Queries, id int64, v verdict.Verdict, now time.Time) error {
	first, err := store.FinishTx(ctx, queries, id, v, now)
	if err != nil || !first {
		return err
	}
	deliveries, err := store.AnnounceGradedTx(ctx, queries, q.cfg.BasePath, id, now)
	if err != nil {
		return err
	}
	return q.sendTx(ctx, tx, queries, deliveries...)
}

// SendTest sends a message without content to an address, for owners.
func (q *Queue) SendTest(ctx context.Context, by store.Actor, hook int64) error {
	return q.send(ctx, by, func(queries *db.Queries) (int64, error) {
		return store.TestWebhookTx(ctx, queries, hook, q.cfg.Now())
	})
}

// SendAgain sends a message once more, with its id, for owners. One that is being tried
// goes on as it does.
func (q *Queue) SendAgain(ctx context.Context, by store.Actor, hook, delivery int64) error {
	return q.send(ctx, by, func(queries *db.Queries) (int64, error) {
		row, err := queries.GetDelivery(ctx, delivery)
		if errors.Is(err, sql.ErrNoRows) || err == nil && row.Webhook.ID != hook {
			return 0, store.ErrNotFound
		}
		if err != nil || row.WebhookDelivery.State == string(store.DeliveryWaits) {
			return 0, err
		}
		return delivery, nil
	})
}

// send sends what find returns; 0 is nothing.
func (q *Queue) send(ctx context.Context, by store.Actor, find func(*db.Queries) (int64, error)) error {
	err := q.st.InTx(ctx, func(tx *sql.Tx, queries *db.Queries) error {
		if err := store.OwnerTx(ctx, queries, by); err != nil {
			return err
		}
		delivery, err := find(queries)
		if err != nil || delivery == 0 {
			return err
		}
		return q.sendTx(ctx, tx, queries, delivery)
	})
	if err != nil {
		return fmt.Errorf("send message: %w", err)
	}
	return nil
}

// reconcileDeliveries gives up the messages that no job will send: when River discards a
// job after a crash, no code of ours runs.
func (q *Queue) reconcileDeliveries(ctx context.Context) error {
	lost, err := q.ids(ctx, `
		SELECT d.id FROM webhook_deliveries d
		WHERE d.state = 'waits' AND NOT EXISTS (
		  SELECT 1 FROM river_job j
		  WHERE j.id = d.job_id AND j.state NOT IN ('discarded', 'cancelled', 'completed'))`)
	if err != nil {
		return fmt.Errorf("find messages without a job: %w", err)
	}
	for _, id := range lost {
		err := db.New(q.st.Write).GiveUpDelivery(ctx, db.GiveUpDeliveryParams{ID: id, Error: "the server ended during the last attempt"})
		if err != nil {
			return fmt.Errorf("give up message %d: %w", id, err)
		}
	}
	return q.st.ForgetDeliveries(ctx, q.cfg.Now())
}

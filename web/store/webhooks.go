package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"redeliver/web/store/db"
)

// The bounds of what is told to other programs.
const (
	MaxWebhooks    = 10
	MaxDeliveries  = 1000 // that are kept, of one address
	KeepDeliveries = 30 * 24 * time.Hour
)

// Webhook is an address that is told what happens in sittings.
type Webhook struct {
	ID        int64
	URL       string
	Secret    string // messages are signed with it
	CreatedAt time.Time
}

// WebhookEvent is what an address is told of.
type WebhookEvent string

// The events. A submission is graded when it has its first verdict.
const (
	EventTest    WebhookEvent = "test"
	EventStarted WebhookEvent = "sitting.started"
	EventGraded  WebhookEvent = "submission.graded"
	EventEnded   WebhookEvent = "sitting.ended"
)

// DeliveryState says what became of a message.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryWaits DeliveryState = "waits" // is tried, maybe again
	Delivered     DeliveryState = "delivered"
	NotDelivered  DeliveryState = "failed"
)

// Delivery is one message to one address.
type Delivery struct {
	ID        int64
	Webhook   int64
	MessageID string // the same in every attempt
	Event     WebhookEvent
	Body      string
	State     DeliveryState
	Attempts  int
	Status    int    // of the last answer; 0: there was none
	Error     string // of the last attempt
	CreatedAt time.Time
	TriedAt   time.Time // zero: not yet
	JobID     int64     // that tries it, or tried it last
}

func webhookOf(row db.Webhook) Webhook {
	return Webhook{ID: row.ID, URL: row.Url, Secret: row.Secret, CreatedAt: time.UnixMilli(row.CreatedAt)}
}

func deliveryOf(row db.WebhookDelivery) Delivery {
	return Delivery{
		ID: row.ID, Webhook: row.WebhookID, MessageID: row.MessageID, Event: WebhookEvent(row.Event), Body: row.Body,
		State: DeliveryState(row.State), Attempts: int(row.Attempts), Status: int(row.Status), Error: row.Error,
		CreatedAt: time.UnixMilli(row.CreatedAt), TriedAt: timeOf(row.TriedAt), JobID: row.JobID.Int64,
	}
}

// AddWebhook keeps an address, for owners.
func (s *Store) AddWebhook(ctx context.Context, by Actor, w Webhook, now time.Time) (id int64, err error) {
	err = s.asOwner(ctx, by, func(q *db.Queries) error {
		n, err := q.CountWebhooks(ctx)
		if err == nil && n >= MaxWebhooks {
			err = ErrFull
		}
		if err == nil {
			id, err = q.CreateWebhook(ctx, db.CreateWebhookParams{Url: w.URL, Secret: w.Secret, CreatedAt: now.UnixMilli()})
		}
		if err != nil {
			return fmt.Errorf("add webhook: %w", err)
		}
		return note(ctx, q, by, WebhookMade, strconv.FormatInt(id, 10), now)
	})
	return id, err
}

// Webhooks lists the addresses.
func (s *Store) Webhooks(ctx context.Context) ([]Webhook, error) {
	rows, err := s.reading(ctx).ListWebhooks(ctx)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	list := make([]Webhook, 0, len(rows))
	for _, row := range rows {
		list = append(list, webhookOf(row))
	}
	return list, nil
}

// Webhook finds an address.
func (s *Store) Webhook(ctx context.Context, id int64) (Webhook, error) {
	row, err := s.reading(ctx).GetWebhook(ctx, id)
	if err != nil {
		return Webhook{}, orNotFound("find webhook", err)
	}
	return webhookOf(row), nil
}

// DeleteWebhook deletes an address with its log, for owners.
func (s *Store) DeleteWebhook(ctx context.Context, by Actor, id int64, now time.Time) error {
	return s.asOwner(ctx, by, func(q *db.Queries) error {
		if _, err := q.DeleteWebhook(ctx, id); err != nil {
			return orNotFound("delete webhook", err)
		}
		return note(ctx, q, by, WebhookDeleted, strconv.FormatInt(id, 10), now)
	})
}

// Deliveries lists the messages to an address with a smaller id than before, the newest
// first; 0 begins with the newest of all.
func (s *Store) Deliveries(ctx context.Context, webhook, before int64, limit int) ([]Delivery, error) {
	rows, err := s.reading(ctx).ListDeliveries(ctx, db.ListDeliveriesParams{WebhookID: webhook, Before: orNewest(before), MaxRows: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	list := make([]Delivery, 0, len(rows))
	for _, row := range rows {
		list = append(list, deliveryOf(row))
	}
	return list, nil
}

// Delivery finds a message with its address.
func (s *Store) Delivery(ctx context.Context, id int64) (Delivery, Webhook, error) {
	row, err := s.reading(ctx).GetDelivery(ctx, id)
	if err != nil {
		return Delivery{}, Webhook{}, orNotFound("find delivery", err)
	}
	return deliveryOf(row.WebhookDelivery), webhookOf(row.Webhook), nil
}

// Happening is what an address is told of. It names people by number: the log of
// deliveries is no place for names.
type Happening struct {
	Event      WebhookEvent
	Assignment int64
	Candidate  int64
	Submission string // of EventGraded
	Exercise   string
	Outcome    string
	EndedBy    Ending // of EventEnded
}

// happeningBody is the body of a message; type, timestamp and data are those of
// Standard Webhooks.
type happeningBody struct {
	Type      WebhookEvent  `json:"type"`
	Timestamp time.Time     `json:"timestamp"`
	Data      happeningData `json:"data"`
}

type happeningData struct {
	Assignment int64  `json:"assignment,omitempty"`
	Candidate  int64  `json:"candidate,omitempty"`
	Report     string `json:"report,omitempty"` // the address in the API, without scheme and host
	Submission string `json:"submission,omitempty"`
	Exercise   string `json:"exercise,omitempty"`
	Outcome    string `json:"outcome,omitempty"`
	EndedBy    Ending `json:"ended_by,omitempty"`
}

// AnnounceTx writes a message for every address inside the transaction in which
// something happens, and returns the deliveries: each needs a job. basePath stands before
// the paths of the site.
func AnnounceTx(ctx context.Context, q *db.Queries, basePath string, h Happening, now time.Time) (deliveries []int64, err error) {
	webhooks, err := q.ListWebhooks(ctx)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	for _, w := range webhooks {
		id, err := announce(ctx, q, w.ID, basePath, h, now)
		if err != nil {
			return nil, err
		}
		deliveries = append(deliveries, id)
	}
	return deliveries, nil
}

// AnnounceGradedTx is AnnounceTx for the verdict of a submission, which has happened for
// nobody when it is no candidate's.
func AnnounceGradedTx(ctx context.Context, q *db.Queries, basePath string, submission int64, now time.Time) ([]int64, error) {
	row, err := q.FindCandidateOfSubmission(ctx, submission)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find candidate of submission: %w", err)
	}
	return AnnounceTx(ctx, q, basePath, Happening{
		Event: EventGraded, Assignment: row.AssignmentID, Candidate: row.ID,
		Submission: row.PublicID, Exercise: row.Exercise, Outcome: row.Outcome,
	}, now)
}

// TestWebhookTx writes a message without content for one address, for owners.
func TestWebhookTx(ctx context.Context, q *db.Queries, webhook int64, now time.Time) (delivery int64, err error) {
	if _, err := q.GetWebhook(ctx, webhook); err != nil {
		return 0, orNotFound("find webhook", err)
	}
	return announce(ctx, q, webhook, "", Happening{Event: EventTest}, now)
}

func announce(ctx context.Context, q *db.Queries, webhook int64, basePath string, h Happening, now time.Time) (int64, error) {
	data := happeningData{
		Assignment: h.Assignment, Candidate: h.Candidate, Submission: h.Submission, Exercise: h.Exercise, Outcome: h.Outcome, EndedBy: h.EndedBy,
	}
	if h.Candidate != 0 {
		data.Report = fmt.Sprintf("%s/api/v1/assignments/%d/candidates/%d", basePath, h.Assignment, h.Candidate)
	}
	body, err := json.Marshal(happeningBody{h.Event, now.UTC(), data})
	if err != nil {
		return 0, fmt.Errorf("write message: %w", err)
	}
	id, err := q.CreateDelivery(ctx, db.CreateDeliveryParams{
		WebhookID: webhook, CandidateID: sql.NullInt64{Int64: h.Candidate, Valid: h.Candidate != 0},
		MessageID: "msg_" + rand.Text(), Event: string(h.Event), Body: string(body), CreatedAt: now.UnixMilli(),
	})
	if err == nil {
		err = q.ThinDeliveries(ctx, db.ThinDeliveriesParams{WebhookID: webhook, MaxRows: MaxDeliveries})
	}
	if err != nil {
		return 0, fmt.Errorf("write message: %w", err)
	}
	return id, nil
}

// Attempt is what became of one try.
type Attempt struct {
	State  DeliveryState
	Status int
	Error  string
}

// NoteAttempt writes an attempt down.
func (s *Store) NoteAttempt(ctx context.Context, delivery int64, a Attempt, now time.Time) error {
	err := s.writing(ctx).NoteAttempt(ctx, db.NoteAttemptParams{
		ID: delivery, State: string(a.State), Status: int64(a.Status), Error: a.Error, TriedAt: millis(now),
	})
	if err != nil {
		return fmt.Errorf("note attempt: %w", err)
	}
	return nil
}

// ForgetDeliveries deletes what is older than KeepDeliveries.
func (s *Store) ForgetDeliveries(ctx context.Context, now time.Time) error {
	if err := s.writing(ctx).DeleteDeliveriesBefore(ctx, now.Add(-KeepDeliveries).UnixMilli()); err != nil {
		return fmt.Errorf("forget deliveries: %w", err)
	}
	return nil
}

package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"redeliver/web/store/db"
)

// Action is what an entry of the audit log tells.
type Action string

// The actions. Their names stand in the database. A candidate is named by its
// assignment and a number: the log outlives it.
const (
	LinkMade      Action = "link-made"  // a link that makes an interviewer
	OwnerLink     Action = "owner-link" // a link that makes an owner
	LinkCancelled Action = "link-ended" // before it was used
	Joined        Action = "joined"     // with a link
	SignedIn      Action = "signed-in"
	SignInRefused Action = "refused"    // wrong name or password
	SignedOut     Action = "signed-out" // one browser
	SignedOutAll  Action = "signed-out-all"
	PasswordSet   Action = "password"      // by its person, or with a link
	PasswordLink  Action = "password-link" // an owner has made one
	Connected     Action = "connected"     // with an account of a provider
	PersonRemoved Action = "removed"
	TokenMade     Action = "token" // with which programs act as its person
	TokenRevoked  Action = "token-ended"

	WebhookMade    Action = "webhook"
	WebhookDeleted Action = "webhook-deleted"

	AssignmentMade     Action = "assigned"
	AssignmentDeleted  Action = "assignment-deleted"
	OpenLinkMade       Action = "open-link"
	OpenLinkEnded      Action = "open-link-ended"
	CandidateLink      Action = "candidate-link"
	CandidateCame      Action = "candidate-came" // by the open link
	CandidateCancelled Action = "candidate-cancelled"
	ExtraTime          Action = "extra-time"
	CandidateJudged    Action = "candidate-judged"
	CandidateExported  Action = "candidate-exported"
	CandidateDeleted   Action = "candidate-deleted"
	AssignmentClosed   Action = "assignment-closed"
	SittingStarted     Action = "sitting-started"
	SittingEnded       Action = "sitting-ended"
)

// Actions lists all of them, for what has words for each.
func Actions() []Action {
	return []Action{
		LinkMade, OwnerLink, LinkCancelled, Joined, SignedIn, SignInRefused, SignedOut, SignedOutAll, PasswordSet, PasswordLink,
		Connected, PersonRemoved, AssignmentMade, AssignmentDeleted, OpenLinkMade, OpenLinkEnded, CandidateLink, CandidateCame,
		CandidateCancelled, ExtraTime, CandidateJudged, CandidateExported, CandidateDeleted, SittingStarted, SittingEnded,
		AssignmentClosed, TokenMade, TokenRevoked, WebhookMade, WebhookDeleted,
	}
}

// How long and how much the log keeps. Only refusals can be made by a stranger,
// so they have a bound of their own and push nothing else out.
const (
	KeepAudit   = 400 * 24 * time.Hour
	MaxRefusals = 5_000
)

// Actor is who does something with accounts, and from where.
type Actor struct {
	Person  Person // the zero value is the command line
	Network string // the address that limits count by; "" for the command line
}

// Entry is one line of the audit log.
type Entry struct {
	ID      int64
	At      time.Time
	Who     string // name to sign in with, "" for the server and for strangers
	Action  Action
	Subject string // whom or what it is about, "" when that is Who
	Network string // "" for the server
}

func note(ctx context.Context, q *db.Queries, by Actor, a Action, subject string, now time.Time) error {
	err := q.AddAudit(ctx, db.AddAuditParams{
		At: now.UnixMilli(), PersonID: sql.NullInt64{Int64: by.Person.ID, Valid: by.Person.ID != 0},
		Who: by.Person.Login, Action: string(a), Subject: subject, Network: by.Network,
	})
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	return nil
}

// Note writes an entry that goes with no other change.
func (s *Store) Note(ctx context.Context, by Actor, a Action, subject string, now time.Time) error {
	return note(ctx, s.writing(ctx), by, a, subject, now)
}

// Audit lists the entries with a smaller id than before, the newest first; 0
// begins with the newest of all.
func (s *Store) Audit(ctx context.Context, before int64, limit int) ([]Entry, error) {
	rows, err := s.reading(ctx).ListAudit(ctx, db.ListAuditParams{Before: orNewest(before), MaxRows: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("list audit log: %w", err)
	}
	list := make([]Entry, 0, len(rows))
	for _, r := range rows {
		list = append(list, Entry{
			ID: r.ID, At: time.UnixMilli(r.At), Who: r.Who, Action: Action(r.Action), Subject: r.Subject, Network: r.Network,
		})
	}
	return list, nil
}

// orNewest is where a list begins that is read from the newest entry on: before an id,
// or for 0 at the newest of all.
func orNewest(before int64) int64 {
	if before == 0 {
		return math.MaxInt64
	}
	return before
}

// KnowsNetwork reports whether a person has signed in from a network since a
// time.
func (s *Store) KnowsNetwork(ctx context.Context, login, network string, since time.Time) (bool, error) {
	known, err := s.reading(ctx).NetworkKnown(ctx, db.NetworkKnownParams{
		Login: login, Action: string(SignedIn), Network: network, Since: since.UnixMilli(),
	})
	if err != nil {
		return false, fmt.Errorf("find network: %w", err)
	}
	return known, nil
}

// ForgetAccess deletes what has ended: sessions, tokens, answers to programs, links, and entries of the log
// beyond KeepAudit and MaxRefusals.
func (s *Store) ForgetAccess(ctx context.Context, now time.Time) error {
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		for _, step := range []func() error{
			func() error { return q.DeleteSessionsExpired(ctx, now.UnixMilli()) },
			func() error { return q.DeleteAnswersBefore(ctx, now.Add(-KeepAnswers).UnixMilli()) },
			func() error { return q.DeleteTokensExpired(ctx, now.UnixMilli()) },
			func() error { return q.DeleteInvitationsExpired(ctx, now.UnixMilli()) },
			func() error { return q.DeleteAuditBefore(ctx, now.Add(-KeepAudit).UnixMilli()) },
			func() error {
				return q.ThinAudit(ctx, db.ThinAuditParams{Action: string(SignInRefused), MaxRows: MaxRefusals})
			},
		} {
			if err := step(); err != nil {
				return fmt.Errorf("forget sessions, links and log: %w", err)
			}
		}
		return nil
	})
}

package review

import (
	"time"

	"github.com/open-spaced-repetition/go-fsrs/v3"

	"redeliver/web/store"
)

// This file is the only one that knows FSRS.

// Rating is how well a card was remembered.
type Rating string

// The ratings, from worst to best.
const (
	Again Rating = "again"
	Hard  Rating = "hard"
	Good  Rating = "good"
	Easy  Rating = "easy"
)

// Ratings lists them in this order.
func Ratings() []Rating { return []Rating{Again, Hard, Good, Easy} }

var grades = map[Rating]fsrs.Rating{Again: fsrs.Again, Hard: fsrs.Hard, Good: fsrs.Good, Easy: fsrs.Easy}

// Known reports whether there is such a rating.
func (r Rating) Known() bool { return grades[r] != 0 }

// maxDays is the longest time between two ratings: a browser that wrote nothing
// for 180 days is forgotten, and with it a card that would come later.
const maxDays = 120

// The bounds of a stability, in days: FSRS divides by it.
const minStability, maxStability = 0.001, 36500

// scheduler counts in whole days: who reviews comes once a day, and a card that
// was forgotten comes back tomorrow, not in a minute.
func scheduler() *fsrs.FSRS {
	p := fsrs.DefaultParam()
	p.EnableShortTerm, p.MaximumInterval = false, maxDays
	return fsrs.NewFSRS(p)
}

// Next is a card after a rating that Known. It is due from the beginning of a
// day, in UTC, so that who comes an hour earlier than last time finds it.
func Next(c store.Card, r Rating, now time.Time) store.Card {
	if c.Reps == 0 {
		c.CreatedAt = now
	}
	next := scheduler().Next(toFSRS(c, now), now, grades[r]).Card
	c.Stability, c.Difficulty = min(max(next.Stability, minStability), maxStability), next.Difficulty
	c.Reps, c.Lapses = int(next.Reps), int(next.Lapses)
	c.ReviewedAt, c.DueAt = now, day(now).AddDate(0, 0, min(int(next.ScheduledDays), maxDays))
	return c
}

// DaysUntil counts the days from now until a card is due.
func DaysUntil(c store.Card, now time.Time) int { return int(c.DueAt.Sub(day(now)) / (24 * time.Hour)) }

func toFSRS(c store.Card, now time.Time) fsrs.Card {
	if c.Reps == 0 {
		return fsrs.NewCard()
	}
	last := c.ReviewedAt
	if last.After(now) { // the clock was put back; FSRS would count days below zero
		last = now
	}
	return fsrs.Card{
		Stability: c.Stability, Difficulty: c.Difficulty, Reps: uint64(c.Reps), Lapses: uint64(c.Lapses),
		State: fsrs.Review, LastReview: last,
	}
}

// day is the beginning of a day in UTC.
func day(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

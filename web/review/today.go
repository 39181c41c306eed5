package review

import (
	"slices"
	"time"

	"redeliver/web/store"
)

// NewPerDay is how many cards that were never rated a day brings by itself: each
// comes back several times in the days after.
const NewPerDay = 10

// Why says why a card is shown.
type Why string

// The reasons, in the order in which cards come.
const (
	Mistaken Why = "mistaken" // a submission has failed in this way since it was rated
	Missed   Why = "missed"   // a prediction did not come
	Due      Why = "due"      // its day has come
	Fresh    Why = "fresh"    // it was never rated
)

// Entry is a card that is to be looked at.
type Entry struct {
	*Card
	Why  Why
	Seen store.Card // as it was rated last; only the name when it never was
	// Mistake is what brought the card forward; set for Mistaken.
	Mistake store.Mistake
	// Said is what was predicted; set for the cards of predictions.
	Said store.Prediction
}

// Today is what a browser has to look at now.
type Today struct {
	Entries []Entry   // in order
	Next    time.Time // the day on which the next card comes that was rated before; zero when there is none
	Fresh   int       // cards that were never rated and do not come today
}

// Waiting counts the cards that are not fresh: those that somebody would miss.
func (t Today) Waiting() (n int) {
	for _, e := range t.Entries {
		if e.Why != Fresh {
			n++
		}
	}
	return n
}

// Plan decides what to look at. More fresh cards than NewPerDay come when more is
// above zero: so many beyond those that were rated today.
func (d *Deck) Plan(p store.Practice, now time.Time, more int) Today {
	plan := planner{deck: d, now: now, seen: map[string]store.Card{}, taken: map[string]bool{}}
	for _, c := range p.Cards {
		plan.seen[c.Name] = c
	}
	plan.mistakes(p.Mistakes)
	plan.predictions(p.Predictions)
	plan.due(p.Cards)
	plan.fresh(more)
	return plan.today
}

// planner collects entries; a card comes once, for the first reason.
type planner struct {
	deck  *Deck
	now   time.Time
	seen  map[string]store.Card
	taken map[string]bool
	today Today
}

func (p *planner) take(e Entry) {
	if p.taken[e.Name] {
		return
	}
	p.taken[e.Name] = true
	seen, ok := p.seen[e.Name]
	if !ok {
		seen.Name = e.Name
	}
	e.Seen = seen
	p.today.Entries = append(p.today.Entries, e)
}

// mistakes brings forward what was not rated since a submission failed, the
// newest mistake first.
func (p *planner) mistakes(list []store.Mistake) {
	newest := slices.Clone(list)
	slices.SortStableFunc(newest, func(a, b store.Mistake) int { return b.LastAt.Compare(a.LastAt) })
	for _, m := range newest {
		for _, c := range p.deck.About(m.Exercise, string(m.Kind)) {
			if m.LastAt.After(p.seen[c.Name].ReviewedAt) {
				p.take(Entry{Card: c, Why: Mistaken, Mistake: m})
			}
		}
	}
}

// predictions makes a card of each that did not come. Once rated, it is due as
// any card.
func (p *planner) predictions(list []store.Prediction) {
	for _, said := range list {
		c, ok := p.deck.Card(PredictionCard(said.Exercise))
		if !ok || !said.Missed() {
			continue
		}
		seen, rated := p.seen[c.Name]
		switch {
		case !rated:
			p.take(Entry{Card: c, Why: Missed, Said: said})
		case !seen.DueAt.After(p.now):
			p.take(Entry{Card: c, Why: Due, Said: said})
		default:
			p.later(seen)
		}
	}
}

// due takes the cards whose day has come, the longest overdue first. Those of
// predictions were looked at before.
func (p *planner) due(list []store.Card) {
	byDay := slices.Clone(list)
	slices.SortStableFunc(byDay, func(a, b store.Card) int { return a.DueAt.Compare(b.DueAt) })
	for _, seen := range byDay {
		c, ok := p.deck.Card(seen.Name)
		switch {
		case !ok || c.Kind == Prediction || p.taken[seen.Name]: // or the bank has it no more
		case seen.DueAt.After(p.now):
			p.later(seen)
		default:
			p.take(Entry{Card: c, Why: Due})
		}
	}
}

func (p *planner) later(c store.Card) {
	if p.today.Next.IsZero() || c.DueAt.Before(p.today.Next) {
		p.today.Next = c.DueAt
	}
}

// fresh takes new cards in the order of the bank, as many as today still brings.
func (p *planner) fresh(more int) {
	room := NewPerDay
	for _, seen := range p.seen {
		if !seen.CreatedAt.Before(day(p.now)) {
			room--
		}
	}
	room = max(room, more)
	for _, c := range p.deck.cards {
		if _, rated := p.seen[c.Name]; rated || p.taken[c.Name] || c.Kind == Prediction {
			continue
		}
		if room <= 0 {
			p.today.Fresh++
			continue
		}
		room--
		p.take(Entry{Card: c, Why: Fresh})
	}
}

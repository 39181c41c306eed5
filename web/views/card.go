package views

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// The size of a card in pixels: what the services that show previews ask for.
const (
	CardWidth  = 1200
	CardHeight = 630
)

// cardRows is how many steps of a story a card has room for.
const cardRows = 7

// Card is the picture that stands for a page where its link is shown: a title, a
// sentence and the timeline of a run.
type Card struct {
	Title    string
	Text     string
	Timeline Timeline
	Rows     []TimelineRow // those that are drawn
}

// storyJSON is the trace of the first finding of the starter of core/charge-once.
//
//go:embed card_story.json
var storyJSON []byte

// NewCard makes the card of a page that shows no run of its own: its story is that of
// a record which was charged twice.
func NewCard(p Page) (Card, error) {
	var steps []verdict.Step
	if err := json.Unmarshal(storyJSON, &steps); err != nil {
		return Card{}, fmt.Errorf("read the story of cards: %w", err)
	}
	return cardOf(p, p.Description, steps), nil
}

// NewRunCard makes the card of a run.
func NewRunCard(m RunModel, steps []verdict.Step) Card { return cardOf(m.Page, m.Summary, steps) }

func cardOf(p Page, said string, steps []verdict.Step) Card {
	t := text{words: p.Words}
	tl := t.timeline(steps, nil)
	return Card{Title: p.Title, Text: said, Timeline: tl, Rows: essence(tl.Rows(), cardRows)}
}

// essence picks rows without changing their order: what decides, then what was done
// to the handler and each delivery, then what changed the database, then the rest.
func essence(rows []TimelineRow, most int) []TimelineRow {
	if len(rows) <= most {
		return rows
	}
	taken := make([]bool, len(rows))
	left := most
	for _, weight := range []func(TimelineRow) bool{
		func(r TimelineRow) bool { return r.Step.Decisive },
		func(r TimelineRow) bool { return r.Fault || r.Again },
		func(r TimelineRow) bool { return r.Step.Event == trace.Deliver },
		func(r TimelineRow) bool { return len(r.Step.Rows) > 0 },
		func(TimelineRow) bool { return true },
	} {
		for i, r := range rows {
			if left > 0 && !taken[i] && weight(r) {
				taken[i] = true
				left--
			}
		}
	}
	var out []TimelineRow
	for i, r := range rows {
		if taken[i] {
			out = append(out, r)
		}
	}
	return out
}

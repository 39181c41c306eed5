// Package clock says when the time of a candidate is over. What a candidate waits
// for us is given back: times go in, a deadline comes out, and nothing is looked up.
package clock

import (
	"slices"
	"time"
)

// MaxVain is how much of the time of attempts without a result a sitting gets back.
// A submission can be written so that it has none, and would stop the clock.
const MaxVain = 10 * time.Minute

// Span is a time that is given back: a submission waited, or the site was down. To
// is now for what has not ended yet. Vain are attempts without a result.
type Span struct {
	From, To time.Time
	Vain     bool
}

// Limit is what a candidate has. Of the zero value nothing ends.
type Limit struct {
	Start time.Time
	// Time is how long after Start, extra time included; 0: until Latest.
	Time time.Duration
	// Latest counts only without Time; zero: there is no end.
	Latest time.Time
}

// Reading is what the clock shows.
type Reading struct {
	Deadline  time.Time // zero: there is none
	GivenBack time.Duration
	// VainSpent says that of the time of attempts without a result no more is given back.
	VainSpent bool
}

// Left is how much time there is at a point in time, not below zero; 0 without a
// deadline.
func (r Reading) Left(now time.Time) time.Duration {
	if r.Deadline.IsZero() {
		return 0
	}
	return max(r.Deadline.Sub(now), 0)
}

// Over reports whether the time has come.
func (r Reading) Over(now time.Time) bool { return !r.Deadline.IsZero() && !now.Before(r.Deadline) }

// Read adds what is given back to the end. Times that overlap count once, and only
// from the start on. A span that began before the end counts whole, also the part
// that goes beyond: who had five minutes when the site went down has five minutes
// when it is back. One that began at the end or later changes nothing. Of vain times
// that are nothing else at once, MaxVain is given back.
func (l Limit) Read(spans []Span) Reading {
	end := l.Latest
	if l.Time > 0 {
		end = l.Start.Add(l.Time)
	}
	r, vain := Reading{Deadline: end}, MaxVain
	for _, s := range apart(spans, l.Start) {
		if !end.IsZero() && !s.From.Before(r.Deadline) {
			break
		}
		length := s.To.Sub(s.From)
		if s.Vain {
			length = min(length, vain)
			vain -= length
			r.VainSpent = vain == 0
		}
		r.GivenBack += length
		if !end.IsZero() {
			r.Deadline = r.Deadline.Add(length)
		}
	}
	return r
}

// apart is the same times without overlaps, in order, from a time on. What is vain
// and something else is something else.
func apart(spans []Span, from time.Time) (out []Span) {
	var sure, vain []Span
	for _, s := range spans {
		if s.Vain {
			vain = append(vain, s)
		} else {
			sure = append(sure, s)
		}
	}
	sure = union(sure, from)
	out = slices.Clone(sure)
	for _, v := range union(vain, from) {
		for _, s := range sure {
			if !s.From.Before(v.To) {
				break
			}
			if v.From.Before(s.From) {
				out = append(out, Span{v.From, s.From, true})
			}
			if v.From.Before(s.To) {
				v.From = s.To
			}
		}
		if v.From.Before(v.To) {
			out = append(out, Span{v.From, v.To, true})
		}
	}
	slices.SortFunc(out, func(a, b Span) int { return a.From.Compare(b.From) })
	return out
}

// union is the same times without overlaps, in order, from a time on.
func union(spans []Span, from time.Time) (out []Span) {
	sorted := slices.Clone(spans)
	slices.SortFunc(sorted, func(a, b Span) int { return a.From.Compare(b.From) })
	for _, s := range sorted {
		if s.From.Before(from) {
			s.From = from
		}
		if !s.From.Before(s.To) {
			continue
		}
		if n := len(out); n > 0 && !s.From.After(out[n-1].To) {
			if s.To.After(out[n-1].To) {
				out[n-1].To = s.To
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

package packcheck

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/verdict"
)

// Submission is one that was judged, as somebody's database keeps it.
type Submission struct {
	ID       int64
	Exercise string // pack/slug
	Seed     int64
	Files    []exercises.File
	Verdict  verdict.Verdict
}

// Change is a stored verdict that another version of the pack would not give.
type Change struct {
	Submissions []int64 // all with this source and seed
	Exercise    string  // its name in the old pack
	Before      verdict.Outcome
	After       verdict.Outcome
	// Added and Removed are kinds of findings.
	Added, Removed []string
	Summary        string // of the new verdict
	Why            string
}

// String is the change in a few lines.
func (c Change) String() string {
	ids := make([]string, len(c.Submissions))
	for i, id := range c.Submissions {
		ids[i] = strconv.FormatInt(id, 10)
	}
	text := fmt.Sprintf("%s, submission %s: %s → %s", c.Exercise, strings.Join(ids, ", "), c.Before, c.After)
	if len(c.Added) > 0 {
		text += "; now also " + strings.Join(c.Added, ", ")
	}
	if len(c.Removed) > 0 {
		text += "; no longer " + strings.Join(c.Removed, ", ")
	}
	return fmt.Sprintf("%s\n  %s\n  %s", text, c.Summary, c.Why)
}

// Diff is what a new version of a pack would change.
type Diff struct {
	Judged  int // stored verdicts of the exercises that differ
	Same    int // of those, how many stay as they are
	Changes []Change
}

// Compare grades the submissions of every exercise that differs between two
// versions of a pack against the new one, each distinct source once, and writes
// nothing. An exercise is known by its uuid. Verdicts are compared by outcome and
// kinds of findings.
func Compare(ctx context.Context, judge Judge, before, after *exercises.Pack, all iter.Seq2[Submission, error]) (Diff, error) {
	var d Diff
	pairs := differing(before, after)
	groups, err := group(pairs, all)
	if err != nil {
		return d, err
	}
	for _, g := range groups {
		d.Judged += len(g.ids)
		change, err := g.regrade(ctx, judge)
		if err != nil {
			return d, err
		}
		if change == nil {
			d.Same += len(g.ids)
			continue
		}
		d.Changes = append(d.Changes, *change)
	}
	return d, nil
}

// pair is an exercise in both versions; after is nil when it was removed.
type pair struct{ before, after *exercises.Exercise }

func differing(before, after *exercises.Pack) map[string]pair {
	pairs := map[string]pair{}
	for _, old := range before.Exercises {
		p := pair{before: old}
		for _, e := range after.Exercises {
			if e.UUID == old.UUID {
				p.after = e
			}
		}
		if p.after == nil || !slices.Equal(p.after.Editable, old.Editable) || p.after.Hash() != old.Hash() {
			pairs[old.Name()] = p
		}
	}
	return pairs
}

// source is what was submitted, by one or by many.
type source struct {
	pair
	Submission // the first of them
	ids        []int64
}

// group gathers submissions that are judged alike, in the order of the first. A
// stored verdict that differs makes a group of its own.
func group(pairs map[string]pair, all iter.Seq2[Submission, error]) ([]*source, error) {
	var list []*source
	known := map[string]*source{}
	for s, err := range all {
		if err != nil {
			return nil, err
		}
		p, ok := pairs[s.Exercise]
		if !ok {
			continue
		}
		key := fmt.Sprint(s.Exercise, grader.SourceHash(s.Files), s.Seed, s.Verdict.Outcome, kindsOf(s.Verdict), s.Verdict.Engine, s.Verdict.ExerciseVersion)
		if known[key] == nil {
			known[key] = &source{pair: p, Submission: s}
			list = append(list, known[key])
		}
		known[key].ids = append(known[key].ids, s.ID)
	}
	return list, nil
}

// regrade returns nil when the verdict stays.
func (s *source) regrade(ctx context.Context, judge Judge) (*Change, error) {
	change := &Change{Submissions: s.ids, Exercise: s.Exercise, Before: s.Verdict.Outcome}
	if s.after == nil {
		change.After, change.Summary = s.Verdict.Outcome, s.Verdict.Summary
		change.Why = "The exercise is not in the new pack: the verdict stays, without an exercise."
		return change, nil
	}
	now, err := judge.Grade(ctx, grader.Request{Exercise: s.after, Files: s.Files, Seed: s.Seed})
	if err != nil {
		return nil, fmt.Errorf("grade submission %d again: %w", s.ID, err)
	}
	if sameVerdict(s.Verdict, now) {
		return nil, nil //nolint:nilnil // nothing changes, and nothing failed
	}
	change.After, change.Summary = now.Outcome, now.Summary
	change.Added, change.Removed = without(kindsOf(now), kindsOf(s.Verdict)), without(kindsOf(s.Verdict), kindsOf(now))
	old, err := judge.Grade(ctx, grader.Request{Exercise: s.before, Files: s.Files, Seed: s.Seed})
	if err != nil {
		return nil, fmt.Errorf("grade submission %d with the old pack: %w", s.ID, err)
	}
	change.Why = s.why(old, now)
	return change, nil
}

// why tells the pack's part from the engine's: a stored verdict may be older than
// both versions of the pack.
func (s *source) why(old, now verdict.Verdict) string {
	if sameVerdict(old, now) {
		return fmt.Sprintf("Not because of the new pack: the old one gives this today too. It was judged by engine %s at version %s; this is engine %s.",
			s.Verdict.Engine, s.Verdict.ExerciseVersion, verdict.Engine)
	}
	return fmt.Sprintf("Version %s → %s: %s.", s.before.Version, s.after.Version, strings.Join(changed(s.before, s.after), "; "))
}

func sameVerdict(a, b verdict.Verdict) bool {
	return a.Outcome == b.Outcome && slices.Equal(kindsOf(a), kindsOf(b))
}

func kindsOf(v verdict.Verdict) []string {
	set := map[string]bool{}
	for _, f := range v.Findings {
		set[string(f.Kind)] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}

// changed names what can change a verdict and differs.
func changed(a, b *exercises.Exercise) []string {
	var list []string
	for _, part := range []struct {
		name     string
		old, now any
	}{
		{"the entry", a.Entry, b.Entry},
		{"the services", a.Services, b.Services},
		{"the databases", a.Databases, b.Databases},
		{"the editable files", a.Editable, b.Editable},
		{"the phases", a.Phases, b.Phases},
		{"the limits", a.Limits, b.Limits},
		{"schema.sql", a.Schema, b.Schema},
		{"events.yaml", a.Events, b.Events},
		{"the histories", a.Histories, b.Histories},
	} {
		if !reflect.DeepEqual(part.old, part.now) {
			list = append(list, "changes "+part.name)
		}
	}
	if list = append(list, changedInvariants(a.Invariants, b.Invariants)...); list == nil {
		return []string{"changes the version or the name only"}
	}
	return list
}

func changedInvariants(a, b []exercises.Invariant) []string {
	var list []string
	find := func(in []exercises.Invariant, name string) *exercises.Invariant {
		for i := range in {
			if in[i].Name == name {
				return &in[i]
			}
		}
		return nil
	}
	for _, inv := range b {
		switch old := find(a, inv.Name); {
		case old == nil:
			list = append(list, fmt.Sprintf("adds the invariant %q", inv.Name))
		case old.SQL != inv.SQL || old.Kind != inv.Kind || old.Object != inv.Object || !maps.Equal(old.Message, inv.Message):
			list = append(list, fmt.Sprintf("changes the invariant %q", inv.Name))
		}
	}
	for _, inv := range a {
		if find(b, inv.Name) == nil {
			list = append(list, fmt.Sprintf("drops the invariant %q", inv.Name))
		}
	}
	return list
}

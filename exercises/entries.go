package exercises

import (
	"slices"
	"strings"
)

// Entry is a way in which the harness and a submission work together: who
// polls, who commits, and which functions the submission defines.
type Entry struct {
	Name      string
	Functions []string // each must be defined, in package handler
	Services  []string // what an exercise with this entry may ask for
	Produces  bool     // its functions are given a Kafka client without asking
	Clients   bool     // its functions make their Kafka clients themselves
	Calls     bool     // nothing is consumed: each event of events.yaml is a call, with the event's key
}

// Entries lists the entries that exercise.yaml may name.
func Entries() []Entry {
	return []Entry{
		{Name: "handler", Functions: []string{"Handle"}, Services: []string{"redis", "gateway", "kafka"}},
		{Name: "batch", Functions: []string{"HandleBatch"}},
		{Name: "offsets", Functions: []string{"StartOffset", "Handle"}},
		{Name: "relay", Functions: []string{"Handle", "Relay"}, Produces: true},
		{Name: "consumer", Functions: []string{"Run"}, Clients: true},
		{Name: "producer", Functions: []string{"Publish"}, Clients: true, Calls: true},
	}
}

// Phases lists the names that `phases` in exercise.yaml may hold, in the order
// in which the grader runs them.
func Phases() []string {
	return []string{
		"happy-path", "redelivery", "producer-duplicate", "crash-points", "zombie",
		"transient-errors", "lost-replies", "two-records", "interleavings", "double-crash",
		"crash-and-interleave", "clock-jumps", "rewind", "cluster", "random",
	}
}

// Signature names the functions that a submission defines and what they are
// given: the entry, and each service after a plus sign, "handler+kafka".
func (h *Head) Signature() string {
	return strings.Join(append([]string{h.Entry}, h.Services...), "+")
}

// Produces says whether a submission is given a Kafka client to produce with.
func (h *Head) Produces() bool {
	known, _ := entry(h.Entry)
	return known.Produces || slices.Contains(h.Services, "kafka")
}

// MakesClients says whether a submission makes its Kafka clients itself.
func (e *Exercise) MakesClients() bool {
	known, _ := entry(e.Entry)
	return known.Clients
}

// IsCalled says whether the submission consumes nothing: each event is a call of its
// function, with the event's key.
func (e *Exercise) IsCalled() bool {
	known, _ := entry(e.Entry)
	return known.Calls
}

func entry(name string) (Entry, bool) {
	all := Entries()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}

// databases that a schedule can run against.
func databases() []string { return []string{"sqlite", "read-committed"} }

// invariantKinds are what a violating row can mean.
func invariantKinds() []string {
	return []string{"duplicate", "lost", "misordered", "stuck", "leaked"}
}

// findingKinds are what a wrong handler can be found by: the kinds of
// grader/verdict, repeated here because this package knows no grader.
func findingKinds() []string {
	return append(invariantKinds(), "crash", "timeout", "memory", "output", "compile", "policy")
}

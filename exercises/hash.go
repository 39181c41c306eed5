package exercises

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Hash identifies everything about an exercise that can change a verdict: what
// runs, what is checked and what a finding says. Statements, hints and samples
// are not part of it. The form is "sha256:" and hex.
func (e *Exercise) Hash() string {
	// JSON is an unambiguous encoding here: fields in the order below, maps by
	// key, and every value is text, a number or a list of these.
	encoded, err := json.Marshal(struct {
		Name, Version, Entry                  string
		Services, Databases, Editable, Phases []string
		Limits                                Limits
		Invariants                            []Invariant
		Schema                                string
		Events                                Events
		Histories                             []History `json:",omitempty"`
	}{
		e.Name(), e.Version, e.Entry,
		e.Services, e.Databases, e.Editable, e.Phases,
		e.Limits, e.Invariants, e.Schema, e.Events, e.Histories,
	})
	if err != nil {
		// Nothing in these types can fail to encode, as TestHash shows.
		panic("encode exercise for its hash: " + err.Error())
	}
	sum := sha256.Sum256(encoded)
	return "sha256:" + hex.EncodeToString(sum[:])
}

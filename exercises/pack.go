// Package exercises is what we ask: packs as data. It loads and checks their
// form; whether an exercise behaves as it promises is grader/packcheck's work.
// It knows no grader and no web.
package exercises

import "slices"

// Pack is a set of exercises that is installed, versioned and licensed as one.
type Pack struct {
	ID        string // "core"; the first part of an exercise's name
	UUID      string
	Version   string            // semver
	Title     map[string]string // by language
	Licence   string
	Credits   []string
	Requires  []string    // ids of the packs whose exercises its prerequisites may name
	Languages []string    // every text of every exercise is there in each of them
	Exercises []*Exercise // in the order in which the site shows them
}

func (p *Pack) has(slug string) bool {
	return slices.ContainsFunc(p.Exercises, func(e *Exercise) bool { return e.Slug == slug })
}

// File is one file of a submission, a starter or a solution.
type File struct {
	Name    string // without a folder: "handler.go"
	Content []byte
}

// Head is what a list of exercises says about one of them. It is read when the
// pack is found; everything else only when the pack is opened.
type Head struct {
	Pack    string // id of its pack
	Slug    string
	UUID    string
	Version string

	Level   int // 1 to 4
	Minutes int // what a prepared candidate needs

	Entry     string   // "handler", "batch", …: see Entries
	Services  []string // "redis", "gateway", "kafka" beside the database
	Databases []string // "sqlite", "read-committed"

	Title         map[string]string
	Concepts      []string
	Prerequisites []string // pack/slug
	Questions     []string // slugs of the question bank
	Visibility    string   // "public" or "assigned"
}

// Exercise is one task.
type Exercise struct {
	Head

	Editable   []string // the file names that a submission may contain
	Phases     []string // nil: all that the entry supports
	Limits     Limits
	Measured   bool      // host_calls is left out: limits.golden, if it is there, has what the solutions need
	Histories  []History // by name
	Invariants []Invariant
	Rubric     []string

	Statement map[string]string   // Markdown by language
	Hints     map[string][]Hint   // in order
	Approach  map[string]string   // shown after a pass
	Schema    string              // SQL, before the first record
	Events    Events              // what is produced
	Starter   []File              // in the order of Editable
	Solutions []Sample            // by name
	Wrong     []Sample            // by name
	Expect    map[string]Expected // by name of the wrong handler
	Feedback  string              // feedback.golden: what starter and wrong handlers are told; "" when absent
}

// Language is the language to show the exercise in to somebody who wants want:
// that one if its pack speaks it, else English, which every pack does.
func (h *Head) Language(want string) string {
	if _, ok := h.Title[want]; ok {
		return want
	}
	return "en"
}

// Name is "pack/slug", as the command line and addresses use it.
func (h *Head) Name() string { return h.Pack + "/" + h.Slug }

// Failing gives the files of a wrong handler, or of the starter for "": what
// fails on purpose, so that people can watch it.
func (e *Exercise) Failing(wrong string) ([]File, bool) {
	if wrong == "" {
		return e.Starter, true
	}
	i := slices.IndexFunc(e.Wrong, func(s Sample) bool { return s.Name == wrong })
	if i < 0 {
		return nil, false
	}
	return e.Wrong[i].Files, true
}

// Hint is one section of hints.<lang>.md.
type Hint struct{ Title, Text string }

// Sample is a submission that comes with an exercise.
type Sample struct {
	Name  string
	Files []File
}

// Expected says how a wrong handler must fail.
type Expected struct {
	Kinds   []string // each must be found
	May     []string // these may be found too, others must not
	Message []string // words that some message must contain
}

// History is a table of the harness that keeps what stood in a table of the
// exercise after each commit: the column "at", which is the number of the commit
// (0: before the first record), then Columns. A commit adds one row for each row
// of the table that it has changed or added, as far as Columns show it.
type History struct {
	Name    string
	Table   string // of the exercise
	Columns []string
}

// Limits bound one schedule. Zero means the sandbox's default.
type Limits struct {
	HostCalls int // calls to the database and to services in one delivery
}

// Invariant is a query whose every row is one violation. The column "object"
// names what is violated.
type Invariant struct {
	Name    string
	Kind    string            // duplicate, lost, misordered, stuck, leaked
	SQL     string            // one SELECT
	Object  string            // the field of events.yaml whose value the column "object" holds
	Message map[string]string // by language; {column} stands for the row's value
	Place   Problem           `json:"-"` // where its SQL stands, without a message
}

// Package similarity says which part of a Go source is also in another one, whatever
// its names, its layout and the order of its functions. It is a hint: short programs
// for the same task look alike, and whoever has the same idea writes the same code.
//
// The syntax tree of each function becomes a sequence of tokens, in which a name that
// the source itself declares is only a name and a literal only its kind; comments are
// not there. Fingerprints are then chosen by winnowing (S. Schleimer, D. Wilkerson,
// A. Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD 2003):
// of the hashes of all K consecutive tokens, the smallest one of each Window of
// consecutive hashes. So a passage of Window+K-1 tokens that two sources share is always
// found, and nothing shorter than K tokens is. K and Window are smaller than for
// whole programs, and larger than a single statement.
//
// It knows no HTTP, no database and no exercise.
package similarity

import (
	"errors"
	"hash/fnv"
	"slices"
)

// K is how many tokens a fingerprint is of, and Window how many of them are looked at
// for the one that is kept.
const (
	K      = 16
	Window = 8
)

// Fewest is how many fingerprints of its own a source must have for a figure about it:
// with fewer, a single statement would make a large part. Threshold is the figure, in
// percent, from which a report shows it. Both come from the solutions of the core pack,
// which share less among each other: see TestIndependentSolutions.
const (
	Fewest    = 24
	Threshold = 75
)

// MaxTokens bounds the work for one source. A submission of 64 KiB has fewer, unless it
// was made for this.
const MaxTokens = 40_000

// What Of refuses: a source with more than MaxTokens, and one that is no Go.
var (
	ErrTooLong = errors.New("too many tokens to compare")
	ErrSyntax  = errors.New("cannot be parsed")
)

// File is a file of a source. Only those that end in ".go" count.
type File struct {
	Name    string
	Content []byte
}

// Print is a fingerprint and the lines of the file that it is of.
type Print struct {
	Hash     uint64
	File     uint8 // among the files in the order of their names
	Decl     uint16
	From, To uint32
}

// Prints are the fingerprints of a source, in the order of its text.
type Prints struct {
	Files []string // names of the files that count, sorted
	List  []Print
}

// Size is about how many bytes they take.
func (p Prints) Size() int { return 24*len(p.List) + 64 }

// Of computes the fingerprints of a source. An error says that it cannot be parsed, or
// is too long.
func Of(files []File) (Prints, error) {
	stream, err := tokens(files)
	if err != nil {
		return Prints{}, err
	}
	out := Prints{Files: stream.files}
	for _, decl := range stream.decls {
		out.List = winnow(out.List, hashes(decl))
	}
	return out, nil
}

// Known are fingerprints that say nothing: everybody has them.
type Known map[uint64]struct{}

// Size is about how many bytes they take.
func (k Known) Size() int { return 24*len(k) + 64 }

// Add makes every run of K tokens of a source known, not only those that winnowing
// would choose there: in another text it chooses others.
func (k Known) Add(files []File) error {
	all, err := everyHash(files)
	for h := range all {
		k[h] = struct{}{}
	}
	return err
}

// Shared are the runs of K tokens that at least two of several sources have: the idioms
// of a task. A source that cannot be parsed has none.
func Shared(sources ...[]File) Known {
	seen := map[uint64]int{}
	for _, files := range sources {
		all, err := everyHash(files)
		if err != nil {
			continue
		}
		for h := range all {
			seen[h]++
		}
	}
	known := Known{}
	for h, n := range seen {
		if n > 1 {
			known[h] = struct{}{}
		}
	}
	return known
}

func everyHash(files []File) (map[uint64]struct{}, error) {
	stream, err := tokens(files)
	if err != nil {
		return nil, err
	}
	all := map[uint64]struct{}{}
	for _, decl := range stream.decls {
		for _, h := range hashes(decl) {
			all[h.Hash] = struct{}{}
		}
	}
	return all, nil
}

// Beyond leaves out what is known, and what is there a second time.
func (p Prints) Beyond(known Known) Prints {
	out := Prints{Files: p.Files}
	seen := map[uint64]struct{}{}
	for _, f := range p.List {
		_, isKnown := known[f.Hash]
		_, again := seen[f.Hash]
		if !isKnown && !again {
			seen[f.Hash] = struct{}{}
			out.List = append(out.List, f)
		}
	}
	return out
}

// Result says how much of one source is in another. Both were without what is known.
type Result struct {
	Shared   int // fingerprints
	Of       int // fingerprints of the first
	Passages []Passage
}

// Percent is the part of the first source that is in the second. It is false where the
// first is too short for a figure.
func (r Result) Percent() (int, bool) {
	if r.Of < Fewest {
		return 0, false
	}
	return 100 * r.Shared / r.Of, true
}

// Passage is a stretch of lines that both have.
type Passage struct{ A, B Span }

// Span is lines of a file, from 1.
type Span struct {
	File     string
	From, To int
}

// Compare finds what of a is in b.
func Compare(a, b Prints) Result {
	r := Result{Of: len(a.List)}
	where := make(map[uint64]Print, len(b.List))
	for _, p := range b.List {
		where[p.Hash] = p
	}
	var open *joint
	for _, p := range a.List {
		q, ok := where[p.Hash]
		if !ok {
			continue
		}
		r.Shared++
		if open == nil || !open.extend(p, q) {
			if open != nil {
				r.Passages = append(r.Passages, open.passage(a, b))
			}
			open = &joint{p, q}
		}
	}
	if open != nil {
		r.Passages = append(r.Passages, open.passage(a, b))
	}
	return r
}

// joint is a passage that grows.
type joint struct{ a, b Print }

// extend takes in a pair that follows in both, in the same functions.
func (j *joint) extend(p, q Print) bool {
	if p.File != j.a.File || q.File != j.b.File || p.Decl != j.a.Decl || q.Decl != j.b.Decl || q.From < j.b.From || p.From > j.a.To+1 || q.From > j.b.To+1 {
		return false
	}
	j.a.To, j.b.To = max(j.a.To, p.To), max(j.b.To, q.To)
	return true
}

func (j *joint) passage(a, b Prints) Passage {
	return Passage{spanOf(a, j.a), spanOf(b, j.b)}
}

func spanOf(of Prints, p Print) Span { return Span{of.Files[p.File], int(p.From), int(p.To)} }

// hashes are those of all K consecutive tokens of a function. A function that has fewer
// is too short to say anything.
func hashes(decl []tok) []Print {
	if len(decl) < K {
		return nil
	}
	out := make([]Print, 0, len(decl)-K+1)
	for i := range len(decl) - K + 1 {
		h := fnv.New64a()
		p := Print{File: decl[i].file, Decl: decl[i].decl, From: decl[i].line, To: decl[i].line}
		for _, t := range decl[i : i+K] {
			h.Write(t.code[:])
			p.From, p.To = min(p.From, t.line), max(p.To, t.line)
		}
		p.Hash = h.Sum64()
		out = append(out, p)
	}
	return out
}

// winnow keeps the smallest hash of each window, of equals the last one, once.
func winnow(out, all []Print) []Print {
	last := -1
	for i := range max(len(all)-Window+1, min(len(all), 1)) {
		window := all[i:min(i+Window, len(all))]
		least := 0
		for k, p := range window {
			if p.Hash <= window[least].Hash {
				least = k
			}
		}
		if i+least != last {
			last = i + least
			out = append(out, all[last])
		}
	}
	return out
}

func sortedNames(files []File) []File {
	out := slices.Clone(files)
	slices.SortFunc(out, func(a, b File) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}

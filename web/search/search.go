// Package search finds words in the texts of the site: an index in memory, made
// from the content. What is searched is files and not rows, so it is the same with
// every database of the site.
package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode"

	_ "modernc.org/sqlite" // registers "sqlite"
)

// Kind is what a text belongs to.
type Kind string

// The kinds.
const (
	Question Kind = "question"
	Exercise Kind = "exercise"
	Lab      Kind = "lab"
)

// Doc is one text in one language.
type Doc struct {
	Lang  string
	Kind  Kind
	Name  string // by which its page is found
	Title string
	Body  string // Markdown, of which only the words count
}

// Hit is a text in which every word was found.
type Hit struct {
	Kind  Kind
	Name  string
	Title string
	Parts []Part // of the text around the words
}

// Part is a piece of text; Found says that it is what was looked for.
type Part struct {
	Text  string
	Found bool
}

// Index may be used by many goroutines.
type Index struct{ db *sql.DB }

// New makes an index. The table is one for all languages, so the words of a
// language are told apart by a column and not by a stemmer.
func New(ctx context.Context, docs []Doc) (*Index, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, fmt.Errorf("make index: %w", err)
	}
	db.SetMaxOpenConns(1) // each connection to :memory: would be a database of its own
	if err := fill(ctx, db, docs); err != nil {
		return nil, errors.Join(fmt.Errorf("make index: %w", err), db.Close())
	}
	return &Index{db}, nil
}

func fill(ctx context.Context, db *sql.DB, docs []Doc) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after Commit
	if _, err := tx.ExecContext(ctx, `CREATE VIRTUAL TABLE docs USING fts5(
		lang UNINDEXED, kind UNINDEXED, name UNINDEXED, title, body, tokenize = 'unicode61 remove_diacritics 2')`); err != nil {
		return err
	}
	for _, d := range docs {
		if _, err := tx.ExecContext(ctx, `INSERT INTO docs VALUES (?, ?, ?, ?, ?)`,
			d.Lang, string(d.Kind), d.Name, plain(d.Title), plain(d.Body)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Close drops the index.
func (x *Index) Close() error { return x.db.Close() }

// plain takes the marks of Markdown from a text.
func plain(markdown string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune("`*#|[]", r) {
			return ' '
		}
		return r
	}, markdown)), " ")
}

// The marks around what was found; no text has them.
const begin, end = "\x02", "\x03"

// maxWords bounds a query: nobody types more by hand.
const maxWords = 8

// Find returns the texts of a language that hold every word of the query, or a
// word that begins with it, the best first. A query without a word finds nothing.
func (x *Index) Find(ctx context.Context, lang, query string, limit int) (hits []Hit, err error) {
	match := expression(lang, query)
	if match == "" {
		return nil, nil
	}
	// A word in the title weighs ten times as much.
	rows, err := x.db.QueryContext(ctx, `SELECT kind, name, title, snippet(docs, 4, ?, ?, '…', 24) FROM docs
		WHERE docs MATCH ? AND lang = ? ORDER BY bm25(docs, 0, 0, 0, 10, 1) LIMIT ?`, begin, end, match, lang, limit)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var h Hit
		var around string
		if err := rows.Scan(&h.Kind, &h.Name, &h.Title, &around); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		h.Parts = parts(around)
		hits = append(hits, h)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return hits, nil
}

// expression writes a query in the language of FTS5: words in quotation marks, so
// that none of them is an operator, each as the beginning of a word.
func expression(lang, query string) string {
	words := strings.FieldsFunc(query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var terms []string
	for _, w := range words[:min(len(words), maxWords)] {
		terms = append(terms, `"`+root(lang, w)+`"*`)
	}
	return strings.Join(terms, " ")
}

// root cuts the ending from a long word, which differs by case and number. That
// finds a few words too many and needs no dictionary.
func root(lang, word string) string {
	cut := map[string]int{"ru": 2, "de": 2, "en": 1}[lang]
	runes := []rune(word)
	if len(runes) < 6 {
		return word
	}
	return string(runes[:len(runes)-cut])
}

// parts cuts a snippet at its marks.
func parts(snippet string) (out []Part) {
	for i, piece := range strings.Split(snippet, begin) {
		found, rest, marked := strings.Cut(piece, end)
		if i == 0 || !marked {
			found, rest = "", piece
		}
		if found != "" {
			out = append(out, Part{found, true})
		}
		if rest != "" {
			out = append(out, Part{rest, false})
		}
	}
	return out
}

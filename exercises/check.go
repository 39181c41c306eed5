package exercises

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	placeholderPattern = regexp.MustCompile(`\{[a-z][a-z0-9_]*\}`)
	prerequisiteShape  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$`)
	objectColumn       = regexp.MustCompile(`(?i)\bobject\b`)
	queryChanges       = regexp.MustCompile(`(?i)\b(insert\s+(or|into)|replace\s+into|update\s+[a-z"'\x60[]|delete\s+from)\b`)
	queryStart         = regexp.MustCompile(`(?i)^\s*(select|with)\b`)
)

const maxHostCalls = 1_000_000

func (l *loader) checkManifest(doc *document, slug string, file exerciseFile) {
	l.checkIdentity(doc, file.ID, file.UUID, file.Version)
	if file.ID != slug {
		l.at(doc, "The id must be the name of the folder, "+slug+".", "id")
	}
	l.checkWords(doc, l.pack.Languages, file.Title, "title")
	if file.Level < 1 || file.Level > 4 {
		l.at(doc, "The level must be 1, 2, 3 or 4.", "level")
	}
	if file.Minutes < 1 || file.Minutes > 480 {
		l.at(doc, "The minutes must be between 1 and 480.", "minutes")
	}
	if file.Visibility != "public" && file.Visibility != "assigned" {
		l.at(doc, "The visibility must be public or assigned.", "visibility")
	}
	if file.Limits.HostCalls < 0 || file.Limits.HostCalls > maxHostCalls {
		l.at(doc, fmt.Sprintf("The host_calls must be between 0 (measured) and %d.", maxHostCalls), "limits", "host_calls")
	}
	l.checkEntry(doc, file)
	l.checkEach(doc, file.Databases, databases(), "database", "databases")
	l.checkEach(doc, file.Phases, Phases(), "phase", "phases")
	l.checkEditable(doc, file.Editable)
	l.checkReferences(doc, file)
}

func (l *loader) checkEntry(doc *document, file exerciseFile) {
	known, ok := entry(file.Entry)
	if !ok {
		var names []string
		for _, e := range Entries() {
			names = append(names, e.Name)
		}
		l.at(doc, "The entry must be one of "+strings.Join(names, ", ")+".", "entry")
		return
	}
	if known.Clients && file.Limits.HostCalls != 0 {
		l.at(doc, "The entry "+known.Name+" has a fixed limit of calls: leave host_calls out.", "limits", "host_calls")
	}
	if known.Clients && slices.Contains(file.Databases, "read-committed") {
		l.at(doc, "The entry "+known.Name+" runs on sqlite only: its processes do not wait for locks.", "databases")
	}
	l.checkEach(doc, file.Services, known.Services, "service of the entry "+known.Name, "services")
}

// checkOutputs wants output topics exactly where a submission can produce.
func (l *loader) checkOutputs(doc *document, exercise *Exercise, events Events) {
	if len(events.Templates) == 0 {
		return // events.yaml has problems already
	}
	switch named := len(events.Outputs) > 0; {
	case exercise.IsCalled() && len(events.Topics) > 0:
		l.at(doc, "The function is called once for each event and nothing is consumed: events.yaml has no topics, its events only a key.", "entry")
	case !exercise.IsCalled() && len(events.Topics) == 0:
		l.at(doc, "events.yaml has no topics, but the submission gets records.", "entry")
	case exercise.IsCalled() && !named:
		l.at(doc, "The submission shall produce, but events.yaml names no outputs.", "entry")
	case exercise.MakesClients(): // it may produce, or not
	case exercise.Produces() && !named:
		l.at(doc, "The submission is given a Kafka client, but events.yaml names no outputs.", "entry")
	case !exercise.Produces() && named:
		l.at(doc, "events.yaml names outputs, but neither the entry nor services gives the submission a Kafka client.", "entry")
	}
}

// checkEach wants every value of a list once and among the allowed ones.
func (l *loader) checkEach(doc *document, values, allowed []string, what string, where ...any) {
	for i, value := range values {
		place := append(slices.Clone(where), i)
		switch {
		case !slices.Contains(allowed, value):
			l.at(doc, fmt.Sprintf("%q is not a known %s (known: %s).", value, what, cmp.Or(strings.Join(allowed, ", "), "none")), place...)
		case slices.Contains(values[:i], value):
			l.at(doc, fmt.Sprintf("%q is listed twice.", value), place...)
		}
	}
}

func (l *loader) checkEditable(doc *document, names []string) {
	hasGo := false
	for i, name := range names {
		hasGo = hasGo || strings.HasSuffix(name, ".go")
		switch {
		case !editablePattern.MatchString(name):
			l.at(doc, "An editable file is schema.sql or a Go file named with lower-case letters, digits and hyphens.", "editable", i)
		case slices.Contains(names[:i], name):
			l.at(doc, fmt.Sprintf("%q is listed twice.", name), "editable", i)
		}
	}
	if !hasGo {
		l.at(doc, "At least one Go file must be editable.", "editable")
	}
}

func (l *loader) checkReferences(doc *document, file exerciseFile) {
	if len(file.Concepts) == 0 {
		l.at(doc, "At least one concept must be named.", "concepts")
	}
	for i, concept := range file.Concepts {
		if !slugPattern.MatchString(concept) {
			l.at(doc, "A concept is named with lower-case letters, digits and single hyphens.", "concepts", i)
		}
	}
	for i, question := range file.Questions {
		if !slugPattern.MatchString(question) {
			l.at(doc, "A question is named by its address: lower-case letters, digits and single hyphens.", "questions", i)
		}
	}
	for i, name := range file.Prerequisites {
		if !prerequisiteShape.MatchString(name) {
			l.at(doc, "A prerequisite is named as pack/exercise.", "prerequisites", i)
		}
	}
	for i, line := range file.Rubric {
		if strings.TrimSpace(line) == "" {
			l.at(doc, "The line of the rubric is empty.", "rubric", i)
		}
	}
}

// harnessTables are there for every query of an invariant.
func harnessTables() []string {
	return []string{"sent", "delivered", "expected", "output", "gateway_charges"}
}

const maxHistories = 5

func (l *loader) checkHistories(doc *document, histories map[string]historyFile) {
	if len(histories) > maxHistories {
		l.at(doc, fmt.Sprintf("There are at most %d histories.", maxHistories), "histories")
		return
	}
	for _, name := range sortedKeys(histories) {
		history := histories[name]
		if !fieldPattern.MatchString(name) || slices.Contains(harnessTables(), name) || name == history.Table {
			l.problems = append(l.problems, doc.key("A history's name begins with a letter, holds lower-case letters, digits and underscores, and is not that of another table.", name, "histories"))
		}
		if !fieldPattern.MatchString(history.Table) {
			l.at(doc, "The table must be one of the exercise, in lower case.", "histories", name, "table")
		}
		if n := len(history.Columns); n < 1 || n > maxFields {
			l.at(doc, fmt.Sprintf("There must be between 1 and %d columns.", maxFields), "histories", name, "columns")
			continue
		}
		for i, column := range history.Columns {
			switch {
			case !fieldPattern.MatchString(column) || column == "at":
				l.at(doc, "A column is named with lower-case letters, digits and underscores; at is there already.", "histories", name, "columns", i)
			case slices.Contains(history.Columns[:i], column):
				l.at(doc, fmt.Sprintf("%q is listed twice.", column), "histories", name, "columns", i)
			}
		}
	}
}

func (l *loader) checkInvariants(doc *document, invariants []invariantFile, events Events) {
	if len(invariants) == 0 {
		l.at(doc, "There must be at least one invariant.", "invariants")
	}
	var names []string
	for i, invariant := range invariants {
		switch {
		case strings.TrimSpace(invariant.Name) == "":
			l.at(doc, "The invariant has no name.", "invariants", i)
		case slices.Contains(names, invariant.Name):
			l.at(doc, "Another invariant has this name.", "invariants", i, "name")
		}
		names = append(names, invariant.Name)
		l.checkInvariant(doc, i, invariant, events)
	}
}

// checkInvariant looks at the form only: whether SQLite understands the query
// is found by packcheck, which runs it.
func (l *loader) checkInvariant(doc *document, i int, invariant invariantFile, events Events) {
	if !slices.Contains(invariantKinds(), invariant.Kind) {
		l.at(doc, "The kind must be one of "+strings.Join(invariantKinds(), ", ")+".", "invariants", i, "kind")
	}
	code := sqlCode(invariant.SQL)
	_, second, _ := strings.Cut(code, ";")
	switch {
	case !queryStart.MatchString(code) || strings.Trim(second, "; \n") != "":
		l.at(doc, "The sql must be one query that begins with SELECT or WITH.", "invariants", i, "sql")
	case queryChanges.MatchString(code):
		l.at(doc, "The sql must only read.", "invariants", i, "sql")
	case !objectColumn.MatchString(invariant.SQL):
		l.at(doc, "The query has no column called object.", "invariants", i, "sql")
	}
	eventsKnown := len(events.Templates) > 0 // or there are problems already
	if invariant.Object != "" && eventsKnown && !events.hasField(invariant.Object) {
		l.at(doc, "There is no field "+invariant.Object+" in events.yaml.", "invariants", i, "object")
	}
	l.checkWords(doc, l.pack.Languages, invariant.Message, "invariants", i, "message")
	for _, language := range sortedKeys(invariant.Message) {
		rest := placeholderPattern.ReplaceAllString(invariant.Message[language], "")
		if strings.ContainsAny(rest, "{}") {
			l.at(doc, "A placeholder is the name of a column in braces, such as {object}.", "invariants", i, "message", language)
		}
	}
}

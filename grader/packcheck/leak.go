package packcheck

import (
	"strings"

	"redeliver/exercises"
)

// tellTale is how long a line must be to be somebody's own words. Shorter ones,
// such as "## What you write", stand in many texts.
const tellTale = 40

// checkLeaks wants nothing of an assigned exercise in what everybody may read
// about the public ones of the pack: an interviewer's task that is quoted in a
// hint of another is known before the interview.
func (c *checker) checkLeaks(public *exerciseCheck) {
	if public.Visibility != "public" {
		return
	}
	for _, name := range public.Prerequisites {
		for _, assigned := range c.pack.Exercises {
			if assigned.Visibility == "assigned" && assigned.Name() == name {
				public.problem("The prerequisite %s is assigned: a public page would name it.", name)
			}
		}
	}
	shown := everything(public.Exercise)
	for _, assigned := range c.pack.Exercises {
		if assigned.Visibility != "assigned" {
			continue
		}
		if strings.Contains(shown, assigned.Name()) {
			public.problem("A public text names the assigned exercise %s.", assigned.Name())
		}
		for _, line := range ownLines(assigned) {
			if strings.Contains(shown, line) {
				public.problem("A public text holds a line of the assigned exercise %s: %q.", assigned.Name(), line)
				break
			}
		}
	}
}

// everything is all that a page shows of a public exercise at any time.
func everything(e *exercises.Exercise) string {
	var b strings.Builder
	add := func(text string) { b.WriteString(text + "\n") }
	for lang := range e.Title {
		add(e.Title[lang])
		add(e.Statement[lang])
		add(e.Approach[lang])
		for _, h := range e.Hints[lang] {
			add(h.Title)
			add(h.Text)
		}
	}
	add(e.Schema)
	for _, f := range e.Starter {
		add(string(f.Content))
	}
	return b.String()
}

// ownLines are the lines of an assigned exercise's texts that can come from
// nowhere else. Code is left out: every exercise has a func Handle.
func ownLines(e *exercises.Exercise) []string {
	var lines []string
	add := func(text string) {
		code := false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				code = !code
			} else if !code && len(line) >= tellTale {
				lines = append(lines, line)
			}
		}
	}
	for lang := range e.Title {
		add(e.Statement[lang])
		add(e.Approach[lang])
		for _, h := range e.Hints[lang] {
			add(h.Text)
		}
	}
	return lines
}

// Package views draws the pages. Each page is one exported component with one
// typed model that holds everything it shows; a view looks nothing up.
package views

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"redeliver/web/views/locale"
)

// htmxConfig switches off what the Content-Security-Policy forbids anyway, and
// the cache of pages in the browser's storage, which would keep source code. What
// has come is settled at once: a click within the usual 20 ms would meet a form that
// htmx does not know yet, and load the whole page.
const htmxConfig = `{"allowEval":false,"allowScriptTags":false,"includeIndicatorStyles":false,"historyCacheSize":0,"defaultSettleDelay":0}`

// Page is what every page needs.
type Page struct {
	Words       locale.Words
	Languages   []LanguageLink // the same page in each language
	Title       string         // the page's, without the name of the site
	Description string         // one sentence for search engines
	Base        string         // scheme and host of the site, or "" if it does not know them
	BasePath    BasePath       // what stands before every path on that host
	Card        templ.SafeURL  // the picture for where a link to the page is shown; "" without
	SignedIn    PersonModel    // who is signed in; the zero value for most
	Query       string         // what was searched for, in the field of the head
	Live        bool           // loads event streams
	Timeline    bool           // loads what makes a timeline walkable
	Editor      bool           // loads the editor of source code
	Refresh     bool           // reloads without script until the page is complete
	// Within is where exercises and submissions lie that belong to a sitting: what
	// stands behind the language, with a slash at its end; "" elsewhere.
	Within  string
	Sitting SittingBar // the zero value outside of a sitting
}

// LanguageLink is a page in one language.
type LanguageLink struct {
	Lang string
	Name string // of the language, in itself
	URL  templ.SafeURL
}

// Address is the page in its own language, or "" for an error at an address that is
// none of ours.
func (p Page) Address() templ.SafeURL {
	for _, l := range p.Languages {
		if l.Lang == p.Lang() {
			return l.URL
		}
	}
	return ""
}

// anyLanguage is the address without its language, which leads to the reader's.
func (p Page) anyLanguage() string {
	return string(p.BasePath) + "/" + strings.TrimPrefix(string(p.Address()), p.Home().path)
}

// Lang is the language of the page, as it stands in addresses.
func (p Page) Lang() string { return p.Words.Lang() }

// Home is where addresses in the language of the page begin.
func (p Page) Home() Root { return p.BasePath.In(p.Lang()) }

// Root is where those of exercises and submissions begin.
func (p Page) Root() Root { return p.Home().Within(p.Within) }

// text joins the parts of building a model: it keeps the first error.
type text struct {
	words locale.Words
	err   error
}

func (t *text) say(id string, pairs ...any) string {
	s, err := t.words.Text(id, pairs...)
	t.keep(err)
	return s
}

func (t *text) count(id string, n int, pairs ...any) string {
	s, err := t.words.Count(id, n, pairs...)
	t.keep(err)
	return s
}

// name says a name of the verdict contract, such as a phase, in words. A name
// that has none is shown as it is: a page must bear what a newer grader wrote.
func (t *text) name(group, name string) string {
	if id := group + "." + name; t.words.Has(id) {
		return t.say(id)
	}
	return name
}

func (t *text) keep(err error) {
	if t.err == nil {
		t.err = err
	}
}

// ClockTime is a point in time that reads the same in every language.
func ClockTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// machineTime is the same for the attribute datetime.
func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

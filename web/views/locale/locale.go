// Package locale holds the words of the interface in every language. A new
// language is a file active.<tag>.toml with the same messages.
package locale

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

//go:embed active.*.toml
var files embed.FS

// Default is the language of a visitor who asks for none that we have.
const Default = "en"

// Catalog is the words of all languages.
type Catalog struct {
	bundle  *i18n.Bundle
	tags    []language.Tag // Default first
	matcher language.Matcher
}

// Load reads the embedded files.
func Load() (*Catalog, error) {
	names, err := fs.Glob(files, "active.*.toml")
	if err != nil {
		return nil, fmt.Errorf("load words: %w", err)
	}
	c := &Catalog{bundle: i18n.NewBundle(language.Make(Default))}
	c.bundle.RegisterUnmarshalFunc("toml", toml.Unmarshal)
	for _, name := range names {
		f, err := c.bundle.LoadMessageFileFS(files, name)
		if err != nil {
			return nil, fmt.Errorf("load words: %w", err)
		}
		c.tags = append(c.tags, f.Tag)
	}
	// The matcher falls back to its first language.
	slices.SortStableFunc(c.tags, func(a, b language.Tag) int {
		return strings.Compare(sortKey(a), sortKey(b))
	})
	if len(c.tags) == 0 || c.tags[0].String() != Default {
		return nil, errors.New("load words: no file for " + Default)
	}
	c.matcher = language.NewMatcher(c.tags)
	return c, nil
}

func sortKey(t language.Tag) string {
	if t.String() == Default {
		return ""
	}
	return t.String()
}

// Languages are the tags that stand in addresses, Default first.
func (c *Catalog) Languages() []string {
	out := make([]string, 0, len(c.tags))
	for _, t := range c.tags {
		out = append(out, t.String())
	}
	return out
}

// NameOf is the name of a language in that language: "Deutsch".
func (c *Catalog) NameOf(lang string) string {
	name := display.Self.Name(language.Make(lang))
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

// Has reports whether there are words in a language.
func (c *Catalog) Has(lang string) bool { return slices.Contains(c.Languages(), lang) }

// Match picks a language by the header Accept-Language; an unreadable header
// gets Default.
func (c *Catalog) Match(acceptLanguage string) string {
	wanted, _, err := language.ParseAcceptLanguage(acceptLanguage)
	if err != nil {
		return Default
	}
	_, i, _ := c.matcher.Match(wanted...)
	return c.tags[i].String()
}

// Words returns the words in one language, which the catalog must have.
func (c *Catalog) Words(lang string) Words {
	return Words{lang: lang, localizer: i18n.NewLocalizer(c.bundle, lang)}
}

// Words translates messages into one language. An unknown message is an error:
// a page with a hole in it is not sent.
type Words struct {
	lang      string
	localizer *i18n.Localizer
}

// Lang is the tag of the language.
func (w Words) Lang() string { return w.lang }

// Has reports whether there is a message, for ids that are made of a name from
// elsewhere.
func (w Words) Has(id string) bool {
	_, err := w.Text(id)
	return err == nil
}

// Text returns a message. Pairs of a name and a value fill its places:
// Text("exercise.title", "Name", name).
func (w Words) Text(id string, pairs ...any) (string, error) {
	data, err := dataOf(pairs)
	if err != nil {
		return "", fmt.Errorf("translate %s: %w", id, err)
	}
	return w.localize(&i18n.LocalizeConfig{MessageID: id, TemplateData: data})
}

// Count returns a message in the form that the number asks for; the message
// calls it N.
func (w Words) Count(id string, n int, pairs ...any) (string, error) {
	data, err := dataOf(pairs)
	if err != nil {
		return "", fmt.Errorf("translate %s: %w", id, err)
	}
	data["N"] = n
	return w.localize(&i18n.LocalizeConfig{MessageID: id, PluralCount: n, TemplateData: data})
}

func (w Words) localize(cfg *i18n.LocalizeConfig) (string, error) {
	s, tag, err := w.localizer.LocalizeWithTag(cfg)
	if err != nil {
		return "", fmt.Errorf("translate %s to %s: %w", cfg.MessageID, w.lang, err)
	}
	if tag.String() != w.lang { // go-i18n fell back to another language
		return "", fmt.Errorf("translate %s to %s: missing", cfg.MessageID, w.lang)
	}
	return s, nil
}

func dataOf(pairs []any) (map[string]any, error) {
	data := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok || i+1 == len(pairs) {
			return nil, errors.New("places need a name and a value each")
		}
		data[name] = pairs[i+1]
	}
	return data, nil
}

package content_test

import (
	"go/format"
	"regexp"
	"strings"
	"testing"

	"redeliver/content"
)

// goSample finds the Go samples of a text.
var goSample = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// A sample of Go is parts of a function, as gofmt writes them.
func TestGoSamples(t *testing.T) {
	t.Parallel()
	samples := 0
	eachText(t, func(where string, text content.Text) {
		for _, match := range goSample.FindAllStringSubmatch(text.Depth.Markdown, -1) {
			samples++
			formatted, err := format.Source([]byte(match[1]))
			if err != nil {
				t.Errorf("%s: %v", where, err)
			} else if string(formatted) != match[1] {
				t.Errorf("%s: gofmt would write\n%s", where, formatted)
			}
		}
	})
	if samples == 0 {
		t.Error("no samples found")
	}
}

// otherWords are spellings for which the glossary has another word.
var otherWords = map[string][]string{
	"en": {"re-delivery", "dedupe key", "idempotence key", "offset number"},
	"ru": {
		"оффсет", "офсет", "консюмер", "ребалансинг", "перебалансиров", "ключ дедупликации",
		"потребител", "номер последовательности", "топик повторов", "статическое участие", "тайм-аут", "кеш", "продуктив",
	},
	"de": {"Idempotenz-Schlüssel", "Konsument", "Verbraucher", "Neuzustellung", "Dublette", "Versatz", "Konnektor", "Gruppendaten", "im Flug", "compactet", "Ereignis"},
}

// Every text keeps to the glossary of its language.
func TestWords(t *testing.T) {
	t.Parallel()
	eachText(t, func(where string, text content.Text) {
		language := where[len(where)-2:]
		all := strings.Join([]string{text.Question, text.Tests.Markdown, text.Short.Markdown, text.Depth.Markdown}, "\n")
		for _, pitfall := range text.Pitfalls {
			all += pitfall.Claim.Markdown + "\n" + pitfall.Why.Markdown + "\n"
		}
		for _, word := range otherWords[language] {
			if strings.Contains(strings.ToLower(all), strings.ToLower(word)) {
				t.Errorf("%s: %q is not the glossary's word", where, word)
			}
		}
	})
}

// eachText visits every question in every language; where ends with the
// language.
func eachText(t *testing.T, visit func(where string, text content.Text)) {
	t.Helper()
	bank, err := content.Questions()
	if err != nil {
		t.Fatal(err)
	}
	for _, question := range bank.All() {
		for _, language := range content.Languages() {
			visit(question.Slug+" "+language, question.Text[language])
		}
	}
}

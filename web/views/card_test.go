package views

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"

	"redeliver/grader/verdict"
	"redeliver/web/views/locale"
)

func pageIn(t *testing.T, lang string) Page {
	t.Helper()
	c, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	return Page{Words: c.Words(lang)}
}

func TestCard(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "ru", "de"} {
		p := pageIn(t, lang)
		home, err := NewHome(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		card, err := NewCard(home.Page)
		if err != nil {
			t.Fatal(err)
		}
		b, err := card.PNG()
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := png.DecodeConfig(bytes.NewReader(b))
		if err != nil || cfg.Width != CardWidth || cfg.Height != CardHeight {
			t.Errorf("%s: %+v, err %v", lang, cfg, err)
		}
		if len(b) > 120<<10 {
			t.Errorf("%s: the card has %d bytes", lang, len(b))
		}
		if err := os.WriteFile(filepath.Join(t.ArtifactDir(), lang+".png"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		// Every letter has a glyph, so no card shows boxes.
		parsed, err := fonts()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range card.Title + card.Text + "→…–„“«»" {
			if i, err := parsed[0].GlyphIndex(new(sfnt.Buffer), r); i == 0 || err != nil {
				t.Errorf("%s: no glyph for %q, err %v", lang, r, err)
			}
		}
	}
}

// What decides is on the card, however long the story is.
func TestEssence(t *testing.T) {
	t.Parallel()
	var steps []verdict.Step
	for i := range 40 {
		steps = append(steps, verdict.Step{Step: i + 1, Lane: "A", Event: "sql", Text: "SELECT 1", Decisive: i == 35})
	}
	steps[20].Event = "crash"
	rows := essence(laid(t, steps, nil).Rows(), 5)
	var got []int
	for _, r := range rows {
		got = append(got, r.Step.Step)
	}
	if len(got) != 5 || got[3] != 21 || got[4] != 36 || got[0] != 1 {
		t.Errorf("the card shows %v", got)
	}
}

// A card of hostile texts is drawn like any other.
func TestCardOfLongTexts(t *testing.T) {
	t.Parallel()
	for _, long := range []string{strings.Repeat("x", 1<<16), strings.Repeat("wide ", 1<<14), "\xff\xfe", "", strings.Repeat("漢", 1000)} {
		card := cardOf(english(t), long, []verdict.Step{{Step: 1, Lane: long, Event: "sql", Text: long}})
		card.Title = long
		if _, err := card.PNG(); err != nil {
			t.Errorf("%.10q: %v", long, err)
		}
	}
}

func BenchmarkCard(b *testing.B) {
	c, err := locale.Load()
	if err != nil {
		b.Fatal(err)
	}
	card, err := NewCard(Page{Words: c.Words("en"), Title: "Process Kafka messages once, and prove it"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := card.PNG(); err != nil {
			b.Fatal(err)
		}
	}
}

package search

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func setup(t *testing.T) *Index {
	t.Helper()
	x, err := New(t.Context(), []Doc{
		{"en", Question, "acks-all", "Does `acks=all` prevent duplicates?", "It is about **replicas**. A duplicate still comes."},
		{"en", Lab, "lost-ack", "The acknowledgement that got lost", "Anna buys tickets; replicas do not matter."},
		{"ru", Question, "acks-all", "Спасает ли acks=all от дубликатов?", "Речь о репликах и об идемпотентности."},
		{"de", Exercise, "core/charge-once", "Einmal abbuchen", "Jede Abbuchung für Müller geschieht einmal."},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func TestFind(t *testing.T) {
	t.Parallel()
	x := setup(t)
	for _, tc := range []struct {
		lang, query string
		want        []string
	}{
		{"en", "duplicate", []string{"acks-all"}},
		{"en", "REPLICAS", []string{"lost-ack", "acks-all"}}, // the shorter text first
		{"en", "acknowl", []string{"lost-ack"}},
		{"en", "replicas anna", []string{"lost-ack"}},
		{"en", "acks=all", []string{"acks-all"}},
		{"en", "дубликаты", nil},
		{"ru", "дубликаты", []string{"acks-all"}},
		{"ru", "идемпотентный", []string{"acks-all"}},
		{"de", "muller", []string{"core/charge-once"}},
		{"de", "Abbuchungen", []string{"core/charge-once"}},
		{"en", "", nil},
		{"en", `"`, nil},
		{"en", `replicas" OR title:x NEAR(`, nil},
		{"en", "replicas NOT anna", []string{"lost-ack"}}, // a word like any other
	} {
		hits, err := x.Find(t.Context(), tc.lang, tc.query, 10)
		if err != nil {
			t.Errorf("%q: %v", tc.query, err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.Name)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", tc.lang, tc.query, diff)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	hits, err := setup(t).Find(t.Context(), "en", "anna", 10)
	if err != nil || len(hits) != 1 {
		t.Fatalf("%v %v", hits, err)
	}
	want := []Part{{"Anna", true}, {" buys tickets; replicas do not matter.", false}}
	if diff := cmp.Diff(want, hits[0].Parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A visitor who goes away while the index is asked takes nothing with them: the
// one connection is the database.
func TestFindAfterQueriesThatWereGivenUp(t *testing.T) {
	t.Parallel()
	x := setup(t)
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		_, _ = x.Find(ctx, "en", "replicas", 10) // an answer or none: both are right
	}
	hits, err := x.Find(t.Context(), "en", "replicas", 10)
	if err != nil || len(hits) != 2 {
		t.Errorf("%d hits, err %v", len(hits), err)
	}
}

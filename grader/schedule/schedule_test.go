package schedule_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/schedule"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		phase string
		want  []string
	}{
		{schedule.HappyPath, []string{"one", "one", "all"}},
		{schedule.Redelivery, []string{"one lose-commit@2", "one lose-commit@2 crash@3"}},
		{schedule.ProducerDuplicate, []string{"copy", "copy-idempotent"}},
		{schedule.CrashPoints, []string{"one crash@0", "one crash@1", "one crash@2", "one crash@3"}},
		{"no-such-phase", nil},
	} {
		var got []string
		for _, s := range schedule.Plan(tc.phase, "sqlite", 3) {
			got = append(got, s.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.phase, diff)
		}
	}
}

func token() schedule.Token {
	s := schedule.Plan(schedule.Redelivery, "sqlite", 3)[1]
	return schedule.Token{
		Engine: "1", Exercise: "core/charge-once", ExerciseHash: "0123456789abcdef", SourceHash: "fedcba9876543210", Seed: -7, Schedule: s,
	}
}

func TestTokenRoundTrip(t *testing.T) {
	t.Parallel()
	want := token()
	got, err := schedule.ParseToken(" " + want.String() + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every token that was cut or has one byte changed is refused.
func TestDamagedToken(t *testing.T) {
	t.Parallel()
	text := token().String()
	for i := range text {
		flipped := []byte(text)
		flipped[i] ^= 1
		for _, bad := range []string{text[:i], string(flipped)} {
			_, err := schedule.ParseToken(bad)
			if !errors.Is(err, schedule.ErrToken) && !errors.Is(err, schedule.ErrTokenVersion) {
				t.Fatalf("%q: got %v", bad, err)
			}
		}
	}
	if _, err := schedule.ParseToken("rd1." + strings.Repeat("A", 2000)); !errors.Is(err, schedule.ErrToken) {
		t.Errorf("a long token: got %v", err)
	}
	if _, err := schedule.ParseToken(strings.Replace(text, "rd1", "rd2", 1)); !errors.Is(err, schedule.ErrTokenVersion) {
		t.Errorf("another version: got %v", err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "nothing", "one crash", "one crash@x", "one crash@-1", "one crash@99999", "one fly@1",
		"one crash@2 crash@1", "one crash@1 lose-commit@1", "one" + strings.Repeat(" crash@1", 20),
	} {
		if s, err := schedule.Parse(bad); err == nil {
			t.Errorf("%q was read as %v", bad, s)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(token().String())
	f.Fuzz(func(t *testing.T, text string) {
		tok, err := schedule.ParseToken(text)
		if err != nil {
			return
		}
		again, err := schedule.ParseToken(tok.String())
		if err != nil || !cmp.Equal(tok, again) {
			t.Errorf("%q: %+v became %+v, %v", text, tok, again, err)
		}
	})
}

package schedule_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/schedule"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	facts := schedule.Facts{
		Effects:        []schedule.Effect{{}, {Durable: true}, {Durable: true}},
		AfterCrash:     []schedule.Aftermath{{State: [32]byte{1}, Effects: 3}, {State: [32]byte{1}, Effects: 4}, {State: [32]byte{2}, Effects: 4}},
		AfterRebalance: []int{5},
		OtherEffects:   9, Commit: 2,
	}
	for _, tc := range []struct {
		phase string
		want  []string
	}{
		{schedule.HappyPath, []string{"one", "one", "all"}},
		{schedule.Redelivery, []string{"one fail@2", "one fail@2 crash@3"}},
		{schedule.ProducerDuplicate, []string{"copy", "copy-idempotent"}},
		{schedule.CrashPoints, []string{"one crash@0", "one crash@1", "one crash@2", "one crash@3"}},
		{schedule.Zombie, []string{"one rebalance@0", "one rebalance@1", "one rebalance@2"}},
		{schedule.TransientErrors, []string{"one fail@0", "one fail@1", "one fail@2"}},
		{schedule.LostReplies, []string{"one lose@1", "one lose@2"}},
		{schedule.TwoRecords, []string{"two", "two switch@1", "two switch@2"}},
		{schedule.DoubleCrash, []string{"one crash@0 crash@1", "one crash@0 crash@2", "one crash@2 crash@3"}},
		{schedule.CrashAndInterleave, []string{
			"one rebalance@0 crash@1", "one rebalance@0 crash@1 switch@1", "one rebalance@0 crash@2", "one rebalance@0 crash@2 switch@2",
		}},
		{schedule.ClockJumps, []string{
			"one fail@2 jump-25h@3", "copy jump-25h@3", "one fail@2 jump-8d@3", "copy jump-8d@3", "one jump-25h@1 crash@1", "one jump-8d@1", "one jump-8d@2",
		}},
		{schedule.RewindPhase, []string{"one rewind@3", "one jump-25h@3 rewind@3", "one jump-8d@3 rewind@3", "all rewind@9"}},
		{"no-such-phase", nil},
	} {
		var got []string
		plan, complete := schedule.Plan(tc.phase, "sqlite", facts)
		for _, s := range plan {
			got = append(got, s.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || !complete {
			t.Errorf("%s, complete %v (-want +got):\n%s", tc.phase, complete, diff)
		}
	}
}

// Batches come again in other batches; a submission that keeps its own offsets is
// asked for them; where a copy is a new record, there is none.
func TestPlanForEntries(t *testing.T) {
	t.Parallel()
	batch := schedule.Facts{Batches: true, Effects: make([]schedule.Effect, 5), Commit: 4, OtherEffects: 3, OtherCommit: 2}
	offsets := schedule.Facts{OwnOffsets: true, NoCopies: true, Effects: make([]schedule.Effect, 3), Commit: -1, OtherEffects: 7, Seed: 1}
	relay := schedule.Facts{Effects: make([]schedule.Effect, 6), Commit: 2, OtherEffects: 11}
	expiring := schedule.Facts{Effects: make([]schedule.Effect, 3), Commit: 2, Expires: true}
	for _, tc := range []struct {
		name  string
		facts schedule.Facts
		phase string
		want  []string
	}{
		{"batch", batch, schedule.HappyPath, []string{"all", "all", "one"}},
		{"batch", batch, schedule.Redelivery, []string{"all fail@4", "all fail@4 crash@5", "all fail@4 split@5", "all split@0 fail@2"}},
		{"batch", batch, schedule.CrashPoints, []string{
			"all crash@0", "all crash@1", "all crash@2", "all crash@3", "all crash@4", "all crash@5",
			"all crash@0 split@0", "all crash@1 split@1", "all crash@2 split@2", "all crash@3 split@3", "all crash@4 split@4",
		}},
		{"batch", batch, schedule.TwoRecords, []string{"two", "two switch@1", "two switch@2"}},
		{"offsets", offsets, schedule.Redelivery, []string{"one reassign@3", "one crash@3"}},
		{"offsets", offsets, schedule.ClockJumps, []string{
			"one jump-25h@3 crash@3", "one jump-8d@3 crash@3", "one jump-25h@1 crash@1", "one jump-8d@1", "one jump-8d@2",
		}},
		{"keys that expire", expiring, schedule.ClockJumps, []string{
			"one fail@2 jump-expiry@3", "copy jump-expiry@3", "one fail@2 jump-25h@3", "copy jump-25h@3", "one fail@2 jump-8d@3", "copy jump-8d@3",
			"one jump-25h@1 crash@1", "one jump-expiry@1 crash@1", "one jump-expiry@1 rebalance@1", "one jump-expiry@2 rebalance@2",
			"one jump-8d@1", "one jump-8d@2",
		}},
		{"relay", relay, schedule.Redelivery, []string{"one fail@2", "one fail@2 crash@3"}},
	} {
		var got []string
		plan, _ := schedule.Plan(tc.phase, "sqlite", tc.facts)
		for _, s := range plan {
			got = append(got, s.String())
			if _, err := schedule.Parse(s.String()); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", tc.name, tc.phase, diff)
		}
	}
	plan, _ := schedule.Plan(schedule.Random, "sqlite", offsets)
	for _, s := range plan {
		if s.Set == schedule.Copies {
			t.Errorf("%s has a copy", s)
		}
	}
}

// Records of another kind have their faults too, counted from the first call
// that they cause.
func TestPlanForSeveralKindsOfRecords(t *testing.T) {
	t.Parallel()
	facts := schedule.Facts{
		Effects: []schedule.Effect{{}, {Durable: true}, {Durable: true}},
		Others:  []schedule.Effect{{Durable: true}, {}},
	}
	for phase, want := range map[string][]string{
		schedule.CrashPoints:     {"one crash@0", "one crash@1", "one crash@2", "one crash@3", "all crash@3", "all crash@4"},
		schedule.TransientErrors: {"one fail@0", "one fail@1", "one fail@2", "all fail@3", "all fail@4"},
		schedule.LostReplies:     {"one lose@1", "one lose@2", "all lose@3"},
	} {
		var got []string
		plan, complete := schedule.Plan(phase, "sqlite", facts)
		for _, s := range plan {
			got = append(got, s.String())
		}
		if diff := cmp.Diff(want, got); diff != "" || !complete {
			t.Errorf("%s, complete %v (-want +got):\n%s", phase, complete, diff)
		}
	}
}

// Every schedule of every phase can be written and read.
func TestPlansRoundTrip(t *testing.T) {
	t.Parallel()
	facts := schedule.Facts{Effects: make([]schedule.Effect, 9), Seed: 3}
	for i := range 10 {
		facts.AfterCrash = append(facts.AfterCrash, schedule.Aftermath{State: [32]byte{byte(i)}, Effects: 15})
		facts.AfterRebalance = append(facts.AfterRebalance, 18)
	}
	for _, phase := range schedule.Phases() {
		plan, complete := schedule.Plan(phase, "sqlite", facts)
		if wide := phase == schedule.DoubleCrash || phase == schedule.CrashAndInterleave || phase == schedule.Random; complete == wide {
			t.Errorf("%s: complete %v", phase, complete)
		}
		for _, s := range plan {
			got, err := schedule.Parse(s.String())
			got.Phase, got.Database = s.Phase, s.Database
			if err != nil || !cmp.Equal(s, got) {
				t.Errorf("%s: %q became %q, %v", phase, s, got, err)
			}
		}
	}
}

func token() schedule.Token {
	s, _ := schedule.Parse("one fail@2 crash@3")
	s.Phase, s.Database = schedule.Redelivery, "sqlite"
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
		"one crash@2 crash@1", "one crash@1 crash@1", "one switch@1 crash@1", "one" + strings.Repeat(" crash@1", 80),
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

// program is two lists of effects, for the search.
type program [2][]schedule.Step

// run executes a program under choose. The answers of effects do not change what
// comes next, so every order is possible.
func (p program) run(choose schedule.Choose) []schedule.Step {
	var steps []schedule.Step
	next := [2]int{}
	for {
		var enabled []int
		for lane := range p {
			if next[lane] < len(p[lane]) {
				enabled = append(enabled, lane)
			}
		}
		if enabled == nil {
			return steps
		}
		lane := choose(steps, enabled)
		s := p[lane][next[lane]]
		next[lane]++
		s.Lane, s.Enabled = lane, enabled
		steps = append(steps, s)
	}
}

// all executes every interleaving.
func (p program) all(visit func([]schedule.Step)) (runs int) {
	var choices []int
	var alternatives [][]int
	for {
		alternatives = alternatives[:len(choices)]
		steps := p.run(func(soFar []schedule.Step, enabled []int) int {
			if len(soFar) < len(choices) {
				return choices[len(soFar)]
			}
			choices = append(choices, enabled[0])
			alternatives = append(alternatives, enabled[1:])
			return enabled[0]
		})
		visit(steps)
		runs++
		k := len(choices) - 1
		for k >= 0 && len(alternatives[k]) == 0 {
			k--
		}
		if k < 0 {
			return runs
		}
		choices = append(choices[:k], alternatives[k][0])
		alternatives = append(alternatives[:k], alternatives[k][1:])
	}
}

// The search finds every class that trying all interleavings finds, and each
// once, for programs with the shapes of transactions.
func TestSearchFindsEveryClass(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	resources := []string{"lock", "db", "charges", "accounts"}
	total, tried := 0, 0
	for range 300 {
		var p program
		for lane := range p {
			for range 1 + r.IntN(5) {
				var s schedule.Step
				for _, name := range resources {
					switch r.IntN(5) {
					case 0:
						s.Reads = append(s.Reads, name)
					case 1:
						s.Writes = append(s.Writes, name)
					}
				}
				p[lane] = append(p[lane], s)
			}
		}
		want, got := map[string]bool{}, map[string]int{}
		total += p.all(func(steps []schedule.Step) { want[schedule.Class(steps)] = true })
		schedule.Search(func(choose schedule.Choose) ([]schedule.Step, bool) {
			tried++
			return p.run(choose), false
		}, func(steps []schedule.Step) { got[schedule.Class(steps)]++ })
		if !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))) {
			t.Fatalf("%v\nclasses %d, found %d", p, len(want), len(got))
		}
		for class, n := range got {
			if n > 1 {
				t.Errorf("class %s was found %d times", class, n)
			}
		}
	}
	t.Logf("%d runs instead of %d", tried, total)
	if tried*2 > total {
		t.Errorf("the search ran %d schedules where all interleavings are %d", tried, total)
	}
}

// A run can be written as switches and followed again.
func TestSwitches(t *testing.T) {
	t.Parallel()
	step := func(lane int, enabled ...int) schedule.Step { return schedule.Step{Lane: lane, Enabled: enabled} }
	got := schedule.Switches([]schedule.Step{step(0, 0, 1), step(0, 0, 1), step(1, 0, 1), step(0, 0, 1), step(1, 1)}, 1)
	want := []schedule.Deviation{{At: 0, Do: schedule.Switch}, {At: 2, Do: schedule.Switch}, {At: 3, Do: schedule.Switch}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := fmt.Sprint(got); !strings.Contains(text, "switch") {
		t.Error(text)
	}
}

package members_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/cluster/bubble"
	"redeliver/grader/cluster/members"
)

var update = flag.Bool("update", false, "write the stories in testdata anew")

const effects = 3

func records(n int) (rs members.Records) {
	for i := range n {
		rs = append(rs, &kgo.Record{Topic: "payments", Key: []byte("k"), Value: fmt.Append(nil, "v", i)})
	}
	return rs
}

// process has three effects.
func process(_ context.Context, d *members.Delivery) error {
	for range effects {
		if err := d.Effect(); err != nil {
			return err
		}
	}
	return nil
}

func play(t testing.TB, sc members.Scenario, opts members.Options, handle members.Handle) members.Story {
	t.Helper()
	story, err := members.Run(t.Context(), sc, records(3), opts, handle)
	if err != nil {
		t.Fatal(err)
	}
	return story
}

func scenario(t testing.TB, name string) members.Scenario {
	t.Helper()
	for _, sc := range members.Scenarios() {
		if sc.Name == name {
			return sc
		}
	}
	t.Fatalf("no scenario %s", name)
	return members.Scenario{}
}

// golden compares a story with a file. In real time the stories have no times,
// and nothing else may differ.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if bubble.Real {
			t.Fatal("write the stories in virtual time: -tags synctests")
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(raw)
	if bubble.Real {
		want = withoutTimes(want)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}

func withoutTimes(story string) string {
	var b strings.Builder
	for line := range strings.Lines(story) {
		if at, rest, ok := strings.Cut(line, "s  "); ok && strings.TrimLeft(at, " 0123456789.") == "" {
			line = rest
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestStories(t *testing.T) {
	t.Parallel()
	for _, sc := range members.Scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			golden(t, sc.Name, play(t, sc, members.Options{At: 2}, process).String())
		})
	}
}

// The same each time. In real time a scenario takes up to a second, so fewer.
func TestSameStoryEachTime(t *testing.T) {
	t.Parallel()
	for _, h := range []struct {
		name   string
		runs   int
		handle members.Handle
	}{
		{"Succeeds", 100, process},
		{"SleepsAMinute", 10, func(ctx context.Context, d *members.Delivery) error {
			err := process(ctx, d)
			if !bubble.Real {
				time.Sleep(time.Minute)
			}
			return err
		}},
		{"BRefusesOnce", 20, func(ctx context.Context, d *members.Delivery) error {
			if d.Instance == "B" && d.Attempt == 2 {
				return errors.New("database is locked")
			}
			return process(ctx, d)
		}},
		{"LastCrashesOnce", 20, func(ctx context.Context, d *members.Delivery) error {
			if d.Record.Offset == 2 && d.Attempt == 1 {
				return members.ErrCrashed
			}
			return process(ctx, d)
		}},
	} {
		for _, sc := range members.Scenarios() {
			t.Run(h.name+"/"+sc.Name, func(t *testing.T) {
				t.Parallel()
				want := play(t, sc, members.Options{At: 2}, h.handle)
				runs := h.runs
				if bubble.Real {
					runs = 1 // each takes up to a few seconds
				}
				for range runs {
					if diff := cmp.Diff(want, play(t, sc, members.Options{At: 2}, h.handle)); diff != "" {
						t.Fatalf("another story (-first +later):\n%s", diff)
					}
				}
			})
		}
	}
}

// A stops before each effect that it is told to, and before its commit when
// there is no such effect.
func TestPlaceOfThePause(t *testing.T) {
	t.Parallel()
	for at, want := range []string{"before its offset commit", "before effect 1", "before effect 2", "before effect 3", "before its offset commit"} {
		t.Run(fmt.Sprint("At", at), func(t *testing.T) {
			t.Parallel()
			story := play(t, scenario(t, "evicted-while-processing"), members.Options{At: at}, process)
			if !strings.Contains(story.String(), "A pauses "+want+"\n") {
				t.Errorf("A should pause %s:\n%s", want, story)
			}
		})
	}
}

// Between two effects of A, B has all of its.
func TestEffectsInterleave(t *testing.T) {
	t.Parallel()
	var got []string
	play(t, scenario(t, "session-timeout"), members.Options{At: 2}, func(_ context.Context, d *members.Delivery) error {
		for i := range 2 {
			if err := d.Effect(); err != nil {
				return err
			}
			got = append(got, fmt.Sprintf("%s%d.%d", d.Instance, d.Record.Offset, i+1))
		}
		return nil
	})
	want := []string{"A0.1", "B0.1", "B0.2", "A0.2", "B1.1", "B1.2", "B2.1", "B2.2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
}

// What a handler sees is the caller's record, at the broker's offset.
func TestRecordIsTheCallers(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_767_225_600_000)
	in := members.Records{{
		Topic: "payments", Partition: 2, Key: []byte("k"), Value: []byte("v"), Timestamp: at,
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte("e")}},
	}}
	_, err := members.Run(t.Context(), scenario(t, "crash-of-a-member"), in, members.Options{}, func(_ context.Context, d *members.Delivery) error {
		r := d.Record
		got := fmt.Sprintf("%s/%d@%d %s=%s %s=%s %v", r.Topic, r.Partition, r.Offset, r.Key, r.Value, r.Headers[0].Key, r.Headers[0].Value, r.Timestamp.Equal(at))
		if want := "payments/2@0 k=v event-id=e true"; got != want {
			t.Errorf("%s; want %s", got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if in[0].Offset != 0 || in[0].Topic != "payments" {
		t.Errorf("the caller's record has changed: %+v", in[0])
	}
}

// A handler that refuses is given the record again by another life.
func TestRefusals(t *testing.T) {
	t.Parallel()
	errBusy := errors.New("database is locked")
	for _, tc := range []struct {
		name, scenario string
		refuses        func(d *members.Delivery) bool
	}{
		{"FirstDeliveryBeforeThePause", "evicted-while-processing", func(d *members.Delivery) bool { return d.Attempt == 1 }},
		{"BWhileAIsPaused", "evicted-while-processing", func(d *members.Delivery) bool { return d.Instance == "B" && d.Attempt == 2 }},
		{"BWhileAIsFrozen", "session-timeout", func(d *members.Delivery) bool { return d.Instance == "B" && d.Attempt == 2 }},
		{"BAfterAnEagerRebalance", "eager-rebalance", func(d *members.Delivery) bool { return d.Instance == "B" && d.Attempt == 2 }},
		{"Stuck", "crash-of-a-member", func(d *members.Delivery) bool { return d.Record.Offset == 1 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			story := play(t, scenario(t, tc.scenario), members.Options{At: 2, MaxDeliveries: 3}, func(ctx context.Context, d *members.Delivery) error {
				if tc.refuses(d) {
					return errBusy
				}
				return process(ctx, d)
			})
			golden(t, "refused-"+tc.name, story.String())
			if want := tc.name == "Stuck"; story.Stuck != want {
				t.Errorf("stuck: %v", story.Stuck)
			}
			if want := tc.name != "FirstDeliveryBeforeThePause"; story.Injected != want {
				t.Errorf("injected: %v", story.Injected)
			}
		})
	}
}

// A refuses after it was paused: there is no late commit.
func TestAfterThePauseAHandlerMayRefuse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"evicted-while-processing", "session-timeout", "fenced-commit", "eager-rebalance", "cooperative-rebalance", "lost-commit-answer"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := play(t, scenario(t, name), members.Options{At: 2}, func(ctx context.Context, d *members.Delivery) error {
				if err := process(ctx, d); err != nil {
					return err
				}
				if d.Instance == "A" && d.Attempt == 1 {
					return errors.New("constraint failed")
				}
				return nil
			})
			if name == "fenced-commit" || name == "lost-commit-answer" { // they stop A after its handler
				if story.Injected {
					t.Error("A was stopped before its commit, which it never came to")
				}
				return
			}
			if s := story.String(); !story.Injected || !strings.Contains(s, "A refuses offset 0, attempt 1: constraint failed") {
				t.Errorf("story:\n%s", s)
			}
		})
	}
}

// A process that dies by itself comes back after its session has ended.
func TestHandlerCrashes(t *testing.T) {
	t.Parallel()
	story := play(t, scenario(t, "eager-rebalance"), members.Options{At: 2}, func(ctx context.Context, d *members.Delivery) error {
		if d.Record.Offset == 2 && d.Attempt == 1 {
			return fmt.Errorf("guest: %w", members.ErrCrashed)
		}
		return process(ctx, d)
	})
	golden(t, "handler-crashes", story.String())
}

// B waits for a lock that A holds: A runs to its end first.
func TestBlocked(t *testing.T) {
	t.Parallel()
	var got []string
	story := play(t, scenario(t, "evicted-while-processing"), members.Options{At: 2}, func(ctx context.Context, d *members.Delivery) error {
		if d.Instance == "B" {
			if err := d.Blocked(); d.Record.Offset == 0 && err != nil || d.Record.Offset > 0 && !errors.Is(err, members.ErrNobody) {
				t.Errorf("offset %d: %v", d.Record.Offset, err)
			}
		}
		err := process(ctx, d)
		got = append(got, fmt.Sprint(d.Instance, d.Record.Offset))
		return err
	})
	if diff := cmp.Diff([]string{"A0", "B0", "B1", "B2"}, got); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	golden(t, "blocked", story.String())
}

// A handler may sleep: it is the virtual clock that passes.
func TestHandlerSleeps(t *testing.T) {
	t.Parallel()
	d := 30 * time.Second
	if bubble.Real {
		d = 30 * time.Millisecond
	}
	for _, sc := range members.Scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			story := play(t, sc, members.Options{At: 2}, func(ctx context.Context, dl *members.Delivery) error {
				err := process(ctx, dl)
				time.Sleep(d) // a guest's sleep
				return err
			})
			if len(story.Deliveries) != 3 || story.Stuck || !story.Injected {
				t.Errorf("story:\n%s", story)
			}
			if last := story.Events[len(story.Events)-1]; !bubble.Real && last.At < 3*d {
				t.Errorf("the last event is at %v", last.At)
			}
		})
	}
}

// Errors of ours are no story.
func TestErrors(t *testing.T) {
	t.Parallel()
	errOver := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	ctx2, cancel2 := context.WithCancelCause(t.Context())
	for _, tc := range []struct {
		name   string
		ctx    context.Context
		opts   members.Options
		handle members.Handle
		want   string
	}{
		{"Panic", t.Context(), members.Options{}, func(context.Context, *members.Delivery) error { panic("ouch") }, "ouch"},
		{"PanicAfterThePause", t.Context(), members.Options{At: 1}, func(_ context.Context, d *members.Delivery) error {
			if err := d.Effect(); err != nil {
				return err
			}
			panic("ouch")
		}, "ouch"},
		{"Cancelled", ctx, members.Options{}, func(ctx context.Context, _ *members.Delivery) error {
			cancel(errOver)
			<-ctx.Done()
			return ctx.Err()
		}, "over"},
		{"CancelledInEffect", ctx2, members.Options{At: 1}, func(_ context.Context, d *members.Delivery) error {
			cancel2(errOver)
			return d.Effect()
		}, "over"},
		{"Limit", t.Context(), members.Options{Limit: 50 * time.Millisecond}, func(ctx context.Context, _ *members.Delivery) error {
			<-ctx.Done()
			return ctx.Err()
		}, "longer than 50ms"},
		{"WentOnAfterACrash", t.Context(), members.Options{At: 1}, func(_ context.Context, d *members.Delivery) error {
			_ = d.Effect()
			return nil
		}, "went on after a crash"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			story, err := members.Run(tc.ctx, scenario(t, "crash-of-a-member"), records(2), tc.opts, tc.handle)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v; want something with %q", err, tc.want)
			}
			if story.Events != nil {
				t.Errorf("an error and a story:\n%s", story)
			}
		})
	}
	if _, err := members.Run(t.Context(), scenario(t, "crash-of-a-member"), nil, members.Options{}, process); err == nil {
		t.Error("no records were accepted")
	}
}

// Two hundred scenarios leave no goroutine; a bubble finds most of them by itself.
func TestNothingIsLeft(t *testing.T) { //nolint:paralleltest // it counts goroutines
	runs := 200
	if bubble.Real {
		runs = 7
	}
	before := runtime.NumGoroutine()
	for i := range runs {
		sc := members.Scenarios()[i%len(members.Scenarios())]
		if _, err := members.Run(context.Background(), sc, records(2), members.Options{At: 1}, process); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.After(5 * time.Second)
	for runtime.NumGoroutine() > before {
		select {
		case <-deadline:
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		default:
			runtime.Gosched()
		}
	}
}

func BenchmarkScenario(b *testing.B) {
	for _, sc := range members.Scenarios() {
		b.Run(sc.Name, func(b *testing.B) {
			for b.Loop() {
				play(b, sc, members.Options{At: 2}, process)
			}
		})
	}
}

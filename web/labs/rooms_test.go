package labs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"redeliver/grader/labs"
	"redeliver/grader/labs/scene"
)

// fakeLab counts actions. It imitates neither a cluster nor the time it takes.
type fakeLab struct {
	done   int64
	fail   error
	closed bool
}

func (l *fakeLab) Do(_ context.Context, action string, _ map[string]string) error {
	if action == "unknown" {
		return labs.ErrUnknown
	}
	l.done++
	return l.fail
}

func (l *fakeLab) Scene(context.Context) (scene.Scene, error) {
	return scene.Scene{Facts: []scene.Fact{{Name: "done", Value: l.done}}}, nil
}

func (l *fakeLab) Close() { l.closed = true }

type testBundle struct {
	rooms *Rooms
	made  []*fakeLab
}

func setup(t *testing.T, cfg Config) *testBundle {
	t.Helper()
	b := &testBundle{}
	cfg.start = func(context.Context, string) (labs.Lab, error) {
		l := &fakeLab{}
		b.made = append(b.made, l)
		return l, nil
	}
	b.rooms = New(cfg)
	t.Cleanup(b.rooms.Close)
	return b
}

func (b *testBundle) click(t *testing.T, visitor, slug string) {
	t.Helper()
	if err := b.rooms.Do(t.Context(), Visitor{ID: visitor}, slug, "click", nil); err != nil {
		t.Fatal(err)
	}
}

// done is what the visitor's lab shows, or -1.
func (b *testBundle) done(visitor, slug string) int64 {
	state, _ := b.rooms.Look(visitor, slug)
	if state == nil {
		return -1
	}
	return state.Scene.Facts[0].Value
}

func TestVisitorsHaveLabsOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{})
	if b.done("anna", "one") != -1 {
		t.Error("there is a lab before the first action")
	}
	b.click(t, "anna", "one")
	b.click(t, "anna", "one")
	b.click(t, "ben", "one")
	if b.done("anna", "one") != 2 || b.done("ben", "one") != 1 || len(b.made) != 2 {
		t.Errorf("%d and %d in %d labs", b.done("anna", "one"), b.done("ben", "one"), len(b.made))
	}
}

func TestAnIdleLabGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Config{})
		b.click(t, "anna", "one")
		time.Sleep(9 * time.Minute)
		b.click(t, "anna", "one")
		_, changed := b.rooms.Look("anna", "one")
		time.Sleep(9 * time.Minute)
		if b.done("anna", "one") != 2 {
			t.Error("a lab that was used is gone")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if b.done("anna", "one") != -1 || !b.made[0].closed {
			t.Error("an idle lab stands")
		}
		<-changed
		b.click(t, "anna", "one")
		if b.done("anna", "one") != 1 {
			t.Error("the new lab is the old one")
		}
	})
}

func TestTheOldestMakesRoomForTheVisitorsNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Config{})
		for _, next := range []struct{ slug, closes string }{{"one", ""}, {"two", ""}, {"one", ""}, {"three", "two"}} {
			if got := b.rooms.Closes("anna", next.slug); got != next.closes {
				t.Errorf("%s is said to close %q, want %q", next.slug, got, next.closes)
			}
			b.click(t, "anna", next.slug)
			time.Sleep(time.Second)
		}
		if b.done("anna", "one") != 2 || b.done("anna", "two") != -1 || b.done("anna", "three") != 1 || !b.made[1].closed {
			t.Errorf("%d %d %d", b.done("anna", "one"), b.done("anna", "two"), b.done("anna", "three"))
		}
	})
}

func TestFull(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{Max: 1})
	b.click(t, "anna", "one")
	if err := b.rooms.Do(t.Context(), Visitor{ID: "ben"}, "one", "click", nil); !errors.Is(err, ErrFull) {
		t.Errorf("%v", err)
	}
	b.click(t, "anna", "one")
}

func TestCrowded(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{MaxPerNetwork: 1})
	for visitor, want := range map[Visitor]error{{ID: "anna", Network: "a"}: nil, {ID: "ben", Network: "b"}: nil} {
		if err := b.rooms.Do(t.Context(), visitor, "one", "click", nil); !errors.Is(err, want) {
			t.Errorf("%v: %v", visitor, err)
		}
	}
	if err := b.rooms.Do(t.Context(), Visitor{ID: "cleo", Network: "a"}, "one", "click", nil); !errors.Is(err, ErrCrowded) {
		t.Errorf("%v", err)
	}
}

// An action from a page whose lab has gone since starts the next one, and shows it.
func TestAnActionOfAnEarlierLab(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{})
	if err := b.rooms.Do(t.Context(), Visitor{ID: "anna"}, "one", "unknown", nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
	if b.done("anna", "one") != 0 {
		t.Error("nothing is shown")
	}
}

func TestALabThatFailedIsGone(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{})
	b.click(t, "anna", "one")
	b.made[0].fail = errors.New("broken")
	if err := b.rooms.Do(t.Context(), Visitor{ID: "anna"}, "one", "click", nil); err == nil || errors.Is(err, ErrNotNow) {
		t.Errorf("%v", err)
	}
	if b.done("anna", "one") != -1 || !b.made[0].closed {
		t.Error("the lab stands")
	}
}

func TestAWrongActionChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{})
	b.click(t, "anna", "one")
	if err := b.rooms.Do(t.Context(), Visitor{ID: "anna"}, "one", "unknown", nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
	if b.done("anna", "one") != 1 {
		t.Error("the lab is gone")
	}
}

func TestAWatcherIsTold(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{})
	b.click(t, "anna", "one")
	state, changed := b.rooms.Look("anna", "one")
	b.click(t, "anna", "one")
	<-changed
	if next, _ := b.rooms.Look("anna", "one"); next.Version != state.Version+1 {
		t.Errorf("version %d after %d", next.Version, state.Version)
	}
}

func TestCloseEndsEveryLab(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{})
	b.click(t, "anna", "one")
	b.rooms.Close()
	if !b.made[0].closed {
		t.Error("the lab stands")
	}
	if err := b.rooms.Do(t.Context(), Visitor{ID: "anna"}, "one", "click", nil); !errors.Is(err, ErrFull) {
		t.Errorf("%v", err)
	}
}

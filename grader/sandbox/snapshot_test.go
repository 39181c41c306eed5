package sandbox_test

import (
	"context"
	"testing"

	"redeliver/grader/sandbox"
)

// The instance of one snapshot serves for the next, and shows nothing of the first.
func TestSnapshotsAreIndependent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p, err := sandbox.Load(ctx, guestModule(t), patient)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	a, b := sandbox.Identity{Name: "A", Seed: 1}, sandbox.Identity{Name: "B", Seed: 1}
	first := snapshot(t, p, a)
	other := snapshot(t, p, b)
	if again := snapshot(t, p, a); !first.Same(again) {
		t.Error("the snapshot of A depends on what was taken before")
	}
	if first.Same(other) {
		t.Error("A and B are alike")
	}
}

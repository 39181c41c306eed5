package members

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// step is one line of a script. It ends when what it causes has happened.
type step func(*run) error

func evictA(r *run) error {
	id, _ := r.a.client.GroupMetadata()
	if err := r.kafka.evict(r.ctx, id); err != nil {
		return err
	}
	r.a.inGroup, r.a.owns = false, false
	r.tell(Event{Kind: Evicted, Instance: r.a.name})
	return nil
}

func freezeA(r *run) error {
	r.a.gate.Freeze()
	r.a.ghost, r.a.inGroup, r.a.owns = true, false, false
	r.tell(Event{Kind: Frozen, Instance: r.a.name})
	return nil
}

func thawA(r *run) error {
	r.a.gate.Thaw()
	return nil
}

func startB(r *run) (err error) {
	r.b, err = r.join("B")
	return err
}

// assignB waits until B has the partition; with A's process dead or frozen that is
// when A's session has ended.
func assignB(r *run) error { return r.assigned(r.b) }

func revokeA(r *run) error { return r.revoked(r.a) }

func settle(r *run) error { return r.kafka.settled(r.ctx, r.inGroup()) }

// oneByB delivers one record to B and commits it.
func oneByB(r *run) error { return r.deliver(r.b) }

// allByB delivers to B what there is, until its handler refuses.
func allByB(r *run) error {
	for r.b.inGroup && r.b.position < r.kafka.end {
		if err := r.deliver(r.b); err != nil {
			return err
		}
	}
	return nil
}

// finishA lets A's handler end and commits what it did, late.
func finishA(r *run) error {
	d := r.paused
	r.wake(d)
	if err := r.ended(d); err != nil {
		return err
	}
	if d.err != nil {
		return r.refuse(d)
	}
	refused, err := r.commit(d)
	if err != nil {
		return err
	}
	want := r.scenario.refused
	if want != nil && errors.Is(refused, kerr.IllegalGeneration) && r.inGroup() == 0 {
		want = refused // kfake's answer in a group without members, after B has left
	}
	if refused != want {
		return fmt.Errorf("the late commit of A: the broker answered %v instead of %v", refused, want) //nolint:errorlint // nil is possible on both sides
	}
	return nil
}

// rejoinA starts A's next life. The old client could join again by itself, but
// on two ways that differ in the number of rebalances: which one it takes depends
// on whether its commit or its heartbeat is answered first.
func rejoinA(r *run) (err error) {
	if r.a.closed {
		return nil // its handler refused
	}
	if err := r.leave(r.a); err != nil {
		return err
	}
	if r.a, err = r.join("A"); err != nil {
		return err
	}
	return r.rebalanced()
}

func leaveA(r *run) error {
	if r.a.closed {
		return nil
	}
	return r.leave(r.a)
}

// crashA ends A's process where it stands.
func crashA(r *run) error {
	r.paused.pause.release(ErrCrashed, nil)
	if err := r.ended(r.paused); err != nil {
		return err
	}
	if !errors.Is(r.paused.err, ErrCrashed) {
		return fmt.Errorf("the handler of A went on after a crash and returned %w", r.paused.err)
	}
	return r.crash(r.a)
}

// loseCommitOfA stores A's commit and ends A before the answer comes.
func loseCommitOfA(r *run) error {
	d := r.paused
	dropped := make(chan struct{})
	r.a.gate.LoseAnswer(kmsg.OffsetCommit, func() {
		r.a.gate.Cut() // or the client would ask again
		close(dropped)
	})
	r.wake(d)
	if err := r.ended(d); err != nil {
		return err
	}
	if d.err != nil {
		return r.refuse(d)
	}
	return r.commitUnheard(d, dropped)
}

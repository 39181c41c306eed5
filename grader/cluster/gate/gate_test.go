package gate_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"redeliver/grader/cluster/gate"
)

// testBundle is a client's connection through a gate, and the broker's end of it.
type testBundle struct {
	gate           *gate.Gate
	client, broker net.Conn
}

func setup(t *testing.T, changes ...func(*gate.Gate)) testBundle {
	t.Helper()
	dialed, broker := net.Pipe()
	g := gate.New(func(context.Context, string, string) (net.Conn, error) { return dialed, nil })
	for _, change := range changes {
		change(g)
	}
	client, err := g.DialContext(t.Context(), "tcp", "broker")
	if err != nil {
		t.Fatal(err)
	}
	return testBundle{g, client, broker}
}

// request is one of a kind, without a body.
func request(key kmsg.Key) []byte {
	b := []byte{0, 0, 0, 2}
	return binary.BigEndian.AppendUint16(b, uint16(key))
}

// serve answers n requests with a byte each, and reports how it ended.
func (b testBundle) serve(n int) <-chan error {
	ended := make(chan error, 1)
	go func() {
		buf := make([]byte, 6)
		for range n {
			if _, err := io.ReadFull(b.broker, buf); err != nil {
				ended <- err
				return
			}
			if _, err := b.broker.Write([]byte{1}); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	return ended
}

func (b testBundle) ask(key kmsg.Key) error {
	if _, err := b.client.Write(request(key)); err != nil {
		return err
	}
	_, err := b.client.Read(make([]byte, 16))
	return err
}

// The broker must not hear of a process that dies, but the process's client must not
// wait for ever.
func TestCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		served := b.serve(2)
		asked := make(chan error, 1)
		if err := b.ask(kmsg.JoinGroup); err != nil {
			t.Fatal(err)
		}
		go func() { _, err := b.client.Read(make([]byte, 16)); asked <- err }()
		synctest.Wait()
		b.gate.Cut()
		if err := <-asked; err == nil {
			t.Error("a read of a dead process succeeded")
		}
		if err := errors.Join(b.client.SetDeadline(time.Time{}), b.client.Close()); err != nil {
			t.Error(err)
		}
		if err := b.ask(kmsg.JoinGroup); err == nil {
			t.Error("a dead process has sent a request")
		}
		if _, err := b.gate.DialContext(t.Context(), "tcp", "broker"); err == nil {
			t.Error("a dead process has opened a connection")
		}
		synctest.Wait()
		select {
		case err := <-served:
			t.Errorf("the broker has heard of it: %v", err)
		default:
		}
		_ = b.broker.Close()
		<-served
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		served := b.serve(1)
		synctest.Wait()
		b.gate.Close()
		if err := <-served; !errors.Is(err, io.EOF) {
			t.Errorf("the broker has not heard of it: %v", err)
		}
	})
}

// Only the next answer of the kind is lost, after the broker has done its work.
func TestLoseAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		served, lost := b.serve(2), 0
		b.gate.LoseAnswer(kmsg.OffsetCommit, func() { lost++ })
		if err := b.ask(kmsg.Heartbeat); err != nil || lost != 0 {
			t.Errorf("another answer: %v, %d lost", err, lost)
		}
		if err := b.ask(kmsg.OffsetCommit); !errors.Is(err, io.EOF) || lost != 1 {
			t.Errorf("the answer: %v, %d lost", err, lost)
		}
		if err := <-served; err != nil {
			t.Errorf("the broker: %v", err)
		}
	})
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		served := b.serve(1)
		b.gate.Freeze()
		asked := make(chan error, 1)
		go func() { asked <- b.ask(kmsg.Heartbeat) }()
		time.Sleep(time.Hour)
		select {
		case err := <-asked:
			t.Errorf("a frozen process has asked: %v", err)
		default:
		}
		b.gate.Thaw()
		if err := errors.Join(<-asked, <-served); err != nil {
			t.Error(err)
		}
	})
}

// Messages take their time, and meanwhile the gate says so.
func TestDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(g *gate.Gate) {
			g.Delay(func(key kmsg.Key) time.Duration { return time.Duration(key) * time.Millisecond })
		})
		g := b.gate
		served := b.serve(1)
		began := time.Now()
		asked := make(chan error, 1)
		go func() { asked <- b.ask(kmsg.Heartbeat) }()
		synctest.Wait()
		if !g.Moving() || !g.Awaits(kmsg.Heartbeat) || g.Awaits(kmsg.JoinGroup) {
			t.Error("nothing is on its way")
		}
		if err := errors.Join(<-asked, <-served); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 2*time.Duration(kmsg.Heartbeat)*time.Millisecond {
			t.Errorf("a request and its answer took %v", took)
		}
		if g.Moving() || g.Awaits(kmsg.Heartbeat) {
			t.Error("something is still on its way")
		}
	})
}

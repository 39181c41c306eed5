package sandbox_test

import (
	"context"
	"testing"

	"redeliver/grader/sandbox"
)

func BenchmarkLoad(b *testing.B) {
	wasm, ctx := guestModule(b), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		p, err := sandbox.Load(ctx, wasm, patient)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Close(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	p := sharedProgram(b)
	b.ReportAllocs()
	for b.Loop() {
		snapshot(b, p, sandbox.Identity{Name: "A", Seed: 1})
	}
}

func BenchmarkRestore(b *testing.B) {
	q := newProcess(b, sharedProgram(b))
	for b.Loop() {
		b.StopTimer()
		q.do(b, "notes") // something to put back
		b.StartTimer()
		q.restore(b)
	}
}

// BenchmarkRestoreAndHandle is a fresh process that makes four host calls.
func BenchmarkRestoreAndHandle(b *testing.B) {
	q := newProcess(b, sharedProgram(b))
	b.ReportAllocs()
	for b.Loop() {
		q.fresh(b, "notes")
	}
}

// BenchmarkReplace is BenchmarkRestore of an instance that has grown.
func BenchmarkReplace(b *testing.B) {
	q := newProcess(b, sharedProgram(b))
	for b.Loop() {
		b.StopTimer()
		q.do(b, "grow-a-little")
		b.StartTimer()
		q.restore(b)
	}
}

package sandbox_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"redeliver/grader/sandbox"
	"redeliver/grader/verdict"
)

// TestStopOfTheSubmission compares reason, sentence and place of everything
// that a handler can do to itself. AT stands for the place of the code.
func TestStopOfTheSubmission(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		task   string
		reason sandbox.Reason
		text   string
		code   string
	}{
		{"return", sandbox.Returned, "", ""},
		{"recovered", sandbox.Returned, "", ""},
		{"busy-wait", sandbox.Returned, "", ""},
		{"depth-1000", sandbox.Returned, "", ""},

		{"panic", sandbox.Panic, "panic: payment already processed (AT)", `panic("payment already processed")`},
		{"panic-error", sandbox.Panic, "panic: charge: no account (AT)", `panic(fmt.Errorf(`},
		{"panic-custom", sandbox.Panic, "panic: a value of type handler.custom (AT)", `panic(custom{`},
		{"panic-named", sandbox.Panic, `panic: handler.named("odd") (AT)`, `panic(named(`},
		{"panic-lines", sandbox.Panic, "panic: first (AT)", `panic("first\nsecond")`},
		{"panic-nested", sandbox.Panic, "panic: second (AT)", `panic("second")`},
		{"panic-re", sandbox.Panic, "panic: again [recovered, repanicked] (AT)", `panic(recover())`},
		{"panic-nil-map", sandbox.Panic, "panic: assignment to entry in nil map (AT)", `m["a"] = 1`},
		{"panic-nil", sandbox.Panic, "panic: runtime error: invalid memory address or nil pointer dereference (AT)", `note(p.id)`},
		{"panic-index", sandbox.Panic, "panic: runtime error: index out of range [5] with length 1 (AT)", `note(s[counter+5])`},
		{"panic-library", sandbox.Panic, "panic: runtime error: invalid memory address or nil pointer dereference (AT)", `slices.SortFunc(`},
		{"panic-goroutine", sandbox.Panic, "panic: in the background (AT)", `panic("in the background")`},
		{"panic-go-library", sandbox.Panic, "panic: strings: negative Repeat count (AT)", `go strings.Repeat(`},
		{"panic-flood", sandbox.Panic, "panic: after much output (AT)", `panic("after much output")`},
		{"panic-long", sandbox.Panic, "panic: " + strings.Repeat("é", 146) + "… (AT)", `panic(strings.Repeat(`},

		{"exit-0", sandbox.Exit, "The handler ended the process with os.Exit(0).", ""},
		{"exit-3", sandbox.Exit, "The handler ended the process with os.Exit(3).", ""},
		{"fake-report", sandbox.Exit, "The handler ended the process with os.Exit(1).", ""},

		{"memory", sandbox.Memory, "The handler needed more than 64 MiB of memory (AT).", `make([]byte, 1<<20)`},
		{"recursion", sandbox.Recursion, "The handler nested its calls too deeply: the call stack is full (function deep).", ""},
		{"recursion-method", sandbox.Recursion, "The handler nested its calls too deeply: the call stack is full (function (*custom).deep).", ""},
		{"recursion-wide", sandbox.Recursion, "The handler nested its calls too deeply: the call stack is full (AT).", `func wide(n int)`},
		{"deadlock", sandbox.Deadlock, "The handler waits for ever: all goroutines are asleep (AT).", `<-make(chan struct{})`},
		{"deadlock-many", sandbox.Deadlock, "The handler waits for ever: all goroutines are asleep (AT).", "\t<-never\n"},
		{"calls", sandbox.HostCalls, "The handler made more than 1000 calls to the database and to Kafka in one delivery.", ""},

		{"flood-stdout", sandbox.Output, "The handler wrote more than 64 KiB to standard output.", ""},
		{"flood-stderr", sandbox.Output, "The handler wrote more than 64 KiB to standard error.", ""},
		{"flood-once", sandbox.Output, "The handler wrote more than 64 KiB to standard output.", ""},
		{"flood-fake", sandbox.Output, "The handler wrote more than 64 KiB to standard error.", ""},

		{"wild-in", sandbox.Protocol, "The handler passed a request outside its memory.", ""},
		{"wild-out", sandbox.Protocol, "The handler passed a buffer outside its memory.", ""},
		{"huge", sandbox.Protocol, "The handler sent a request of 2 MiB; 1 MiB are allowed.", ""},
		{"endless", sandbox.Protocol, "The handler sent a request of 4294967295 bytes; 1 MiB are allowed.", ""},
		{"more-of-nothing", sandbox.Protocol, "The handler asked for the rest of a reply that does not exist.", ""},
	} {
		t.Run(tt.task, func(t *testing.T) {
			t.Parallel()
			q := newProcess(t, sharedProgram(t))
			stop, _ := q.do(t, tt.task)
			text, file, line := tt.text, "", 0
			if tt.code != "" {
				var at string
				at, line = place(t, tt.code)
				file, text = "handler.go", strings.Replace(text, "AT", at, 1)
			}
			if stop.Reason != tt.reason || stop.Text != text {
				t.Errorf("stop is %s %q,\nwant %s %q\n%s", stop.Reason, stop.Text, tt.reason, text, stop.Detail)
			}
			if stop.File != file || stop.Line != line {
				t.Errorf("place is %s:%d, want %s:%d", stop.File, stop.Line, file, line)
			}
			if notes := q.fresh(t, "return"); len(notes) != 1 || notes[0] != "hello" {
				t.Errorf("after a restore the process noted %q", notes)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	o := sandbox.Options{CallTime: 100 * time.Millisecond, InitTime: time.Minute}
	p := load(t, guestModule(t), o)
	for _, task := range []string{"loop", "gosched", "goroutines"} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			q := newProcess(t, p)
			stop, _ := q.do(t, task)
			want := "The handler did not return within 0.1 s of computing time."
			if stop.Reason != sandbox.Deadline || stop.Text != want {
				t.Errorf("stop is %+v, want %q", stop, want)
			}
			q.restore(t)
			if stop, _ := q.do(t, "loop"); stop.Reason != sandbox.Deadline {
				t.Errorf("after a restore the stop is %+v", stop)
			}
		})
	}
	t.Run("leak-loop", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, p)
		if stop, _ := q.do(t, "leak-loop"); stop.Ended() {
			t.Fatalf("stop is %+v", stop)
		}
		stop := q.Drain(context.Background(), &host{})
		want := "A goroutine that the handler left running computed for more than 0.1 s."
		if stop.Reason != sandbox.Deadline || stop.Text != want {
			t.Errorf("stop is %+v, want %q", stop, want)
		}
	})
}

func TestDrain(t *testing.T) {
	t.Parallel()
	t.Run("ShowsWorkAfterTheReturn", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		stop, notes := q.do(t, "leak")
		if stop.Ended() || len(notes) > 0 {
			t.Fatalf("handle: %+v, notes %q", stop, notes)
		}
		h := &host{}
		stop = q.Drain(context.Background(), h)
		if got := strings.Join(h.notes, ", "); stop.Ended() || got != "after return 1, after return 2" {
			t.Errorf("drain: %+v, notes %q", stop, got)
		}
	})
	t.Run("ReportsALatePanic", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		q.do(t, "leak-panic")
		at, _ := place(t, `panic("too late")`)
		stop := q.Drain(context.Background(), &host{})
		if want := "panic: too late (" + at + ")"; stop.Reason != sandbox.Panic || stop.Text != want {
			t.Errorf("stop is %+v, want %q", stop, want)
		}
	})
	t.Run("IsQuietAfterCleanWork", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		q.do(t, "notes")
		h := &host{}
		if stop := q.Drain(context.Background(), h); stop.Ended() || len(h.notes) > 0 {
			t.Errorf("drain: %+v, notes %q", stop, h.notes)
		}
	})
}

func TestInitialisation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		startup string
		reason  sandbox.Reason
		text    string
	}{
		{"loop", sandbox.Deadline, "The package initialisation did not end within 1 s of computing time."},
		{"panic", sandbox.Panic, "panic: not configured (init.go:21)"},
		{"allocate", sandbox.Memory, "The package initialisation needed more than 64 MiB of memory (init.go:23)."},
		{"exit", sandbox.Exit, "The package initialisation ended the process with os.Exit(1)."},
		{"call", sandbox.Protocol, "The package initialisation called the database or Kafka; only the handler may do that."},
	} {
		t.Run(tt.startup, func(t *testing.T) {
			t.Parallel()
			wasm, err := compile("-ldflags", "-X redeliver/handler.startup="+tt.startup)
			if err != nil {
				t.Fatal(err)
			}
			o := sandbox.Options{InitTime: time.Minute}
			if tt.reason == sandbox.Deadline {
				o.InitTime = time.Second
			}
			p := load(t, wasm, o)
			s, stop, err := p.Snapshot(context.Background(), sandbox.Identity{Name: "A"})
			if err != nil || stop == nil || s != nil {
				t.Fatal(s, stop, err)
			}
			if stop.Reason != tt.reason || stop.Text != tt.text {
				t.Errorf("stop is %+v,\nwant %s %q", stop, tt.reason, tt.text)
			}
		})
	}
	t.Run("PrintsAtEveryStart", func(t *testing.T) {
		t.Parallel()
		wasm, err := compile("-ldflags", "-X redeliver/handler.startup=print")
		if err != nil {
			t.Fatal(err)
		}
		q := newProcess(t, load(t, wasm, patient))
		for range 2 {
			q.fresh(t, "print")
			if got := string(q.Stdout()); got != "starting\nout\n" {
				t.Errorf("standard output is %q", got)
			}
		}
	})
	t.Run("HugeVariables", func(t *testing.T) {
		t.Parallel()
		wasm, err := compile("-tags", "huge")
		if err != nil {
			t.Fatal(err)
		}
		p := load(t, wasm, patient)
		_, stop, err := p.Snapshot(context.Background(), sandbox.Identity{Name: "A"})
		if err != nil || stop == nil {
			t.Fatal(stop, err)
		}
		// A gibibyte and what Go's runtime has, which changes with its version.
		want := regexp.MustCompile(`^The program's own variables need 102\d MiB of memory; 64 MiB are allowed\.$`)
		if stop.Reason != sandbox.Memory || !want.MatchString(stop.Text) {
			t.Errorf("stop is %+v, want %q", stop, want)
		}
		if _, err := p.Instance(context.Background(), sandbox.NewClock()); err == nil {
			t.Error("the program could be instantiated")
		}
	})
}

func TestOutput(t *testing.T) {
	t.Parallel()
	q := newProcess(t, sharedProgram(t))
	q.fresh(t, "print")
	if out, err := string(q.Stdout()), string(q.Stderr()); out != "out\n" || err != "err\n" {
		t.Errorf("streams are %q and %q", out, err)
	}
	q.restore(t)
	if len(q.Stdout())+len(q.Stderr()) > 0 {
		t.Error("a restore kept the output")
	}
	q.do(t, "flood-stdout")
	if out := q.Stdout(); len(out) != 64<<10 || !strings.HasPrefix(string(out), "flood\nflood\n") {
		t.Errorf("of a flood %d bytes were kept: %.20q", len(out), out)
	}
	q.restore(t)
	q.do(t, "panic")
	if err := string(q.Stderr()); !strings.HasPrefix(err, "panic: payment already processed\n") {
		t.Errorf("standard error after a panic is %q", err)
	}
}

func TestReasonKind(t *testing.T) {
	t.Parallel()
	kinds := map[sandbox.Reason]verdict.Kind{
		sandbox.Panic: verdict.Crash, sandbox.Exit: verdict.Crash, sandbox.Recursion: verdict.Crash,
		sandbox.Trap: verdict.Crash, sandbox.Protocol: verdict.Crash,
		sandbox.Deadline: verdict.Timeout, sandbox.Deadlock: verdict.Timeout, sandbox.HostCalls: verdict.Timeout,
		sandbox.Memory: verdict.Memory, sandbox.Output: verdict.Output,
	}
	for reason, want := range kinds {
		if got, ok := reason.Kind(); got != want || !ok || reason.Ours() {
			t.Errorf("%s is %s, %t", reason, got, ok)
		}
	}
	for reason, ours := range map[sandbox.Reason]bool{
		sandbox.Returned: false, sandbox.Killed: false, sandbox.Canceled: true, sandbox.Broken: true,
	} {
		if kind, ok := reason.Kind(); ok || reason.Ours() != ours {
			t.Errorf("%s is %s, %t; ours: %t", reason, kind, ok, reason.Ours())
		}
	}
}

package sandbox

import (
	"strings"
	"testing"
)

const stack = `
goroutine 1 [running]:
runtime.mapassign(0x1)
	runtime/map.go:12 +0x3
redeliver/handler.(*ledger).add(...)
	redeliver/handler/ledger.go:7 +0x2
redeliver/handler.Handle()
	redeliver/handler/handler.go:31 +0x7
`

// TestParseCrash has the reports that no guest of the other tests writes.
func TestParseCrash(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, report string
		want         crash
		reason       Reason
	}{
		{
			"ConcurrentMapWrites", "fatal error: concurrent map writes\n" + stack,
			crash{message: "fatal error: concurrent map writes", file: "ledger.go", line: 7},
			Panic,
		},
		{
			"GoStackOverflow", "fatal error: stack overflow\n\nruntime stack:\nruntime.throw()\n" + stack,
			crash{message: "fatal error: stack overflow", file: "ledger.go", line: 7},
			Recursion,
		},
		{
			"PathOfAMachine", "panic: x\n\ngoroutine 1 [running]:\nf()\n\t/build/7/redeliver/handler/a.go:3\n",
			crash{message: "panic: x", file: "a.go", line: 3},
			Panic,
		},
		{
			"OnlyTheLibrary", "panic: x\n\ngoroutine 1 [running]:\nf()\n\tstrings/strings.go:3\n",
			crash{message: "panic: x"},
			Panic,
		},
		{
			"LikeNamedPackage", "panic: x\n\ngoroutine 1 [running]:\nf()\n\tnotredeliver/handler/a.go:3\n",
			crash{message: "panic: x"},
			Panic,
		},
		{
			"InvalidText", "panic: a\xffb\n" + stack,
			crash{message: "panic: a\uFFFDb", file: "ledger.go", line: 7},
			Panic,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := parseCrash([]byte(tt.report))
			if !ok || got != tt.want || got.reason() != tt.reason {
				t.Errorf("parsed %+v, %t, %s; want %+v, %s", got, ok, got.reason(), tt.want, tt.reason)
			}
		})
	}
	t.Run("NoReport", func(t *testing.T) {
		t.Parallel()
		for _, report := range []string{"", "hello\n", stack, strings.Repeat("\t\n", 100)} {
			if got, ok := parseCrash([]byte(report)); ok {
				t.Errorf("parsed %q as %+v", report, got)
			}
		}
	})
}

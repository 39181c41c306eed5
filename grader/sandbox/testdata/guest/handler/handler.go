//go:build wasip1

// Package handler does what hostile and careless submissions do, and what makes
// two runs differ.
package handler

import (
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// Handle runs the task that the host names.
func Handle() {
	task := ask(opTask, "")
	run, ok := tasks[task]
	if !ok {
		note("unknown task ", task)
		return
	}
	run()
}

var tasks = map[string]func(){
	"return":   func() { note("hello") },
	"count":    func() { counter++; note(counter) },
	"notes":    func() { note(1); note(2); note(3) },
	"deferred": func() { defer note("deferred"); note("first") },
	"trace":    trace,
	"random":   func() { var b [8]byte; crand.Read(b[:]); note(fmt.Sprintf("%x %d", b, rand.Int63())) },
	"clock":    func() { note(time.Now().UTC().Format(time.RFC3339Nano)) },

	"loop": func() {
		for {
			counter++
		}
	},
	"gosched": func() {
		for {
			runtime.Gosched()
		}
	},
	"calls": func() {
		for {
			note("x")
		}
	},
	"busy-wait": func() {
		for t := time.Now(); time.Since(t) < time.Second; {
		}
	},
	"sleep-day": func() { t := time.Now(); time.Sleep(24 * time.Hour); note(time.Since(t).Round(time.Minute)) },
	"sleep-max": func() { time.Sleep(1<<63 - 1); note("awake") },
	"timeout": func() {
		select {
		case <-time.After(time.Hour):
			note("after")
		case <-make(chan int):
		}
	},
	"recursion":        func() { note(deep(1)) },
	"recursion-method": func() { new(custom).deep(1) },
	"recursion-wide":   func() { note(wide(1)) },
	"depth-1000":       func() { note(down(1000)) },
	"memory": func() {
		for {
			hog = append(hog, make([]byte, 1<<20))
			hog[len(hog)-1][0] = 1
		}
	},
	"grow":          func() { hog = append(hog, make([]byte, 16<<20)); hog = nil; note("grown") },
	"grow-a-little": func() { hog = append(hog, make([]byte, 6<<20)) },
	"deadlock":      func() { <-make(chan struct{}) },
	"deadlock-many": func() { wait(1000) },
	"goroutines": func() {
		var wg sync.WaitGroup
		for range 100_000 {
			wg.Go(func() { runtime.Gosched() })
		}
		wg.Wait()
		note("done")
	},

	"exit-0":           func() { os.Exit(0) },
	"exit-3":           func() { os.Exit(3) },
	"panic":            func() { panic("payment already processed") },
	"panic-error":      func() { panic(fmt.Errorf("charge: %w", errors.New("no account"))) },
	"panic-custom":     func() { panic(custom{"p-7", 49}) },
	"panic-named":      func() { panic(named("odd")) },
	"panic-lines":      func() { panic("first\nsecond") },
	"panic-nested":     func() { defer func() { panic("second") }(); panic("first") },
	"panic-re":         func() { defer func() { panic(recover()) }(); panic("again") },
	"panic-nil-map":    func() { var m map[string]int; m["a"] = 1 },
	"panic-nil":        func() { var p *custom; note(p.id) },
	"panic-index":      func() { s := []int{1}; note(s[counter+5]) },
	"panic-library":    func() { slices.SortFunc([]int{2, 1}, nil) },
	"panic-goroutine":  func() { done := make(chan int); go func() { panic("in the background") }(); <-done },
	"panic-go-library": func() { done := make(chan int); go strings.Repeat("x", -1); <-done },
	"panic-flood":      func() { fmt.Fprint(os.Stderr, strings.Repeat("x", 60<<10)); panic("after much output") },
	"panic-long":       func() { panic(strings.Repeat("é", 1000)) },
	"recovered":        func() { defer func() { note("recovered ", recover()) }(); panic("caught") },
	"fake-report":      func() { fmt.Fprintln(os.Stderr, "panic: no, just a message"); os.Exit(1) },
	"concurrent-map":   concurrentMap,

	"print": func() { fmt.Println("out"); fmt.Fprintln(os.Stderr, "err") },
	"flood-stdout": func() {
		for {
			fmt.Println("flood")
		}
	},
	"flood-stderr": func() {
		for {
			println("flood")
		}
	},
	"flood-once": func() { os.Stdout.WriteString(strings.Repeat("x", 1<<20)); note("not reached") },
	"flood-fake": func() {
		fmt.Fprintln(os.Stderr, "panic: just a message")
		for {
			fmt.Fprintln(os.Stderr, "a long message that is written again and again and again and again")
		}
	},
	"stdin": func() { b, err := io.ReadAll(os.Stdin); note(len(b), " ", err) },

	"read-file":  func() { _, err := os.ReadFile("/etc/passwd"); note(err) },
	"write-file": func() { note(os.WriteFile("x", nil, 0o600)) },
	"mkdir":      func() { note(os.Mkdir("/tmp/x", 0o700)) },
	"dial":       func() { _, err := net.Dial("tcp", "127.0.0.1:80"); note(err) },
	"listen":     func() { _, err := net.Listen("tcp", "127.0.0.1:0"); note(err) },
	"env":        func() { host, err := os.Hostname(); note(os.Args, " ", os.Environ(), " ", host, " ", err) },

	"leak": func() { go func() { note("after return 1"); runtime.Gosched(); note("after return 2") }() },
	"leak-loop": func() {
		go func() {
			for {
				counter++
			}
		}()
	},
	"leak-panic": func() { go func() { panic("too late") }() },

	"wild-in":         func() { call(opNote, unsafe.Pointer(uintptr(0xffff_fff0)), 64, nil, 0) },
	"wild-out":        func() { call(opTask, nil, 0, unsafe.Pointer(uintptr(0xffff_fff0)), 64) },
	"huge":            func() { b := make([]byte, 2<<20); call(opNote, unsafe.Pointer(&b[0]), uint32(len(b)), nil, 0) },
	"endless":         func() { call(opNote, nil, 0xffff_ffff, nil, 0) },
	"more-of-nothing": func() { call(opMore, nil, 0, nil, 0) },
	"long-reply":      longReply,
	"leaves":          leaves,
	"forge":           func() { forge(index()) },
	"forge-again":     func() { slices.SortFunc([]int{2, 1}, func(int, int) int { forge(index()); return 0 }) },
}

var (
	counter int
	hog     [][]byte
)

type custom struct {
	id     string
	amount int
}

type named string

func deep(n int) int { return deep(n+1) + 1 }

func (c *custom) deep(n int) int { return c.deep(n+1) + c.amount }

// wait starts n goroutines that wait, and waits too: their report is long.
func wait(n int) {
	never := make(chan int)
	for range n {
		go func() { <-never }()
	}
	<-never
}

func down(n int) int {
	if n == 0 {
		return 0
	}
	return down(n-1) + 1
}

// wide has frames so large that the memory ends before the call stack.
func wide(n int) int {
	var pad [32 << 10]byte
	pad[n%len(pad)] = byte(n)
	return wide(n+1) + int(pad[(n+1)%len(pad)])
}

func concurrentMap() {
	m := map[int]int{}
	m[1] = 1
	for range m {
		done := make(chan int)
		go func() { defer close(done); m[2] = 2 }()
		<-done
	}
	note("not noticed")
}

// longReply asks for more than fits, in two steps.
func longReply() {
	var small [4]byte
	n := call(opNote, nil, 0, unsafe.Pointer(&small[0]), uint32(len(small)))
	b := make([]byte, n)
	again := call(opMore, nil, 0, unsafe.Pointer(&small[0]), uint32(len(small)))
	got := call(opMore, nil, 0, unsafe.Pointer(&b[0]), uint32(len(b)))
	note(n, " ", again, " ", got, " ", string(b))
}

// trace goes through everything that could differ between two runs.
func trace() {
	m := map[int]bool{}
	for i := range 20 {
		m[i] = true
	}
	for k := range m {
		note(k)
	}
	a, b := make(chan int, 20), make(chan int, 20)
	for i := range 20 {
		a <- i
		b <- i
	}
	for range 10 {
		select {
		case <-a:
			note("a")
		case <-b:
			note("b")
		}
	}
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			for range 3 {
				note("g", i)
				runtime.Gosched()
				time.Sleep(time.Duration(rand.Intn(1000)) * time.Microsecond)
			}
		})
	}
	wg.Wait()
	var r [8]byte
	crand.Read(r[:])
	note(r, rand.Int63(), time.Now().UnixNano())
}

// opCold is the call that the sandbox puts into functions that are not loaded.
const opCold = 0x636f6c64

func index() uintptr {
	n, _ := strconv.Atoi(ask(opNote, "index"))
	return uintptr(n)
}

func forge(index uintptr) { call(opCold, unsafe.Pointer(index), 0, nil, 0) }

func leaves() {
	for range 1000 {
		counter = leaf(counter)
	}
}

//go:noinline
func leaf(n int) int { return n + 1 }

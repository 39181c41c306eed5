//go:build !linux

package sandbox

import "time"

// thread stands for one on systems that do not tell its processor time: real
// time counts instead.
type thread time.Time

func currentThread() thread { return thread(time.Now()) }

func (t thread) cpuTime() time.Duration { return time.Since(time.Time(t)) }

//go:build !realtime

package bubble

import "testing/synctest"

// Wait returns when every other goroutine of the bubble waits for something: what
// was begun at this instant has had all its consequences. Only one goroutine of a
// bubble may call it at a time.
func Wait() { synctest.Wait() }

// Package bubble runs a function in virtual time, inside a testing/synctest
// bubble, from an ordinary program.
//
// Why: a consumer group's life is made of waiting. A session lasts 45 s, a
// heartbeat comes every 3 s. Short time-outs in real time still cost a second
// for each scenario, and on a busy machine they expire when they should not.
// In a bubble the clock moves on at once when every goroutine waits, so four
// minutes of a real client with its default settings take milliseconds and give
// the same order of events each time.
//
// Why it is one small package: synctest is meant for tests. It wants a
// *testing.T, of which a zero one is enough; that is not documented, so any
// release of Go may break it. Check finds out at start-up. The fallback needs no
// bubble: with Real true, Run has the same form and the clock is the real one,
// so callers choose short time-outs.
//
// The build tag realtime selects that fallback.
//
// franz-go wants the tag synctests in a bubble; then its mutexes are channels. A
// goroutine that waits for a sync.Mutex does not let the virtual clock move, and
// when the mutex's holder waits for the clock, the bubble stands still for ever.
// A program is usable without the tag all the same, as long as it starts no
// commit in a client that joins a group (package members takes care of that;
// 7,000 scenarios without the tag: no standstill), and because Run gives a
// standstill up with an error: never a hang, never a wrong result.
//
// Rules inside Run's function:
//
//   - Make contexts, channels, timers, clients inside, close them inside, and end
//     every goroutine. The context that the function gets is made inside; it
//     carries the values of the outer one and ends soon after it, in virtual time.
//   - Never hand out a channel or a context that was made inside: closing or
//     cancelling it from outside ends the process.
//   - A panic in the function is an error of Run. A panic in a goroutine that it
//     started ends the process, as anywhere in Go: recover there.
//   - Real input and output and computing stop the clock. A guest that loops for
//     ever stops it for good, and no timer made inside goes off: whoever runs
//     guests needs a timer made outside.
package bubble

import "errors"

// ErrStopped is the cause when a function did not come back in time after its
// context had ended: its goroutines are lost, as nothing in Go can end them.
var ErrStopped = errors.New("the function did not end")

// ErrLeaked says that the function came back and goroutines of it still wait.
// They are lost. It is not told apart in real time.
var ErrLeaked = errors.New("goroutines were left behind")

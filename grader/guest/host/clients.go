//go:build wasip1

package host

// stop ends the context of the function that runs, where the grader ends it.
var stop = func() {}

// OnStop says what ends that context.
func OnStop(f func()) { stop = f }

// Stop is called when a reply of the grader's says that the context shall end.
func Stop() { stop() }

var makesClients bool

// MakeClients says that the submission may make Kafka clients.
func MakeClients() { makesClients = true }

// MakesClients reports whether MakeClients was called.
func MakesClients() bool { return makesClients }

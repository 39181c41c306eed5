//go:build realtime

package bubble

// Wait does nothing in real time, where nobody can know.
func Wait() {}

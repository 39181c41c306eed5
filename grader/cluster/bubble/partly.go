//go:build !synctests || realtime

package bubble

// Whole says that clients may do anything in a bubble. Without the build tag
// synctests, a client that waits for a lock stops the virtual clock.
const Whole = false

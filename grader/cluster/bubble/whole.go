//go:build synctests && !realtime

package bubble

// Whole says that clients may do anything in a bubble: franz-go's locks let the
// virtual clock move.
const Whole = true

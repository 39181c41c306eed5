package views

// phaseNames are the phases of the verdict contract in their order; each has
// words in package locale.
var phaseNames = [...]string{
	"happy-path", "redelivery", "producer-duplicate", "crash-points", "zombie", "transient-errors", "lost-replies",
	"two-records", "interleavings", "double-crash", "crash-and-interleave", "clock-jumps", "rewind", "cluster", "random",
}

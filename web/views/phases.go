package views

// phaseNames are the phases of the verdict contract in their order; each has
// words in package locale.
var phaseNames = [...]string{
	"happy-path", "redelivery", "producer-duplicate", "crash-points", "zombie", "transient-errors", "lost-replies",
	"two-records", "interleavings", "double-crash", "crash-and-interleave", "clock-jumps", "rewind", "cluster", "random",
}

// phase names a phase for people. One that the contract does not know keeps
// its own name, so that an older page can show a newer verdict.
func (t *text) phase(name string) string {
	for _, known := range phaseNames {
		if known == name {
			return t.say("phase." + name)
		}
	}
	return name
}

package packcheck

import (
	"fmt"
	"io"
	"strings"

	"redeliver/exercises"
)

// listCommand is `redeliver pack list`.
type listCommand struct{}

// Run lists what a server with the same --packs would offer, and why it would
// leave packs out. Status 1 says that it would.
func (listCommand) Run(env *Env, code *int) error {
	catalog := exercises.Open(exercises.Builtin(), env.Packs)
	packs := catalog.Packs()
	problems := catalog.Problems()
	if len(problems) > 0 {
		*code = exitFailed
	}
	_, err := io.WriteString(env.Out, listing(packs, problems))
	return err
}

func listing(packs []*exercises.Pack, problems exercises.Problems) string {
	var b strings.Builder
	for _, p := range packs {
		fmt.Fprintf(&b, "%s %s  %s (%s)\n", p.ID, p.Version, p.Title["en"], strings.Join(p.Languages, ", "))
		for _, e := range p.Exercises {
			fmt.Fprintf(&b, "  %-40s %-8s level %d  %3d min  %-8s  %s\n", e.Name(), e.Version, e.Level, e.Minutes, e.Visibility, e.Title["en"])
		}
	}
	if len(problems) > 0 {
		fmt.Fprintf(&b, "\nLeft out\n")
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "  %s\n", p)
	}
	return b.String()
}

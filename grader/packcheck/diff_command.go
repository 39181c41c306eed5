package packcheck

import (
	"context"
	"errors"
	"fmt"

	"redeliver/exercises"
)

// diffCommand is `redeliver pack diff`.
type diffCommand struct {
	Submissions string `required:"" help:"The site's database: the SQLite file, or postgres://…; it is only read." placeholder:"DB"`
	Cache       string `help:"Folder for the compiler's files." env:"REDELIVER_CACHE" placeholder:"DIR"`
	Old         string `arg:"" help:"The pack as it is installed."`
	New         string `arg:"" help:"The pack as it shall be."`
}

// Run grades the stored submissions against the new pack and prints the verdicts
// that would be others. Status 1 says that there are some.
func (c *diffCommand) Run(ctx context.Context, env *Env, code *int) (err error) {
	before, problems := exercises.LoadDirectory(c.Old)
	after, more := exercises.LoadDirectory(c.New)
	if problems = append(problems, more...); len(problems) > 0 {
		return &UsageError{fmt.Errorf("a pack cannot be read:\n%s", problems)}
	}
	all, closeStore, err := env.Submissions(ctx, c.Submissions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	judge, _, done, err := env.Grader(ctx, c.Cache, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	d, err := Compare(ctx, judge, before, after, all)
	if err != nil {
		return err
	}
	for _, change := range d.Changes {
		fmt.Fprintln(env.Out, change)
	}
	if len(d.Changes) > 0 {
		*code = exitFailed
	}
	_, err = fmt.Fprintf(env.Out, "%s %s → %s: %d of %d stored verdicts of changed exercises would be others\n",
		before.ID, before.Version, after.Version, d.Judged-d.Same, d.Judged)
	return err
}

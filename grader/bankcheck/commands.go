package bankcheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"redeliver/content"
	"redeliver/exercises"
	"redeliver/grader/packcheck"
)

// Commands is `redeliver content`, for package kong.
type Commands struct {
	Check checkCommand `cmd:"" help:"Prove that the question bank does what it promises. Exit status: 0 it does, 1 it does not, 2 wrong usage, 3 it could not be found out."`
}

// checkCommand is `redeliver content check`.
type checkCommand struct {
	JSON    bool   `help:"Print the report as JSON."`
	NoRun   bool   `help:"Only read: run none of the handlers that claims refer to."`
	Workers int    `help:"Gradings at once." default:"2"`
	Cache   string `help:"Folder for the compiler's files." env:"REDELIVER_CACHE" placeholder:"DIR"`
	Dir     string `arg:"" optional:"" help:"Folder with questions and glossaries; without it, those of the program."`
}

// Run checks and prints what it finds.
func (c *checkCommand) Run(ctx context.Context, env *packcheck.Env, code *int) error {
	files := content.Files()
	if c.Dir != "" {
		if _, err := os.Stat(filepath.Join(c.Dir, "questions")); err != nil {
			return &packcheck.UsageError{Err: fmt.Errorf("%s has no folder questions: %w", c.Dir, err)}
		}
		files = os.DirFS(c.Dir)
	}
	r, err := c.check(ctx, env, files)
	if err != nil {
		return err
	}
	*code = packcheck.ExitStatus(r.Passed, r.Inconclusive())
	return c.print(env.Out, r)
}

func (c *checkCommand) check(ctx context.Context, env *packcheck.Env, files fs.FS) (r Report, err error) {
	bank, problems := content.Load(files)
	if len(problems) > 0 {
		return Broken(problems), nil
	}
	cfg := Config{
		Catalog: exercises.Open(exercises.Builtin(), env.Packs), Workers: c.Workers,
		Progress: func(done, total int, r Run) {
			fmt.Fprintf(env.Err, "%*d/%d %s: %s\n", len(strconv.Itoa(total)), done, total, r, r.Outcome)
		},
	}
	if !c.NoRun {
		judge, _, done, makeErr := env.Grader(ctx, c.Cache, 1)
		if makeErr != nil {
			return Report{}, makeErr
		}
		defer func() { err = errors.Join(err, done()) }()
		cfg.Judge = judge
	}
	return Check(ctx, cfg, bank)
}

func (c *checkCommand) print(out io.Writer, r Report) error {
	if c.JSON {
		return packcheck.PrintJSON(out, r)
	}
	for i, p := range r.Problems {
		if i == 0 {
			p = "Problems\n  " + p
		} else {
			p = "  " + p
		}
		if _, err := fmt.Fprintln(out, p); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, r.Summary)
	return err
}

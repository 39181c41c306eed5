package packcheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"redeliver/exercises"
)

// Commands is `redeliver pack`, for package kong.
type Commands struct {
	Check checkCommand `cmd:"" help:"Prove that packs do what they promise. Exit status: 0 they do, 1 they do not, 2 wrong usage, 3 it could not be found out."`
	New   newCommand   `cmd:"" help:"Write a small pack that passes the check."`
	Diff  diffCommand  `cmd:"" help:"Say which stored verdicts a new version of a pack would change."`
	List  listCommand  `cmd:"" help:"List packs, exercises and what is left out, with its problems."`
}

// Env is what the commands need of the program.
type Env struct {
	Out, Err io.Writer
	Packs    []string // directories with further packs
	// Grader makes a grader that runs workers schedules at once, and a folder for
	// databases; done gives both back. cache is the folder for the compiler's files,
	// "" the user's.
	Grader func(ctx context.Context, cache string, workers int) (judge Judge, dir string, done func() error, err error)
	// Submissions gives what a site's database holds, without changing it.
	Submissions func(ctx context.Context, pathOrURL string) (all iter.Seq2[Submission, error], closeStore func() error, err error)
}

// UsageError is wrong usage: its text says what to do.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap gives the reason.
func (e *UsageError) Unwrap() error { return e.Err }

// checkCommand is `redeliver pack check`.
type checkCommand struct {
	JSON     bool     `help:"Print the reports as a JSON list."`
	Update   bool     `help:"Write each exercise's feedback.golden and limits.golden instead of comparing with them."`
	Twice    bool     `help:"Run the wrong handlers twice too, not only starter and solutions."`
	Exercise string   `help:"Check only this exercise of the pack." placeholder:"NAME"`
	Sample   []string `help:"Grade only this one, as starter, solution/NAME or wrong/NAME, and show what candidates are told; may be repeated." placeholder:"NAME"`
	Workers  int      `help:"Gradings at once." default:"2"`
	Cache    string   `help:"Folder for the compiler's files." env:"REDELIVER_CACHE" placeholder:"DIR"`
	Dirs     []string `arg:"" name:"dir" help:"Directories with a pack.yaml each."`
}

// Run checks one pack after the other and prints what it finds.
func (c *checkCommand) Run(ctx context.Context, env *Env, code *int) (err error) {
	if c.Update && len(c.Sample) > 0 {
		return &UsageError{errors.New("--update writes the feedback of all samples: leave out --sample")}
	}
	for _, dir := range c.Dirs {
		if _, err := os.Stat(filepath.Join(dir, "pack.yaml")); err != nil {
			return &UsageError{fmt.Errorf("%s is no pack: %w", dir, err)}
		}
	}
	judge, work, done, err := env.Grader(ctx, c.Cache, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	cfg := Config{
		Judge: judge, Dir: work, Workers: c.Workers, Exercise: c.Exercise, Samples: c.Sample, Update: c.Update, Twice: c.Twice,
		Progress: func(done, total int, s Sample) {
			fmt.Fprintf(env.Err, "%*d/%d %s\n", len(strconv.Itoa(total)), done, total, s.Line())
		},
	}
	reports := make([]Report, 0, len(c.Dirs))
	for _, dir := range c.Dirs {
		r, err := checkDirectory(ctx, cfg, dir, env.Packs)
		noExercise, noSample := (*NoExerciseError)(nil), (*NoSampleError)(nil)
		if errors.As(err, &noExercise) || errors.As(err, &noSample) {
			return &UsageError{err}
		}
		if err != nil {
			return err
		}
		reports = append(reports, r)
		*code = max(*code, ExitStatus(r.Passed, r.Inconclusive()))
	}
	return c.print(env.Out, reports)
}

func (c *checkCommand) print(out io.Writer, reports []Report) error {
	if c.JSON {
		return PrintJSON(out, reports)
	}
	for _, r := range reports {
		if _, err := io.WriteString(out, r.Text()); err != nil {
			return err
		}
	}
	return nil
}

// checkDirectory loads a pack and checks it. A pack whose form is broken, or that
// needs what is not installed, is not graded.
func checkDirectory(ctx context.Context, cfg Config, dir string, packs []string) (Report, error) {
	pack, problems := exercises.LoadDirectory(dir)
	if pack == nil {
		return broken(dir, strings.Split(problems.String(), "\n")), nil
	}
	if missing := exercises.Open(exercises.Builtin(), packs).Missing(pack); len(missing) > 0 {
		return broken(pack.ID, missing), nil
	}
	return Check(ctx, cfg, dir, pack)
}

func broken(pack string, problems []string) Report {
	r := Report{Pack: pack, Form: problems, Exercises: []Exercise{}}
	r.finish(0)
	return r
}

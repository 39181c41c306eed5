// Redeliver is a web app for practising the interview question "how do you
// process Kafka messages idempotently?": it runs consumer handlers against an
// in-process Kafka cluster with injected faults and shows the shortest story
// that breaks them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/bankcheck"
	"redeliver/grader/build"
	"redeliver/grader/packcheck"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
	"redeliver/web/store"
)

// Exit statuses, as grader/verdict says.
const (
	exitUsage        = 2
	exitInconclusive = 3
)

func main() {
	time.Local = time.UTC // no text of a verdict may depend on where the machine stands
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// commands is the command line. Flags of serve and worker have an environment
// variable each.
type commands struct {
	Packs    []string `help:"Directories with further exercise packs." env:"REDELIVER_PACKS" sep:":" placeholder:"DIR"`
	Prepared string   `help:"Folder that the prepare command has filled; it is only read." env:"REDELIVER_PREPARED" placeholder:"DIR"`

	Serve   serveCommand       `cmd:"" help:"Run the web site."`
	Worker  workerCommand      `cmd:"" help:"Grade what a site hands in, on another machine; the database is PostgreSQL."`
	Backup  backupCommand      `cmd:"" help:"Copy the SQLite database of a site, which may run, into a file."`
	Store   storeCommands      `cmd:"" help:"Move the database of a site."`
	Regrade regradeCommand     `cmd:"" help:"Have submissions judged again after a change of packs or of the program; the site may run."`
	Invite  inviteCommand      `cmd:"" help:"Print a link that makes an account, for who has lost the last owner's password."`
	Grade   gradeCommand       `cmd:"" help:"Judge a submission. Exit status: 0 passed, 1 failed or rejected, 2 wrong usage, 3 inconclusive."`
	Pack    packcheck.Commands `cmd:"" help:"Check, make and list exercise packs."`
	Content bankcheck.Commands `cmd:"" help:"Check the question bank."`
	Prepare prepareCommand     `cmd:"" help:"Compile the packages that submissions may import into a folder, for REDELIVER_PREPARED."`
	Health  healthCommand      `cmd:"" help:"Ask a running server whether it lives. Exit status 0: it does."`
	Version versionCommand     `cmd:"" help:"Print the version."`
}

// streams are what a command writes to, and the packs that all of them share.
type streams struct {
	out, err io.Writer
	packs    []string
	prepared string
}

// usageError is wrong usage: its text says what to do.
type usageError struct{ error }

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	var cli commands
	exit := -1 // kong exits after --help
	parser, err := kong.New(&cli, kong.Name("redeliver"), kong.Writers(out, errOut), kong.Exit(func(code int) { exit = code }),
		kong.Description("Practise and assess idempotent Kafka consumers."), kong.UsageOnError(),
		kong.Vars{"workers": strconv.Itoa(max(1, runtime.GOMAXPROCS(0)/2))},
		kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		fmt.Fprintln(errOut, "redeliver:", err)
		return exitInconclusive
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 {
		return exit
	}
	if err != nil {
		fmt.Fprintln(errOut, "redeliver:", err)
		return exitUsage
	}
	code := 0
	s := &streams{out, errOut, cli.Packs, cli.Prepared}
	err = parsed.Run(s, &packcheck.Env{Out: out, Err: errOut, Packs: cli.Packs, Grader: s.grader, Submissions: submissions}, &code)
	var usage usageError
	var packUsage *packcheck.UsageError
	var replay *grader.ReplayError
	switch {
	case err == nil:
		return code
	case errors.As(err, &usage), errors.As(err, &packUsage), errors.As(err, &replay):
		fmt.Fprintln(errOut, "redeliver:", err)
		return exitUsage
	default:
		fmt.Fprintln(errOut, "redeliver:", err)
		return exitInconclusive
	}
}

// versionCommand prints what a report of a problem needs.
type versionCommand struct{}

// Run prints the engine's version.
func (versionCommand) Run(s *streams) error {
	_, err := fmt.Fprintf(s.out, "redeliver, engine %s\n", verdict.Engine)
	return err
}

// perGrading is what one grading needs: about 40 MB for what is loaded of the program in
// the interpreter's form and 70 more when all of it is, the memories of four instances,
// snapshots. Left alone, the collector lets garbage grow to as much again.
const perGrading = 170 << 20

// limitMemory makes the collector keep to what some gradings at once need. It is
// a soft limit, and GOMEMLIMIT in the environment goes before it.
func limitMemory(gradings int) {
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(int64(max(gradings, 1)) * perGrading)
	}
}

// prepareCommand does once, for an image, what each server would do at its start.
type prepareCommand struct {
	Dir string `arg:"" help:"The folder; it is made when missing."`
}

// Run prepares and keeps only what a server reads.
func (p *prepareCommand) Run(ctx context.Context, s *streams) error {
	if err := prepare(ctx, build.New(build.Config{Dir: p.Dir}), s.err); err != nil {
		return err
	}
	for _, leftover := range []string{"tmp", "lock"} {
		if err := os.RemoveAll(filepath.Join(p.Dir, leftover)); err != nil {
			return fmt.Errorf("clean up: %w", err)
		}
	}
	return nil
}

// healthCommand is for containers, which have no curl.
type healthCommand struct {
	Addr string `help:"Address of the server." env:"REDELIVER_ADDR" default:"127.0.0.1:8080"`
}

// Run asks /healthz.
func (h *healthCommand) Run(ctx context.Context) error {
	host, port, err := net.SplitHostPort(h.Addr)
	if err != nil {
		return usageError{err}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // it listens everywhere, so also here
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return usageError{err}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", res.Status)
	}
	return nil
}

// gradeCommand judges one submission.
type gradeCommand struct {
	JSON     bool     `help:"Print the verdict as one JSON object."`
	Seed     int64    `help:"Seed of the records' random fields." default:"1"`
	Replay   string   `help:"Run only the schedule of this token." placeholder:"TOKEN"`
	Cache    string   `help:"Folder for the compiler's files." env:"REDELIVER_CACHE" placeholder:"DIR"`
	Exercise string   `arg:"" help:"The exercise, as pack/name: core/charge-once."`
	Paths    []string `arg:"" help:"A folder with the submission's files, or the files."`
}

// Run grades and prints.
func (g *gradeCommand) Run(ctx context.Context, s *streams, code *int) (err error) {
	limitMemory(1)
	catalog := exercises.Open(exercises.Builtin(), s.packs)
	exercise, ok := catalog.Exercise(g.Exercise)
	if !ok {
		return usageError{noExercise(ctx, catalog, g.Exercise)}
	}
	files, err := readSubmission(g.Paths)
	if err != nil {
		return usageError{err}
	}
	judge, _, done, err := s.grader(ctx, g.Cache, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	v, err := judge.Grade(ctx, grader.Request{Exercise: exercise, Files: files, Seed: g.Seed, Replay: g.Replay})
	if err != nil {
		return err
	}
	*code = v.ExitCode()
	if g.JSON {
		return packcheck.PrintJSON(s.out, v)
	}
	_, err = io.WriteString(s.out, trace.Report(v))
	return err
}

// grader makes a grader and the folder that it works in; done removes the folder.
func (s *streams) grader(ctx context.Context, cache string, workers int) (judge packcheck.Judge, work string, done func() error, err error) {
	if cache, err = cacheDir(cache); err != nil {
		return nil, "", nil, err
	}
	compiler := build.New(build.Config{Dir: cache, Prepared: s.prepared})
	if err := prepare(ctx, compiler, s.err); err != nil {
		return nil, "", nil, err
	}
	if work, err = os.MkdirTemp("", "redeliver-"); err != nil {
		return nil, "", nil, fmt.Errorf("make a working folder: %w", err)
	}
	done = func() error { return os.RemoveAll(work) }
	if judge, err = grader.New(grader.Config{Dir: work, Workers: workers}, compiler); err != nil {
		return nil, "", nil, errors.Join(err, done())
	}
	return judge, work, done, nil
}

// submissions reads what was judged from the database of a site.
func submissions(ctx context.Context, pathOrURL string) (iter.Seq2[packcheck.Submission, error], func() error, error) {
	st, err := store.OpenToRead(ctx, pathOrURL)
	if err != nil {
		return nil, nil, err
	}
	return func(yield func(packcheck.Submission, error) bool) {
		for sub, err := range st.Graded(ctx) {
			out := packcheck.Submission{ID: sub.ID, Exercise: sub.Exercise, Seed: sub.Seed}
			for _, f := range sub.Files {
				out.Files = append(out.Files, exercises.File(f))
			}
			if sub.Verdict != nil {
				out.Verdict = *sub.Verdict
			}
			if !yield(out, err) {
				return
			}
		}
	}, st.Close, nil
}

func cacheDir(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the compiler's files (name one with --cache): %w", err)
	}
	return filepath.Join(dir, "redeliver"), nil
}

// prepare makes the compiler ready and says so when that takes time.
func prepare(ctx context.Context, c *build.Compiler, out io.Writer) error {
	said := false
	err := c.Prepare(ctx, func(_ string, done, total int) {
		if !said && done < total {
			said = true
			fmt.Fprintln(out, "preparing the compiler (once for each version of Go; about 20 s of processor time) …")
		}
	})
	if err != nil {
		return fmt.Errorf("prepare the compiler: %w", err)
	}
	return nil
}

func noExercise(ctx context.Context, c *exercises.Catalog, name string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "there is no exercise %q; there are:", name)
	for _, e := range c.Public() {
		text.WriteString(" " + e.Name())
	}
	c.Verify(ctx) // the pack that has it may be the broken one
	for _, p := range c.Problems() {
		text.WriteString("\n" + p.String())
	}
	return errors.New(text.String())
}

// maxSourceRead is how much of a file is read: more than any submission may
// have, so that the check can say that it is too large.
const maxSourceRead = 2 << 20

// readSubmission reads the files that were named, and those directly in a
// folder that was named. It returns them in the order of their names.
func readSubmission(paths []string) ([]exercises.File, error) {
	var files []exercises.File
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read the submission: %w", err)
		}
		names := []string{path}
		if info.IsDir() {
			entries, err := os.ReadDir(path)
			if err != nil {
				return nil, fmt.Errorf("read the submission: %w", err)
			}
			names = nil
			for _, e := range entries {
				if e.Type().IsRegular() && e.Name()[0] != '.' {
					names = append(names, filepath.Join(path, e.Name()))
				}
			}
		}
		for _, name := range names {
			f, err := readFile(name)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	return files, nil
}

func readFile(name string) (_ exercises.File, err error) {
	f, err := os.Open(name)
	if err != nil {
		return exercises.File{}, fmt.Errorf("read the submission: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err := io.ReadAll(io.LimitReader(f, maxSourceRead))
	if err != nil {
		return exercises.File{}, fmt.Errorf("read the submission: %w", err)
	}
	return exercises.File{Name: filepath.Base(name), Content: content}, nil
}

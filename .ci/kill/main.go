// Kill makes submissions at a site while its processes are killed with SIGKILL
// at random moments, and then asks the database: none may be lost, each must
// have one verdict, the right one, and must be counted once.
//
//	go run ./.ci/kill                        SQLite: one server
//	go run ./.ci/kill -database postgres     a server without workers, two workers
//	go run ./.ci/kill -kills 4 -submissions 40 -real 1 -longest 3s   the short form
//
// Most submissions are refused by the policy check, which takes a millisecond;
// some by the compiler, and -real of them are right handlers that are graded
// whole. The seed that is printed repeats the moments, as far as a machine does.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

type options struct {
	database    string // sqlite or postgres
	kills       int
	submissions int
	real        int
	seed        uint64
	shortest    time.Duration // between two kills
	longest     time.Duration
	postgres    string // the database in which another one can be created
}

func main() {
	var o options
	flag.StringVar(&o.database, "database", "sqlite", "sqlite or postgres")
	flag.IntVar(&o.kills, "kills", 50, "how often a process is killed")
	flag.IntVar(&o.submissions, "submissions", 1000, "submissions of as many browsers")
	flag.IntVar(&o.real, "real", 20, "how many of them are graded whole; as many again do not compile")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "of the moments and the victims")
	flag.DurationVar(&o.shortest, "shortest", time.Second, "between two kills")
	flag.DurationVar(&o.longest, "longest", 6*time.Second, "between two kills")
	flag.StringVar(&o.postgres, "postgres", os.Getenv("REDELIVER_TEST_POSTGRES"), "address of a PostgreSQL in which a database can be created")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		stop()
		os.Exit(1)
	}
}

// run is the whole test; it leaves its folder behind only when it fails.
func run(ctx context.Context, o options) (err error) {
	begin := time.Now()
	fmt.Printf("%s, %d kills, %d submissions, %d of them graded whole; -seed %d\n", o.database, o.kills, o.submissions, o.real, o.seed)
	if o.kills < 1 || o.submissions < o.kills || 2*o.real > o.submissions {
		return fmt.Errorf("needs at least one kill, a submission for each kill, and no more than half of them for the compiler")
	}
	dir, err := os.MkdirTemp("", "redeliver-kill-")
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = os.RemoveAll(dir)
		} else {
			err = fmt.Errorf("%w\nlogs and data: %s", err, dir)
		}
	}()
	site, err := newSite(ctx, dir, o)
	if err != nil {
		return err
	}
	defer func() {
		if dropped := site.drop(context.WithoutCancel(ctx)); err == nil {
			err = dropped
		}
	}()
	defer site.stop()
	made, err := submitWhileKilling(ctx, site, o)
	if err != nil {
		return err
	}
	fmt.Printf("%d made and %d kills after %s; waiting for the verdicts\n", len(made), o.kills, time.Since(begin).Round(time.Second))
	if err := site.drain(ctx, 10*time.Minute); err != nil {
		return err
	}
	if err := seen(ctx, site, made); err != nil {
		return err
	}
	site.stop()
	if err := check(ctx, site, made); err != nil {
		return err
	}
	fmt.Printf("none lost, one verdict each, %s\n", time.Since(begin).Round(time.Second))
	return nil
}

// submitWhileKilling spreads the submissions over the kills: each kill lets the
// next ones go.
func submitWhileKilling(ctx context.Context, s *site, o options) ([]submission, error) {
	random := rand.New(rand.NewPCG(o.seed, 0))
	all := plan(random, o)
	next := make(chan submission, len(all))
	made := make(chan error, len(all))
	for range 4 {
		go func() {
			for sub := range next {
				made <- s.submit(ctx, sub)
			}
		}()
	}
	released := 0
	for k := range o.kills {
		until := len(all) * (k + 1) / o.kills
		for ; released < until; released++ {
			next <- all[released]
		}
		wait := o.shortest + time.Duration(random.Int64N(int64(o.longest-o.shortest)))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := s.kill(random.IntN(len(s.processes))); err != nil {
			return nil, err
		}
	}
	close(next)
	for range all {
		if err := <-made; err != nil {
			return nil, err
		}
	}
	return all, nil
}

// submission is what one browser hands in, and what it must get.
type submission struct {
	cookie  string
	address string // of the client, as the proxy says
	source  string
	outcome string
}

// plan makes all sources, each another one, in a random order.
func plan(random *rand.Rand, o options) []submission {
	all := make([]submission, o.submissions)
	for i := range all {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", o.seed, i))
		all[i] = submission{
			cookie:  base32.StdEncoding.EncodeToString(sum[:])[:26],
			address: fmt.Sprintf("11.%d.%d.%d", i>>16&255, i>>8&255, i&255),
			source:  refused, outcome: "rejected",
		}
		switch {
		case i < o.real:
			all[i].source, all[i].outcome = right, "passed"
		case i < 2*o.real:
			all[i].source = broken
		}
		all[i].source += fmt.Sprintf("\n// %d of %d\n", i, o.seed)
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

const (
	exercise = "core/charge-once"
	refused  = "package handler\n\nimport \"net\"\n"
	broken   = `package handler

import (
	"context"
	"database/sql"

	"github.com/twmb/franz-go/pkg/kgo"
)

func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error { return nothing }
`
)

// right is a solution of the pack.
var right = func() string {
	text, err := os.ReadFile(filepath.Join("exercises", "packs", "core", "charge-once", "solutions", "on-conflict-do-nothing", "handler.go"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "kill: start me in the repository:", err)
		os.Exit(2)
	}
	return string(text)
}()

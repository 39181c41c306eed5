package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"redeliver/exercises"
	"redeliver/web/jobs"
	"redeliver/web/store"
)

// storeCommands are `redeliver store`.
type storeCommands struct {
	Copy storeCopyCommand `cmd:"" help:"Copy the SQLite database of a site that does not run into an empty PostgreSQL one."`
}

// storeCopyCommand moves a site to PostgreSQL.
type storeCopyCommand struct {
	Data string `help:"Folder of the site." env:"REDELIVER_DATA" default:"./data"`
	To   string `arg:"" help:"The PostgreSQL database, postgres://…; it must hold nothing of a site." placeholder:"URL"`
}

// Run copies and says how much.
func (c *storeCopyCommand) Run(ctx context.Context, s *streams) (err error) {
	if !strings.HasPrefix(c.To, "postgres://") && !strings.HasPrefix(c.To, "postgresql://") {
		return usageError{errors.New("name the PostgreSQL database as postgres://…")}
	}
	site := siteFlags{Data: c.Data}
	if err := site.mustExist(); err != nil {
		return err
	}
	release, err := store.LockFolder(c.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	from, err := store.Open(ctx, site.sqlite())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := store.Open(ctx, c.To)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	counts, err := jobs.Copy(ctx, from, to)
	if err != nil {
		return err
	}
	rows := int64(0)
	for _, n := range counts {
		rows += n
	}
	_, err = fmt.Fprintf(s.out, "copied %d rows of %d tables, %d of them submissions and %d jobs that wait; start the site with --database\n",
		rows, len(counts), counts["submissions"], counts["river_job"])
	return err
}

// mustExist refuses to make a database where one was meant to be.
func (f siteFlags) mustExist() error {
	if f.Database != "" {
		return nil
	}
	if _, err := os.Stat(f.sqlite()); err != nil {
		return fmt.Errorf("find the database (start the site first, or name its folder with --data): %w", err)
	}
	return nil
}

// regradeCommand hands in again what has a verdict.
type regradeCommand struct {
	siteFlags
	All       bool     `help:"Also what was judged by the present versions."`
	Exercises []string `arg:"" optional:"" help:"The exercises, as pack/name; all, when none is named."`
}

// Run makes the jobs; the workers of the site do them.
func (c *regradeCommand) Run(ctx context.Context, s *streams) (err error) {
	catalog := exercises.Open(exercises.Builtin(), s.packs)
	for _, name := range c.Exercises {
		if _, ok := catalog.Exercise(name); !ok {
			return usageError{noExercise(ctx, catalog, name)}
		}
	}
	if err := c.mustExist(); err != nil {
		return err
	}
	st, err := store.Open(ctx, cmp.Or(c.Database, c.sqlite()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	queue, err := jobs.New(ctx, st, nil, jobs.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, queue.Stop(context.WithoutCancel(ctx))) }()
	done, err := queue.Regrade(ctx, c.Exercises, c.All, func(name string) (string, bool) {
		e, ok := catalog.Exercise(name)
		if !ok {
			return "", false
		}
		return e.Version, true
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%d submissions wait to be judged again, behind those that people hand in; %d are of exercises that are not installed\n", done.Queued, done.Gone)
	return err
}

package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"redeliver/web/store"
)

// aliveLocks is the first key of the locks by which workers on PostgreSQL know
// each other to be alive; the second one is the hash of a worker's name.
const aliveLocks = 0x52444C56 // "RDLV"

// lookForDead is how often a worker looks for jobs of dead ones.
const lookForDead = 2 * time.Second

// aliveTime bounds each of its questions: a connection whose other end has vanished
// answers nothing, and would keep a worker from showing that it lives.
const aliveTime = 5 * time.Second

// sign is a worker's sign of life, a lock of its database session. The session ends with the
// process, also by kill -9, so the others see at once what River would find out
// after RescueStuckJobsAfter.
type sign struct {
	st     *store.Store
	name   string        // the worker's, which River writes into its jobs
	conn   *sql.Conn     // holds the lock; nil: it has to be taken
	within time.Duration // bounds each question
}

// show takes the lock, or makes sure that it is still held.
func (s *sign) show(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	if s.conn != nil {
		if err := s.conn.PingContext(ctx); err == nil {
			return nil
		}
		_ = s.conn.Close() // it is broken
		s.conn = nil
	}
	conn, err := s.st.Write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("show that this worker lives: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock_shared($1, hashtext($2))", aliveLocks, s.name); err != nil {
		return fmt.Errorf("show that this worker lives: %w", errors.Join(err, conn.Close()))
	}
	s.conn = conn
	return nil
}

// hide gives the lock back.
func (s *sign) hide(ctx context.Context) error {
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	_, err := s.conn.ExecContext(ctx, "SELECT pg_advisory_unlock_shared($1, hashtext($2))", aliveLocks, s.name)
	err = errors.Join(err, s.conn.Close())
	s.conn = nil
	return err
}

// reclaimDead returns the jobs of workers that show no sign of life. A worker that
// has only lost its connection may lose a job to another one: then it is graded
// twice, and the first verdict is kept.
func reclaimDead(ctx context.Context, write *sql.DB) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, aliveTime)
	defer cancel()
	res, err := write.ExecContext(ctx, `
		UPDATE river_job SET
		  state = CASE WHEN attempt < max_attempts THEN 'available' ELSE 'discarded' END::river_job_state,
		  finalized_at = CASE WHEN attempt < max_attempts THEN NULL ELSE now() END
		WHERE state = 'running' AND NOT EXISTS (
		  SELECT 1 FROM pg_locks l
		  WHERE l.locktype = 'advisory' AND l.granted AND l.classid = $1
		    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		    AND l.objid = (hashtext(attempted_by[array_upper(attempted_by, 1)])::bigint & 4294967295)::oid)`, int64(aliveLocks))
	if err != nil {
		return 0, fmt.Errorf("reclaim jobs of dead workers: %w", err)
	}
	return res.RowsAffected()
}

// mindDead shows that this worker lives, and takes over from those that do not,
// until the queue stops. The sign was shown before the first job ran.
func (q *Queue) mindDead(ctx context.Context, s *sign) {
	tick := time.NewTicker(lookForDead)
	defer tick.Stop()
	for {
		err := s.show(ctx)
		if err == nil {
			var n int64
			if n, err = reclaimDead(ctx, q.st.Write); n > 0 {
				q.cfg.Log.WarnContext(ctx, "took over the jobs of a worker that ended without a word", slog.Int64("jobs", n))
			}
		}
		if err != nil {
			q.cfg.Log.ErrorContext(ctx, "look for dead workers", slog.Any("error", err))
		}
		select {
		case <-q.hiding:
			if err := s.hide(ctx); err != nil {
				q.cfg.Log.WarnContext(ctx, "give back the sign of life", slog.Any("error", err))
			}
			return
		case <-tick.C:
		}
	}
}

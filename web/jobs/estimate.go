package jobs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"redeliver/web/store/db"
)

// recentGradings is how many of the newest gradings an estimate looks at.
const recentGradings = 50

// Place is where a submission stands that waits.
type Place struct {
	Before int           // submissions that are graded before it
	Wait   time.Duration // until its verdict, about; 0: nobody can say
}

// Place says how long a submission may wait: the median of recent gradings, for as
// many rounds as it takes with the gradings that run at once. While something waits,
// all workers have work, so those in other processes are seen by what runs.
func (q *Queue) Place(ctx context.Context, id int64) (Place, error) {
	before, err := q.st.WaitingBefore(ctx, id)
	if err != nil {
		return Place{}, err
	}
	queries := db.New(q.st.Read)
	times, err := queries.ListTimes(ctx, recentGradings)
	if err != nil {
		return Place{}, fmt.Errorf("list times of gradings: %w", err)
	}
	running, err := queries.CountRunning(ctx)
	if err != nil {
		return Place{}, fmt.Errorf("count running gradings: %w", err)
	}
	p := Place{Before: before}
	workers := max(int(running), q.cfg.Workers)
	if len(times) == 0 || workers == 0 {
		return p, nil
	}
	slices.Sort(times)
	median := time.Duration(times[len(times)/2]) * time.Millisecond
	rounds := 1 + (before+int(running))/workers
	p.Wait = time.Duration(rounds) * median
	return p, nil
}

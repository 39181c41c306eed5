package grader

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// rank says whose schedules run first when there are fewer workers than
// schedules: phases in their order, and before all of them what a finding waits
// for.
type rank int

const urgent rank = -1

// workers are the worlds of a submission: as many schedules run at once. A world
// runs one at a time, and whoever has one to run borrows it.
type workers struct {
	mu      sync.Mutex
	free    []*worker // those that have a world last
	waiting []*waiter // in the order in which they will get one
	all     []*worker
}

// worker is a place for a world, which is made on first use.
type worker struct{ world *world }

type waiter struct {
	rank rank
	got  chan *worker // buffered
}

func newWorkers(n int) *workers {
	w := &workers{}
	for range n {
		w.all = append(w.all, &worker{})
	}
	w.free = slices.Clone(w.all)
	return w
}

// borrow waits for a worker. The error is ctx's.
func (w *workers) borrow(ctx context.Context, r rank) (*worker, error) {
	w.mu.Lock()
	if last := len(w.free) - 1; last >= 0 {
		got := w.free[last]
		w.free = w.free[:last]
		w.mu.Unlock()
		return got, nil
	}
	mine := &waiter{rank: r, got: make(chan *worker, 1)}
	at := len(w.waiting)
	for at > 0 && w.waiting[at-1].rank > r {
		at--
	}
	w.waiting = slices.Insert(w.waiting, at, mine)
	w.mu.Unlock()
	select {
	case got := <-mine.got:
		return got, nil
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.waiting, mine); i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	} else { // it was handed over meanwhile
		w.handOn(<-mine.got)
	}
	return nil, ctx.Err()
}

func (w *workers) giveBack(got *worker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handOn(got)
}

// handOn gives a worker to whom it is due, under mu.
func (w *workers) handOn(got *worker) {
	if len(w.waiting) == 0 {
		w.free = append(w.free, got)
		return
	}
	w.waiting[0].got <- got
	w.waiting = slices.Delete(w.waiting, 0, 1)
}

// in calls work with a world that nobody else uses meanwhile.
func (s *submission) in(ctx context.Context, r rank, work func(*world) error) error {
	got, err := s.workers.borrow(ctx, r)
	if err != nil {
		return err
	}
	defer s.workers.giveBack(got)
	if got.world == nil {
		if got.world, err = newWorld(ctx, s); err != nil {
			return err
		}
	}
	return work(got.world)
}

// close ends the worlds, none of which may be in use.
func (w *workers) close() error {
	var errs []error
	for _, place := range w.all {
		if place.world != nil {
			errs = append(errs, place.world.close())
		}
	}
	return errors.Join(errs...)
}

// parallel calls work for 0 to n-1, at most as many at once as there are workers,
// each with a world that nobody else uses meanwhile.
func (s *submission) parallel(ctx context.Context, r rank, n int, work func(ctx context.Context, w *world, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	errs := make([]error, min(len(s.workers.all), n))
	var wg sync.WaitGroup
	for k := range errs {
		wg.Go(func() {
			for i := range next {
				err := s.in(ctx, r, func(w *world) error { return work(ctx, w, i) })
				if err != nil {
					errs[k] = err
					cancel()
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

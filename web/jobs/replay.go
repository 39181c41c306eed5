package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"redeliver/grader/verdict"
)

// The bounds on replays: a link costs its owner nothing, so a stranger must not
// be able to keep the processor busy with links. Checks, which people at work wait
// for, have a turn of their own.
const (
	maxWaitingReplays = 4       // beside the one that runs
	maxWaitingChecks  = 16      // likewise
	maxReplayCache    = 8 << 20 // bytes of verdicts as JSON
	// replayTime bounds one replay with its wait; it ends before the server gives
	// up writing the answer.
	replayTime = 20 * time.Second
)

// ErrBusy refuses a replay because others run and wait, or because the compiler
// is not ready yet. It passes.
var ErrBusy = errors.New("replays: busy")

// ErrNoGrader refuses every replay: this process only hands in.
var ErrNoGrader = errors.New("replays: this process grades nothing")

// ErrNothingFound says that a handler shows no mistake.
var ErrNothingFound = errors.New("nothing found")

// ChangedError says in a sentence for people why a token cannot be replayed any
// more. A Grader returns it.
type ChangedError struct{ Text string }

func (e *ChangedError) Error() string { return e.Text }

// replays runs schedules again, one at a time, and keeps what they showed.
type replays struct {
	turns
	cache replayCache
}

func newReplays() replays {
	return replays{turns: newTurns(maxWaitingReplays), cache: replayCache{max: maxReplayCache, byToken: map[string][]byte{}}}
}

// turns lets one at a time run and few wait.
type turns struct {
	turn    chan struct{} // holds the one that runs
	waiting chan struct{} // holds the one that runs and those that wait
}

func newTurns(waiting int) turns {
	return turns{turn: make(chan struct{}, 1), waiting: make(chan struct{}, 1+waiting)}
}

// Replayed returns what a replay of the token has shown before, if it is still
// known. The token must be in its canonical form.
func (q *Queue) Replayed(token string) (verdict.Verdict, bool) { return q.replays.cache.get(token) }

// Replay runs the one schedule that r.Replay names, unless its result is still
// known. One runs at a time in a process and few wait; more get ErrBusy.
func (q *Queue) Replay(ctx context.Context, r Request) (verdict.Verdict, error) {
	ctx, done, err := q.takeTurn(ctx, q.replays.turns)
	if err != nil {
		return verdict.Verdict{}, err
	}
	defer done()
	if v, ok := q.Replayed(r.Replay); ok { // whoever ran before wanted the same
		return v, nil
	}
	v, err := q.grader.Grade(ctx, r, func(Progress) {})
	if err != nil {
		return verdict.Verdict{}, fmt.Errorf("replay: %w", err)
	}
	if v.Outcome != verdict.Inconclusive {
		err = q.replays.cache.put(r.Replay, v)
	}
	return v, err
}

// FirstFinding grades until the first finding is there, which is the shortest
// story, and takes its turn among the replays. It returns ErrNothingFound when
// there is none.
func (q *Queue) FirstFinding(ctx context.Context, r Request) (verdict.Finding, error) {
	ctx, done, err := q.takeTurn(ctx, q.replays.turns)
	if err != nil {
		return verdict.Finding{}, err
	}
	defer done()
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	var first *verdict.Finding
	v, err := q.grader.Grade(ctx, r, func(p Progress) {
		if p.Finding != nil && first == nil {
			first = p.Finding
			enough()
		}
	})
	switch {
	case first != nil:
		return *first, nil
	case err != nil:
		return verdict.Finding{}, fmt.Errorf("look for a finding: %w", err)
	case len(v.Findings) == 0 || v.Findings[0].Schedule == "":
		return verdict.Finding{}, ErrNothingFound
	default:
		return v.Findings[0], nil
	}
}

// Compile returns what a grading refuses before it runs anything: what is not
// allowed, does not compile, or is wrong in a schema. Checks take turns among
// themselves.
func (q *Queue) Compile(ctx context.Context, r Request) ([]verdict.Finding, error) {
	ctx, done, err := q.takeTurn(ctx, q.checks)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	ready := false
	v, err := q.grader.Grade(ctx, r, func(p Progress) {
		if p.Stage == StageExplore {
			ready = true
			enough()
		}
	})
	switch {
	case ready:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("compile: %w", err)
	case v.Outcome != verdict.Rejected:
		return nil, fmt.Errorf("compile: the grading ended %s: %s", v.Outcome, v.Summary)
	default:
		return v.Findings, nil
	}
}

// takeTurn waits for the one turn that a process has. The context that it returns
// ends with the time of a replay; done gives the turn back.
func (q *Queue) takeTurn(ctx context.Context, t turns) (_ context.Context, done func(), err error) {
	if q.grader == nil {
		return nil, nil, ErrNoGrader
	}
	if q.grader.Preparing() != "" {
		return nil, nil, ErrBusy
	}
	select {
	case t.waiting <- struct{}{}:
	default:
		return nil, nil, ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, replayTime)
	leave := func() {
		cancel()
		<-t.waiting
	}
	select {
	case t.turn <- struct{}{}:
		return ctx, func() { <-t.turn; leave() }, nil
	case <-ctx.Done():
		err = fmt.Errorf("wait for a turn: %w", ctx.Err())
	case <-q.stopping:
		err = ErrBusy
	}
	leave()
	return nil, nil, err
}

// replayCache keeps verdicts by token, up to a size. The oldest go first.
type replayCache struct {
	max int // bytes

	mu      sync.Mutex
	byToken map[string][]byte
	order   []string // of coming in
	size    int
}

func (c *replayCache) get(token string) (v verdict.Verdict, ok bool) {
	c.mu.Lock()
	text, ok := c.byToken[token]
	c.mu.Unlock()
	if !ok || json.Unmarshal(text, &v) != nil {
		return verdict.Verdict{}, false
	}
	return v, true
}

func (c *replayCache) put(token string, v verdict.Verdict) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode replay: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byToken[token]; ok || len(text) > c.max {
		return nil
	}
	c.byToken[token], c.order, c.size = text, append(c.order, token), c.size+len(text)
	for c.size > c.max {
		oldest := c.order[0]
		c.order, c.size = c.order[1:], c.size-len(c.byToken[oldest])
		delete(c.byToken, oldest)
	}
	return nil
}

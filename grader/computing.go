package grader

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"redeliver/grader/sandbox"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// computing bounds what all schedules of a submission compute together: each of
// them has its own limits, and a submission that stays just below those in every
// schedule would keep a worker for as long as it likes. What counts is the processor
// time of the guests and of what the database does for them, of those that really
// ran: a process that the memo knows costs nothing. It may be used by several
// goroutines.
type computing struct {
	limit time.Duration
	spent atomic.Int64 // nanoseconds
}

// mostComputing is twenty times what a right handler needs, and eight times what the
// one of ours needs that computes most.
const mostComputing = 30 * time.Second

// errComputing ends a grading.
var errComputing = errors.New("the schedules of the submission have computed for longer than they may together")

// add counts; the error is errComputing.
func (c *computing) add(took time.Duration) error {
	if c.spent.Add(int64(took)) > int64(c.limit) {
		return errComputing
	}
	return nil
}

// measure counts what work computes in the calling goroutine. Its error is work's,
// or else errComputing.
func (c *computing) measure(work func() error) error {
	var err error
	took := sandbox.ComputingOf(func() { err = work() })
	if over := c.add(took); err == nil {
		return over
	}
	return err
}

// endComputing makes the verdict of a submission that went over the limit. How far its
// schedules came depends on the machine, so the hash is of the limit alone; what
// they had shown is true all the same, and stays.
func (x *explorer) endComputing() {
	limit := x.sub.computing.limit
	f := verdict.Finding{
		Kind:    verdict.Timeout,
		Message: fmt.Sprintf("The schedules of this submission computed for more than %g s together.", limit.Seconds()),
		Explanation: "Each call may have stayed below its own limit of time; this one is for all of them together, with the package initialisation and the SQL statements. " +
			"Right submissions need about a twentieth of it. The schedules that had not run by then were left out, so there may be more to find.",
	}
	x.verdict.Findings = append(x.verdict.Findings[:min(len(x.verdict.Findings), maxFindings-1)], f)
	x.hash = trace.NewHash()
	x.hash.Add(string(f.Kind), []verdict.Step{{Event: trace.Limit, Text: f.Message}})
	x.verdict.TraceHash = x.hash.String()
	x.conclude()
}

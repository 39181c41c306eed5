package grader

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"redeliver/grader/cluster"
	"redeliver/grader/cluster/bubble"
	"redeliver/grader/guest/abi"
	"redeliver/grader/ledger"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// keepTime lets the bubble's clock and the schedule's agree: what a guest has slept
// passes for clients and broker, and what has passed for them passes for the
// schedule.
func (c *clientRun) keepTime() {
	ahead := c.clock.Now().Sub(c.sub.start) - time.Since(c.began)
	if over := ahead - longestSleep; over > 0 { // it need not last: every heartbeat of a day is real work
		c.began, ahead = c.began.Add(-over), longestSleep
	}
	if ahead > 0 {
		time.Sleep(ahead) //nolint:forbidigo // virtual time of the bubble, which is what the guest's sleep is made of
		c.rest()
		return
	}
	c.clock.Advance(-ahead)
}

// rest returns when everything in the background has come to rest: every goroutine
// waits, and no message is on its way.
func (c *clientRun) rest() {
	for {
		bubble.Wait()
		moving := false
		for _, p := range c.kafka {
			moving = moving || p.Moving()
		}
		if !moving {
			return
		}
		time.Sleep(onTheWay) //nolint:forbidigo // virtual time
	}
}

// onTheWay is longer than a message is on its way.
const onTheWay = 250 * time.Microsecond

// Times of waiting, all virtual.
const (
	// glance is how often a waiting run looks whether something has happened.
	glance = 50 * time.Millisecond
	// A guest that waits is woken after a slice, so that its timers go off; once nothing
	// has happened for a while, after as long as that, and a longSlice at most.
	slice     = time.Second
	longSlice = 16 * time.Second
	// quiet is after how long without anything a run takes it that nothing comes any
	// more: longer than a session and a rebalance take together.
	quiet = 2 * time.Minute
)

// wait lets time pass while every process waits. It returns false at the end of the
// schedule.
func (c *clientRun) wait(ctx context.Context) (more bool, err error) {
	if len(c.calls) == 0 && len(c.paused) == 0 { // every process has ended
		return c.ended(ctx)
	}
	if c.done() && len(c.paused) == 0 && c.idle < quiet && c.onlyPolls() {
		if !c.stopping {
			return true, c.stopAll(ctx)
		}
	}
	if c.idle >= quiet {
		return c.settle(ctx)
	}
	most := min(max(slice, c.idle), longSlice)
	passed := time.Duration(0)
	for step := glance; passed < most; step = min(2*step, most-passed, 8*glance) {
		if step <= 0 {
			break
		}
		time.Sleep(step) //nolint:forbidigo // virtual time
		passed += step
		c.rest()
		if c.somethingHappened() {
			c.idle += passed
			c.keepTime()
			return true, nil
		}
	}
	c.idle += passed
	c.keepTime()
	return true, c.wake(ctx)
}

// onlyPolls says that every process asks for more, and waits for nothing else: who
// waits for what it has sent is not done, whatever is committed.
func (c *clientRun) onlyPolls() bool {
	for _, w := range c.calls {
		if w.call.Request.Call != abi.PollRecords {
			return false
		}
	}
	return true
}

// somethingHappened says whether an answer or a callback has come, or a process that
// stood still goes on.
func (c *clientRun) somethingHappened() bool {
	for l, p := range c.paused {
		if !p.until.IsZero() && !time.Now().Before(p.until) {
			delete(c.paused, l)
			return true
		}
	}
	for l, w := range c.calls {
		if c.paused[l] == nil && (w.call.Done() || c.kafka[l].Waiting()) {
			return true
		}
	}
	return false
}

// wake tells every guest that waits how late it is: its timers go off, its other
// goroutines go on.
func (c *clientRun) wake(ctx context.Context) error {
	for _, l := range c.lanes {
		w := c.calls[l]
		if w == nil || c.paused[l] != nil || c.out.problem != nil {
			continue
		}
		if err := c.reply(ctx, l, w, abi.KafkaReply{State: abi.KafkaWaits, Ticket: w.call.Ticket}); err != nil {
			return err
		}
	}
	return nil
}

// done says whether the groups have committed every record. Without a group nobody
// can know, and a submission is done when it is quiet.
func (c *clientRun) done() bool {
	if c.publishing != nil {
		return c.publishing.done(c.run)
	}
	for _, p := range c.kafka {
		c.note(p)
	}
	if len(c.groups) == 0 {
		return c.idle >= quiet
	}
	for p, end := range c.set.ends {
		committed := int64(-1)
		for g := range c.groups {
			committed = max(committed, c.set.GroupOffset(g, p.topic, p.id))
		}
		if committed < end {
			return false
		}
	}
	return true
}

// settle is called when nothing has happened for a long time.
func (c *clientRun) settle(ctx context.Context) (more bool, err error) {
	c.idle = 0
	if c.resume() {
		return true, nil
	}
	if !c.stopping {
		return true, c.stopAll(ctx)
	}
	l := c.lanes[slices.IndexFunc(c.lanes, func(l *lane) bool { return c.calls[l] != nil })]
	e, at := kafkaEffect{c.calls[l].call.Request}, c.calls[l].call.Request.At
	text := fmt.Sprintf("%s did not return: its context had ended, and %v later it still waited in %s.", l.current.function(), quiet, label(e))
	c.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: text, File: at.File, Line: at.Line, Decisive: true})
	c.out.problem = &problem{kind: verdict.Timeout, text: text, file: at.File, line: at.Line}
	return false, nil
}

// resume lets a process go on that stands still.
func (c *clientRun) resume() bool {
	for _, l := range c.lanes {
		p := c.paused[l]
		if p == nil {
			continue
		}
		delete(c.paused, l)
		c.active = l
		if p.frozen {
			c.kafka[l].Thaw()
		}
		c.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Group, Text: l.proc.name + " goes on."})
		return true
	}
	return false
}

// stopAll ends the contexts of all functions, as when a service is stopped.
func (c *clientRun) stopAll(ctx context.Context) error {
	c.stopping = true
	if !c.done() && c.publishing == nil {
		c.rec.Add(verdict.Step{Event: trace.Group, Text: "Nothing happens any more, and not every record is committed. The service is restarted."})
	}
	return c.wake(ctx)
}

// returnedFrom goes on after the submission's function: its process is over, and its
// clients with it, closed or not.
func (c *clientRun) returnedFrom(ctx context.Context, l *lane) error {
	l.proc.kill()
	if err := c.kill(l.proc.name); err != nil {
		return err
	}
	if c.locked[l] > 0 { // who has the lock goes on first, as in production, where it would have finished
		c.resume()
	}
	c.endClients(l)
	if !l.proc.last.result.Failed {
		l.current.end("not committed when Run returned")
	}
	if c.stopping {
		l.state = finished
		return nil
	}
	if !c.clock.Now().Before(l.current.task.Deadline) {
		c.stuckWith(l, "Run waited for the end of its context and for nothing else: a day passed without a call of the Kafka client.")
		return nil
	}
	if c.returns[l]++; c.returns[l] >= maxAttempts {
		text := fmt.Sprintf("Run returned %d times although its context had not ended; not every record was committed.", maxAttempts)
		if c.done() {
			text = fmt.Sprintf("Run returned %d times although its context had not ended.", maxAttempts)
		}
		if l.proc.last.result.Failed {
			text += " The last error: " + sentence(ledger.Shorten(l.proc.last.result.Text, 200))
		}
		c.stuckWith(l, text)
		return nil
	}
	c.clock.Advance(backoff(c.returns[l] + 1))
	return c.start(ctx, l)
}

// ended is asked when every process has ended: is there more after all?
func (c *clientRun) ended(ctx context.Context) (more bool, err error) {
	c.stopping = false
	if c.done() || len(c.groups) == 0 {
		return false, nil
	}
	l := c.lanes[0]
	if c.restarts++; c.restarts >= maxAttempts {
		c.stuckWith(l, fmt.Sprintf("The service was restarted %d times, and still not every record is committed: %s.", c.restarts, c.behind()))
		return false, nil
	}
	return true, c.start(ctx, l)
}

// behind says where the groups stand.
func (c *clientRun) behind() string {
	var parts []string
	for _, p := range c.partitions() {
		at := int64(-1)
		for g := range c.groups {
			at = max(at, c.set.GroupOffset(g, p.topic, p.id))
		}
		switch {
		case at < 0:
			parts = append(parts, fmt.Sprintf("nothing of %s is", p))
		case at < c.set.ends[p]:
			parts = append(parts, fmt.Sprintf("of %s offset %d, of %d", p, at, c.set.ends[p]))
		}
	}
	return strings.Join(parts, ", ")
}

func (c *clientRun) stuckWith(l *lane, text string) {
	c.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: text, Decisive: true})
	c.out.problem = &problem{kind: verdict.Stuck, text: text}
}

// tellGroups writes what the clients have told of their groups.
func (c *clientRun) tellGroups() {
	for _, l := range c.lanes {
		p := c.kafka[l]
		if p == nil {
			continue
		}
		for _, e := range p.Events() {
			if e.Ended.Kind == abi.NoError || e.Ended != c.putOut[l] { // a client tries again and again
				c.tellGroup(l, e)
			}
			c.putOut[l] = e.Ended
		}
	}
}

func (c *clientRun) tellGroup(l *lane, e cluster.GroupEvent) {
	step := verdict.Step{Lane: l.proc.name, Event: trace.Group}
	switch {
	case e.Ended.Kind != abi.NoError:
		step.Text = fmt.Sprintf("%s is no member of its group any more, and hears of it: %s.", l.proc.name, errorText(e.Ended))
	case e.Committed != nil:
		var offsets []string
		for _, o := range e.Committed {
			offsets = append(offsets, fmt.Sprintf("offset %d of %s", o.Offset, partition{o.Topic, o.Partition}))
		}
		step.Event, step.Text = trace.CommitOffset, fmt.Sprintf("The client of %s commits %s to Kafka by itself.", l.proc.name, strings.Join(offsets, ", "))
	default:
		step.Text = fmt.Sprintf(map[abi.KafkaCallbackKind]string{
			abi.Assigned: "%s is assigned %s.", abi.Revoked: "%s has to give up %s: a rebalance.", abi.Lost: "%s has lost %s.",
		}[e.Kind], l.proc.name, strings.Join(partitionNames(e.Partitions), ", "))
	}
	c.rec.Add(step)
	if e.Committed == nil {
		return
	}
	c.passed(l)
	if c.ahead[l] == nil {
		c.ahead[l] = map[partition]passing{}
	}
	for _, o := range e.Committed { // also of what the submission's poll has yet to return
		c.ahead[l][partition{o.Topic, o.Partition}] = passing{o.Offset, c.rec.Last().Step}
	}
}

func partitionNames(of map[string][]int32) []string {
	var names []string
	for topic, ids := range of {
		for _, id := range ids {
			names = append(names, partition{topic, id}.String())
		}
	}
	slices.Sort(names)
	return names
}

// deadTransactions is after how long every transaction of a process that is gone is
// aborted: the broker's limit for a time-out is 15 minutes, its default a minute and
// franz-go's 40 seconds.
const deadTransactions = 16 * time.Minute

// settleTransactions waits until the broker has aborted what dead processes left, and
// reads the outputs as two readers see them.
func (c *clientRun) settleTransactions(ctx context.Context) error {
	outputs := c.outputPartitions()
	if len(outputs) == 0 {
		return nil
	}
	for l := range c.kafka {
		c.endClients(l)
	}
	time.Sleep(deadTransactions) //nolint:forbidigo // virtual time
	c.rest()
	if err := c.tellMarkers(ctx); err != nil {
		return err
	}
	for _, p := range outputs {
		rows, err := c.readOutput(ctx, p.topic, p.id)
		if err != nil {
			return err
		}
		c.outputs = append(c.outputs, rows...)
	}
	return nil
}

package grader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redeliver/grader/redis"
	"redeliver/grader/trace"
)

// readRedis reads the first command of a request: the stories are about the one
// key that a handler asks or sets.
func (a *act) readRedis() {
	text := strings.TrimPrefix(a.text, "MULTI; ")
	words := strings.Fields(text)
	a.verb, a.label = words[0], words[0]
	if a.verb == "EVAL" || a.verb == "EVALSHA" {
		if _, rest, ok := strings.Cut(a.text, `" 1 `); ok { // a script with one key
			a.table = redisKey(strings.Fields(rest + " ")[0])
		}
		return
	}
	if strings.Contains(text, "; ") && !a.failed {
		a.answer, _, _ = strings.Cut(a.answer, "; ")
	}
	if len(words) > 1 {
		key := strings.TrimSuffix(words[1], ";")
		a.table, a.label = redisKey(key), a.verb+" "+redis.ShortKey(key)
	}
}

// redisKey is a key where a table's name would stand.
func redisKey(key string) string { return "redis:" + key }

// setsIfAbsent says that the command sets its key only when it is not there.
func (a *act) setsIfAbsent() bool {
	words := strings.Fields(strings.ToLower(a.text))
	return a.verb == "SETNX" || a.verb == "SET" && slices.Contains(words[min(3, len(words)):], "nx")
}

// setsKey says that the command gave its key a value, answered or not.
func (a *act) setsKey() bool {
	if a.system != trace.Redis || a.failed && !a.lost {
		return false
	}
	switch a.verb {
	case "SET", "SETNX", "SETEX", "GETSET", "INCR", "INCRBY":
		return !a.metKey()
	default:
		return false
	}
}

// metKey says that the key was there: SET NX set nothing, INCR counted on.
func (a *act) metKey() bool {
	switch {
	case a.system != trace.Redis || a.failed:
		return false
	case a.verb == "INCR":
		return a.answer != "1"
	default:
		return a.setsIfAbsent() && (a.answer == "nil" || a.answer == "0")
	}
}

// tookKey says that the key was not there, and is now.
func (a *act) tookKey() bool {
	switch {
	case a.system != trace.Redis || a.failed:
		return false
	case a.verb == "INCR":
		return a.answer == "1"
	default:
		return a.setsIfAbsent() && (a.answer == "OK" || a.answer == "1")
	}
}

// deletesKey says that the command took a key away, or may have: of a script only
// the result is known.
func (a *act) deletesKey() bool {
	return a.system == trace.Redis && a.kept > 0 && (a.verb == "DEL" || a.verb == "EVAL" || a.verb == "EVALSHA")
}

// expiry is what the command gave its key to live; 0: nothing.
func (a *act) expiry() time.Duration {
	words := strings.Fields(strings.ToLower(a.text))
	for i, w := range words[:max(len(words)-1, 0)] {
		unit := map[string]time.Duration{"ex": time.Second, "px": time.Millisecond}[w]
		if n, err := strconv.ParseInt(strings.Trim(words[i+1], ";"), 10, 64); err == nil && unit > 0 && i > 1 {
			return time.Duration(n) * unit
		}
	}
	return 0
}

// spoken writes a duration for people: "25 hours", "8 days", "30 seconds".
func spoken(d time.Duration) string {
	unit, name := time.Second, "second"
	switch {
	case d%(24*time.Hour) == 0 && d >= 48*time.Hour:
		unit, name = 24*time.Hour, "day"
	case d%time.Hour == 0:
		unit, name = time.Hour, "hour"
	case d%time.Minute == 0:
		unit, name = time.Minute, "minute"
	case d%time.Second != 0:
		return d.String()
	case d > time.Minute:
		return spoken(d.Truncate(time.Minute)) + " and " + spoken(d-d.Truncate(time.Minute))
	}
	if d == unit {
		return "1 " + name
	}
	return fmt.Sprintf("%d %ss", d/unit, name)
}

// keyAsked is the last question before an effect, in its delivery, that asked
// Redis and did not find a key.
func (e *evidence) keyAsked(effect *act) *act {
	return lastOf(e.of(effect.delivery), func(a *act) bool {
		return a.system == trace.Redis && a.sawNothing() && a.step < effect.step
	})
}

// keyLeft is the last time before a question that an earlier delivery of the same
// event set the key.
func (e *evidence) keyLeft(ask, first *act) *act {
	return lastOf(e.acts, func(a *act) bool {
		return a.step < ask.step && a.table == ask.table && a.setsKey() && a.kept > 0 && a.in != ask.in &&
			a.delivery != nil && a.delivery.eventID == first.delivery.eventID
	})
}

// keyDeleted: the key was set, and the handler took it away before the record
// came again.
func keyDeleted(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || first.delivery == second.delivery {
		return nil
	}
	ask := e.keyAsked(second)
	if ask == nil {
		return nil
	}
	left := e.keyLeft(ask, first)
	if left == nil || left.delivery != first.delivery {
		return nil
	}
	gone := firstOf(e.acts, func(a *act) bool {
		return a.deletesKey() && a.table == ask.table && a.step > left.step && a.step < ask.step && a.delivery == first.delivery
	})
	if gone == nil {
		return nil
	}
	s := &story{name: "key deleted", acts: []*act{first, gone, second}, key: keyOf(gone, second)}
	why := fmt.Sprintf("%s was durable.", capital(first.label))
	if lost := firstOf(e.of(first.delivery), func(a *act) bool { return a.lost && a.step >= first.step && a.step < gone.step }); lost != nil {
		why = fmt.Sprintf("%s took place, but its answer was lost and the handler took it for failed.", capital(lost.label))
	}
	s.short = fmt.Sprintf("%s took the key away although %s was durable, and the record came again", gone.label, first.label)
	s.text = sentences(why, fmt.Sprintf("The handler then took its key away again with %s.", gone.label), e.again(first.delivery, second.delivery),
		fmt.Sprintf("%s %s, so %s ran again.", capital(ask.label), ask.found(), second.label))
	return s
}

// leaseExpired: one instance took a key and was paused; the key expired, and the
// other one took it too.
func leaseExpired(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || !e.together() || steadyLane(first.lane) == steadyLane(second.lane) {
		return nil
	}
	mine, theirs := e.keyAsked(first), e.keyAsked(second)
	if mine == nil || theirs == nil || mine.table != theirs.table || !mine.tookKey() || !theirs.tookKey() {
		return nil
	}
	if mine.step > theirs.step {
		mine, theirs = theirs, mine
	}
	gone := firstOf(e.acts, func(a *act) bool {
		return a.deletesKey() && a.table == mine.table && a.step > mine.step && a.step < theirs.step
	})
	if gone != nil || mine.expiry() == 0 {
		return nil
	}
	return &story{
		name: "lease expired", acts: []*act{mine, theirs, second}, key: keyOf(mine, second),
		short: fmt.Sprintf("the key of %s expired while %s was paused, and %s took it too", mine.label, mine.lane, theirs.lane),
		text: sentences(fmt.Sprintf("%s took the key with %s, for %s.", mine.lane, mine.label, spoken(mine.expiry())),
			fmt.Sprintf("While %s was paused, the key expired, and %s took it with %s: both held it.", mine.lane, theirs.lane, theirs.label),
			fmt.Sprintf("%s did %s and %s did %s.", first.lane, first.label, second.lane, second.label), nothingForbade(second)),
	}
}

// keyExpired: the key was set and was no longer there when the record came again,
// although nothing had taken it away.
func keyExpired(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || first.delivery == second.delivery {
		return nil
	}
	ask := e.keyAsked(second)
	if ask == nil {
		return nil
	}
	left := e.keyLeft(ask, first)
	if left == nil || left.expiry() == 0 || left.step > second.step {
		return nil
	}
	gone := firstOf(e.acts, func(a *act) bool {
		return a.deletesKey() && a.table == ask.table && a.step > left.step && a.step < ask.step
	})
	if gone != nil {
		return nil
	}
	passed := "That time passed"
	if p := strings.TrimPrefix(e.passed(), ", "); p != "" {
		passed = capital(strings.TrimSuffix(p, " later")) + " passed"
	}
	return &story{
		name: "key expired", acts: []*act{left, ask, second}, key: keyOf(ask, second),
		short: fmt.Sprintf("the key that %s had set for %s expired, and the record came again", left.label, spoken(left.expiry())),
		text: sentences(fmt.Sprintf("%s left its key in Redis for %s.", capital(left.label), spoken(left.expiry())),
			fmt.Sprintf("%s, the key expired, and the record came again.", passed),
			fmt.Sprintf("%s %s, so %s ran again.", capital(ask.label), ask.found(), second.label), nothingForbade(second)),
	}
}

package grader

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"redeliver/grader/invariant"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// act is a call of the handler to the database or to another system, as the trace
// shows it.
type act struct {
	step     int // of the timeline
	lane     string
	in       *turn
	delivery *delivery // the one at hand; nil when the trace does not say
	system   string    // trace.SQL, trace.Redis, trace.Charge or trace.Send
	verb     string    // "INSERT", "COMMIT"; in Redis "GET"; "CHARGE", "PRODUCE"
	table    string    // the first one that the statement names, "" for none; in Redis the key
	text     string    // the statement, with values
	answer   string    // "1 row", "no row", "error: …"
	failed   bool      // an error was answered
	lost     bool      // it took place and the schedule lost its answer
	rows     []string  // row differences
	object   string    // what its delivery is about, where the rows do not say
	label    string    // "UPDATE accounts (handler.go:31)"
	// kept is the step at which its changes became durable; 0: they never did.
	kept int
}

// turn is one call of a function of the submission.
type turn struct {
	step       int    // at which it begins
	function   string // "Handle", "HandleBatch", "Relay", "StartOffset"
	deliveries []*delivery
	last       *delivery // what the latest call inside was about
}

// actsOf reads the calls of a trace. What a transaction wrote becomes durable at
// its COMMIT, which the effects of the result tell.
func actsOf(r *result) []*act {
	var acts []*act
	effects := map[string][]done{} // of each instance, in their order
	client := map[int]bool{}       // steps of polls and commits of the submission's own client
	for _, e := range r.effects {
		switch {
		case e.ofGroup():
			client[e.step] = true
		case !e.waits:
			effects[e.instance] = append(effects[e.instance], e)
		}
	}
	turns := map[string]*turn{}
	delivered := map[string]int{}
	open := map[string][]*act{} // changes of an instance that wait for COMMIT
	for _, s := range r.steps {
		switch s.Event {
		case trace.Crash:
			delete(open, s.Lane)
		case trace.Deliver:
			t := r.turnAt(s, delivered[s.Lane])
			delivered[s.Lane] += len(t.deliveries)
			turns[s.Lane] = t
		case trace.Group:
			if f := calledIn(s); f != "" {
				turns[s.Lane] = &turn{step: s.Step, function: f}
			}
		}
		if !isCall(s) || client[s.Step] {
			continue
		}
		system, durable := s.Event, false
		if all := effects[s.Lane]; len(all) > 0 {
			system, durable, effects[s.Lane] = all[0].event, all[0].durable, all[1:]
		}
		a := actOf(s, system)
		a.in = turns[s.Lane]
		if a.in == nil {
			a.in = &turn{}
		}
		a.delivery = a.in.about(a, r)
		acts = append(acts, a)
		if system != trace.SQL { // in no transaction
			if durable {
				a.kept = a.step
			}
			if a.delivery != nil && system == trace.Charge && len(a.rows) > 0 {
				a.object = nameOf(r.set.events[a.delivery.eventID])
			}
			continue
		}
		if a.changes() {
			open[a.lane] = append(open[a.lane], a)
		}
		switch {
		case durable:
			for _, o := range open[a.lane] {
				o.kept = a.step
			}
			delete(open, a.lane)
		case a.verb == "ROLLBACK" || a.verb == "COMMIT" && strings.Contains(a.answer, nothingDone):
			delete(open, a.lane)
		}
	}
	return acts
}

// turnAt is the call that begins with the delivery of records at a step. In the
// phase cluster only the order tells which delivery a step is.
func (r *result) turnAt(s verdict.Step, n int) *turn {
	t := &turn{step: s.Step, function: r.function()}
	for _, d := range r.deliveries {
		if d.Instance == s.Lane && d.step == s.Step {
			t.deliveries = append(t.deliveries, d)
		}
	}
	if len(t.deliveries) == 0 {
		if d := r.delivery(s.Lane, n); d != nil {
			t.deliveries = []*delivery{d}
		}
	}
	return t
}

// function is the name of the one that is given records.
func (r *result) function() string {
	switch r.entry {
	case "batch":
		return "HandleBatch"
	case consumerEntry:
		return "Run"
	case producerEntry:
		return "Publish"
	default:
		return "Handle"
	}
}

// calledIn names the function without records that is called at a step; see
// work.begins.
func calledIn(s verdict.Step) string {
	switch {
	case strings.HasSuffix(s.Text, " calls Relay."):
		return "Relay"
	case strings.Contains(s.Text, " asks StartOffset "):
		return "StartOffset"
	default:
		return ""
	}
}

// about says which of several records in hand a call is about: the one that its
// text or its rows name, or else the one of the call before. nil: all of them, or
// nobody knows.
func (t *turn) about(a *act, r *result) *delivery {
	if len(t.deliveries) == 1 {
		return t.deliveries[0]
	}
	if a.verb == "BEGIN" || a.verb == "COMMIT" || a.verb == "ROLLBACK" {
		return nil
	}
	var named []*delivery
	for _, d := range t.deliveries {
		e := r.set.events[d.eventID]
		if containsWord(a.text, e.ID) || containsWord(a.text, nameOf(e)) {
			named = append(named, d)
		}
	}
	if len(named) == 0 {
		return t.last
	}
	first := named[0]
	if slices.ContainsFunc(named, func(d *delivery) bool { return d.eventID != first.eventID }) {
		t.last = nil
		return nil
	}
	if !slices.Contains(named, t.last) { // of an event that is there twice, the next one
		after := slices.DeleteFunc(slices.Clone(named), func(d *delivery) bool { return t.last != nil && d.Offset < t.last.Offset })
		t.last = append(after, first)[0]
	}
	return t.last
}

// containsWord says that a text has a word that is not a part of a longer one.
func containsWord(text, word string) bool {
	if word == "" {
		return false
	}
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(word)
		if (begin == 0 || !inWord(text[begin-1])) && (end == len(text) || !inWord(text[end])) {
			return true
		}
		at = end
	}
}

func inWord(c byte) bool { return c == '-' || isName(c) }

// delivery is the nth delivery to an instance, from 0; nil when there is none.
func (r *result) delivery(instance string, n int) *delivery {
	for _, d := range r.deliveries {
		if d.Instance != instance {
			continue
		}
		if n == 0 {
			return d
		}
		n--
	}
	return nil
}

// nothingDone and answerLost are how the text of a fault says what became of the
// call; see fault.
const (
	nothingDone = "(nothing was done)"
	answerLost  = "(it was done, the answer is lost)"
)

// isCall says that a step is a call of the handler, also one that a fault hit.
func isCall(s verdict.Step) bool {
	switch s.Event {
	case trace.SQL, trace.Send, trace.Redis, trace.Charge:
		return true
	case trace.Fault:
		return s.Lane != "" && (s.Line > 0 || strings.Contains(s.Text, " → error: "))
	default:
		return false
	}
}

// actOf reads one step of a system.
func actOf(s verdict.Step, system string) *act {
	a := &act{step: s.Step, lane: s.Lane, system: system, text: s.Text, rows: s.Rows}
	if i := strings.LastIndex(s.Text, " → "); i >= 0 {
		a.text, a.answer = s.Text[:i], s.Text[i+len(" → "):]
	}
	a.failed, a.lost = strings.HasPrefix(a.answer, "error: "), strings.Contains(a.answer, answerLost)
	switch system {
	case trace.Redis:
		a.readRedis()
	case trace.Send:
		a.readSend()
	case trace.Charge:
		a.verb, a.table, a.label = "CHARGE", invariant.ChargesTable, chargeNoun
	default:
		a.label = verbAndTable(a.text)
		a.verb, a.table, _ = strings.Cut(a.label, " ")
		a.table = strings.TrimPrefix(strings.TrimPrefix(a.table, "INTO "), "FROM ")
	}
	if s.Line > 0 {
		a.label = fmt.Sprintf("%s (%s:%d)", a.label, s.File, s.Line)
	}
	return a
}

// changes says that the call changed rows or keys, durable or not.
func (a *act) changes() bool {
	return (len(a.rows) > 0 || a.setsKey()) && (!a.failed || a.lost)
}

// asks says that the call only reads.
func (a *act) asks() bool {
	return !a.failed && (a.verb == "SELECT" || a.system == trace.Redis && (a.verb == "GET" || a.verb == "EXISTS"))
}

// sawNothing says that a question found nothing: no row, or a count or EXISTS
// that is 0, or no key. A SET NX that set its key is such a question too.
func (a *act) sawNothing() bool {
	return a.asks() && (a.answer == "no row" || a.answer == "0" || a.system == trace.Redis && a.answer == "nil") || a.tookKey()
}

// sawSomething says that a question found a row.
func (a *act) sawSomething() bool { return a.asks() && !a.sawNothing() }

// refused says that an insert met a row that was there: it changed nothing, or a
// constraint stopped it; or that a SET NX met its key.
func (a *act) refused() bool {
	return a.metKey() || a.verb == "INSERT" && (a.answer == "0 rows" || a.answer == "no row" || a.failed && strings.Contains(a.answer, "UNIQUE constraint failed"))
}

// busy says that SQLite answered that another connection holds the lock.
func (a *act) busy() bool { return a.failed && strings.Contains(a.answer, "database is locked") }

// found is what a question or a refused insert answered, as the end of a sentence.
func (a *act) found() string {
	switch {
	case a.tookKey() && a.verb != "INCR":
		return "found no key and set it"
	case a.metKey() && a.verb != "INCR":
		return "found that the key was there (" + a.answer + ")"
	case a.system == trace.Redis && a.sawNothing() && a.verb != "INCR":
		return "found no key"
	case a.system == trace.Redis && a.asks():
		return "found a key"
	case a.answer == "no row":
		return "found no row"
	case a.answer == "0":
		return "answered 0"
	case a.answer == "0 rows":
		return "changed no row"
	case a.failed:
		return "answered an error (" + a.errorText() + ")"
	case a.asks():
		return "found a row"
	default:
		return "answered " + a.answer
	}
}

// which is what a call answered, as a relative clause; empty when it has none.
func (a *act) which() string {
	if a.answer == "" {
		return ""
	}
	return ", which " + a.found()
}

// errorText is the error that was answered, without what the schedule adds.
func (a *act) errorText() string {
	text := strings.TrimPrefix(a.answer, "error: ")
	for _, note := range []string{nothingDone, answerLost} {
		text = strings.TrimSuffix(strings.TrimSpace(text), note)
	}
	return strings.TrimSpace(text)
}

// changed lists the tables whose rows the call changed.
func (a *act) changed() []string {
	if a.setsKey() {
		return []string{a.table}
	}
	var tables []string
	for _, row := range a.rows {
		name, _, _ := strings.Cut(strings.TrimLeft(row, "+-"), "(")
		if !slices.Contains(tables, name) {
			tables = append(tables, name)
		}
	}
	return tables
}

// mentions says that a changed row has the object as a value. The gateway does
// not know what it is paid for: a charge is about what its delivery is about.
func (a *act) mentions(object string) bool {
	if a.object != "" {
		return a.object == object
	}
	if a.system == trace.Send {
		return a.sendKey() == object
	}
	return slices.ContainsFunc(a.rows, func(row string) bool { return slices.Contains(valuesOf(row), object) })
}

// valuesOf lists the values in a row difference, without quotes:
// "+charges(1, 'p-1')" gives 1 and p-1, "accounts('a'): balance 2 → 1" gives a.
func valuesOf(row string) []string {
	_, list, ok := strings.Cut(row, "(")
	if !ok {
		return nil
	}
	if end := strings.LastIndex(list, ")"); end >= 0 {
		list = list[:end]
	}
	values := strings.Split(list, ", ")
	for i, v := range values {
		values[i] = strings.Trim(v, "'")
	}
	return values
}

// evidence is a trace read for the sake of one failure.
type evidence struct {
	*result
	failure failure
	acts    []*act
}

func newEvidence(r *result, f failure) *evidence {
	return &evidence{result: r, failure: f, acts: actsOf(r)}
}

// of lists the calls of one delivery; of a batch, also those that are about all
// of its records.
func (e *evidence) of(d *delivery) []*act {
	var out []*act
	for _, a := range e.acts {
		if a.delivery == d || a.delivery == nil && slices.Contains(a.in.deliveries, d) {
			out = append(out, a)
		}
	}
	return out
}

// turnOf is the call that a delivery was given to.
func (e *evidence) turnOf(d *delivery) *turn {
	for _, a := range e.acts {
		if slices.Contains(a.in.deliveries, d) {
			return a.in
		}
	}
	return &turn{step: d.step, function: e.function(), deliveries: []*delivery{d}}
}

// about says that a delivery's record is the one that the failure names.
func (e *evidence) about(d *delivery) bool {
	return d != nil && e.set.isAbout(d.eventID, e.failure.field, e.failure.object)
}

// repeated finds the change of the object that was made durable twice for one
// event: the first time and the second. Where no row names the object, as in a
// table of records, the two are the same INSERT for a record about it.
func (e *evidence) repeated() (first, second *act) {
	first, second = e.repeatedAs(func(a *act) bool { return a.mentions(e.failure.object) })
	named := slices.ContainsFunc(e.acts, func(a *act) bool { return a.kept > 0 && a.mentions(e.failure.object) })
	if first == nil && !named {
		return e.repeatedAs(func(a *act) bool { return a.verb == "INSERT" && e.about(a.delivery) })
	}
	return first, second
}

func (e *evidence) repeatedAs(is func(*act) bool) (first, second *act) {
	for _, b := range e.acts {
		to := e.deliveryOf(b)
		if b.kept == 0 || to == nil || b.system == trace.Send || !is(b) {
			continue
		}
		for _, a := range e.acts {
			if a.step >= b.step {
				break
			}
			from := e.deliveryOf(a)
			if a.kept > 0 && a.verb == b.verb && a.table == b.table && from != nil && from.eventID == to.eventID && is(a) {
				return a.of(from), b.of(to)
			}
		}
	}
	return nil, nil
}

// deliveryOf is the delivery that a call is about; of one that is about a whole
// batch, that of the record which the failure names.
func (e *evidence) deliveryOf(a *act) *delivery {
	if i := slices.IndexFunc(a.in.deliveries, e.about); a.delivery == nil && i >= 0 {
		return a.in.deliveries[i]
	}
	return a.delivery
}

// of is the call seen as one about a delivery.
func (a *act) of(d *delivery) *act {
	if a.delivery == d {
		return a
	}
	same := *a
	same.delivery = d
	return &same
}

// keptIn lists the calls of a delivery whose changes became durable.
func (e *evidence) keptIn(d *delivery) []*act {
	return slices.DeleteFunc(e.of(d), func(a *act) bool { return a.kept == 0 })
}

// writes finds the first call among acts that changed a row of a table.
func writes(acts []*act, table string) *act {
	for _, a := range acts {
		if slices.Contains(a.changed(), table) {
			return a
		}
	}
	return nil
}

// firstOf finds the first call that is so; nil when there is none.
func firstOf(acts []*act, is func(*act) bool) *act {
	if i := slices.IndexFunc(acts, is); i >= 0 {
		return acts[i]
	}
	return nil
}

// lastOf finds the last call that is so; nil when there is none.
func lastOf(acts []*act, is func(*act) bool) *act {
	for _, a := range slices.Backward(acts) {
		if is(a) {
			return a
		}
	}
	return nil
}

// steadyLane is the instance without the number of its life: "A2" is "A".
func steadyLane(name string) string { return strings.TrimRight(name, "0123456789") }

// returnOf is the step at which the function ended that a delivery was given to;
// nil when it did not.
func (e *evidence) returnOf(d *delivery) *verdict.Step {
	n := -1
	for i, s := range e.steps {
		if s.Lane != d.Instance {
			continue
		}
		if s.Event == trace.Deliver {
			n++
		}
		its := e.delivery(s.Lane, n) == d
		if e.entry == "batch" || e.entry == consumerEntry { // where one step delivers several
			its = s.Step > d.step
		}
		if s.Event == trace.Return && its {
			return &e.steps[i]
		}
	}
	return nil
}

// returnedNil says that the function ended a delivery without an error. Run ends
// none: see committedAhead.
func (e *evidence) returnedNil(d *delivery) bool {
	if e.entry == consumerEntry {
		return false
	}
	s := e.returnOf(d)
	return s != nil && strings.HasPrefix(s.Text, e.function()+" returns nil.")
}

// together says that two instances hold records at the same time.
func (e *evidence) together() bool {
	return e.schedule.Has(schedule.Rebalance) || e.schedule.Has(schedule.Join) || e.schedule.Set == schedule.Two || e.schedule.Phase == schedule.Cluster
}

// name is a delivery's place in a sentence: "the second delivery".
func (d *delivery) name() string {
	return cmp.Or(map[int]string{1: "the first delivery", 2: "the second delivery", 3: "the third delivery"}[d.Attempt],
		fmt.Sprintf("delivery %d", d.Attempt))
}

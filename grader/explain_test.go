package grader

import (
	"strings"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// script is a result made by hand, step by step.
type script struct {
	rec trace.Recorder
	r   *result
}

// newScript begins a result of a schedule, as Schedule.String writes it, over
// the events e1 (payment p-1) and e2 (payment p-2), both on account acc.
func newScript(t *testing.T, choices string) *script {
	t.Helper()
	s, err := schedule.Parse(choices)
	if err != nil {
		t.Fatal(err)
	}
	events := map[string]exercises.Event{}
	for id, payment := range map[string]string{"e1": "p-1", "e2": "p-2"} {
		events[id] = exercises.Event{ID: id, Object: payment, Fields: map[string]any{"account": "acc"}}
	}
	return &script{r: &result{schedule: s, positions: true, set: &recordSet{events: events}}}
}

func (s *script) step(lane, event, text string) *script {
	s.rec.Add(verdict.Step{Lane: lane, Event: event, Text: text})
	return s
}

// deliver hands over event e1 or e2; ended is how the delivery will end.
func (s *script) deliver(lane, eventID string, offset int64, attempt int, ended string) *script {
	s.step(lane, trace.Deliver, lane+" receives "+eventID+".")
	d := &delivery{eventID: eventID, step: s.rec.Last().Step}
	d.Offset, d.Attempt, d.Instance, d.Ended = offset, attempt, lane, ended
	s.r.deliveries = append(s.r.deliveries, d)
	return s
}

// sql is a call at a line; rows are what it changed.
func (s *script) sql(lane string, line int, text string, rows ...string) *script {
	return s.call(lane, trace.SQL, line, text, false, rows)
}

// durable is a call after which what is open is durable.
func (s *script) durable(lane string, line int, text string, rows ...string) *script {
	return s.call(lane, trace.SQL, line, text, true, rows)
}

// fault is a call whose answer the schedule made up; it is durable when the text
// says that it was done.
func (s *script) fault(lane string, line int, text string, rows ...string) *script {
	return s.call(lane, trace.Fault, line, text, strings.Contains(text, answerLost), rows)
}

func (s *script) call(lane, event string, line int, text string, durable bool, rows []string) *script {
	s.rec.Add(verdict.Step{Lane: lane, Event: event, Text: text, File: "handler.go", Line: line, Rows: rows})
	e := done{event: trace.SQL, label: actOf(*s.rec.Last(), trace.SQL).label, instance: lane, step: s.rec.Last().Step, durable: durable}
	if event == trace.Fault && durable {
		e.fault = schedule.Lose
	} else if event == trace.Fault {
		e.fault = schedule.Fail
	}
	s.r.effects = append(s.r.effects, e)
	return s
}

func (s *script) result() *result {
	s.r.steps = s.rec.Steps()
	return s.r
}

const (
	asked   = "SELECT 1 FROM marks WHERE id = 'e1'"
	marks   = "INSERT INTO marks VALUES ('e1')"
	charges = "INSERT INTO charges VALUES ('p-1')"
	marked1 = "+marks('e1')"
	charge1 = "+charges(1, 'p-1')"
	charge2 = "+charges(2, 'p-1')"
	nilBack = "Handle returns nil."
)

func TestExplain(t *testing.T) {
	t.Parallel()
	twice := failure{kind: verdict.Duplicate, invariant: "once", object: "p-1", message: "Payment p-1 was charged 2 times."}
	lost := failure{kind: verdict.Lost, invariant: "all", object: "p-1", message: "Payment p-1 was not charged."}
	account := failure{kind: verdict.Lost, invariant: "debits", object: "acc", field: "account", message: "Account acc was debited too little."}
	for _, tc := range []struct {
		name    string
		failure failure
		result  *result
		want    string // the template, "" for the general sentences
		text    string
		steps   []int // decisive
	}{
		{
			"CheckThenAct", twice, newScript(t, "one rebalance@1").
				deliver("A", "e1", 0, 1, "finished after its partition had moved; its offset commit was refused").
				sql("A", 14, asked+" → no row").
				step("", trace.Fault, "The partition moves to B.").
				deliver("B", "e1", 0, 2, "committed").
				sql("B", 14, asked+" → no row").
				sql("B", 18, marks+" → 1 row", marked1).
				sql("B", 19, charges+" → 1 row", charge1).
				durable("B", 20, "COMMIT").
				step("B", trace.Return, nilBack).
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"check-then-act",
			"A asked with SELECT FROM marks (handler.go:14), which found no row. After that, B committed INSERT INTO marks (handler.go:18) and " +
				"INSERT INTO charges (handler.go:19). A acted on its old answer: INSERT INTO charges (handler.go:19). Nothing in the database forbade the second row.",
			[]int{2, 7, 10},
		},
		{
			"EffectBeforeMark", twice, newScript(t, "one rebalance@2").
				deliver("A", "e1", 0, 1, "finished after its partition had moved; its offset commit was refused").
				durable("A", 19, charges+" → 1 row", charge1).
				deliver("B", "e1", 0, 2, "committed").
				sql("B", 14, asked+" → 0").
				durable("B", 19, charges+" → 1 row", charge2).
				durable("A", 22, marks+" → 1 row", marked1).result(),
			"effect before mark",
			"A had committed INSERT INTO charges (handler.go:19), but not yet INSERT INTO marks (handler.go:22). In between, B asked with " +
				"SELECT FROM marks (handler.go:14), which answered 0, and went on to INSERT INTO charges (handler.go:19). Nothing in the database forbade the second row.",
			[]int{2, 4, 5},
		},
		{
			"CrashGap", twice, newScript(t, "one crash@1").
				deliver("A", "e1", 0, 1, "crashed before INSERT INTO marks (handler.go:22)").
				durable("A", 19, charges+" → 1 row", charge1).
				step("A", trace.Crash, "A dies after INSERT INTO charges (handler.go:19) and before INSERT INTO marks (handler.go:22).").
				deliver("A2", "e1", 0, 2, "committed").
				sql("A2", 14, asked+" → no row").
				durable("A2", 19, charges+" → 1 row", charge2).
				durable("A2", 22, marks+" → 1 row", marked1).result(),
			"crash gap",
			"The process died after INSERT INTO charges (handler.go:19) and before INSERT INTO marks (handler.go:22). On redelivery " +
				"SELECT FROM marks (handler.go:14) found no row, so INSERT INTO charges (handler.go:19) ran again.",
			[]int{2, 5, 6},
		},
		{
			"Ambiguous", twice, newScript(t, "one lose@1").
				deliver("A", "e1", 0, 1, "committed").
				sql("A", 19, charges+" → 1 row", charge1).
				fault("A", 20, "COMMIT → error: disk I/O error (10) "+answerLost).
				sql("A", 19, charges+" → 1 row", charge2).
				durable("A", 20, "COMMIT").
				step("A", trace.Return, nilBack).result(),
			"ambiguous answer",
			"COMMIT (handler.go:20) took place, but its answer was lost and the handler took it for failed. In the same delivery it did " +
				"INSERT INTO charges (handler.go:19) again.",
			[]int{2, 3, 4},
		},
		{
			"ExpiredKeyDeleted", twice, newScript(t, "one jump-25h@3 rewind@3").
				deliver("A", "e1", 0, 1, "committed").
				sql("A", 18, marks+" → 1 row", marked1).
				sql("A", 19, charges+" → 1 row", charge1).
				durable("A", 20, "COMMIT").
				deliver("A", "e1", 0, 2, "committed").
				durable("A", 12, "DELETE FROM marks WHERE at < 1 → 1 row", "-marks('e1')").
				sql("A", 18, marks+" → 1 row", marked1).
				sql("A", 19, charges+" → 1 row", charge2).
				durable("A", 20, "COMMIT").result(),
			"expired key",
			"25 hours passed between two deliveries of the record. The mark that INSERT INTO marks (handler.go:18) had left was deleted by " +
				"DELETE FROM marks (handler.go:12). After that nothing said that the record was done, and INSERT INTO charges (handler.go:19) ran again.",
			[]int{2, 6, 8},
		},
		{
			"StaleWrite",
			failure{kind: verdict.Misordered, invariant: "forward", object: "p-1", message: "Order p-1 went back."},
			newScript(t, "two switch@1 switch@2").
				deliver("A", "e1", 0, 1, "committed").
				sql("A", 14, "SELECT version FROM orders WHERE id = 'p-1' → no row").
				deliver("B", "e2", 0, 1, "committed").
				durable("B", 19, "INSERT INTO orders VALUES ('p-1', 2) → 1 row", "+orders('p-1', 2)").
				durable("A", 19, "INSERT INTO orders VALUES ('p-1', 1) → 1 row", "orders('p-1'): version 2 → 1").result(),
			"stale write",
			"A asked with SELECT FROM orders (handler.go:14), which found no row. After that, B committed INSERT INTO orders (handler.go:19). " +
				"A acted on its old answer: INSERT INTO orders (handler.go:19) wrote over the newer state.",
			[]int{2, 4, 5},
		},
		{
			"MarkDeleted", twice, newScript(t, "one fail@3").
				deliver("A", "e1", 0, 1, "handled; the offset commit was not stored").
				durable("A", 18, marks+" → 1 row", marked1).
				durable("A", 19, charges+" → 1 row", charge1).
				durable("A", 22, "DELETE FROM marks WHERE id = 'e1' → 1 row", "-marks('e1')").
				deliver("A", "e1", 0, 2, "committed").
				durable("A", 18, marks+" → 1 row", marked1).
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"mark deleted",
			"The offset commit was not stored, so the record came again. The mark that INSERT INTO marks (handler.go:18) had left was deleted by " +
				"DELETE FROM marks (handler.go:22). After that nothing said that the record was done, and INSERT INTO charges (handler.go:19) ran again.",
			[]int{2, 4, 7},
		},
		{
			"OtherMarkDeleted", twice, newScript(t, "one fail@3").
				deliver("A", "e1", 0, 1, "handled; the offset commit was not stored").
				durable("A", 19, charges+" → 1 row", charge1).
				durable("A", 22, "DELETE FROM marks WHERE id = 'e0' → 1 row", "-marks('e0')").
				deliver("A", "e1", 0, 2, "committed").
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"unguarded",
			"The offset commit was not stored, so the record came again. No statement before INSERT INTO charges (handler.go:19) asks the database " +
				"whether the record was handled, so it ran again.",
			[]int{2, 5},
		},
		{
			"ExpiredKeyNotFound", twice, newScript(t, "one jump-8d@3 rewind@3").
				deliver("A", "e1", 0, 1, "committed").
				sql("A", 18, marks+" → 1 row", marked1).
				sql("A", 19, charges+" → 1 row", charge1).
				durable("A", 20, "COMMIT").
				deliver("A", "e1", 0, 2, "committed").
				sql("A", 14, asked+" AND at > 5 → no row").
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"expired key",
			"INSERT INTO marks (handler.go:18) had been committed; then 8 days passed. When the record came again, SELECT FROM marks (handler.go:14) " +
				"found no row, so INSERT INTO charges (handler.go:19) ran again.",
			[]int{2, 6, 7},
		},
		{
			"AnswerIgnored", twice, newScript(t, "one fail@3").
				deliver("A", "e1", 0, 1, "handled; the offset commit was not stored").
				durable("A", 18, marks+" → 1 row", marked1).
				durable("A", 19, charges+" → 1 row", charge1).
				deliver("A", "e1", 0, 2, "committed").
				sql("A", 18, marks+" → 0 rows").
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"answer ignored",
			"The offset commit was not stored, so the record came again. This time INSERT INTO marks (handler.go:18) changed no row: its row was there. " +
				"The handler went on to INSERT INTO charges (handler.go:19) all the same.",
			[]int{3, 5, 6},
		},
		{
			"OffsetIsTheKey", twice, newScript(t, "copy").
				deliver("A", "e1", 0, 1, "committed").
				durable("A", 18, "INSERT INTO marks VALUES ('payments/0/0') → 1 row", "+marks('payments/0/0')").
				durable("A", 19, charges+" → 1 row", charge1).
				deliver("A", "e1", 1, 1, "committed").
				durable("A", 18, "INSERT INTO marks VALUES ('payments/0/1') → 1 row", "+marks('payments/0/1')").
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"keys differ",
			"The producer lost an acknowledgement and sent the record again, so the same event stands in the log at two offsets. INSERT INTO marks (handler.go:18) " +
				"left the key payments/0/0 for offset 0 and payments/0/1 for offset 1: the key is made from the offset, so the copy did not look like one. " +
				"INSERT INTO charges (handler.go:19) ran again.",
			[]int{2, 5, 6},
		},
		{
			"KeysDifferForOtherReasons", twice, newScript(t, "one fail@3").
				deliver("A", "e1", 0, 1, "handled; the offset commit was not stored").
				durable("A", 18, "INSERT INTO marks VALUES ('u-1') → 1 row", "+marks('u-1')").
				durable("A", 19, charges+" → 1 row", charge1).
				deliver("A", "e1", 0, 2, "committed").
				durable("A", 18, "INSERT INTO marks VALUES ('u-2') → 1 row", "+marks('u-2')").
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"keys differ",
			"The offset commit was not stored, so the record came again. INSERT INTO marks (handler.go:18) left the key u-1 the first time and u-2 the second time, " +
				"so nothing showed that it was the same event. INSERT INTO charges (handler.go:19) ran again.",
			[]int{2, 5, 6},
		},
		{
			"Unguarded", twice, newScript(t, "one rewind@2").
				deliver("A", "e1", 0, 1, "committed").
				durable("A", 19, charges+" → 1 row", charge1).
				deliver("A", "e1", 0, 2, "committed").
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"unguarded",
			"The group was put back to offset 0, so the record came again. No statement before INSERT INTO charges (handler.go:19) asks the database " +
				"whether the record was handled, so it ran again.",
			[]int{2, 4},
		},
		{
			"UnguardedZombie", twice, newScript(t, "one rebalance@0").
				deliver("A", "e1", 0, 1, "finished after its partition had moved; its offset commit was refused").
				deliver("B", "e1", 0, 2, "committed").
				durable("B", 19, charges+" → 1 row", charge1).
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"unguarded",
			"The partition moved while the record was in hand, so both A and B handled it. No statement before INSERT INTO charges (handler.go:19) asks the database " +
				"whether the record was handled, so it ran again.",
			[]int{3, 4},
		},
		{
			"RolledBackEffectIsNoEffect", twice, newScript(t, "one fail@2").
				deliver("A", "e1", 0, 1, "returned an error").
				sql("A", 19, charges+" → 1 row", charge1).
				sql("A", 21, "ROLLBACK").
				deliver("A", "e1", 0, 2, "committed").
				durable("A", 19, charges+" → 1 row", charge1).result(),
			"", "", nil,
		},
		{
			"MarkerFirst", lost, newScript(t, "one crash@1").
				deliver("A", "e1", 0, 1, "crashed before INSERT INTO charges (handler.go:22)").
				durable("A", 18, marks+" → 1 row", marked1).
				step("A", trace.Crash, "A dies after INSERT INTO marks (handler.go:18) and before INSERT INTO charges (handler.go:22).").
				deliver("A2", "e1", 0, 2, "committed").
				sql("A2", 14, asked+" → 1").
				step("A2", trace.Return, nilBack).result(),
			"marker first",
			"The process died after INSERT INTO marks (handler.go:18) and before INSERT INTO charges (handler.go:22). Its row was durable, the rest of the work was not. " +
				"On redelivery SELECT FROM marks (handler.go:14) found a row, so the work was skipped for ever.",
			[]int{2, 5},
		},
		{
			"LostUpdate", account, newScript(t, "two switch@1").
				deliver("A", "e1", 0, 1, "committed").
				sql("A", 14, "SELECT balance FROM accounts WHERE id = 'acc' → 50000").
				deliver("B", "e2", 0, 1, "committed").
				sql("B", 14, "SELECT balance FROM accounts WHERE id = 'acc' → 50000").
				durable("B", 18, "UPDATE accounts SET balance = 41800 WHERE id = 'acc' → 1 row", "accounts('acc'): balance 50000 → 41800").
				durable("A", 18, "UPDATE accounts SET balance = 41300 WHERE id = 'acc' → 1 row", "accounts('acc'): balance 41800 → 41300").result(),
			"lost update",
			"A read 50000 with SELECT FROM accounts (handler.go:14). B wrote 41800 with UPDATE accounts (handler.go:18). A, which still counted on 50000, wrote 41300 " +
				"with UPDATE accounts (handler.go:18): the change of B vanished.",
			[]int{2, 5, 6},
		},
		{
			"RelativeUpdateLosesNothing", account, newScript(t, "two switch@1").
				deliver("A", "e1", 0, 1, "committed").
				sql("A", 14, "SELECT balance FROM accounts WHERE id = 'acc' → 50000").
				deliver("B", "e2", 0, 1, "committed").
				durable("B", 18, "UPDATE accounts SET balance = balance - 8200 WHERE id = 'acc' → 1 row", "accounts('acc'): balance 50000 → 41800").
				durable("A", 18, "UPDATE accounts SET balance = balance - 500 WHERE id = 'acc' → 1 row", "accounts('acc'): balance 41800 → 41300").result(),
			"", "", nil,
		},
		{
			"ErrorSwallowed", lost, newScript(t, "one fail@0").
				deliver("A", "e1", 0, 1, "committed").
				fault("A", 40, charges+" → error: disk I/O error (10) "+nothingDone).
				step("A", trace.Return, nilBack).result(),
			"error swallowed",
			`INSERT INTO charges (handler.go:40) answered "disk I/O error (10)". The handler returned nil all the same, so the offset was committed and the record never came again.`,
			[]int{2, 3},
		},
		{
			"BusySwallowed", lost, newScript(t, "two switch@1").
				deliver("A", "e1", 0, 1, "committed").
				sql("A", 40, charges+" → error: database is locked (5) (SQLITE_BUSY)").
				step("A", trace.Return, nilBack).result(),
			"error swallowed",
			`INSERT INTO charges (handler.go:40) answered "database is locked (5) (SQLITE_BUSY)". The handler returned nil all the same, so the offset was committed ` +
				"and the record never came again. The error means that another connection held the lock: the call had changed nothing.",
			[]int{2, 3},
		},
		{
			"ErrorReturned", lost, newScript(t, "one fail@0").
				deliver("A", "e1", 0, 1, "returned an error").
				fault("A", 40, charges+" → error: disk I/O error (10) "+nothingDone).
				step("A", trace.Return, "Handle returns an error: insert").result(),
			"", "", nil,
		},
		{
			"NeverCommitted", lost, newScript(t, "one").
				deliver("A", "e1", 0, 1, "committed").
				sql("A", 19, charges+" → 1 row", charge1).
				step("A", trace.Return, nilBack+" A transaction is still open.").result(),
			"never committed",
			"INSERT INTO charges (handler.go:19) changed a row inside a transaction. Handle returned nil while the transaction was still open. " +
				"So the offset was committed, the change was not, and the record never came again.",
			[]int{2, 3},
		},
		{
			"MistakenForAnother",
			failure{kind: verdict.Lost, invariant: "all", object: "p-2"},
			newScript(t, "all").
				deliver("A", "e1", 0, 1, "committed").
				durable("A", 18, "INSERT INTO marks VALUES ('acc') → 1 row", "+marks('acc')").
				step("A", trace.Return, nilBack).
				deliver("A", "e2", 1, 1, "committed").
				sql("A", 18, "INSERT INTO marks VALUES ('acc') → 0 rows").
				step("A", trace.Return, nilBack).result(),
			"mistaken for another",
			"The record of p-2 came for the first time. INSERT INTO marks (handler.go:18) changed no row, so the handler returned nil without doing the work. " +
				"Of the rows there, the one from INSERT INTO marks (handler.go:18) was written for p-1.",
			[]int{2, 5},
		},
		{
			"Undone", account, newScript(t, "one fail@1").
				deliver("A", "e1", 0, 1, "returned an error").
				sql("A", 18, "UPDATE accounts SET balance = balance - 5 WHERE id = 'acc' → 1 row", "accounts('acc'): balance 10 → 5").
				fault("A", 20, "COMMIT → error: disk I/O error (10) "+nothingDone).
				durable("A", 24, "UPDATE accounts SET balance = balance + 5 WHERE id = 'acc' → 1 row", "accounts('acc'): balance 10 → 15").
				step("A", trace.Return, "Handle returns an error: commit").result(),
			"undone",
			"COMMIT (handler.go:20) answered an error; nothing of it was done. After the error the handler did UPDATE accounts (handler.go:24), which became durable.",
			[]int{3, 4},
		},
		{
			"DoneTwice", account, newScript(t, "one crash@1 crash@2").
				deliver("A", "e1", 0, 1, "crashed before COMMIT").
				durable("A", 24, "UPDATE accounts SET balance = balance + 5 WHERE id = 'acc' → 1 row", "accounts('acc'): balance 10 → 15").
				step("A", trace.Crash, "A dies after UPDATE accounts (handler.go:24).").
				deliver("A2", "e1", 0, 2, "committed").
				durable("A2", 24, "UPDATE accounts SET balance = balance + 5 WHERE id = 'acc' → 1 row", "accounts('acc'): balance 15 → 20").result(),
			"done twice",
			"A died after UPDATE accounts (handler.go:24). UPDATE accounts (handler.go:24) became durable twice for this record: by A, and again by A2.",
			[]int{2, 5},
		},
		{
			"Removed", lost, newScript(t, "one rebalance@1 crash@2").
				deliver("A", "e1", 0, 1, "finished after its partition had moved; its offset commit was refused").
				durable("A", 19, charges+" → 1 row", charge1).
				deliver("B", "e1", 0, 2, "returned an error").
				durable("B", 38, "DELETE FROM charges WHERE payment = 'p-1' → 1 row", "-charges(1, 'p-1')").result(),
			"removed",
			"The partition moved to B while A was handling the record, and both went on. A had written a row with INSERT INTO charges (handler.go:19); " +
				"B deleted it with DELETE FROM charges (handler.go:38). Nothing wrote it again.",
			[]int{2, 4},
		},
		{
			"NoFault", lost, newScript(t, "one").
				deliver("A", "e1", 0, 1, "committed").
				durable("A", 19, "INSERT INTO charges VALUES ('') → 1 row", "+charges(1, '')").
				step("A", trace.Return, nilBack).result(),
			"", "It happens without any fault: each record was delivered once and its offset committed.", nil,
		},
		{
			"OlderOver",
			failure{kind: verdict.Misordered, invariant: "forward", object: "p-1", message: "Order p-1 went back."},
			newScript(t, "all").
				deliver("A", "e1", 0, 1, "committed").
				durable("A", 19, "UPDATE orders SET version = 2 WHERE id = 'p-1' → 1 row", "orders('p-1'): version 1 → 2").
				deliver("A", "e2", 1, 1, "committed").
				durable("A", 19, "UPDATE orders SET version = 1 WHERE id = 'p-1' → 1 row", "orders('p-1'): version 2 → 1").result(),
			"older over newer",
			"UPDATE orders (handler.go:19) had written the state of the record at offset 0. Then UPDATE orders (handler.go:19) wrote that of the record at offset 1 over it: " +
				"orders('p-1'): version 2 → 1. No statement before it asks which state is the newer one.",
			[]int{2, 4},
		},
		{
			"LessByTheSameRecord",
			failure{kind: verdict.Misordered, invariant: "forward", object: "p-1", message: "p-1 went down."},
			newScript(t, "one fail@1").
				deliver("A", "e1", 0, 1, "handled; the offset commit was not stored").
				durable("A", 19, "UPDATE points SET n = n + 1 WHERE id = 'p-1' → 1 row", "points('p-1'): n 1 → 2").
				deliver("A", "e1", 0, 2, "committed").
				durable("A", 22, "UPDATE points SET n = n - 1 WHERE id = 'p-1' → 1 row", "points('p-1'): n 2 → 1").result(),
			"", "It happens without any fault: each record was delivered once and its offset committed.", nil,
		},
		{
			"NothingWritten", lost, newScript(t, "one").
				deliver("A", "e1", 0, 1, "committed").
				step("A", trace.Return, nilBack).result(),
			"nothing written",
			"For the record of p-1 at offset 0 the handler made no call at all. Handle returned nil, so the offset was committed and the record never came again.",
			[]int{2},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := explain(tc.result, tc.failure)
			if got.name != tc.want || tc.text != "" && got.text != tc.text {
				t.Errorf("template %q:\n%s\nwant %q:\n%s", got.name, got.text, tc.want, tc.text)
			}
			if tc.want == "" {
				return
			}
			if got.short == "" || strings.HasSuffix(got.short, ".") || got.key == "" {
				t.Errorf("short %q, key %q", got.short, got.key)
			}
			var decisive []int
			for _, a := range got.acts {
				decisive = append(decisive, a.step)
			}
			if decisive = append(decisive, got.steps...); !equalInts(decisive, tc.steps) {
				t.Errorf("decisive steps %v, want %v", decisive, tc.steps)
			}
		})
	}
}

func equalInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestExplainProblem(t *testing.T) {
	t.Parallel()
	stuckResult := newScript(t, "one crash@1").
		deliver("A", "e1", 0, 1, "crashed before SELECT").
		durable("A", 27, "INSERT INTO locks VALUES ('e1') → 1 row", "+locks('e1')").
		step("A", trace.Crash, "A dies after INSERT INTO locks (handler.go:27).").
		deliver("A2", "e1", 0, 2, "returned an error").
		sql("A2", 27, "INSERT INTO locks VALUES ('e1') → error: UNIQUE constraint failed: locks.id (1555)").
		step("A2", trace.Return, "Handle returns an error: another one is at it").result()
	stuckResult.problem = &problem{kind: verdict.Stuck, text: "p-1 was delivered 5 times.", object: "p-1"}
	panicResult := newScript(t, "one").
		deliver("A", "e1", 0, 1, "panicked").
		sql("A", 12, asked+" → no row").
		sql("A", 13, "ROLLBACK").
		step("A", trace.Crash, "panic: nil map (handler.go:14)").result()
	panicResult.problem = &problem{kind: verdict.Crash, text: "panic: nil map (handler.go:14)", file: "handler.go", line: 14}
	limitResult := newScript(t, "one rewind@2").deliver("A", "e1", 0, 1, "was stopped").result()
	limitResult.problem = &problem{kind: verdict.Timeout, text: "too long"}
	for _, tc := range []struct {
		name   string
		kind   verdict.Kind
		result *result
		want   string
	}{
		{"StuckNamesTheCall", verdict.Stuck, stuckResult, "A died after INSERT INTO locks (handler.go:27). Every later delivery ends at INSERT INTO locks (handler.go:27), " +
			"which answered an error (UNIQUE constraint failed: locks.id (1555)): Handle returns an error, the offset is not committed, and the records behind it wait."},
		{"PanicNamesTheLastCall", verdict.Crash, panicResult, "The last call before the panic was SELECT FROM marks (handler.go:12), which found no row. " +
			"A panic ends the process, and the record comes again to the next one."},
		{"LimitNamesTheCause", verdict.Timeout, limitResult, "Before that, the group was put back to offset 0."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := explain(tc.result, failure{kind: tc.kind, object: "p-1"}); got.text != tc.want {
				t.Errorf("got  %s\nwant %s", got.text, tc.want)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, message, short, want string }{
		{"JoinsWithColon", "Payment p-1 was charged 2 times.", "The process died", "Payment p-1 was charged 2 times: the process died."},
		{"KeepsSQLWords", "It is so.", "COMMIT (handler.go:3) failed", "It is so: COMMIT (handler.go:3) failed."},
		{"KeepsInstances", "It is so.", "A2 died", "It is so: A2 died."},
		{"KeepsHandle", "It is so.", "Handle returned nil", "It is so: Handle returned nil."},
		{"NeverTwoColons", "Payment p-1: no row.", "it died", "Payment p-1: no row; it died."},
		{"MessageAlone", "It is so.", "", "It is so."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := summaryOf(tc.message, tc.short); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

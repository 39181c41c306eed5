package grader

import (
	"strings"
	"testing"
	"time"

	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// entry makes the result one of an entry.
func (s *script) entry(name string) *script {
	s.r.entry = name
	return s
}

// batch hands over several events at once, from an offset on.
func (s *script) batch(lane string, offset int64, attempt int, ended string, eventIDs ...string) *script {
	s.step(lane, trace.Deliver, lane+" receives a batch.")
	for i, id := range eventIDs {
		d := &delivery{eventID: id, step: s.rec.Last().Step}
		d.Offset, d.Attempt, d.Instance, d.Ended = offset+int64(i), attempt, lane, ended
		s.r.deliveries = append(s.r.deliveries, d)
	}
	return s
}

// to is a call to another system than the database; it is durable unless it fails
// or only asks.
func (s *script) to(system, lane string, line int, text string, rows ...string) *script {
	event, lost := system, strings.Contains(text, answerLost)
	if strings.Contains(text, " → error: ") {
		event = trace.Fault
	}
	s.call(lane, event, line, text, false, rows)
	e := &s.r.effects[len(s.r.effects)-1]
	a := actOf(*s.rec.Last(), system)
	e.event, e.label = system, a.label
	e.durable = lost || !a.failed && !a.asks() && !a.metKey()
	if lost {
		e.fault = schedule.Lose
	}
	return s
}

// unheard is an answer that does not reach the caller.
func (s *script) unheard(lane string) *script {
	s.step(lane, trace.Fault, "The answer does not reach the caller, who calls again.")
	s.r.effects = append(s.r.effects, done{label: callerHears, event: trace.Return, instance: lane, step: s.rec.Last().Step, offset: true, fault: schedule.Fail})
	return s
}

const (
	inOut   = "Produces to out: key p-1, event-id "
	keySet  = "SET done:p-1 1 ex 600 → OK"
	keyGone = "GET done:p-1 → nil"
	died    = "A dies after COMMIT (handler.go:20) and before SET done:p-1 (handler.go:25)."
)

// What is told of batches, positions, relays, Redis and the gateway.
func TestExplainServices(t *testing.T) {
	t.Parallel()
	twice := failure{kind: verdict.Duplicate, invariant: "once", object: "p-1", message: "Payment p-1 was charged 2 times."}
	lost := failure{kind: verdict.Lost, invariant: "all", object: "p-1", message: "Payment p-1 was not charged."}
	for _, tc := range []struct {
		name    string
		failure failure
		result  *result
		want    string
		text    string
	}{
		{
			"KeySetAfterTheWrite", twice, newScript(t, "one crash@2").
				deliver("A", "e1", 0, 1, "crashed before SET done:p-1").
				to(trace.Redis, "A", 14, keyGone).
				durable("A", 19, charges+" → 1 row", charge1).
				step("A", trace.Crash, died).
				deliver("A2", "e1", 0, 2, "committed").
				to(trace.Redis, "A2", 14, keyGone).
				durable("A2", 19, charges+" → 1 row", charge2).
				to(trace.Redis, "A2", 25, keySet).result(),
			"crash gap",
			"The process died after INSERT INTO charges (handler.go:19) and before SET done:p-1 (handler.go:25). On redelivery GET done:p-1 (handler.go:14) found no key, " +
				"so INSERT INTO charges (handler.go:19) ran again.",
		},
		{
			"KeySetBeforeTheWrite", lost, newScript(t, "one crash@1").
				deliver("A", "e1", 0, 1, "crashed before BEGIN").
				to(trace.Redis, "A", 14, "SET done:p-1 1 ex 600 nx → OK").
				step("A", trace.Crash, "A dies after SET done:p-1 (handler.go:14) and before BEGIN (handler.go:17).").
				deliver("A2", "e1", 0, 2, "committed").
				to(trace.Redis, "A2", 14, "SET done:p-1 1 ex 600 nx → nil").
				step("A2", trace.Return, nilBack).result(),
			"marker first",
			"The process died after SET done:p-1 (handler.go:14) and before BEGIN (handler.go:17). Redis kept its key, the rest of the work was not durable: " +
				"Redis knows nothing of a transaction in the database. On redelivery SET done:p-1 (handler.go:14) found that the key was there (nil), so the work was skipped for ever.",
		},
		{
			"AnswerOfSetnxLost", lost, newScript(t, "one lose@0").
				deliver("A", "e1", 0, 1, "returned an error").
				to(trace.Redis, "A", 14, "SET done:p-1 1 ex 600 nx → error: i/o timeout "+answerLost).
				step("A", trace.Return, "Handle returns an error: i/o timeout").
				deliver("A", "e1", 0, 2, "committed").
				to(trace.Redis, "A", 14, "SET done:p-1 1 ex 600 nx → nil").
				step("A", trace.Return, nilBack).result(),
			"marker first",
			"SET done:p-1 (handler.go:14) took place, but its answer was lost, and Handle returned an error. Redis kept its key, the rest of the work was not durable: " +
				"Redis knows nothing of a transaction in the database. On redelivery SET done:p-1 (handler.go:14) found that the key was there (nil), so the work was skipped for ever.",
		},
		{
			"KeyExpired", twice, newScript(t, "one fail@3 jump-expiry@4").
				deliver("A", "e1", 0, 1, "handled; the offset commit was not stored").
				to(trace.Redis, "A", 14, keyGone).
				durable("A", 19, charges+" → 1 row", charge1).
				to(trace.Redis, "A", 25, keySet).
				step("", trace.Fault, "10 minutes pass, so the keys in Redis expire.").
				deliver("A", "e1", 0, 2, "committed").
				to(trace.Redis, "A", 14, keyGone).
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"key expired",
			"SET done:p-1 (handler.go:25) left its key in Redis for 10 minutes. 10 minutes passed, the key expired, and the record came again. " +
				"GET done:p-1 (handler.go:14) found no key, so INSERT INTO charges (handler.go:19) ran again. Nothing in the database forbade the second row.",
		},
		{
			"LeaseExpired", twice, newScript(t, "one jump-expiry@1 rebalance@1").
				deliver("A", "e1", 0, 1, "finished after its partition had moved; its offset commit was refused").
				to(trace.Redis, "A", 14, "SET lease:p-1 a ex 30 nx → OK").
				deliver("B", "e1", 0, 2, "committed").
				to(trace.Redis, "B", 14, "SET lease:p-1 b ex 30 nx → OK").
				durable("B", 19, charges+" → 1 row", charge1).
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"lease expired",
			"A took the key with SET lease:p-1 (handler.go:14), for 30 seconds. While A was paused, the key expired, and B took it with SET lease:p-1 (handler.go:14): both held it. " +
				"B did INSERT INTO charges (handler.go:19) and A did INSERT INTO charges (handler.go:19). Nothing in the database forbade the second row.",
		},
		{
			"KeyDeleted", twice, newScript(t, "one lose@2").
				deliver("A", "e1", 0, 1, "returned an error").
				to(trace.Redis, "A", 14, "SET done:p-1 1 ex 600 nx → OK").
				sql("A", 19, charges+" → 1 row", charge1).
				fault("A", 20, "COMMIT → error: disk I/O error (10) "+answerLost).
				to(trace.Redis, "A", 22, "DEL done:p-1 → 1").
				step("A", trace.Return, "Handle returns an error: commit").
				deliver("A", "e1", 0, 2, "committed").
				to(trace.Redis, "A", 14, "SET done:p-1 1 ex 600 nx → OK").
				durable("A", 19, charges+" → 1 row", charge2).result(),
			"key deleted",
			"COMMIT (handler.go:20) took place, but its answer was lost and the handler took it for failed. The handler then took its key away again with DEL done:p-1 (handler.go:22). " +
				"Handle returned an error, so the record came again. SET done:p-1 (handler.go:14) found no key and set it, so INSERT INTO charges (handler.go:19) ran again.",
		},
		{
			"TwoIdempotencyKeys", twice, newScript(t, "one lose@0").
				deliver("A", "e1", 0, 1, "committed").
				to(trace.Charge, "A", 14, `Charge "acc", 4900 cents, idempotency key "p-1/1" → error: gateway: no answer: i/o timeout `+answerLost, "+gateway_charges('r-1', 'acc', 4900, 'p-1/1')").
				to(trace.Charge, "A", 14, `Charge "acc", 4900 cents, idempotency key "p-1/2" → receipt r-2`, "+gateway_charges('r-2', 'acc', 4900, 'p-1/2')").result(),
			"two keys",
			"The charge at the gateway (handler.go:14) took place, but its answer was lost, and the handler asked again. " +
				`The first request carried the idempotency key "p-1/1" and the second "p-1/2": for the gateway these are two charges.`,
		},
		{
			"TimeOutTakenForARefusal", lost, newScript(t, "one lose@0").
				deliver("A", "e1", 0, 1, "committed").
				to(trace.Charge, "A", 14, `Charge "acc", 4900 cents, idempotency key "p-1" → error: gateway: no answer: i/o timeout `+nothingDone).
				step("A", trace.Return, nilBack).result(),
			"error swallowed",
			`The charge at the gateway (handler.go:14) answered "gateway: no answer: i/o timeout". A time-out is no refusal: the account may be charged or not, ` +
				"and only the same request with the same key tells. The handler returned nil all the same, so the offset was committed and the record never came again.",
		},
		{
			"HalfABatch", twice, newScript(t, "all crash@1").entry("batch").
				batch("A", 0, 1, "crashed before BEGIN", "e1", "e2").
				durable("A", 19, charges+" → 1 row", charge1).
				step("A", trace.Crash, "A dies after INSERT INTO charges (handler.go:19) and before INSERT INTO charges (handler.go:19).").
				batch("A2", 0, 2, "committed", "e1", "e2").
				durable("A2", 19, charges+" → 1 row", charge2).result(),
			"unguarded restart",
			"The process died after INSERT INTO charges (handler.go:19) and before INSERT INTO charges (handler.go:19), so the batch came again, although 1 of its 2 records had been done. " +
				"A2 is a new process: what A kept in memory is gone. No statement before INSERT INTO charges (handler.go:19) asks the database whether the record was handled, so it ran again.",
		},
		{
			"BatchTakenForDone",
			failure{kind: verdict.Lost, invariant: "all", object: "p-2"},
			newScript(t, "all split@0 fail@2").entry("batch").
				batch("A", 0, 1, "handled; the offset commit was not stored", "e1").
				durable("A", 18, marks+" → 1 row", marked1).
				step("A", trace.Return, "HandleBatch returns nil.").
				batch("A", 0, 2, "committed", "e1", "e2").
				sql("A", 18, marks+" → 0 rows").
				step("A", trace.Return, "HandleBatch returns nil.").result(),
			"batch taken for done",
			"A received 2 records as one batch, among them p-2. INSERT INTO marks (handler.go:18) for p-1 changed no row: that one was done. " +
				"HandleBatch returned nil without having done p-2, the offset behind the batch was committed, and the record never came again.",
		},
		{
			"CopyInTheBatch", twice, newScript(t, "copy").entry("batch").
				batch("A", 0, 1, "committed", "e1", "e2", "e1").
				sql("A", 14, asked+" → no row").
				durable("A", 19, charges+" → 1 row", charge1).
				durable("A", 19, "INSERT INTO charges VALUES ('p-2') → 1 row", "+charges(2, 'p-2')").
				durable("A", 19, charges+" → 1 row", "+charges(3, 'p-1')").result(),
			"twice in a batch",
			"The producer lost an acknowledgement and sent the record again. The batch held the event twice, at the offsets 0 and 2. " +
				"SELECT FROM marks (handler.go:14) asked once, before the first of the two was done, and nothing asked again. So INSERT INTO charges (handler.go:19) ran for both.",
		},
		{
			"MarkedBeforeSent", lost, newScript(t, "one crash@3").entry("relay").
				deliver("A", "e1", 0, 1, "committed").
				durable("A", 12, "INSERT INTO outbox VALUES (1, 'p-1', 0) → 1 row", "+outbox(1, 'p-1', 0)").
				step("A", trace.Return, nilBack).
				step("A", trace.Group, "A calls Relay.").
				durable("A", 30, "UPDATE outbox SET sent = 1 WHERE id = 1 → 1 row", "outbox(1): sent 0 → 1").
				step("A", trace.Crash, "A dies after UPDATE outbox (handler.go:30) and before the produce to out (handler.go:33).").
				step("A2", trace.Group, "A2 calls Relay.").
				sql("A2", 28, "SELECT id FROM outbox WHERE sent = 0 → no row").result(),
			"marked before sent",
			"Relay marked the event as sent with UPDATE outbox (handler.go:30), before it sent it. " +
				"The process died after UPDATE outbox (handler.go:30) and before the produce to out (handler.go:33): nothing was sent. " +
				"The mark is durable, so no later call of Relay takes the event up.",
		},
		{
			"SentTwiceWithTwoIDs",
			failure{kind: verdict.Duplicate, invariant: "one id", object: "p-1"},
			newScript(t, "one crash@3").entry("relay").
				deliver("A", "e1", 0, 1, "committed").
				durable("A", 12, "INSERT INTO outbox VALUES (1, 'p-1', 0) → 1 row", "+outbox(1, 'p-1', 0)").
				step("A", trace.Group, "A calls Relay.").
				to(trace.Send, "A", 33, inOut+"u-1, {} → 0/0").
				step("A", trace.Crash, "A dies after the produce to out (handler.go:33) and before UPDATE outbox (handler.go:36).").
				step("A2", trace.Group, "A2 calls Relay.").
				to(trace.Send, "A2", 33, inOut+"u-2, {} → 0/1").result(),
			"event ids differ",
			"The process died after the produce to out (handler.go:33) and before UPDATE outbox (handler.go:36), so it was sent again. " +
				"The first record has the event id u-1, the second u-2: the id is made for each sending. A consumer that looks at the ids takes them for two events.",
		},
		{
			"IDGoneWithTheProcess",
			failure{kind: verdict.Duplicate, invariant: "one id", object: "p-1"},
			newScript(t, "all fail@3 crash@4").entry(producerEntry).
				deliver("A", "e1", verdict.NoOffset, 1, "returned nil; the caller did not hear of it").
				to(trace.Send, "A", 33, inOut+"u-1, {} → 0/0").
				unheard("A").
				deliver("A", "e1", verdict.NoOffset, 2, "crashed before SELECT FROM orders (handler.go:20)").
				step("A", trace.Crash, "A dies before its first call, SELECT FROM orders (handler.go:20).").
				deliver("A2", "e1", verdict.NoOffset, 3, "returned nil").
				to(trace.Send, "A2", 33, inOut+"u-2, {} → 0/1").result(),
			"event ids differ",
			"The answer did not reach the caller, who called again; but then the process died, and what it had kept in memory was gone, so a new process sent it again. " +
				"The first record has the event id u-1, the second u-2: the first id lived no longer than its process. A consumer that looks at the ids takes them for two events.",
		},
		{
			"QueueInMemory", lost, newScript(t, "one crash@2").entry("relay").
				deliver("A", "e1", 0, 1, "committed").
				durable("A", 12, "INSERT INTO orders VALUES ('p-1') → 1 row", "+orders('p-1')").
				step("A", trace.Return, nilBack).
				step("A", trace.Crash, "A dies after the offset commit.").
				step("A2", trace.Group, "A2 calls Relay.").result(),
			"queue in memory",
			"INSERT INTO orders (handler.go:12) was durable. The process died after the offset commit. What was to be sent stood only in the memory of that process; " +
				"the next one begins with none, and no table says what is to be sent.",
		},
		{
			"PositionBehind", twice, newScript(t, "one crash@1").entry("offsets").
				deliver("A", "e1", 0, 1, "crashed before INSERT INTO positions").
				durable("A", 19, "UPDATE totals SET n = n + 1 WHERE id = 'p-1' → 1 row", "totals('p-1'): n 0 → 1").
				step("A", trace.Crash, "A dies after UPDATE totals (handler.go:19) and before INSERT INTO positions (handler.go:22).").
				step("A2", trace.Group, "A2 is assigned /0 and asks StartOffset where to begin.").
				step("A2", trace.Return, "StartOffset returns 0.").
				deliver("A2", "e1", 0, 2, "handled").
				durable("A2", 19, "UPDATE totals SET n = n + 1 WHERE id = 'p-1' → 1 row", "totals('p-1'): n 1 → 2").
				durable("A2", 22, "INSERT INTO positions VALUES (1) → 1 row", "+positions(1)").result(),
			"position behind",
			"The process died after UPDATE totals (handler.go:19) and before INSERT INTO positions (handler.go:22). " +
				"UPDATE totals (handler.go:19) was durable, the position behind it was not: the two are not in one transaction. " +
				"StartOffset returned 0, so the reading at offset 0 came again and UPDATE totals (handler.go:19) added it once more.",
		},
		{
			"PositionAhead", lost, newScript(t, "one crash@1").entry("offsets").
				deliver("A", "e1", 0, 1, "crashed before UPDATE totals").
				durable("A", 22, "INSERT INTO positions VALUES (1) → 1 row", "+positions(1)").
				step("A", trace.Crash, "A dies after INSERT INTO positions (handler.go:22) and before UPDATE totals (handler.go:25).").
				step("A2", trace.Group, "A2 is assigned /0 and asks StartOffset where to begin.").
				step("A2", trace.Return, "StartOffset returns 1.").result(),
			"position ahead",
			"INSERT INTO positions (handler.go:22) had moved the position for good. " +
				"The process died after INSERT INTO positions (handler.go:22) and before UPDATE totals (handler.go:25): the reading was not added. " +
				"StartOffset returned 1, so the reading at offset 0 never came again.",
		},
		{
			"PositionOfAnotherPartition", lost, newScript(t, "all").entry("offsets").
				step("A", trace.Group, "A is assigned /1 and asks StartOffset where to begin.").
				step("A", trace.Return, "StartOffset returns 2.").result(),
			"position too far",
			"StartOffset returned 2 for /1, of which nothing had been read. That is the position of another partition: offsets count in each partition from 0. " +
				"So the readings before offset 2 of /1 were never read.",
		},
		{
			"LateInstance", twice, newScript(t, "one rebalance@0").entry("offsets").
				deliver("A", "e1", 0, 1, "handled").
				deliver("B", "e1", 0, 2, "handled").
				durable("B", 19, "UPDATE totals SET n = n + 1 WHERE id = 'p-1' → 1 row", "totals('p-1'): n 0 → 1").
				durable("A", 19, "UPDATE totals SET n = n + 1 WHERE id = 'p-1' → 1 row", "totals('p-1'): n 1 → 2").result(),
			"late instance",
			"The partition moved to B while A was handling the record; A did not know, and both went on. B added the reading at offset 0 with UPDATE totals (handler.go:19). " +
				"No statement of A compares the offset of its reading with the stored position, so UPDATE totals (handler.go:19) added it once more.",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := explain(tc.result, tc.failure); got.name != tc.want || got.text != tc.text {
				t.Errorf("template %q:\n    %s\n    want %q:\n    %s", got.name, got.text, tc.want, tc.text)
			}
		})
	}
}

func TestSpoken(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Second: "1 second", 90 * time.Second: "1 minute and 30 seconds", 10 * time.Minute: "10 minutes", 24 * time.Hour: "24 hours", 25 * time.Hour: "25 hours",
		48 * time.Hour: "2 days", 8 * 24 * time.Hour: "8 days", time.Hour + 5*time.Second: "1 hour and 5 seconds", 1500 * time.Millisecond: "1.5s",
	} {
		if got := spoken(d); got != want {
			t.Errorf("%v is spoken %q, want %q", d, got, want)
		}
	}
}

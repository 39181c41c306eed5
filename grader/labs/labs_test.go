package labs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"redeliver/grader/labs/scene"
)

type testBundle struct {
	ctx context.Context
	lab Lab
}

func setup(t *testing.T, slug string) *testBundle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // against hanging, not slowness
	t.Cleanup(cancel)
	lab, err := Start(ctx, slug)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lab.Close)
	return &testBundle{ctx, lab}
}

// do carries actions out and returns what the lab then shows.
func (b *testBundle) do(t *testing.T, actions ...string) scene.Scene {
	t.Helper()
	for _, a := range actions {
		action, choices := a, map[string]string{}
		if name, rest, ok := strings.Cut(a, " "); ok {
			action = name
			for pair := range strings.FieldsSeq(rest) {
				k, v, _ := strings.Cut(pair, "=")
				choices[k] = v
			}
		}
		if err := b.lab.Do(b.ctx, action, choices); err != nil {
			t.Fatalf("%s: %v", a, err)
		}
	}
	s, err := b.lab.Scene(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ids(s scene.Scene) (out []string) {
	for _, e := range s.Story {
		out = append(out, e.ID)
	}
	return out
}

func states(l scene.Log) (out []string) {
	for _, r := range l.Records {
		out = append(out, r.State)
	}
	return out
}

// acknowledged lists the offsets that the producer was told.
func acknowledged(s scene.Scene) (out []int64) {
	for _, e := range s.Story {
		if e.ID == "acknowledged" {
			out = append(out, e.Places[1].(int64))
		}
	}
	return out
}

// The worked example of the articles: two purchases, one lost acknowledgement.
func TestLostAck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		settings string
		balance  scene.Cents
		records  int
	}{
		{"idempotence=off acks=all protection=none", 353_00, 3},
		{"idempotence=off acks=1 protection=none", 353_00, 3},
		{"idempotence=on acks=all protection=none", 402_00, 2},
		{"idempotence=off acks=all protection=cache", 402_00, 3},
		{"idempotence=off acks=all protection=table", 402_00, 3},
		{"idempotence=on acks=all protection=table", 402_00, 2},
	} {
		t.Run(tc.settings, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "lost-ack")
			s := b.do(t, "restart "+tc.settings, "buy", "buy-lost")
			if s.Account.Balance != tc.balance || len(s.Logs[0].Records) != tc.records {
				t.Errorf("balance %d with %d records", s.Account.Balance, len(s.Logs[0].Records))
			}
			if got, want := acknowledged(s), []int64{0, int64(tc.records) - 1}; !slices.Equal(got, want) {
				t.Errorf("acknowledged: offsets %v, want %v", got, want)
			}
			if r := s.Runs[0]; r.Balance != tc.balance || r.Sent != 2 || scene.Cents(r.Debits)*price != opening-tc.balance {
				t.Errorf("the run: %+v", r)
			}
		})
	}
}

func TestLostAckLater(t *testing.T) {
	t.Parallel()
	for protection, want := range map[string]scene.Cents{"cache": 402_00, "table": 451_00, "none": 402_00} {
		b := setup(t, "lost-ack")
		s := b.do(t, "restart idempotence=on protection="+protection, "buy", "later")
		if s.Account.Balance != want {
			t.Errorf("%s: %d cents after the keys have expired, want %d", protection, s.Account.Balance, want)
		}
	}
}

func TestIdempotenceWithOneAckIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, "lost-ack")
	s := b.do(t, "restart idempotence=on acks=1")
	if len(s.Producers) != 0 || !s.Buttons[0].Off || s.Story[0].ID != "refused" {
		t.Errorf("%+v", s)
	}
	if err := b.lab.Do(b.ctx, "buy", nil); !errors.Is(err, ErrNotNow) {
		t.Errorf("%v", err)
	}
}

func TestPIDAndSequence(t *testing.T) {
	t.Parallel()
	b := setup(t, "pid-and-sequence")
	s := b.do(t, "send", "deliver", "send")
	if p := s.Producers[0]; p.State != "expecting" || p.Next != 2 || s.Logs[0].Records[1].PID != p.PID || s.Logs[0].Records[1].Sequence != 1 {
		t.Fatalf("%+v", s)
	}
	s = b.do(t, "lose", "lose", "deliver")
	if n := len(s.Logs[0].Records); n != 2 || !slices.Contains(ids(s), "dropped") {
		t.Errorf("%d records, %v", n, ids(s))
	}
	s = b.do(t, "send-same", "deliver") // the same life, but a new call of the application
	if got := states(s.Logs[0]); !slices.Equal(got, []string{"", "", "copy"}) {
		t.Errorf("%v", got)
	}
	s = b.do(t, "new-producer", "send-same", "deliver")
	last := s.Logs[0].Records[3]
	if len(s.Producers) != 2 || s.Producers[0].PID == s.Producers[1].PID || last.PID != s.Producers[1].PID || last.Sequence != 0 || last.State != "copy" {
		t.Errorf("%+v", s)
	}
}

func TestWithoutIdempotenceTheRepeatIsStored(t *testing.T) {
	t.Parallel()
	b := setup(t, "pid-and-sequence")
	s := b.do(t, "restart idempotence=off", "send", "lose", "deliver")
	if got := states(s.Logs[0]); !slices.Equal(got, []string{"", "copy"}) || s.Producers[0].PID != -1 || s.Logs[0].Records[0].PID != -1 {
		t.Errorf("%+v", s)
	}
}

func TestAProducerEndsWhileItWaits(t *testing.T) {
	t.Parallel()
	b := setup(t, "pid-and-sequence")
	s := b.do(t, "send", "new-producer", "send-same", "deliver")
	if got := states(s.Logs[0]); !slices.Equal(got, []string{"", "copy"}) {
		t.Errorf("%v", got)
	}
}

func TestCrashBeforeCommit(t *testing.T) {
	t.Parallel()
	b := setup(t, "crash-before-commit")
	for settings, want := range map[string]string{
		"order=effect-first guard=none crash=nowhere":    "once",
		"order=effect-first guard=none crash=received":   "once",
		"order=effect-first guard=none crash=updated":    "once",
		"order=effect-first guard=none crash=committed":  "twice",
		"order=effect-first guard=none crash=offset":     "once",
		"order=effect-first guard=table crash=updated":   "once",
		"order=effect-first guard=table crash=committed": "once",
		"order=offset-first guard=none crash=received":   "once",
		"order=offset-first guard=none crash=offset":     "lost",
		"order=offset-first guard=none crash=updated":    "lost",
		"order=offset-first guard=none crash=committed":  "once",
		"order=offset-first guard=table crash=offset":    "lost",
		"order=effect-first guard=table crash=nowhere":   "once",
		"order=effect-first guard=table crash=received":  "once",
		"order=effect-first guard=table crash=offset":    "once",
		"order=offset-first guard=table crash=received":  "once",
		"order=offset-first guard=table crash=updated":   "lost",
		"order=offset-first guard=table crash=committed": "once",
		"order=offset-first guard=table crash=nowhere":   "once",
		"order=offset-first guard=none crash=nowhere":    "once",
	} {
		s := b.do(t, "run prediction=twice "+settings)
		if r := s.Runs[0]; r.Outcome != want || r.Predicted != "twice" {
			t.Errorf("%s: %+v, want %s; %v", settings, r, want, ids(s))
		}
		if s.Facts[0].Value != 1 {
			t.Errorf("%s: committed %d", settings, s.Facts[0].Value)
		}
	}
}

func TestTwoInstances(t *testing.T) {
	t.Parallel()
	b := setup(t, "two-instances")
	for order, want := range map[string]scene.Cents{
		"restart protection=select, step-a, step-a, rebalance, step-b, step-b, step-a, step-b, step-a, step-b":                402_00,
		"restart protection=select, step-a, step-a, step-a, rebalance, step-b, step-b, step-b, step-a":                        451_00,
		"restart protection=cache, step-a, step-a, rebalance, step-b, step-b, step-a, step-b, step-a, step-b, step-a, step-b": 402_00,
		"restart protection=cache, step-a, step-a, step-a, step-a, rebalance, step-b, step-b, step-b, step-a":                 451_00,
		"restart protection=unique, step-a, rebalance, step-b, step-a, step-b, step-a, step-b":                                451_00,
		"restart protection=unique, step-a, rebalance, step-b, step-b, step-a, step-a, step-b":                                451_00,
		"restart protection=select, step-a, step-a, step-a, step-a, rebalance, step-b":                                        451_00,
	} {
		s := b.do(t, strings.Split(order, ", ")...)
		if s.Account.Balance != want {
			t.Errorf("%s: %d cents, want %d; %v", order, s.Account.Balance, want, ids(s))
		}
		for _, i := range s.Instances {
			if i.State != "done" {
				t.Errorf("%s: instance %s is %s", order, i.Name, i.State)
			}
		}
		if late := slices.Contains(ids(s), "commit-refused"); late == strings.HasSuffix(order, "rebalance, step-b") {
			t.Errorf("%s: %v", order, ids(s))
		}
	}
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	b := setup(t, "transactions")
	keys := func(s scene.Scene, i int) string { return strings.Join(s.Readers[i].Keys, " ") }
	s := b.do(t, "copy")
	if keys(s, 0) != "p-1" || keys(s, 1) != "" || s.Logs[1].Records[0].State != "open" || s.Facts[0].Value != 0 {
		t.Errorf("open: %+v", s)
	}
	s = b.do(t, "commit", "copy", "abort", "copy")
	if keys(s, 0) != "p-1 p-2 p-2" || keys(s, 1) != "p-1" || s.Facts[0].Value != 1 {
		t.Errorf("after an abort: %+v", s.Readers)
	}
	s = b.do(t, "pause", "start", "copy")
	if got := states(s.Logs[1]); !slices.Equal(got, []string{"committed", "commit-marker", "aborted", "abort-marker", "aborted", "abort-marker", "open"}) {
		t.Errorf("fenced: %v", got)
	}
	s = b.do(t, "wake", "commit", "copy", "crash", "start", "copy", "commit", "copy", "commit")
	if keys(s, 1) != "p-1 p-2 p-3 p-4" || s.Facts[0].Value != 4 || !slices.Contains(ids(s), "fenced") {
		t.Errorf("at the end: %+v %v", s.Readers, ids(s))
	}
	if s.Account != nil {
		t.Error("an account without a database")
	}
}

// A Kafka transaction does not cover the database: its debit stays.
func TestTransactionsDoNotCoverTheDatabase(t *testing.T) {
	t.Parallel()
	b := setup(t, "transactions")
	s := b.do(t, "restart database=on", "copy", "abort", "copy", "commit")
	if s.Account.Balance != 402_00 || len(s.Readers[1].Keys) != 1 {
		t.Errorf("balance %d, receipts %v", s.Account.Balance, s.Readers[1].Keys)
	}
}

// Settings hold from the beginning of a run: an action that comes with others
// starts one.
func TestOtherSettingsStartAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, "lost-ack")
	s := b.do(t, "buy", "buy", "buy idempotence=on")
	if len(s.Logs[0].Records) != 1 || s.Account.Balance != 451_00 || len(s.Runs) != 2 {
		t.Errorf("%+v", s)
	}
	if s = b.do(t, "buy idempotence=on"); len(s.Logs[0].Records) != 2 {
		t.Error("the same settings started again")
	}
}

func TestUnknownChoices(t *testing.T) {
	t.Parallel()
	for _, slug := range Slugs() {
		b := setup(t, slug)
		before := b.do(t)
		for _, choices := range []map[string]string{{"moon": "full"}, {before.Settings[0].Name: "?"}} {
			if err := b.lab.Do(b.ctx, before.Apply, choices); !errors.Is(err, ErrUnknown) {
				t.Errorf("%s: %v: %v", slug, choices, err)
			}
		}
		if err := b.lab.Do(b.ctx, "jump", nil); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", slug, err)
		}
	}
	if _, err := Start(t.Context(), "nothing"); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
}

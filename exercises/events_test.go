package exercises_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
)

func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// soundEvents loads the sound pack after edits of its events.yaml, each "old"
// and "new" in turn.
func soundEvents(t *testing.T, edits ...string) exercises.Events {
	t.Helper()
	fsys := soundPack(t)
	for i := 0; i < len(edits); i += 2 {
		edit(t, fsys, "demo/first/events.yaml", edits[i], edits[i+1])
	}
	pack, problems := exercises.Load(fsys, "demo")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return pack.Exercises[0].Events
}

func draw(t *testing.T, events exercises.Events, seed int64) []exercises.Event {
	t.Helper()
	drawn, err := events.Draw(seed, start())
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}

func chargeOnce(t *testing.T) *exercises.Exercise {
	t.Helper()
	e, ok := exercises.Open(exercises.Builtin(), nil).Exercise("core/charge-once")
	if !ok {
		t.Fatal("core/charge-once is missing")
	}
	return e
}

func TestDraw(t *testing.T) {
	t.Parallel()

	// Stored verdicts and replay tokens stand on these values. Another
	// events.yaml needs a new version of the exercise, another way of drawing a
	// new version of the engine.
	t.Run("SeedGivesTheSameEventsForEver", func(t *testing.T) {
		t.Parallel()
		var got []string
		for _, event := range draw(t, chargeOnce(t).Events, 42) {
			got = append(got, strings.Join([]string{event.ID, event.Object, string(event.Key), string(event.Value), event.Timestamp.Format(time.RFC3339)}, " "))
			for _, header := range event.Headers {
				got = append(got, "  "+header.Key+": "+string(header.Value))
			}
		}
		want := []string{
			`d3e75143-a1fc-421c-baa8-95b2031a6fff p-w9p acc-zc {"payment_id":"p-w9p","account":"acc-zc","amount":7300} 2026-01-02T03:03:05Z`,
			"  event-id: d3e75143-a1fc-421c-baa8-95b2031a6fff",
			"  sent-at: 2026-01-02T03:03:05Z",
			`d51b4942-afc7-4395-b24c-3320fff31c6d p-wzd acc-zc {"payment_id":"p-wzd","account":"acc-zc","amount":1800} 2026-01-02T03:03:05Z`,
			"  event-id: d51b4942-afc7-4395-b24c-3320fff31c6d",
			"  sent-at: 2026-01-02T03:03:05Z",
			`0a9b38a5-2df8-4fcf-b94f-10c24ac5d404 p-747 acc-6t {"payment_id":"p-747","account":"acc-6t","amount":1300} 2026-01-02T03:03:07Z`,
			"  event-id: 0a9b38a5-2df8-4fcf-b94f-10c24ac5d404",
			"  sent-at: 2026-01-02T03:03:07Z",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("AnotherSeedGivesOtherValues", func(t *testing.T) {
		t.Parallel()
		a, b := draw(t, soundEvents(t), 1), draw(t, soundEvents(t), 2)
		if a[0].Object == b[0].Object && a[1].Object == b[1].Object {
			t.Errorf("seeds 1 and 2 both give %s and %s", a[0].Object, a[1].Object)
		}
	})
	t.Run("NewFieldLeavesTheOthersAlone", func(t *testing.T) {
		t.Parallel()
		a := draw(t, soundEvents(t), 1)
		b := draw(t, soundEvents(t, "fields:\n", "fields:\n  aaa: {uuid: v4}\n"), 1)
		if string(a[1].Value) != string(b[1].Value) {
			t.Errorf("%s became %s", a[1].Value, b[1].Value)
		}
	})
	t.Run("DistinctValuesDiffer", func(t *testing.T) {
		t.Parallel()
		// 32 values for two events: without the rule, one seed in 32 repeats.
		events := soundEvents(t, `amount: {between: [1, 100]}`, `amount: {between: [1, 32], distinct: true}`, "    same: {amount: 1}\n", "")
		for seed := range int64(500) {
			if drawn := draw(t, events, seed); drawn[0].Fields["amount"] == drawn[1].Fields["amount"] {
				t.Fatalf("seed %d gives %v twice", seed, drawn[0].Fields["amount"])
			}
		}
	})
	t.Run("NumbersStayInTheirRangeAndOnTheirSteps", func(t *testing.T) {
		t.Parallel()
		events := soundEvents(t, `{between: [1, 100]}`, `{between: [-10, 21], step: 10}`)
		seen := map[any]bool{}
		for seed := range int64(200) {
			seen[draw(t, events, seed)[0].Fields["amount"]] = true
		}
		want := map[any]bool{int64(-10): true, int64(0): true, int64(10): true, int64(20): true}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("FixedAndSharedValuesAreTaken", func(t *testing.T) {
		t.Parallel()
		drawn := draw(t, soundEvents(t, "same: {amount: 1}", "same: {amount: 1}\n    with: {id: e-last}"), 1)
		if drawn[1].ID != "e-last" || drawn[1].Fields["amount"] != drawn[0].Fields["amount"] {
			t.Errorf("%+v", drawn)
		}
	})
	t.Run("TimesCountFromTheStart", func(t *testing.T) {
		t.Parallel()
		drawn := draw(t, soundEvents(t), 1)
		if drawn[1].Fields["sent"] != "2026-01-02T03:03:06Z" || !drawn[1].Timestamp.Equal(start().Add(-59*time.Second)) {
			t.Errorf("%v, %s", drawn[1].Fields["sent"], drawn[1].Timestamp)
		}
	})
	t.Run("EventsWithoutAnIdAreCounted", func(t *testing.T) {
		t.Parallel()
		drawn := draw(t, soundEvents(t, "\nid: id", ""), 1)
		if drawn[0].ID != "event-1" || drawn[1].ID != "event-2" {
			t.Errorf("%s, %s", drawn[0].ID, drawn[1].ID)
		}
	})
	t.Run("TextThatIsNoFieldStaysAsItIs", func(t *testing.T) {
		t.Parallel()
		drawn := draw(t, soundEvents(t, `'{"id":"{id}","amount":{amount}}'`, `'{"a":{},"b":{"c":[1]}}'`), 1)
		if got := string(drawn[0].Value); got != `{"a":{},"b":{"c":[1]}}` {
			t.Error(got)
		}
	})
	t.Run("ChargeOnceHasTwoPaymentsOfOneAccount", func(t *testing.T) {
		t.Parallel()
		events := chargeOnce(t).Events
		for seed := range int64(100) {
			drawn := draw(t, events, seed)
			a, b, c := drawn[0].Fields["account"], drawn[1].Fields["account"], drawn[2].Fields["account"]
			if a != b || a == c {
				t.Fatalf("seed %d: accounts %v, %v, %v", seed, a, b, c)
			}
		}
	})
}

func TestTables(t *testing.T) {
	t.Parallel()

	t.Run("SetupRunsForEachEventWithTheParametersItNames", func(t *testing.T) {
		t.Parallel()
		sql := `INSERT INTO t VALUES (:id, ':no', ":no", [:no], :amount, :id) -- :no` + "\n    /* :no */"
		events := soundEvents(t, "  - INSERT INTO things (id) VALUES (:id)", "  - |\n    "+sql)
		drawn := draw(t, events, 1)
		statements := events.Setup(drawn)
		if len(statements) != 2 {
			t.Fatalf("%d statements, want one for each of 2 events", len(statements))
		}
		want := []exercises.Arg{{Name: "id", Value: drawn[1].ID}, {Name: "amount", Value: drawn[1].Fields["amount"]}}
		if diff := cmp.Diff(want, statements[1].Args); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("ExpectedHasTypedColumns", func(t *testing.T) {
		t.Parallel()
		events := soundEvents(t, `  amount: "{amount}"`, "  amount: \"{amount}\"\n  label: \"{id}/{amount}\"\n  one: 1")
		drawn := draw(t, events, 1)
		table := events.Expected(drawn[:1]) // only the first was sent
		var columns []string
		for _, column := range table.Columns {
			columns = append(columns, column.Name+" "+column.Type)
		}
		if diff := cmp.Diff([]string{"event_id TEXT", "amount INTEGER", "id TEXT", "label TEXT", "one INTEGER"}, columns); diff != "" {
			t.Error(diff)
		}
		id, amount := drawn[0].ID, drawn[0].Fields["amount"]
		want := [][]any{{id, amount, id, fmt.Sprintf("%s/%d", id, amount), int64(1)}}
		if diff := cmp.Diff(want, table.Rows); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHash(t *testing.T) {
	t.Parallel()
	hash := func(t *testing.T, edits ...string) string {
		t.Helper()
		fsys := soundPack(t)
		for i := 0; i < len(edits); i += 3 {
			edit(t, fsys, "demo/first/"+edits[i], edits[i+1], edits[i+2])
		}
		pack, problems := exercises.Load(fsys, "demo")
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return pack.Exercises[0].Hash()
	}
	original := hash(t)
	if again := hash(t); again != original || !strings.HasPrefix(original, "sha256:") || len(original) != len("sha256:")+64 {
		t.Fatalf("hashes of one exercise: %s, %s", original, again)
	}
	cases := []struct {
		name    string
		edits   []string
		changes bool
	}{
		{"Version", []string{"exercise.yaml", "version: 1.2.3", "version: 1.2.4"}, true},
		{"Entry", []string{"exercise.yaml", "entry: handler\nservices: [redis]", "entry: batch"}, true},
		{"Services", []string{"exercise.yaml", "services: [redis]", "services: []"}, true},
		{"Databases", []string{"exercise.yaml", "databases: [sqlite]", "databases: [sqlite, read-committed]"}, true},
		{"Phases", []string{"exercise.yaml", "[happy-path, redelivery]", "[happy-path]"}, true},
		{"Limits", []string{"exercise.yaml", "host_calls: 50", "host_calls: 51"}, true},
		{"InvariantQuery", []string{"exercise.yaml", "> 1", "> 2"}, true},
		{"InvariantMessage", []string{"exercise.yaml", "{object} twice", "{object} two times"}, true},
		{"Schema", []string{"schema.sql", "id TEXT", "id INT"}, true},
		{"EventValue", []string{"events.yaml", `"amount":`, `"cents":`}, true},
		{"FieldRange", []string{"events.yaml", "[1, 100]", "[1, 101]"}, true},
		{"Setup", []string{"events.yaml", "INSERT INTO", "INSERT OR IGNORE INTO"}, true},
		{"Expected", []string{"events.yaml", `  amount: "{amount}"`, `  amount: 1`}, true},
		{"Statement", []string{"statement.en.md", "Do it", "Do this"}, false},
		{"Hint", []string{"hints.en.md", "First", "1st"}, false},
		{"Starter", []string{"starter/handler.go", "package handler", "package handler // x"}, false},
		{"Expectation", []string{"expect.yaml", "[lost]", "[stuck]"}, false},
		{"Title", []string{"exercise.yaml", "en: First", "en: The first"}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if changed := hash(t, c.edits...) != original; changed != c.changes {
				t.Errorf("the hash changed: %t, want %t", changed, c.changes)
			}
		})
	}
}

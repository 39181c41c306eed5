package build_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/guest/abi"
)

// deliver builds a submission and delivers one record to it.
func deliver(t *testing.T, source string, rec abi.Record) *host {
	t.Helper()
	return perform(t, "handler", source, abi.Task{Records: []abi.Record{rec}})
}

// perform builds a submission and gives it a task.
func perform(t *testing.T, signature, source string, task abi.Task) *host {
	t.Helper()
	h := newHost(t, "CREATE TABLE t (n INTEGER)")
	if err := loadProgram(t, buildFor(t, signature, source)).perform(h, task); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestReturn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want abi.Return
	}{
		"Nil":           {"\treturn nil", abi.Return{}},
		"Error":         {"\treturn sql.ErrNoRows", abi.Return{Failed: true, Text: "sql: no rows in result set"}},
		"ErrorNoText":   {"\treturn noText{}", abi.Return{Failed: true}},
		"ContextIsLive": {"\treturn ctx.Err()", abi.Return{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := handle(c.body) + "\ntype noText struct{}\n\nfunc (noText) Error() string { return \"\" }\n"
			if got := deliver(t, source, abi.Record{}).ret; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestRecordArrivesWhole(t *testing.T) {
	t.Parallel()
	source := strings.Replace(handle(`	deadline, _ := ctx.Deadline()
	return fmt.Errorf("%s %d %d key=%q/%t value=%q/%t %v %s %s", rec.Topic, rec.Partition, rec.Offset,
		rec.Key, rec.Key == nil, rec.Value, rec.Value == nil, rec.Headers, rec.Timestamp, deadline)`), "import (", "import (\n\t\"fmt\"", 1)
	at := time.Date(2024, 2, 29, 13, 14, 15, 0, time.UTC)
	h := perform(t, "handler", source, abi.Task{Deadline: time.Date(2124, 1, 1, 0, 0, 0, 0, time.UTC), Records: []abi.Record{{
		Topic: "payments", Partition: 2, Offset: 41, Value: []byte{},
		Headers:   []abi.Header{{Key: "event-id", Value: []byte("e1")}, {Key: "event-id"}},
		Timestamp: at,
	}}})
	want := `payments 2 41 key=""/true value=""/false [{event-id [101 49]} {event-id []}] 2024-02-29 13:14:15 +0000 UTC 2124-01-01 00:00:00 +0000 UTC`
	if h.ret.Text != want {
		t.Errorf("got  %s\nwant %s", h.ret.Text, want)
	}
}

func TestContextEndsAtTheDeadline(t *testing.T) {
	t.Parallel()
	h := perform(t, "handler", handle("\t<-ctx.Done()\n\t_, err := db.ExecContext(ctx, \"DELETE FROM t\")\n\treturn err"),
		abi.Task{Deadline: time.Unix(1, 0), Records: make([]abi.Record, 1)})
	if h.ret.Text != "context deadline exceeded" || len(h.calls) > 0 {
		t.Errorf("returned %+v after %q", h.ret, h.calls)
	}
}

const helpers = `
func insert(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (1)")
	return err
}

func inTx(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}
`

// Each effect names the candidate's innermost line, also in helpers that the
// compiler inlines, closures, deferred calls and goroutines.
func TestEffectsNameTheCandidatesLine(t *testing.T) {
	t.Parallel()
	source := handle(`	if err := inTx(ctx, db, func(tx *sql.Tx) error { return insert(ctx, tx) }); err != nil {
		return err
	}
	done := make(chan error)
	go func() {
		done <- db.QueryRow("SELECT n FROM t").Scan(new(int))
	}()
	if err := <-done; err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return insert(ctx, tx)`) + helpers
	h := deliver(t, source, abi.Record{})
	want := []string{
		"begin handler.go:35", "exec handler.go:30", "commit handler.go:43", "query handler.go:16",
		"begin handler.go:21", "exec handler.go:30", "rollback handler.go:26",
	}
	if d := cmp.Diff(want, h.calls); d != "" || h.ret.Failed {
		t.Errorf("%+v, effects (-want +got):\n%s", h.ret, d)
	}
	h = perform(t, "handler", source, abi.Task{NoPositions: true, Records: make([]abi.Record, 1)})
	for _, c := range h.calls {
		if !strings.HasSuffix(c, " :0") {
			t.Errorf("%s has a position that nobody wanted", c)
		}
	}
}

func TestGoroutineThatIsLeftBehindCallsWhileDraining(t *testing.T) {
	t.Parallel()
	h := deliver(t, handle("\tgo db.Exec(\"INSERT INTO t VALUES (2)\")\n\treturn nil"), abi.Record{})
	if len(h.calls) != 1 || !strings.HasPrefix(h.calls[0], "exec") {
		t.Errorf("effects: %q", h.calls)
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	h := deliver(t, handle(`	var open []*sql.Conn
	for {
		c, err := db.Conn(ctx)
		if err != nil {
			for _, c := range open {
				c.Close()
			}
			return err
		}
		open = append(open, c)
		if err := c.PingContext(ctx); err != nil {
			return err
		}
	}`), abi.Record{})
	if want := "the sandbox allows 8 open database connections per instance"; h.ret.Text != want {
		t.Errorf("got %q, want %q", h.ret.Text, want)
	}
	if len(h.calls) != abi.MaxConns {
		t.Errorf("%d statements ran on %d connections", len(h.calls), abi.MaxConns)
	}
	if len(h.conns) != 1+2 { // the test's own, and what a pool keeps idle
		t.Errorf("%d connections are open at the end", len(h.conns))
	}
}

func TestUUIDAndKafkaErrors(t *testing.T) {
	t.Parallel()
	source := strings.Replace(handle(`	a, b := uuid.New(), uuid.NewString()
	err := fmt.Errorf("wrapped: %w", kerr.RebalanceInProgress)
	return fmt.Errorf("%d %d %t %t", a.Version(), len(b), a.String() != b, errors.Is(err, kerr.RebalanceInProgress))`),
		"import (", "import (\n\t\"errors\"\n\t\"fmt\"\n\t\"github.com/google/uuid\"\n\t\"github.com/twmb/franz-go/pkg/kerr\"", 1)
	if got := deliver(t, source, abi.Record{}).ret.Text; got != "4 36 true true" {
		t.Errorf("got %q", got)
	}
}

// Nothing of the candidate's runs when the process warms up its types.
func TestWarmUpCallsNoMethod(t *testing.T) {
	t.Parallel()
	source := strings.Replace(handle("\treturn json.Unmarshal([]byte(\"{}\"), &outer{})"), "import (", "import (\n\t\"encoding/json\"", 1) + `
type custom struct{ N int }

func (*custom) UnmarshalJSON([]byte) error { panic("called") }

type embedding struct{ custom }

type generic[T any] struct{ V T }

type outer struct {
	C custom
	E *embedding
	G generic[int]
}
`
	if got := deliver(t, source, abi.Record{}).ret; got.Failed {
		t.Errorf("got %+v", got)
	}
}

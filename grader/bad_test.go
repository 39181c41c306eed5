package grader_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/verdict"
)

// handler wraps the body of Handle into a source that uses each of its imports.
func handler(body string) string {
	return `package handler

import (
	"context"
	"database/sql"

	"github.com/twmb/franz-go/pkg/kgo"
)

var _ = context.Background

func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
` + body + `
}
`
}

// with adds an import to a source of handler.
func with(imports, source string) string {
	for _, i := range strings.Fields(imports) {
		source = strings.Replace(source, "import (", fmt.Sprintf("import (\n\t%q", i), 1)
	}
	return source
}

// right charges once, for sources whose oddity must not be a failure.
const right = `	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var p struct {
		ID      string ` + "`json:\"payment_id\"`" + `
		Account string ` + "`json:\"account\"`" + `
		Amount  int64  ` + "`json:\"amount\"`" + `
	}
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return err
	}
	res, err := tx.ExecContext(ctx, "INSERT INTO processed_events VALUES (?, '') ON CONFLICT DO NOTHING", p.ID)
	if err != nil {
		return err
	}
	if n, _ := res.RowsAffected(); n == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)", p.ID, p.Account, p.Amount); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance - ? WHERE id = ?", p.Amount, p.Account); err != nil {
		return err
	}
	return tx.Commit()`

// TestBadInput has what candidates and attackers send, each with the exact
// outcome and sentence. The grader goes on after each of them.
func TestBadInput(t *testing.T) {
	t.Parallel()
	g, e := newGrader(t, 1), chargeOnce(t)
	exec := func(sql string) string {
		return handler("\t_, err := db.ExecContext(ctx, `" + sql + "`)\n\treturn err")
	}
	for _, tc := range []struct {
		name, source string
		outcome      verdict.Outcome
		kind         verdict.Kind
		summary      string
	}{
		{"InitLoops", handler("\treturn nil") + "\nfunc init() {\n\tfor {\n\t}\n}\n", verdict.Failed, verdict.Timeout, "The package initialisation did not end within 5 s of computing time."},
		{"GlobalOfOneGigabyte", handler("\thuge[len(rec.Value)] = 1\n\treturn nil") + "\nvar huge [1 << 30]byte\n", verdict.Failed, verdict.Memory, "The program's own variables need 1026 MiB of memory; 64 MiB are allowed."},
		{"SleepsADay", with("encoding/json time", handler("\ttime.Sleep(24 * time.Hour)\n"+right)), verdict.Passed, "", "No violation in 123 schedules. The coverage says what was looked at and what was not."},
		{"ReadsAFile", with("os", handler("\t_, err := os.ReadFile(\"/etc/passwd\")\n\treturn err")), verdict.Failed, verdict.Stuck, "p-xw2 was delivered 5 times and its offset was never committed. The last error of Handle: open /etc/passwd: Bad file number."},
		{"OpensASocket", with("net", handler("\t_, err := net.Dial(\"tcp\", \"127.0.0.1:22\")\n\treturn err")), verdict.Rejected, verdict.Policy, "handler.go:4:2: The package \"net\" may not be imported. Allowed are github.com/google/uuid, github.com/redis/go-redis/v9, github.com/twmb/franz-go/pkg/kerr, github.com/twmb/franz-go/pkg/kgo, modernc.org/sqlite, modernc.org/sqlite/lib, redeliver/gateway and the standard library without os/exec, net, net/http, plugin, syscall, unsafe, runtime/debug, embed, testing and packages that need these."},
		// Which limit it meets first depends on the machine: memory, or computing time.
		{"ManyGoroutines", with("sync", handler("\tvar wg sync.WaitGroup\n\tfor range 100_000 {\n\t\twg.Go(func() { <-ctx.Done() })\n\t}\n\twg.Wait()\n\treturn nil")), verdict.Failed, "", ""},
		{"Prints100MB", with("fmt strings", handler("\tfor range 100_000 {\n\t\tfmt.Println(strings.Repeat(\"x\", 1000))\n\t}\n\treturn nil")), verdict.Failed, verdict.Output, "The handler wrote more than 64 KiB to standard output."},
		{"RecursesForEver", handler("\treturn deep(1)") + "\nfunc deep(n int) error {\n\tif n < 0 {\n\t\treturn nil\n\t}\n\treturn deep(n + 1)\n}\n", verdict.Failed, verdict.Crash, "The handler nested its calls too deeply: the call stack is full."},
		{"PanicsWithItsOwnType", handler("\tpanic(refused{3})") + "\ntype refused struct{ code int }\n", verdict.Failed, verdict.Crash, "panic: a value of type handler.refused (handler.go:13)."},
		{"PanicsWithItsOwnError", handler("\tpanic(refused{3})") + "\ntype refused struct{ code int }\n\nfunc (refused) Error() string { return \"refused by the bank\" }\n", verdict.Failed, verdict.Crash, "panic: refused by the bank (handler.go:13)."},
		{"LoopsForEver", handler("\tfor {\n\t}"), verdict.Failed, verdict.Timeout, "The handler did not return within 2 s of computing time."},
		{"WaitsForEver", handler("\tselect {}"), verdict.Failed, verdict.Timeout, "The handler waits for ever: all goroutines are asleep (handler.go:13)."},
		{"Exits", with("os", handler("\tos.Exit(3)\n\treturn nil")), verdict.Failed, verdict.Crash, "The handler ended the process with os.Exit(3)."},
		{"CallsForEver", handler("\tfor {\n\t\tdb.ExecContext(ctx, \"SELECT 1\")\n\t}"), verdict.Failed, verdict.Timeout, "The handler made more than 200 calls to the database and to Kafka in one delivery."},
		{"WorksAfterReturn", handler("\tgo db.ExecContext(ctx, \"DELETE FROM charges\")\n\treturn nil"), verdict.Failed, verdict.Leaked, "After Handle had returned, a goroutine that it had started went on with DELETE FROM charges."},
		{"ReturnsAfterItsContextEnded", with("time", handler("\tctx, cancel := context.WithTimeout(ctx, time.Second)\n\tdefer cancel()\n\ttime.Sleep(time.Minute)\n\t_, err := db.ExecContext(ctx, \"SELECT 1\")\n\treturn err")), verdict.Failed, verdict.Stuck, "p-xw2 was delivered 5 times and its offset was never committed. The last error of Handle: context deadline exceeded."},
		{"MalformedSQL", exec("SELEC 1"), verdict.Failed, verdict.Stuck, "p-xw2 was delivered 5 times and its offset was never committed. The last error of Handle: SQL logic error: near \"SELEC\": syntax error (1)."},
		{"Attach", exec("ATTACH '/tmp/x.db' AS x"), verdict.Failed, verdict.Stuck, "p-xw2 was delivered 5 times and its offset was never committed. The last error of Handle: authorization denied: not authorized (23). ATTACH, DETACH and VACUUM reach files outside the sandbox's database."},
		{"Pragma", exec("PRAGMA journal_mode = OFF"), verdict.Failed, verdict.Stuck, "p-xw2 was delivered 5 times and its offset was never committed. The last error of Handle: authorization denied: not authorized (23). PRAGMA changes the connection, which belongs to the harness."},
		{"VacuumInto", exec("VACUUM INTO '/tmp/x.db'"), verdict.Failed, verdict.Stuck, "p-xw2 was delivered 5 times and its offset was never committed. The last error of Handle: authorization denied (23). ATTACH, DETACH and VACUUM reach files outside the sandbox's database."},
		{"LoadExtension", exec("SELECT load_extension('/tmp/x')"), verdict.Failed, verdict.Stuck, "p-xw2 was delivered 5 times and its offset was never committed. The last error of Handle: SQL logic error: not authorized to use function: load_extension (1). load_extension would run code outside the sandbox."},
		{"BillionRows", exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT count(*) FROM n"), verdict.Failed, verdict.Timeout, "The SQL statement \"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000…\" did not finish within 5 s."},
		{"TransactionLeftOpen", handler("\ttx, err := db.BeginTx(ctx, nil)\n\tif err != nil {\n\t\treturn err\n\t}\n\t_, err = tx.ExecContext(ctx, \"DELETE FROM charges\")\n\treturn err"), verdict.Failed, verdict.Lost, "Payment p-xw2 was not charged: it has no row in charges; Handle returned nil for the record at offset 0 and wrote nothing."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v := grade(t, g, grader.Request{Exercise: e, Files: []exercises.File{{Name: "handler.go", Content: []byte(tc.source)}}})
			if v.Outcome != tc.outcome || v.Summary != tc.summary && tc.summary != "" {
				t.Errorf("got %s, %q\nwant %s, %q", v.Outcome, v.Summary, tc.outcome, tc.summary)
			}
			if got := kinds(v); (v.Outcome == verdict.Passed) != (len(got) == 0) || tc.kind != "" && !slices.Contains(got, string(tc.kind)) {
				t.Errorf("found %v, want %s", got, tc.kind)
			}
		})
	}
}

package store_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// writeFixtures writes the fixtures that are missing, with the sqlite3 and pg_dump of
// the machine: the one before with its migration and the rows of rows/NNNN.sql. One
// that is there stays as it is.
var writeFixtures = flag.Bool("write-fixtures", false, "write the missing fixtures of schema versions")

const schemas = "testdata/schema"

func fixturePath(dialect store.Dialect, version int) string {
	return fmt.Sprintf("%s/%s/%04d.sql", schemas, dialect, version)
}

// newestVersion is that of the last migration. They are numbered without gaps.
func newestVersion(t *testing.T) int {
	t.Helper()
	found, err := fs.Glob(os.DirFS("migrations/sqlite"), "*.sql")
	if err != nil || len(found) == 0 {
		t.Fatalf("%d migrations, err %v", len(found), err)
	}
	return len(found)
}

// run executes the statements of a file.
func run(t *testing.T, st *store.Store, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var args []any
	if st.Dialect == store.Postgres { // several statements at once
		args = append(args, pgx.QueryExecModeSimpleProtocol)
	}
	if _, err := st.Write.ExecContext(t.Context(), string(text), args...); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// asLeftBy opens a database as a schema version left it.
func asLeftBy(t *testing.T, pathOrURL string, version int) *store.Store {
	t.Helper()
	return storetest.Open(t, pathOrURL, func(_ context.Context, st *store.Store) error {
		if version > 0 {
			run(t, st, fixturePath(st.Dialect, version))
		}
		return nil
	})
}

// list returns the first column of what a query finds.
func list(t *testing.T, st *store.Store, query string, args ...any) (found []string) {
	t.Helper()
	rows, err := st.Read.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		found = append(found, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// schemaOf describes all tables, columns, constraints and indexes.
func schemaOf(t *testing.T, st *store.Store) []string {
	t.Helper()
	if st.Dialect == store.SQLite {
		return list(t, st, `SELECT type || ' ' || name || ': ' || COALESCE(sql, '') FROM sqlite_master ORDER BY type, name`)
	}
	all := list(t, st, `SELECT concat_ws(' ', 'column', table_name, ordinal_position, column_name, data_type, is_nullable, column_default, identity_generation)
		FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position`)
	all = append(all, list(t, st, `SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
		FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY 1`)...)
	own := list(t, st, "SELECT current_schema()")[0] + "."
	for _, index := range list(t, st, "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexname") {
		all = append(all, strings.ReplaceAll(index, own, ""))
	}
	return all
}

// counts are the rows of each of our tables.
func counts(t *testing.T, st *store.Store) map[string]int {
	t.Helper()
	query := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'goose%'`
	if st.Dialect == store.Postgres {
		query = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_name NOT LIKE 'goose%'`
	}
	all := map[string]int{}
	for _, table := range list(t, st, query) {
		var n int
		if err := st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		all[table] = n
	}
	return all
}

// A site is updated from any earlier version. The fixtures are databases as those
// left them, and do not depend on the migrations of today: one that is changed after
// it was released leads here to another schema than that of a new site.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	newest := newestVersion(t)
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		fresh := storetest.Open(t, pathOrURL, migrate)
		want := schemaOf(t, fresh)
		for version := 1; version <= newest; version++ {
			path := fixturePath(fresh.Dialect, version)
			if _, err := os.Stat(path); err != nil && version == newest {
				continue // it is not released yet
			}
			t.Run(fmt.Sprintf("%04d", version), func(t *testing.T) {
				t.Parallel()
				upgrade(t, fresh.Dialect, version, want)
			})
		}
	})
}

func upgrade(t *testing.T, dialect store.Dialect, version int, want []string) {
	pathOrURL := filepath.Join(t.TempDir(), "redeliver.db")
	if dialect == store.Postgres {
		pathOrURL = storetest.Postgres(t)
	}
	old := asLeftBy(t, pathOrURL, version)
	if got := list(t, old, "SELECT CAST(MAX(version_id) AS TEXT) FROM goose_db_version"); got[0] != fmt.Sprint(version) {
		t.Fatalf("the fixture is of version %s", got[0])
	}
	before := counts(t, old)
	for table, n := range before {
		if n == 0 {
			t.Errorf("the fixture has no row in %s, so this test says nothing of it", table)
		}
	}

	st := storetest.Open(t, pathOrURL, migrate)
	if diff := cmp.Diff(want, schemaOf(t, st)); diff != "" {
		t.Errorf("the schema of a new site and of this one (-new +this):\n%s", diff)
	}
	after := counts(t, st)
	for table, n := range before {
		if after[table] != n {
			t.Errorf("%s: %d rows, %d before", table, after[table], n)
		}
	}
	for _, door := range doors(t, st) {
		if door.since > version {
			continue
		}
		if got, err := door.read(); err != nil || got != door.want {
			t.Errorf("%s: err %v\n got %s\nwant %s", door.name, err, got, door.want)
		}
	}
	// Keys go on where they were.
	if id := createSubmission(t, st, newSubmission{token: "new", publicID: "new", at: 1}); int(id) <= before["submissions"] {
		t.Errorf("a new submission has the key %d", id)
	}
	if got := list(t, st, "SELECT token_hash FROM browsers ORDER BY id DESC LIMIT 1"); got[0] != string(store.BrowserOf("new")) {
		t.Errorf("the newest browser is %s", got[0])
	}
}

// Whoever writes a migration keeps the version that sites have until then:
//
//	go test ./web/store -run TestFixturesAreKept -write-fixtures
//
// with rows for its tables in testdata/schema/rows. It is not parallel: TestUpgrade
// reads what it writes.
func TestFixturesAreKept(t *testing.T) {
	newest := newestVersion(t)
	for _, dialect := range []store.Dialect{store.SQLite, store.Postgres} {
		for version := 1; version < newest || *writeFixtures && version == newest; version++ {
			path := fixturePath(dialect, version)
			_, err := os.Stat(path)
			if err != nil && *writeFixtures {
				t.Run(fmt.Sprintf("Write %s %04d", dialect, version), func(t *testing.T) { writeFixture(t, dialect, version) })
				_, err = os.Stat(path)
			}
			if err != nil {
				t.Errorf("migration %d would be the first that has no database to start from: %v", version+1, err)
			}
		}
	}
}

func writeFixture(t *testing.T, dialect store.Dialect, version int) {
	pathOrURL, kind := filepath.Join(t.TempDir(), "redeliver.db"), goose.DialectSQLite3
	if dialect == store.Postgres {
		pathOrURL, kind = storetest.Postgres(t), goose.DialectPostgres
	}
	st := asLeftBy(t, pathOrURL, version-1)
	provider, err := goose.NewProvider(kind, st.Write, os.DirFS("migrations/"+string(dialect)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), int64(version)); err != nil {
		t.Fatal(err)
	}
	rows := fmt.Sprintf("%s/rows/%04d.sql", schemas, version)
	if _, err := os.Stat(rows); err == nil {
		run(t, st, rows)
	}
	dump := dumpSQLite
	if dialect == store.Postgres {
		dump = dumpPostgres
	}
	if err := os.WriteFile(fixturePath(dialect, version), dump(t, pathOrURL), 0o644); err != nil {
		t.Fatal(err)
	}
}

func output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}

func dumpSQLite(t *testing.T, path string) []byte {
	t.Helper()
	return output(t, "sqlite3", path, ".dump")
}

// ownLines are settings of the session and words to people.
var ownLines = regexp.MustCompile(`(?m)^(--.*|SET .*|\\.*|SELECT pg_catalog\.set_config.*|CREATE SCHEMA .*)?\n`)

// dumpPostgres leaves the schema out: a test has one of its own.
func dumpPostgres(t *testing.T, address string) []byte {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	schema := q.Get("search_path")
	q.Del("search_path")
	u.RawQuery = q.Encode()
	text := output(t, "pg_dump", "--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=100", "--schema="+schema, u.String())
	text = bytes.ReplaceAll(text, []byte(schema+"."), nil)
	return ownLines.ReplaceAll(text, nil)
}

// door is a way to read what a fixture has since a version.
type door struct {
	since int
	name  string
	want  string
	read  func() (string, error)
}

// at0 shortens times: the rows were written in one hour.
func at0(times ...time.Time) (all string) {
	for _, at := range times {
		if at.IsZero() {
			all += " -"
			continue
		}
		all += fmt.Sprintf(" %d", at.UnixMilli()/1000-1_700_000_000)
	}
	return all
}

func doors(t *testing.T, st *store.Store) []door {
	return append(doorsOfBrowsers(t.Context(), st), doorsOfPeople(t.Context(), st)...)
}

func doorsOfBrowsers(ctx context.Context, st *store.Store) []door {
	ada, bob, linus := store.BrowserOf("ada"), store.BrowserOf("bob"), store.Browser("sitting:LINUS")
	drafts := func(b store.Browser, exercise string) func() (string, error) {
		return func() (text string, err error) {
			all, err := st.Drafts(ctx, b, exercise, 10)
			for _, d := range all {
				text += fmt.Sprintf("%d: %d bytes, auto %v, editor %v%s; ", d.Version, d.Size, d.Auto, d.ByEditor, at0(d.SavedAt))
			}
			if err != nil {
				return text, err
			}
			newest, err := st.NewestDraft(ctx, b, exercise)
			if err != nil {
				return text, err
			}
			return text + string(newest.Files[0].Content), nil
		}
	}
	submissions := func(b store.Browser, exercise string) func() (string, error) {
		return func() (text string, err error) {
			all, err := st.Submissions(ctx, b, exercise, 10)
			for _, s := range all {
				text += fmt.Sprintf("%s %s %s%s; ", s.PublicID, s.State, s.Outcome, at0(s.CreatedAt, s.StartedAt, s.FinishedAt, s.WaitedUntil))
			}
			return text, err
		}
	}
	return []door{
		{
			1, "drafts", "2: 32 bytes, auto false, editor false 2; 1: 32 bytes, auto false, editor false 1; package handler // two",
			drafts(ada, exercise),
		},
		{1, "submissions", "passed graded passed 20 21 24 21; failed graded failed 10 11 14 11; ", submissions(ada, exercise)},
		{1, "a submission that waits", "waits queued  30 - - -; ", submissions(bob, exercise)},
		{1, "a verdict", `failed Charged twice. package handler // one [{1 {"stage":"check"}} {2 {"stage":"build"}}]`, func() (string, error) {
			s, err := st.Submission(ctx, ada, "failed")
			if err != nil {
				return "", err
			}
			steps, err := st.Steps(ctx, s.ID)
			return fmt.Sprint(s.Verdict.Outcome, " ", s.Verdict.Findings[0].Message, " ", string(s.Files[0].Content), " ", steps), err
		}},
		{1, "a source", "passed package handler // two", func() (string, error) {
			found, err := st.FindSource(ctx, exercise, "aa02")
			if err != nil {
				return "", err
			}
			return fmt.Sprint(found.Verdict.Outcome, " ", string(found.Files[0].Content)), nil
		}},
		{1, "what was practised", "core/charge-once 14 24", func() (string, error) {
			p, err := st.Practice(ctx, ada)
			if err != nil || len(p.Exercises) != 1 {
				return fmt.Sprint(p), err
			}
			return p.Exercises[0].Exercise + at0(p.Exercises[0].TriedAt, p.Exercises[0].PassedAt), nil
		}},
		{
			3, "drafts that were saved by themselves",
			"2: 32 bytes, auto false, editor false 41; 1: 32 bytes, auto true, editor false 40; package handler // two",
			drafts(ada, "core/by-itself"),
		},
		{4, "practice", "core/outbox 50 -; core/charge-once duplicate [duplicate] 51 52; core/outbox lost [] 53 -; " +
			"core/outbox lost 2 54; question/dedup 2.5 5.25 2 1 56 86456; ", func() (text string, err error) {
			p, err := st.Practice(ctx, bob)
			for _, e := range p.Exercises {
				text += e.Exercise + at0(e.TriedAt, e.PassedAt) + "; "
			}
			for _, e := range p.Predictions {
				text += fmt.Sprint(e.Exercise, " ", e.Guess, " ", e.Came, at0(e.MadeAt, e.CameAt), "; ")
			}
			for _, e := range p.Mistakes {
				text += fmt.Sprint(e.Exercise, " ", e.Kind, " ", e.Times, at0(e.LastAt), "; ")
			}
			for _, e := range p.Cards {
				text += fmt.Sprint(e.Name, " ", e.Stability, " ", e.Difficulty, " ", e.Reps, " ", e.Lapses, at0(e.ReviewedAt, e.DueAt), "; ")
			}
			return text, err
		}},
		{8, "an own answer", "С ключом. 110", func() (string, error) {
			a, err := st.OwnAnswer(ctx, ada, "dedup")
			return a.Text + at0(a.SavedAt), err
		}},
		{
			10, "a submission that was replaced", "newer queued  132 - - -; replaced replaced " + string(store.NotGraded) + " 130 131 - -; ",
			submissions(bob, "core/outbox"),
		},
		{
			11, "drafts of the editor of a sitting", "1: 32 bytes, auto true, editor true 2300; package handler // two",
			drafts(linus, "core/outbox"),
		},
		{11, "pastes", "[{{m1 handler.go 1 1 1 22 false} 1}]", func() (string, error) {
			all, err := st.Pastes(ctx, linus, "core/outbox")
			var text []string
			for _, p := range all {
				text = append(text, fmt.Sprintf("{{%s %s %d %d %d %d %v} %d}", p.Mark, p.File, p.From, p.To, p.Lines, p.Size, p.Moved, p.Version))
			}
			return fmt.Sprint(text), err
		}},
	}
}

func doorsOfPeople(ctx context.Context, st *store.Store) []door {
	now := time.UnixMilli(1_700_000_070_000)
	ivan := store.Actor{Person: store.Person{ID: 2, Role: store.Interviewer}}
	assigned := func(token string) (store.Candidate, store.Assignment, error) { return st.CandidateByToken(ctx, token) }
	return []door{
		{5, "people", "1 ada@example.org Ada owner 60 61; 2 ivan Иван interviewer 62 -; ", func() (text string, err error) {
			all, err := st.People(ctx)
			for _, p := range all {
				text += fmt.Sprint(p.ID, " ", p.Login, " ", p.Name, " ", p.Role, at0(p.CreatedAt, p.SignedInAt), "; ")
			}
			return text, err
		}},
		{5, "a password", "2 hash of another", func() (string, error) {
			p, hash, err := st.Password(ctx, "ivan")
			return fmt.Sprint(p.ID, " ", hash), err
		}},
		{5, "links", "interviewer 0 for Eve; interviewer 2 ; ", func() (text string, err error) {
			for _, token := range []string{"invitation", "new password"} {
				i, err := st.Invitation(ctx, token, now)
				if err != nil {
					return text, err
				}
				text += fmt.Sprint(i.Role, " ", i.Person, " ", i.Note, "; ")
			}
			return text, nil
		}},
		{5, "a session", "1", func() (string, error) {
			s, err := st.Session(ctx, "session", now)
			return fmt.Sprint(s.Person), err
		}},
		{5, "the log", " refused 192.0.2.2; ada@example.org joined 192.0.2.1; ", func() (text string, err error) {
			all, err := st.Audit(ctx, 0, 10)
			for _, e := range all {
				text += fmt.Sprint(e.Who, " ", e.Action, " ", e.Network, "; ")
			}
			return text, err
		}},
		{6, "an account of a provider", "2", func() (string, error) {
			p, _, err := st.Identified(ctx, store.Identity{Issuer: "https://id.example", Subject: "7"})
			return fmt.Sprint(p.ID), err
		}},
		{7, "assignments", "1 Backend Иван 2 1 1; ", func() (text string, err error) {
			all, err := st.Assignments(ctx, ivan, 0, 10)
			for _, a := range all {
				text += fmt.Sprint(a.ID, " ", a.Title, " ", a.Maker, " ", a.Candidates, " ", a.Sitting, " ", a.Ended, "; ")
			}
			return text, err
		}},
		{7, "an assignment", "Backend Good luck. [core/charge-once core/outbox] core/warm-up 1h0m0s true false false 30 true", func() (string, error) {
			a, err := st.Assignment(ctx, ivan, 1)
			return fmt.Sprint(a.Title, " ", a.Note, " ", a.Exercises, " ", a.WarmUp, " ", a.Limit, " ", a.Hints, " ", a.Approaches, " ", a.AllPhases, " ", a.RetainDays, " ", a.Open), err
		}},
		{7, "a sitting that has ended", "Grace 15m0s candidate 4s true 90 3000 [ 1 3]", func() (string, error) {
			c, _, err := assigned("grace")
			if err != nil {
				return "", err
			}
			judged, err := st.Judgements(ctx, c)
			if err != nil {
				return "", err
			}
			met := map[string]string{}
			for _, j := range judged {
				met[j.Exercise] = j.Met
			}
			return fmt.Sprint(c.Name, " ", c.Extra, " ", c.EndedBy, " ", c.GivenBack, " ", c.HandedIn, at0(c.StartedAt, c.EndedAt), " ", []string{met[""], met[exercise]}), nil
		}},
		// The submission waited seven seconds, the site was down for sixty.
		{7, "a sitting that goes on", "Linus true given back 1m7s", func() (string, error) {
			c, a, err := assigned("linus")
			if err != nil {
				return "", err
			}
			r, err := st.Clock(ctx, a, c, time.UnixMilli(1_700_003_000_000))
			return fmt.Sprint(c.Name, " ", c.Sits(), " given back ", r.GivenBack), err
		}},
		{9, "a token", "2 from the tracker", func() (string, error) {
			p, err := st.PersonByToken(ctx, "token", now)
			if err != nil {
				return "", err
			}
			all, err := st.Tokens(ctx, p.ID, now)
			if err != nil || len(all) != 1 {
				return fmt.Sprint(all), err
			}
			return fmt.Sprint(p.ID, " ", all[0].Name), nil
		}},
		{9, "webhooks", "https://hooks.example/redeliver whsec_0001; sitting.ended waits 500; test delivered 204; ", func() (text string, err error) {
			all, err := st.Webhooks(ctx)
			if err != nil {
				return "", err
			}
			for _, w := range all {
				text += w.URL + " " + w.Secret + "; "
			}
			sent, err := st.Deliveries(ctx, all[0].ID, 0, 10)
			for _, d := range sent {
				text += fmt.Sprint(d.Event, " ", d.State, " ", d.Status, "; ")
			}
			return text, err
		}},
	}
}

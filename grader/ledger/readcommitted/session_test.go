package readcommitted_test

import (
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"modernc.org/sqlite"

	"redeliver/grader/ledger/readcommitted"
)

// What SQLite has and the model, or PostgreSQL, has not.
func TestSteps(t *testing.T) {
	t.Parallel()
	const keys = `
		CREATE TABLE counted (id INTEGER PRIMARY KEY, v TEXT);
		CREATE TABLE plain (v TEXT, n INTEGER);
		CREATE TABLE without (a TEXT, b TEXT, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
		CREATE TABLE late (id INTEGER, v TEXT, PRIMARY KEY (id));
		CREATE TABLE replaced (id TEXT UNIQUE ON CONFLICT REPLACE, n INTEGER);
		CREATE TABLE part (id TEXT, done INTEGER);
		CREATE UNIQUE INDEX part_done ON part (id) WHERE done = 1;
		INSERT INTO without VALUES ('x', 'y', 1), ('x', 'z', 1);
		INSERT INTO plain VALUES ('v', 1), ('v', 1);
		INSERT INTO counted VALUES (7, 'old');
		INSERT INTO replaced VALUES ('old', 1);`
	for _, tc := range []struct {
		name    string
		steps   string // "A text => answer"
		outside string
	}{
		{"AnIntegerKeyIsCountedOutsideOfTransactions", `
			A begin => ok
			B begin => ok
			A insert into counted (v) values ('a') returning id => [[8]]
			B insert into counted (v) values ('b') returning id => [[9]]
			A rollback => ok
			B commit => ok
			A insert into counted (v) values ('c') returning id => [[10]]
			A select id from counted => [[10] [7] [9]]`, ""},
		{"EqualRowsWithoutAKeyAreTwoRows", `
			A begin => ok
			B begin => ok
			A insert into plain values ('v', 1) => n=1
			B insert into plain values ('v', 1) => n=1
			B update plain set n = 2 where v = 'v' => n=3
			A update plain set n = n + 1 where v = 'v' => waits
			B commit => ok
			A commit => ok
			A select count(*), sum(n) from plain => [[4 10]]`, ""},
		{"AKeyOfTwoColumns", `
			A begin => ok
			B begin => ok
			A update without set n = 2 where a = 'x' and b = 'y' => n=1
			B update without set n = 3 where a = 'x' and b = 'z' => n=1
			B insert into without values ('x', 'y', 5) on conflict do nothing => waits
			A commit => ok
			B commit => ok
			A select a, b, n from without => [[x y 2] [x z 3]]`, ""},
		{"IDsOfAKeyThatCannotBeCounted", `
			A begin => ok
			B begin => ok
			A insert into late (v) values ('a') => n=1
			B insert into late (v) values ('b') => outside`, "whether late(id 1) is one key in both transactions"},
		{"APartialIndex", `
			A begin => ok
			B begin => ok
			A insert into part values ('p', 0) => n=1
			B insert into part values ('q', 1) => n=1
			B insert into part values ('p', 1) => outside`, "whether part(id 'p') index 0 is one key in both transactions"},
		{"TheTableReplaces", `
			A begin => ok
			B begin => ok
			A insert into replaced values ('old', 2) => n=1
			B insert into replaced values ('old', 3) => waits
			A commit => ok
			B commit => ok
			A select id, n from replaced => [[old 3]]`, ""},
		{"InsertOrIgnore", `
			A begin => ok
			B begin => ok
			A insert or ignore into without values ('p', 'q', 1) => n=1
			B insert or ignore into without values ('p', 'q', 2) => waits
			A commit => ok
			B commit => ok
			A select n from without where a = 'p' => [[1]]`, ""},
		{"ASubselectThatWaited", `
			A begin => ok
			B begin => ok
			A update plain set n = 5 => n=2
			B update plain set n = (select max(n) from plain) => waits
			A commit => ok
			B commit => outside`, "a statement with a sub-select or a join has waited; PostgreSQL reads part of it as it was before"},
		{"AStatementWithoutATransactionWaits", `
			A begin => ok
			A delete from counted where id = 7 => n=1
			B update counted set v = 'b' where id = 7 => waits
			A rollback => ok
			B select v from counted => [[b]]`, ""},
		{"OtherWordsForBeginAndCommit", `
			A begin immediate => n=0
			A insert into plain values ('w', 1) => n=1
			A end transaction => n=0
			B start transaction => n=0
			B begin => 25001
			B rollback => ok
			B commit => 25P01
			A select count(*) from plain where v = 'w' => [[1]]`, ""},
		{"WhatTheModelHasNot", `
			A create table more (id text) => 0A000
			A insert into plain with recursive n (i) as (select 1 union all select i + 1 from n limit 6000) select 'n', i from n => 0A000
			A savepoint s => 0A000
			A insert into plain values ('a', 1); insert into plain values ('b', 1) => 0A000
			A insert or rollback into plain values ('a', 1) => 0A000
			A update or ignore without set b = 'y' => 0A000
			A select p.n from plain p, counted c for update => 0A000
			A select count(*) from plain for update => 0A000
			A begin => ok
			A drop table plain => 0A000
			A select 1 => 25P02
			A commit => ROLLBACK
			A select count(*) from plain -- ; no second statement => [[2]]
			A select 'create; savepoint', "v" from plain order by n, v for update => [[create; savepoint v] [create; savepoint v]]`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := open(t, keys)
			for line := range strings.Lines(strings.TrimSpace(tc.steps)) {
				step, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
				session := int(step[0] - 'A')
				if got := m.say(session, step[2:]); got != want {
					t.Errorf("%s => %s, want %s", step, got, want)
				}
				if other := 1 - session; m.pending[other] != "" {
					if m.resumed(other) != "" {
						m.pending[other] = ""
					}
				}
			}
			if m.outside != tc.outside {
				t.Errorf("outside %q, want %q", m.outside, tc.outside)
			}
		})
	}
}

// Who waits, for whom and for what; and the end of a connection lets it go on.
func TestWaiting(t *testing.T) {
	t.Parallel()
	m := open(t, schema)
	a, b := m.sessions[0], m.sessions[1]
	check(t, a.Begin(false))
	if _, err := a.Do(t.Context(), "insert into processed (id) values ('p')", nil, m.evaluate); err != nil {
		t.Fatal(err)
	}
	_, err := b.Do(t.Context(), "insert into processed (id) values ('p')", nil, m.evaluate)
	var waiting *readcommitted.Waiting
	if !errors.As(err, &waiting) || waiting.For != a || waiting.For.Name() != "A" || waiting.Key != "processed(id 'p')" {
		t.Fatalf("%v", err)
	}
	if b.Blocked() != a || a.Blocked() != nil {
		t.Errorf("blocked: %v, %v", a.Blocked(), b.Blocked())
	}
	if rows := m.rows("processed"); rows != nil {
		t.Errorf("committed: %v", rows)
	}
	a.Close()
	if b.Blocked() != nil {
		t.Error("B still waits for a session that is gone")
	}
	if got := m.say(1, "insert into processed (id) values ('p')"); got != "n=1" {
		t.Error(got)
	}
}

// An injected error aborts like one of the database's own.
func TestAbort(t *testing.T) {
	t.Parallel()
	m := open(t, schema)
	check(t, m.sessions[0].Begin(false))
	m.say(0, "update acc set bal = 5 where id = 1")
	m.sessions[0].Abort()
	var got []string
	for _, step := range []string{"B update acc set bal = 6 where id = 1", "A select 1", "A commit", "A select bal from acc where id = 1"} {
		got = append(got, m.say(int(step[0]-'A'), step[2:]))
	}
	if diff := cmp.Diff([]string{"n=1", "25P02", "ROLLBACK", "[[6]]"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	m := open(t, schema)
	check(t, m.sessions[0].Begin(true))
	if got := m.say(0, "update acc set bal = 5 where id = 1"); got != "25006" {
		t.Error(got)
	}
}

// What a statement touches: the search for interleavings lives on it.
func TestReadsAndWrites(t *testing.T) {
	t.Parallel()
	m := open(t, schema)
	for _, step := range []struct {
		session       int
		text          string
		reads, writes []string
		durable       bool
	}{
		{0, "begin", nil, nil, false},
		{0, "insert into processed (id) values ('p')", []string{"doubt:processed", "table:processed"}, []string{"lock:processed(id 'p')"}, false},
		{1, "insert into processed (id) values ('p')", []string{"doubt:processed", "table:processed"}, []string{"lock:processed(id 'p')", "waits"}, false},
		{0, "update acc set bal = 1 where id = 1", nil, []string{"lock:acc(id 1)", "lock:acc row 1", "doubt:acc"}, false},
		{0, "update acc set bal = 2 where id = 1", nil, []string{"doubt:acc"}, false}, // a lock that it holds is no acquisition
		{0, "insert into outbox (v) values ('x')", []string{"doubt:outbox", "table:outbox"}, []string{"counter:outbox", "lock:outbox(id 1)"}, false},
		{0, "commit", nil, []string{
			"table:processed", "table:acc", "table:outbox", "doubt:acc",
			"lock:processed(id 'p')", "lock:acc(id 1)", "lock:acc row 1", "lock:outbox(id 1)",
		}, true},
		{1, "update acc set bal = 3 where id = 2", nil, []string{"lock:acc(id 2)", "lock:acc row 2", "table:acc", "doubt:acc", "lock:acc(id 2)", "lock:acc row 2"}, true},
	} {
		out, err := m.sessions[step.session].Do(t.Context(), step.text, nil, m.evaluate)
		var waiting *readcommitted.Waiting
		if err != nil && !errors.As(err, &waiting) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.reads, out.Reads) + cmp.Diff(step.writes, out.Writes); diff != "" || out.Durable != step.durable {
			t.Errorf("%s: durable %v\n%s", step.text, out.Durable, diff)
		}
	}
}

func TestSchemasThatTheModelCannotHave(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, schema, want string }{
		{"Trigger", "CREATE TABLE t (id); CREATE TRIGGER tr AFTER INSERT ON t BEGIN DELETE FROM t; END", "Triggers"},
		{"GeneratedColumn", "CREATE TABLE t (a, b AS (a + 1))", "generated columns"},
		{"ConflictRollback", "CREATE TABLE t (a UNIQUE ON CONFLICT ROLLBACK)", "ON CONFLICT ROLLBACK"},
		{"VirtualTable", "CREATE VIRTUAL TABLE t USING fts5 (a)", "virtual"},
		{"RowidTaken", "CREATE TABLE t (rowid TEXT, oid TEXT, _rowid_ TEXT)", "rowid"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			conn, err := new(sqlite.Driver).Open(":memory:")
			check(t, err)
			t.Cleanup(func() { check(t, conn.Close()) })
			d, err := readcommitted.Open(conn)
			check(t, err)
			_, err = conn.(driver.ExecerContext).ExecContext(t.Context(), tc.schema, nil)
			check(t, err)
			var wrong *readcommitted.SchemaError
			if err := d.Keep(t.Context()); !errors.As(err, &wrong) || !strings.Contains(wrong.Text, tc.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func BenchmarkTransaction(b *testing.B) {
	m := open(b, schema)
	for b.Loop() {
		check(b, m.d.Reset(b.Context()))
		m.begin()
		for _, text := range []string{
			"begin", "select 1 from processed where id = 'p'", "insert into processed values ('p')",
			"update acc set bal = bal + 1 where id = 1", "commit",
		} {
			m.say(0, text)
		}
	}
}

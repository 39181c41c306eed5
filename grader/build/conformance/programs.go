// Package handler is a submission that uses database/sql in every way that a
// handler may. A test runs each program natively with the real driver and in
// the sandbox, and compares what they write.
package handler

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Schema is the database with which each program begins.
const Schema = `
CREATE TABLE accounts (id TEXT PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0));
CREATE TABLE charges (id INTEGER PRIMARY KEY, payment TEXT NOT NULL UNIQUE, account TEXT REFERENCES accounts(id));
CREATE TABLE things (n INTEGER, r REAL, t TEXT, b BLOB, ok BOOLEAN, at DATETIME, d DATE, ts TIMESTAMP, untyped);
INSERT INTO accounts VALUES ('a', 100), ('b', 0);
`

// program writes down everything that it can see of the database.
type program func(ctx context.Context, db *sql.DB, p *protocol)

// Handle runs the program that the record's key names. It returns what the
// program wrote as an error, the one thing that a handler can return.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	run, ok := programs()[string(rec.Key)]
	if !ok {
		return fmt.Errorf("there is no program %q", rec.Key)
	}
	var p protocol
	run(ctx, db, &p)
	return errors.New(p.String())
}

// Names lists the programs, sorted.
func Names() []string {
	var names []string
	for name := range programs() {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// protocol is what a program writes.
type protocol struct{ strings.Builder }

func (p *protocol) say(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// err writes an error with its type, and its code if it is SQLite's.
func (p *protocol) err(what string, err error) {
	var e *sqlite.Error
	switch {
	case err == nil:
		p.say("%s: ok", what)
	case errors.As(err, &e):
		p.say("%s: %v [%T code %d]", what, err, e, e.Code())
	default:
		p.say("%s: %v [%T] norows=%t txdone=%t conndone=%t cancelled=%t deadline=%t", what, err, err,
			errors.Is(err, sql.ErrNoRows), errors.Is(err, sql.ErrTxDone), errors.Is(err, sql.ErrConnDone),
			errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded))
	}
}

func (p *protocol) exec(what string, r sql.Result, err error) {
	p.err(what, err)
	if err != nil {
		return
	}
	n, err1 := r.RowsAffected()
	id, err2 := r.LastInsertId()
	p.say("  %d rows, id %d, %v %v", n, id, err1, err2)
}

// query writes a whole result.
func (p *protocol) query(what string, rows *sql.Rows, err error) {
	p.err(what, err)
	if err != nil {
		return
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	p.err("  types", err)
	for _, t := range types {
		length, hasLength := t.Length()
		null, nullKnown := t.Nullable()
		_, _, decimal := t.DecimalSize()
		p.say("  column %s %q %v %d %t %t %t %t", t.Name(), t.DatabaseTypeName(), t.ScanType(), length, hasLength, null, nullKnown, decimal)
	}
	for rows.Next() {
		values := make([]any, len(types))
		into := make([]any, len(types))
		for i := range values {
			into[i] = &values[i]
		}
		p.err("  scan", rows.Scan(into...))
		for _, v := range values {
			p.value(v)
		}
	}
	p.err("  rows", rows.Err())
	p.say("  another result: %t", rows.NextResultSet())
	p.err("  close", rows.Close())
}

func (p *protocol) value(v any) {
	switch x := v.(type) {
	case time.Time:
		p.say("    time %s in %s", x.Format(time.RFC3339Nano+" MST"), x.Location())
	case []byte:
		p.say("    bytes %q nil=%t", x, x == nil)
	default:
		p.say("    %T %#v", v, v)
	}
}

func (p *protocol) all(ctx context.Context, db *sql.DB, query string, args ...any) {
	rows, err := db.QueryContext(ctx, query, args...)
	p.query(query, rows, err)
}

type money int64

type upper string

// Value implements driver.Valuer.
func (u upper) Value() (driver.Value, error) { return strings.ToUpper(string(u)), nil }

// Scan implements sql.Scanner.
func (u *upper) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("upper: %T", v)
	}
	*u = upper(strings.ToUpper(s))
	return nil
}

func programs() map[string]program {
	at := time.Date(2024, 2, 29, 13, 14, 15, 123456789, time.UTC)
	berlin := time.FixedZone("CET", 3600)
	return map[string]program{
		"unique constraint": func(ctx context.Context, db *sql.DB, p *protocol) {
			for range 2 {
				r, err := db.ExecContext(ctx, "INSERT INTO charges (payment, account) VALUES (?, ?)", "p1", "a")
				p.exec("insert", r, err)
				var e *sqlite.Error
				p.say("unique: %t", errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE)
			}
		},
		"primary key, not null and check": func(ctx context.Context, db *sql.DB, p *protocol) {
			for _, q := range []string{
				"INSERT INTO accounts VALUES ('a', 1)", "INSERT INTO accounts VALUES ('c', NULL)", "UPDATE accounts SET balance = balance - 1000 WHERE id = 'a'",
			} {
				r, err := db.ExecContext(ctx, q)
				p.exec(q, r, err)
			}
		},
		"on conflict do nothing": func(ctx context.Context, db *sql.DB, p *protocol) {
			for range 2 {
				r, err := db.ExecContext(ctx, "INSERT INTO charges (payment) VALUES ('p') ON CONFLICT DO NOTHING")
				p.exec("insert", r, err)
			}
		},
		"last insert id and rows affected": func(ctx context.Context, db *sql.DB, p *protocol) {
			r, err := db.ExecContext(ctx, "INSERT INTO charges (payment) VALUES ('p'), ('q'), ('r')")
			p.exec("insert", r, err)
			r, err = db.ExecContext(ctx, "UPDATE charges SET account = 'b'")
			p.exec("update", r, err)
			r, err = db.ExecContext(ctx, "DELETE FROM charges WHERE payment = 'nobody'")
			p.exec("delete", r, err)
			_, err = db.ExecContext(ctx, "") // the real driver has no result here, and panics when asked
			p.err("nothing", err)
			r, err = db.ExecContext(ctx, "SELECT 1")
			p.exec("select", r, err)
		},
		"returning": func(ctx context.Context, db *sql.DB, p *protocol) {
			p.all(ctx, db, "INSERT INTO charges (payment) VALUES ('p') RETURNING id, payment AS paid")
			p.all(ctx, db, "UPDATE accounts SET balance = balance + 1 RETURNING *")
			p.all(ctx, db, "INSERT INTO charges (payment) VALUES ('p') RETURNING id")
		},
		"values of every type": func(ctx context.Context, db *sql.DB, p *protocol) {
			r, err := db.ExecContext(ctx, "INSERT INTO things VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
				int64(-1<<63), 1.5, "Zoë\x00 日本", []byte{0, 255}, true, at, at, at, "x")
			p.exec("insert", r, err)
			r, err = db.ExecContext(ctx, "INSERT INTO things VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
				uint8(7), float32(0.1), "", []byte{}, false, at.In(berlin), at.In(berlin), "2024-02-29", 3.0)
			p.exec("insert", r, err)
			p.all(ctx, db, "SELECT * FROM things")
			p.all(ctx, db, "SELECT typeof(n), typeof(r), typeof(t), typeof(b), typeof(ok), typeof(at), at, hex(t), length(b) FROM things")
		},
		"null values": func(ctx context.Context, db *sql.DB, p *protocol) {
			var s *string
			var b []byte
			r, err := db.ExecContext(ctx, "INSERT INTO things (n, r, t, b, at) VALUES (?, ?, ?, ?, ?)", nil, sql.NullFloat64{}, s, b, sql.NullTime{})
			p.exec("insert", r, err)
			p.all(ctx, db, "SELECT * FROM things")
			var n sql.NullInt64
			var str sql.NullString
			var raw []byte
			p.err("scan", db.QueryRowContext(ctx, "SELECT n, t, b FROM things").Scan(&n, &str, &raw))
			p.say("%v %v %v", n, str, raw == nil)
			var i int
			p.err("scan into int", db.QueryRowContext(ctx, "SELECT n FROM things").Scan(&i))
			p.err("scan into pointer", db.QueryRowContext(ctx, "SELECT t FROM things").Scan(&s))
			p.say("%v", s == nil)
		},
		"stored times": func(ctx context.Context, db *sql.DB, p *protocol) {
			for _, text := range []string{
				"2024-02-29 13:14:15+00:00", "2024-02-29T13:14:15Z", "2024-02-29 13:14:15.5", "2024-02-29", "2024-02-29 13:14",
				"2024-02-29 13:14:15 +0100 CET", "2024-02-29 13:14:15 +0000 UTC m=+0.5", "2024-02-29T13:14:15-07:00", "yesterday", "1709212455",
			} {
				_, err := db.ExecContext(ctx, "INSERT INTO things (at, d, ts, t) VALUES (?, ?, ?, ?)", text, text, text, text)
				p.err(text, err)
			}
			_, err := db.ExecContext(ctx, "INSERT INTO things (at) VALUES (1709212455)")
			p.err("integer", err)
			p.all(ctx, db, "SELECT at, d, ts, t FROM things")
			var when time.Time
			p.err("scan", db.QueryRowContext(ctx, "SELECT at FROM things").Scan(&when))
			p.value(when)
			p.err("scan a text into a time", db.QueryRowContext(ctx, "SELECT t FROM things").Scan(&when))
		},
		"arguments that are converted": func(ctx context.Context, db *sql.DB, p *protocol) {
			p.all(ctx, db, "SELECT ?, ?, ?, ?, ?", money(5), upper("abc"), true, 1.0, at.In(berlin))
			_, err := db.QueryContext(ctx, "SELECT ?", uint64(1<<63))
			p.err("too large", err)
			_, err = db.QueryContext(ctx, "SELECT ?", struct{}{})
			p.err("a struct", err)
			var u upper
			p.err("scanner", db.QueryRowContext(ctx, "SELECT 'shout'").Scan(&u))
			p.say("%s", u)
			p.err("scanner that refuses", db.QueryRowContext(ctx, "SELECT 1").Scan(&u))
		},
		"arguments by name and number": func(ctx context.Context, db *sql.DB, p *protocol) {
			p.all(ctx, db, "SELECT @a, :b, $c, ?2", sql.Named("a", 1), sql.Named("b", "two"), sql.Named("c", nil))
			p.all(ctx, db, "SELECT ?2, ?1, ?2", "one", "two")
			p.all(ctx, db, "SELECT $1, $2", "one", "two")
			_, err := db.QueryContext(ctx, "SELECT @missing", sql.Named("other", 1))
			p.err("missing name", err)
			_, err = db.ExecContext(ctx, "INSERT INTO charges (payment) VALUES (?)")
			p.err("missing argument", err)
			_, err = db.ExecContext(ctx, "DELETE FROM charges", 1, 2)
			p.err("more than needed", err)
		},
		"reused byte slice": func(ctx context.Context, db *sql.DB, p *protocol) {
			b := []byte("first")
			for range 2 {
				_, err := db.ExecContext(ctx, "INSERT INTO things (b) VALUES (?)", b)
				p.err("insert", err)
				copy(b, "again")
			}
			rows, err := db.QueryContext(ctx, "SELECT b FROM things")
			p.err("query", err)
			var raw sql.RawBytes
			var kept [][]byte
			for rows.Next() {
				p.err("scan", rows.Scan(&raw))
				kept = append(kept, append([]byte(nil), raw...))
			}
			p.say("%q %v", kept, rows.Close())
		},
		"scan errors": func(ctx context.Context, db *sql.DB, p *protocol) {
			var n int
			var s string
			var small int8
			var b bool
			p.err("text into int", db.QueryRowContext(ctx, "SELECT 'x'").Scan(&n))
			p.err("too large", db.QueryRowContext(ctx, "SELECT 1000").Scan(&small))
			p.err("two columns", db.QueryRowContext(ctx, "SELECT 1, 2").Scan(&n))
			p.err("null into string", db.QueryRowContext(ctx, "SELECT NULL").Scan(&s))
			p.err("float into int", db.QueryRowContext(ctx, "SELECT 1.5").Scan(&n))
			p.err("int into bool", db.QueryRowContext(ctx, "SELECT 2").Scan(&b))
			p.err("not a pointer", db.QueryRowContext(ctx, "SELECT 2").Scan(n))
		},
		"no rows": func(ctx context.Context, db *sql.DB, p *protocol) {
			var n int
			p.err("row", db.QueryRowContext(ctx, "SELECT balance FROM accounts WHERE id = 'nobody'").Scan(&n))
			p.all(ctx, db, "SELECT * FROM charges")
			p.all(ctx, db, "-- only a comment")
			p.all(ctx, db, "DELETE FROM charges")
		},
		"sql that is wrong": func(ctx context.Context, db *sql.DB, p *protocol) {
			for _, q := range []string{
				"SELEC 1", "SELECT * FROM nowhere", "SELECT nothing FROM accounts", "INSERT INTO accounts VALUES (1)", "SELECT 'open",
				"UPDATE accounts SET balance = 'x' WHERE id = ?1 AND", "SELECT json('{')", "COMMIT", "ROLLBACK",
			} {
				_, err := db.ExecContext(ctx, q)
				p.err("exec "+q, err)
				rows, err := db.QueryContext(ctx, q)
				p.query("query "+q, rows, err)
				_, err = db.PrepareContext(ctx, q)
				p.err("prepare "+q, err)
			}
		},
		"error in the middle of a result": func(ctx context.Context, db *sql.DB, p *protocol) {
			p.all(ctx, db, "SELECT abs(v) FROM (SELECT 1 AS v UNION ALL SELECT 2 UNION ALL SELECT -9223372036854775808 UNION ALL SELECT 4)")
			p.all(ctx, db, "SELECT abs(-9223372036854775808)")
			p.all(ctx, db, "SELECT 1")
		},
		"several statements": func(ctx context.Context, db *sql.DB, p *protocol) {
			r, err := db.ExecContext(ctx, "INSERT INTO charges (payment) VALUES ('p'); INSERT INTO charges (payment) VALUES ('q'), ('r');")
			p.exec("two inserts", r, err)
			r, err = db.ExecContext(ctx, "INSERT INTO charges (payment) VALUES ('s'); INSERT INTO charges (payment) VALUES ('s')")
			p.exec("the second fails", r, err)
			p.all(ctx, db, "SELECT 1; SELECT 2 AS two")
			p.all(ctx, db, "SELECT count(*) FROM charges")
		},
		"commit and rollback": func(ctx context.Context, db *sql.DB, p *protocol) {
			for _, commit := range []bool{false, true} {
				tx, err := db.BeginTx(ctx, nil)
				p.err("begin", err)
				_, err = tx.ExecContext(ctx, "INSERT INTO charges (payment) VALUES ('p')")
				p.err("insert", err)
				if commit {
					p.err("commit", tx.Commit())
				} else {
					p.err("rollback", tx.Rollback())
				}
				p.all(ctx, db, "SELECT payment FROM charges")
				p.err("commit again", tx.Commit())
				p.err("rollback again", tx.Rollback())
				_, err = tx.ExecContext(ctx, "SELECT 1")
				p.err("exec after the end", err)
				_, err = tx.QueryContext(ctx, "SELECT 1")
				p.err("query after the end", err)
			}
		},
		"isolation levels": func(ctx context.Context, db *sql.DB, p *protocol) {
			for level := sql.LevelDefault; level <= sql.LevelLinearizable; level++ {
				for _, readOnly := range []bool{false, true} {
					tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: level, ReadOnly: readOnly})
					p.err(level.String(), err)
					if err != nil {
						continue
					}
					_, err = tx.ExecContext(ctx, "UPDATE accounts SET balance = balance + 1")
					p.err("update", err)
					p.err("commit", tx.Commit())
				}
			}
		},
		"failed statement in a transaction": func(ctx context.Context, db *sql.DB, p *protocol) {
			tx, err := db.BeginTx(ctx, nil)
			p.err("begin", err)
			for range 2 {
				_, err = tx.ExecContext(ctx, "INSERT INTO charges (payment) VALUES ('p')")
				p.err("insert", err)
			}
			_, err = tx.ExecContext(ctx, "ROLLBACK")
			p.err("rollback as a statement", err)
			p.err("commit", tx.Commit())
			p.all(ctx, db, "SELECT payment FROM charges")
		},
		"two transactions, two writers": func(ctx context.Context, db *sql.DB, p *protocol) {
			first, err := db.BeginTx(ctx, nil)
			p.err("begin", err)
			_, err = first.ExecContext(ctx, "UPDATE accounts SET balance = 1")
			p.err("first", err)
			second, err := db.BeginTx(ctx, nil)
			p.err("begin", err)
			p.err("second reads", second.QueryRowContext(ctx, "SELECT balance FROM accounts WHERE id = 'a'").Scan(new(int)))
			_, err = second.ExecContext(ctx, "UPDATE accounts SET balance = 2")
			p.err("second writes", err)
			_, err = db.ExecContext(ctx, "DELETE FROM charges")
			p.err("outside", err)
			var e *sqlite.Error
			p.say("busy: %t", errors.As(err, &e) && e.Code() == sqlite3.SQLITE_BUSY)
			p.err("commit with a reader", first.Commit())
			p.err("rollback", second.Rollback())
			p.all(ctx, db, "SELECT * FROM accounts")
		},
		"open rows and another statement": func(ctx context.Context, db *sql.DB, p *protocol) {
			rows, err := db.QueryContext(ctx, "SELECT id FROM accounts ORDER BY id")
			p.err("query", err)
			p.say("next %t", rows.Next())
			p.all(ctx, db, "SELECT balance FROM accounts")
			p.say("next %t, next %t", rows.Next(), rows.Next())
			p.err("close", rows.Close())
			p.err("scan after close", rows.Scan(new(string)))
		},
		"one connection": func(ctx context.Context, db *sql.DB, p *protocol) {
			c, err := db.Conn(ctx)
			p.err("conn", err)
			_, err = c.ExecContext(ctx, "CREATE TEMP TABLE mine (n)")
			p.err("temp table", err)
			_, err = c.ExecContext(ctx, "INSERT INTO mine VALUES (1)")
			p.err("insert", err)
			_, err = db.ExecContext(ctx, "INSERT INTO mine VALUES (2)")
			p.err("another connection", err)
			p.err("ping", c.PingContext(ctx))
			p.err("close", c.Close())
			p.err("close again", c.Close())
			_, err = c.ExecContext(ctx, "SELECT 1")
			p.err("after close", err)
			p.err("ping", db.Ping())
		},
		"prepared statements": func(ctx context.Context, db *sql.DB, p *protocol) {
			s, err := db.PrepareContext(ctx, "INSERT INTO charges (payment) VALUES (?)")
			p.err("prepare", err)
			for _, v := range []any{"p", "q", "p"} {
				r, err := s.ExecContext(ctx, v)
				p.exec("exec", r, err)
			}
			_, err = s.ExecContext(ctx)
			p.err("no argument", err)
			tx, err := db.BeginTx(ctx, nil)
			p.err("begin", err)
			r, err := tx.StmtContext(ctx, s).ExecContext(ctx, "in tx")
			p.exec("in a transaction", r, err)
			p.err("rollback", tx.Rollback())
			p.err("close", s.Close())
			_, err = s.ExecContext(ctx, "x")
			p.err("after close", err)
			q, err := db.PrepareContext(ctx, "SELECT payment FROM charges WHERE payment > ? ORDER BY 1")
			p.err("prepare", err)
			rows, err := q.QueryContext(ctx, "")
			p.query("query", rows, err)
			var text string
			p.err("row", q.QueryRowContext(ctx, "zzz").Scan(&text))
		},
		"cancelled context": func(ctx context.Context, db *sql.DB, p *protocol) {
			gone, cancel := context.WithCancel(ctx)
			cancel()
			late, cancelLate := context.WithDeadline(ctx, time.Unix(1, 0))
			defer cancelLate()
			for _, c := range []context.Context{gone, late} {
				_, err := db.ExecContext(c, "DELETE FROM accounts")
				p.err("exec", err)
				_, err = db.QueryContext(c, "SELECT 1")
				p.err("query", err)
				p.err("row", db.QueryRowContext(c, "SELECT 1").Scan(new(int)))
				_, err = db.PrepareContext(c, "SELECT 1")
				p.err("prepare", err)
				_, err = db.BeginTx(c, nil)
				p.err("begin", err)
				_, err = db.Conn(c)
				p.err("conn", err)
				p.err("ping", db.PingContext(c))
			}
			p.all(ctx, db, "SELECT count(*) FROM accounts")
		},
		"context that ends in a transaction": func(ctx context.Context, db *sql.DB, p *protocol) {
			c, cancel := context.WithCancel(ctx)
			tx, err := db.BeginTx(c, nil)
			p.err("begin", err)
			_, err = tx.ExecContext(ctx, "DELETE FROM accounts")
			p.err("delete", err)
			cancel()
			p.say("ended: %t", tx.Commit() != nil)
			var n int
			p.err("count", db.QueryRowContext(ctx, "SELECT count(*) FROM accounts").Scan(&n))
			p.say("%d accounts", n)
		},
		"statement with an ended context in a transaction": func(ctx context.Context, db *sql.DB, p *protocol) {
			gone, cancel := context.WithCancel(ctx)
			cancel()
			tx, err := db.BeginTx(ctx, nil)
			p.err("begin", err)
			_, err = tx.ExecContext(gone, "DELETE FROM accounts")
			p.err("exec", err)
			_, err = tx.QueryContext(gone, "SELECT 1")
			p.err("query", err)
			_, err = tx.PrepareContext(gone, "SELECT 1")
			p.err("prepare", err)
			p.err("commit", tx.Commit())
		},
		"large values": func(ctx context.Context, db *sql.DB, p *protocol) {
			_, err := db.ExecContext(ctx, "INSERT INTO things (t, b) VALUES (?, zeroblob(100000))", strings.Repeat("ж", 100_000))
			p.err("insert", err)
			var t string
			var b []byte
			p.err("scan", db.QueryRowContext(ctx, "SELECT t, b FROM things").Scan(&t, &b))
			p.say("%d %d %t", len(t), len(b), t == strings.Repeat("ж", 100_000))
		},
		"column types before and after Next": func(ctx context.Context, db *sql.DB, p *protocol) {
			rows, err := db.QueryContext(ctx, "SELECT 1 AS v UNION ALL SELECT 'x' UNION ALL SELECT 2.5 UNION ALL SELECT NULL")
			p.err("query", err)
			defer rows.Close()
			for {
				types, err := rows.ColumnTypes()
				p.err("types", err)
				if err == nil && types[0].ScanType() != nil {
					p.say("%v %t", types[0].ScanType(), types[0].ScanType() == reflect.TypeFor[int64]())
				}
				if !rows.Next() {
					break
				}
			}
		},
		"pool statistics": func(ctx context.Context, db *sql.DB, p *protocol) {
			db.SetMaxOpenConns(1)
			p.all(ctx, db, "SELECT 1")
			s := db.Stats()
			p.say("%d open, %d in use", s.MaxOpenConnections, s.InUse)
			tx, err := db.BeginTx(ctx, nil)
			p.err("begin", err)
			c, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			_, err = db.ExecContext(c, "SELECT 1")
			p.err("the pool is empty", err)
			p.err("commit", tx.Commit())
		},
	}
}

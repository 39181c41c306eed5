package readcommitted_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgresEnv names the variable with the address of a database in which tests
// may create schemas.
const postgresEnv = "REDELIVER_TEST_POSTGRES"

// server is a real PostgreSQL with a schema of this test's own.
type server struct {
	t      testing.TB
	admin  *pgx.Conn
	conns  [2]*pgx.Conn
	schema string
	made   bool
}

// postgres is the server as a backend. A statement that waits is in flight on a
// goroutine of its own.
type postgres struct {
	*server
	answers [2]chan string
}

func connect(t testing.TB) *server {
	t.Helper()
	address := os.Getenv(postgresEnv)
	if address == "" {
		t.Skip("set " + postgresEnv + " to compare with a real PostgreSQL")
	}
	s := &server{t: t, schema: "rc_" + strings.ToLower(rand.Text())}
	dial := func() *pgx.Conn {
		c, err := pgx.Connect(context.Background(), address)
		check(t, err)
		t.Cleanup(func() { check(t, c.Close(context.Background())) })
		_, err = c.Exec(context.Background(), "SET search_path = "+s.schema+"; SET synchronous_commit = off")
		check(t, err)
		return c
	}
	s.admin = dial()
	t.Cleanup(func() {
		_, err := s.admin.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+s.schema+" CASCADE")
		check(t, err)
	})
	for i := range s.conns {
		s.conns[i] = dial()
	}
	return s
}

// start makes the tables, or fills them anew.
func (s *server) start() *postgres {
	create := strings.ReplaceAll(schema, "INTEGER PRIMARY KEY AUTOINCREMENT", "serial PRIMARY KEY")
	if !s.made {
		s.run("CREATE SCHEMA " + s.schema)
		s.run(create)
		s.made = true
		return &postgres{server: s}
	}
	var again strings.Builder
	for _, name := range tables() {
		again.WriteString("DELETE FROM " + name + ";")
	}
	for line := range strings.Lines(create) {
		if strings.HasPrefix(line, "INSERT") {
			again.WriteString(line)
		}
	}
	s.run(again.String() + "ALTER SEQUENCE outbox_id_seq RESTART")
	return &postgres{server: s}
}

func (s *server) run(text string) {
	s.t.Helper()
	_, err := s.admin.PgConn().Exec(s.t.Context(), text).ReadAll()
	check(s.t, err)
}

// end leaves no transaction open: what waits is let go by the other's end.
func (p *postgres) end() {
	for {
		waiting := 0
		for i, c := range p.conns {
			if p.answers[i] != nil {
				if p.resumed(i) == "" {
					waiting++
					continue
				}
				p.answers[i] = nil
			}
			_, err := c.Exec(p.t.Context(), "ROLLBACK")
			check(p.t, err)
		}
		if waiting == 0 {
			return
		}
	}
}

func (p *postgres) say(session int, text string) string {
	// The victim of a deadlock is whoever looks first: only the session that can
	// close a circle, because the other one waits, ever looks.
	patience := "1h"
	if p.answers[1-session] != nil {
		patience = "1ms"
	}
	var refused *pgconn.PgError
	if _, err := p.conns[session].Exec(p.t.Context(), "SET deadlock_timeout = '"+patience+"'"); !errors.As(err, &refused) {
		check(p.t, err) // an aborted transaction refuses everything
	}
	answers := make(chan string, 1)
	p.answers[session] = answers
	go func() { answers <- p.perform(session, text) }()
	return p.answer(session)
}

func (p *postgres) perform(session int, text string) string {
	results, err := p.conns[session].PgConn().Exec(p.t.Context(), text).ReadAll()
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	if err != nil {
		return err.Error()
	}
	r := results[0]
	switch tag := r.CommandTag.String(); {
	case strings.HasPrefix(tag, "SELECT") || len(r.Rows) > 0:
		return answerRows(rowsOf(r))
	case text == "commit" && tag == "ROLLBACK":
		return tag
	case text == "begin" || text == "commit" || text == "rollback":
		return "ok"
	default:
		return fmt.Sprintf("n=%d", r.CommandTag.RowsAffected())
	}
}

// answer waits for a session's answer, or until the server says that the session
// waits for the other one. When that one waits too, the circle is closed and the
// answer comes.
func (p *postgres) answer(session int) string {
	for {
		select {
		case a := <-p.answers[session]:
			p.answers[session] = nil
			return a
		default:
		}
		if p.answers[1-session] != nil {
			a := <-p.answers[session]
			p.answers[session] = nil
			return a
		}
		var blocked bool
		pid := p.conns[session].PgConn().PID()
		check(p.t, p.admin.QueryRow(p.t.Context(), "SELECT cardinality(pg_blocking_pids($1)) > 0", int32(pid)).Scan(&blocked))
		if blocked {
			return waits
		}
	}
}

func (p *postgres) resumed(session int) string {
	if p.answers[session] == nil {
		return ""
	}
	if a := p.answer(session); a != waits {
		return a
	}
	return ""
}

func (p *postgres) rows(table string) []string {
	results, err := p.admin.PgConn().Exec(p.t.Context(), "SELECT * FROM "+table).ReadAll()
	check(p.t, err)
	return rowsOf(results[0])
}

// rowsOf writes rows as fmt.Sprint writes the model's.
func rowsOf(r *pgconn.Result) []string {
	var rows []string
	for _, values := range r.Rows {
		parts := make([]string, len(values))
		for i, v := range values {
			parts[i] = string(v)
			if v == nil {
				parts[i] = "<nil>"
			}
		}
		rows = append(rows, "["+strings.Join(parts, " ")+"]")
	}
	return rows
}

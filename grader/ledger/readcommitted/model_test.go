package readcommitted_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"testing"

	"modernc.org/sqlite"

	"redeliver/grader/ledger/readcommitted"
)

// model is the model as a backend.
type model struct {
	t        testing.TB
	d        *readcommitted.Database
	conn     driver.Conn
	sessions [2]*readcommitted.Session
	pending  [2]string
	outside  string
}

func open(t testing.TB, schema string) *model {
	t.Helper()
	m := &model{t: t}
	var err error
	m.conn, err = new(sqlite.Driver).Open(":memory:")
	check(t, err)
	t.Cleanup(func() { check(t, m.conn.Close()) })
	m.d, err = readcommitted.Open(m.conn)
	check(t, err)
	_, err = m.conn.(driver.ExecerContext).ExecContext(t.Context(), schema, nil)
	check(t, err)
	check(t, m.d.Keep(t.Context()))
	m.begin()
	return m
}

// begin makes new sessions.
func (m *model) begin() {
	m.outside, m.pending = "", [2]string{}
	for i := range m.sessions {
		m.sessions[i] = m.d.Session(string(rune('A' + i)))
	}
}

// evaluate executes a text on SQLite.
func (m *model) evaluate(ctx context.Context, query string) (res readcommitted.Result, err error) {
	rows, err := m.conn.(driver.QueryerContext).QueryContext(ctx, query, nil)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for _, name := range rows.Columns() {
		res.Columns = append(res.Columns, readcommitted.Column{Name: name})
	}
	for {
		row := make([]driver.Value, len(res.Columns))
		if err := rows.Next(row); err == io.EOF { //nolint:errorlint // the driver's contract is io.EOF itself
			break
		} else if err != nil {
			return res, err
		}
		res.Rows = append(res.Rows, row)
	}
	if res.Columns == nil {
		count, err := m.conn.(driver.QueryerContext).QueryContext(ctx, "SELECT changes()", nil)
		if err != nil {
			return res, err
		}
		row := make([]driver.Value, 1)
		if err := errors.Join(count.Next(row), count.Close()); err != nil {
			return res, err
		}
		res.Affected, _ = row[0].(int64)
	}
	return res, nil
}

func (m *model) say(session int, text string) string {
	if m.outside != "" {
		return "outside"
	}
	out, err := m.sessions[session].Do(m.t.Context(), text, nil, m.evaluate)
	var (
		waiting *readcommitted.Waiting
		outside *readcommitted.Outside
		own     *readcommitted.Error
		theirs  *sqlite.Error
	)
	switch {
	case errors.As(err, &waiting):
		m.pending[session] = text
		return waits
	case errors.As(err, &outside):
		m.outside = outside.Reason
		return "outside"
	case errors.Is(err, readcommitted.ErrCommitAborted):
		return "ROLLBACK"
	case errors.As(err, &own):
		return own.State
	case errors.As(err, &theirs):
		return sqlState(m.t, theirs)
	case err != nil:
		m.t.Fatalf("%s: %v", text, err)
	case out.Columns != nil:
		var rows []string
		for _, r := range out.Rows {
			rows = append(rows, fmt.Sprint(r))
		}
		return answerRows(rows)
	}
	switch text {
	case "begin", "commit", "rollback":
		return "ok"
	}
	return fmt.Sprintf("n=%d", out.Affected)
}

// sqlState is PostgreSQL's name of an error of SQLite.
func sqlState(t testing.TB, err *sqlite.Error) string {
	t.Helper()
	switch err.Code() {
	case 1555, 2067:
		return "23505"
	case 1299:
		return "23502"
	case 275:
		return "23514"
	}
	t.Fatalf("an error that no scenario expects: %v", err)
	return ""
}

func (m *model) resumed(session int) string {
	if m.outside == "" && m.sessions[session].Blocked() != nil {
		return ""
	}
	if answer := m.say(session, m.pending[session]); answer != waits {
		return answer
	}
	return ""
}

func (m *model) rows(table string) []string {
	res, err := m.evaluate(m.t.Context(), "SELECT * FROM "+table)
	check(m.t, err)
	var rows []string
	for _, r := range res.Rows {
		rows = append(rows, fmt.Sprint(r))
	}
	return rows
}

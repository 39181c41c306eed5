package grader

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"redeliver/grader/guest/abi"
	"redeliver/grader/ledger"
	"redeliver/grader/trace"
)

// sqlEffect is a call to the database.
type sqlEffect struct {
	op    uint32
	at    abi.Position
	stmt  abi.Statement
	begin abi.Begin
	conn  uint64
}

func readSQL(q request) (sqlEffect, error) {
	r := abi.NewReader(q.in)
	e := sqlEffect{op: q.op}
	switch q.op {
	case abi.OpExec, abi.OpQuery, abi.OpPrepare:
		e.stmt = r.Statement()
		e.conn, e.at = e.stmt.Conn, e.stmt.At
	case abi.OpBegin:
		e.begin = r.Begin()
		e.conn, e.at = e.begin.Conn, e.begin.At
	case abi.OpCommit, abi.OpRollback, abi.OpCloseConn:
		m := r.EndRequest()
		e.conn, e.at = m.Conn, m.At
	default:
		return e, fmt.Errorf("%w: there is no operation %d", errMalformed, q.op)
	}
	if err := r.End(); err != nil {
		return e, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return e, nil
}

func (e sqlEffect) position() abi.Position { return e.at }

func (e sqlEffect) event() string { return trace.SQL }

func (e sqlEffect) text() string {
	switch e.op {
	case abi.OpBegin:
		return "BEGIN"
	case abi.OpCommit:
		return "COMMIT"
	case abi.OpRollback:
		return "ROLLBACK"
	default:
		return ledger.Shorten(fillIn(e.stmt.SQL, e.stmt.Args), 300)
	}
}

func (e sqlEffect) noun() string {
	if e.op == abi.OpExec || e.op == abi.OpQuery {
		return verbAndTable(e.stmt.SQL)
	}
	return e.text()
}

// perform executes it on the instance's connection.
func (e sqlEffect) perform(ctx context.Context, w *world, instance string) (outcome, error) {
	conn, err := w.ledger.Conn(instance, e.conn)
	if errors.Is(err, ledger.ErrTooManyConns) {
		return refusal(e.op, err), nil
	}
	if err != nil {
		return outcome{}, err
	}
	var out outcome
	err = w.sub.computing.measure(func() (err error) {
		out, err = performOn(ctx, conn, e)
		out.refused = conn.Refused()
		if err == nil && out.access.Durable {
			err = w.histories.commit(ctx, w.ledger)
		}
		return err
	})
	return out, err
}

func performOn(ctx context.Context, conn ledger.Conn, e sqlEffect) (outcome, error) {
	switch e.op {
	case abi.OpExec:
		res, err := conn.Exec(ctx, e.stmt.SQL, e.stmt.Args)
		if noAnswer(err) || ctx.Err() != nil {
			return outcome{access: res.Access}, err
		}
		return outcome{
			reply:  abi.AppendExecReply(nil, abi.ExecReply{Err: abi.ErrorOf(err), RowsAffected: res.Affected, LastInsertID: res.LastInsertID}),
			result: resultText(err, countRows(res.Affected)), changes: res.Changes, access: res.Access, busy: isBusy(err),
		}, nil
	case abi.OpQuery:
		rows, err := conn.Query(ctx, e.stmt.SQL, e.stmt.Args)
		if noAnswer(err) || ctx.Err() != nil {
			return outcome{access: rows.Access}, err
		}
		return outcome{
			reply: queryReply(rows, err), result: resultText(err, rowsText(rows)), changes: rows.Changes, access: rows.Access, busy: isBusy(err),
		}, nil
	case abi.OpBegin:
		err := conn.Begin(ctx, driver.TxOptions{ReadOnly: e.begin.ReadOnly})
		return outcome{reply: abi.AppendError(nil, abi.ErrorOf(err)), result: resultText(err, "")}, ctx.Err()
	case abi.OpCommit:
		access, err := conn.Commit()
		if noAnswer(err) {
			return outcome{access: access}, err
		}
		return outcome{reply: abi.AppendError(nil, abi.ErrorOf(err)), result: resultText(err, ""), access: access, busy: isBusy(err)}, nil
	default:
		access, err := conn.Rollback()
		return outcome{reply: abi.AppendError(nil, abi.ErrorOf(err)), result: resultText(err, ""), access: access}, nil
	}
}

// isBusy says that another connection holds SQLite's lock: SQLITE_BUSY or one of
// its extended codes.
func isBusy(err error) bool {
	e := abi.ErrorOf(err)
	return e.Kind == abi.SQLiteError && e.Code&0xff == sqliteBusy
}

// SQLite's result codes, https://sqlite.org/rescode.html.
const (
	sqliteBusy  = 5
	sqliteIOErr = 10
)

// fault is what a broken disk or a lost connection gives.
func (e sqlEffect) fault(what string) outcome {
	ioErr := abi.Error{Kind: abi.SQLiteError, Code: sqliteIOErr, Text: "disk I/O error (10)"}
	out := answer(e.op, ioErr)
	out.result, out.fault = "error: "+ioErr.Text+" ("+what+")", true
	return out
}

// abandon rolls back where a transaction was to end: it is over, and nothing of
// it stays. What becomes of a transaction whose statement fails is the database's.
func (e sqlEffect) abandon(w *world, instance string) error {
	conn, err := w.ledger.Conn(instance, e.conn)
	switch {
	case errors.Is(err, ledger.ErrTooManyConns) || err == nil && e.op == abi.OpBegin:
		return nil
	case err != nil:
		return err
	case e.op == abi.OpCommit || e.op == abi.OpRollback:
		_, err = conn.Rollback()
		return err
	default:
		conn.Fail()
		return nil
	}
}

// refusal answers an effect with an error that SQLite never saw.
func refusal(op uint32, err error) outcome {
	out := answer(op, abi.ErrorOf(err))
	out.result = resultText(err, "")
	return out
}

func answer(op uint32, e abi.Error) outcome {
	switch op {
	case abi.OpExec:
		return outcome{reply: abi.AppendExecReply(nil, abi.ExecReply{Err: e})}
	case abi.OpQuery:
		return outcome{reply: abi.AppendQueryReply(nil, abi.QueryReply{Err: e})}
	default:
		return outcome{reply: abi.AppendError(nil, e)}
	}
}

func queryReply(rows ledger.Rowset, err error) []byte {
	m := abi.QueryReply{Err: abi.ErrorOf(err), Rows: rows.Rows}
	for _, c := range rows.Columns {
		m.Columns = append(m.Columns, abi.Column{Name: c.Name, Type: c.Type})
	}
	return abi.AppendQueryReply(nil, m)
}

func resultText(err error, ok string) string {
	if err != nil {
		return "error: " + ledger.Shorten(err.Error(), 160)
	}
	return ok
}

func countRows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// rowsText shows a small result whole and counts a large one.
func rowsText(rows ledger.Rowset) string {
	if len(rows.Rows) == 0 {
		return "no row"
	}
	if len(rows.Rows) > 1 || len(rows.Rows[0]) > 4 {
		return countRows(int64(len(rows.Rows)))
	}
	parts := make([]string, len(rows.Rows[0]))
	for i, v := range rows.Rows[0] {
		parts[i] = ledger.Format(v)
	}
	return strings.Join(parts, ", ")
}

// aside performs a request that is no effect: nothing is scheduled for it and
// nothing can fail in its place. It says false for an effect, and for a malformed
// request, which then ends the schedule like a malformed effect. An error is ours.
func (w *world) aside(ctx context.Context, instance string, q request) (reply []byte, ok bool, err error) {
	if q.op != abi.OpPrepare && q.op != abi.OpCloseConn {
		return nil, false, nil
	}
	e, err := readSQL(q)
	if err != nil {
		return nil, false, nil //nolint:nilerr // it is the submission's
	}
	if q.op == abi.OpCloseConn {
		return nil, true, w.ledger.CloseConn(instance, e.conn)
	}
	conn, err := w.ledger.Conn(instance, e.conn)
	if err == nil {
		err = conn.Prepare(ctx, e.stmt.SQL)
	}
	return abi.AppendError(nil, abi.ErrorOf(err)), true, nil
}

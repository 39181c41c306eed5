package grader

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"redeliver/grader/guest/abi"
	"redeliver/grader/ledger"
)

// effect is what a request asks for, read once.
type effect struct {
	op    uint32
	at    abi.Position
	stmt  abi.Statement
	begin abi.Begin
	conn  uint64
}

var errMalformed = errors.New("malformed request")

// readEffect reads a request, whose bytes are the submission's and thus hostile.
func readEffect(q request) (effect, error) {
	r := abi.NewReader(q.in)
	e := effect{op: q.op}
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

// text is the effect as a step of the timeline shows it.
func (e effect) text() string {
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

// label names the effect inside a sentence: "UPDATE accounts (handler.go:31)".
func (e effect) label() string {
	name := e.text()
	if e.op == abi.OpExec || e.op == abi.OpQuery {
		name = verbAndTable(e.stmt.SQL)
	}
	if e.at.Line > 0 {
		return fmt.Sprintf("%s (%s:%d)", name, e.at.File, e.at.Line)
	}
	return name
}

// outcome is what performing an effect gave.
type outcome struct {
	reply   []byte
	result  string   // "1 row", "error: …": the end of the step's text
	changes []string // row differences
	refused string   // what the ledger's rules refused
	access  ledger.Access
	busy    bool // SQLite answered SQLITE_BUSY
	fault   bool // the answer is one that the schedule made up
}

// perform executes an effect on the instance's connection. A *ledger.LimitError
// is the submission's, any other error ours.
func (w *world) perform(ctx context.Context, instance string, e effect) (outcome, error) {
	conn, err := w.ledger.Conn(instance, e.conn)
	if errors.Is(err, ledger.ErrTooManyConns) {
		return refusal(e.op, err), nil
	}
	if err != nil {
		return outcome{}, err
	}
	out, err := performOn(ctx, conn, e)
	out.refused = conn.Refused()
	if err == nil && out.access.Durable {
		err = w.histories.commit(ctx, w.ledger)
	}
	return out, err
}

func performOn(ctx context.Context, conn ledger.Conn, e effect) (outcome, error) {
	var limit *ledger.LimitError
	switch e.op {
	case abi.OpExec:
		res, err := conn.Exec(ctx, e.stmt.SQL, e.stmt.Args)
		if errors.As(err, &limit) || ctx.Err() != nil {
			return outcome{}, err
		}
		return outcome{
			reply:  abi.AppendExecReply(nil, abi.ExecReply{Err: abi.ErrorOf(err), RowsAffected: res.Affected, LastInsertID: res.LastInsertID}),
			result: resultText(err, countRows(res.Affected)), changes: res.Changes, access: res.Access, busy: isBusy(err),
		}, nil
	case abi.OpQuery:
		rows, err := conn.Query(ctx, e.stmt.SQL, e.stmt.Args)
		if errors.As(err, &limit) || ctx.Err() != nil {
			return outcome{}, err
		}
		return outcome{
			reply: queryReply(rows, err), result: resultText(err, rowsText(rows)), changes: rows.Changes, access: rows.Access, busy: isBusy(err),
		}, nil
	case abi.OpBegin:
		err := conn.Begin(ctx, driver.TxOptions{ReadOnly: e.begin.ReadOnly})
		return outcome{reply: abi.AppendError(nil, abi.ErrorOf(err)), result: resultText(err, "")}, ctx.Err()
	case abi.OpCommit:
		access, err := conn.Commit()
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

// fault answers an effect with an error that the schedule made up, as a broken
// disk or a lost connection gives it. what says whether the effect took place.
func fault(op uint32, what string) outcome {
	e := abi.Error{Kind: abi.SQLiteError, Code: sqliteIOErr, Text: "disk I/O error (10)"}
	out := answer(op, e)
	out.result, out.fault = "error: "+e.Text+" ("+what+")", true
	return out
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

// prepare compiles a statement for the guest: no effect, nothing is scheduled.
func (w *world) prepare(ctx context.Context, p *process, in []byte) (out []byte, kill bool) {
	e, err := readEffect(request{abi.OpPrepare, in})
	if err != nil {
		return nil, true
	}
	conn, err := w.ledger.Conn(p.name, e.conn)
	if err == nil {
		err = conn.Prepare(ctx, e.stmt.SQL)
	}
	return abi.AppendError(nil, abi.ErrorOf(err)), false
}

func (w *world) closeConn(p *process, in []byte) (out []byte, kill bool) {
	e, err := readEffect(request{abi.OpCloseConn, in})
	if err != nil {
		return nil, true
	}
	if err := w.ledger.CloseConn(p.name, e.conn); err != nil {
		w.broken = errors.Join(w.broken, err)
	}
	return nil, false
}

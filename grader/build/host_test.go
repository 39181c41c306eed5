package build_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"modernc.org/sqlite"

	"redeliver/grader/cluster"
	"redeliver/grader/gateway"
	"redeliver/grader/guest/abi"
	"redeliver/grader/redis"
)

// start is the time of services that have a clock.
var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// host answers a program's calls with a real SQLite database. It is the least
// that shows what the guest's side does: no limits, no snapshots, no faults.
type host struct {
	t       testing.TB
	dsn     string
	conns   map[uint64]driver.Conn
	txs     map[uint64]driver.Tx
	task    abi.Task
	outputs *cluster.Outputs // nil: nothing can be produced
	ret     abi.Return
	pending []byte // the reply that did not fit
	calls   []string
	answer  func(op uint32, in []byte) []byte // instead of call, unless nil
	redis   *redis.Server                     // nil: there is none
	gateway gateway.Gateway
}

func newHost(t testing.TB, schema string) *host {
	t.Helper()
	h := &host{t: t, dsn: filepath.Join(t.TempDir(), "guest.db"), conns: map[uint64]driver.Conn{}, txs: map[uint64]driver.Tx{}}
	t.Cleanup(func() {
		for _, c := range h.conns {
			_ = c.Close()
		}
	})
	if _, err := h.conn(0).(driver.ExecerContext).ExecContext(context.Background(), schema, nil); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *host) conn(id uint64) driver.Conn {
	if h.conns[id] == nil {
		c, err := (&sqlite.Driver{}).Open(h.dsn)
		if err != nil {
			h.t.Fatal(err)
		}
		h.conns[id] = c
	}
	return h.conns[id]
}

// call answers one operation. Unknown ones and unreadable requests end the test.
func (h *host) call(op uint32, in []byte) (out []byte) {
	r := abi.NewReader(in)
	defer func() {
		if err := r.End(); err != nil {
			h.t.Errorf("op %d: %v", op, err)
		}
	}()
	ctx := context.Background()
	switch op {
	case abi.OpTask:
		return abi.AppendTask(nil, h.task)
	case abi.OpReturn:
		h.ret = r.Return()
		return nil
	case abi.OpPrepare:
		s := r.Statement()
		stmt, err := h.conn(s.Conn).Prepare(s.SQL)
		if err == nil {
			err = stmt.Close()
		}
		return abi.AppendError(nil, abi.ErrorOf(err))
	case abi.OpExec:
		s := r.Statement()
		h.note("exec", s.At)
		return abi.AppendExecReply(nil, execute(ctx, h.conn(s.Conn), s))
	case abi.OpQuery:
		s := r.Statement()
		h.note("query", s.At)
		return abi.AppendQueryReply(nil, query(ctx, h.conn(s.Conn), s))
	case abi.OpBegin:
		m := r.Begin()
		h.note("begin", m.At)
		tx, err := h.conn(m.Conn).(driver.ConnBeginTx).BeginTx(ctx, driver.TxOptions{ReadOnly: m.ReadOnly})
		h.txs[m.Conn] = tx
		return abi.AppendError(nil, abi.ErrorOf(err))
	case abi.OpCommit:
		m := r.EndRequest()
		h.note("commit", m.At)
		return abi.AppendError(nil, abi.ErrorOf(h.txs[m.Conn].Commit()))
	case abi.OpRollback:
		m := r.EndRequest()
		h.note("rollback", m.At)
		return abi.AppendError(nil, abi.ErrorOf(h.txs[m.Conn].Rollback()))
	case abi.OpProduce:
		m := r.Produce()
		h.note("produce", m.At)
		return abi.AppendProduceReply(nil, h.produce(m))
	case abi.OpCloseConn:
		m := r.EndRequest()
		if err := h.conns[m.Conn].Close(); err != nil {
			h.t.Error(err)
		}
		delete(h.conns, m.Conn)
		return nil
	case abi.OpRedis:
		m := r.RedisRequest()
		h.note("redis", m.At)
		a, err := h.redis.Do(ctx, start, m)
		if err != nil {
			h.t.Error(err)
		}
		return abi.AppendRedisReply(nil, a.Reply)
	case abi.OpCharge:
		m := r.Charge()
		h.note("charge", m.At)
		return abi.AppendChargeReply(nil, h.gateway.Charge(m).Reply)
	default:
		h.t.Errorf("unknown operation %d", op)
		return nil
	}
}

func (h *host) note(what string, at abi.Position) {
	h.calls = append(h.calls, fmt.Sprintf("%s %s:%d", what, at.File, at.Line))
}

func execute(ctx context.Context, c driver.Conn, s abi.Statement) abi.ExecReply {
	res, err := c.(driver.ExecerContext).ExecContext(ctx, s.SQL, s.Args)
	if err != nil {
		return abi.ExecReply{Err: abi.ErrorOf(err)}
	}
	if res == nil { // there was no statement in the text
		return abi.ExecReply{}
	}
	n, _ := res.RowsAffected()
	id, _ := res.LastInsertId()
	return abi.ExecReply{RowsAffected: n, LastInsertID: id}
}

func query(ctx context.Context, c driver.Conn, s abi.Statement) abi.QueryReply {
	rows, err := c.(driver.QueryerContext).QueryContext(ctx, s.SQL, s.Args)
	if err != nil {
		return abi.QueryReply{Err: abi.ErrorOf(err)}
	}
	var m abi.QueryReply
	for i, name := range rows.Columns() {
		m.Columns = append(m.Columns, abi.Column{Name: name, Type: rows.(driver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(i)})
	}
	for {
		row := make([]driver.Value, len(m.Columns))
		if err = rows.Next(row); err != nil {
			break
		}
		m.Rows = append(m.Rows, row)
	}
	if !errors.Is(err, io.EOF) {
		m.Late = abi.ErrorOf(err)
	}
	if err := rows.Close(); err != nil && m.Late.Kind == abi.NoError {
		m.Late = abi.ErrorOf(err)
	}
	return m
}

// program is a built submission that can be started.
type program struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

type hostKey struct{}

func loadProgram(t testing.TB, wasm []byte) *program {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCloseOnContextDone(true))
	t.Cleanup(func() { _ = r.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	i32 := api.ValueTypeI32
	_, err := r.NewHostModuleBuilder("redeliver").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(hostCall), []api.ValueType{i32, i32, i32, i32, i32}, []api.ValueType{i32}).
		Export("call").Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.CompileModule(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	return &program{r, m}
}

func hostCall(ctx context.Context, m api.Module, stack []uint64) {
	h := ctx.Value(hostKey{}).(*host)
	op, ptr, n := uint32(stack[0]), uint32(stack[1]), uint32(stack[2])
	out, room := uint32(stack[3]), uint32(stack[4])
	in, ok := m.Memory().Read(ptr, n)
	if !ok {
		panic("the guest's request is outside of its memory")
	}
	reply := h.pending
	switch {
	case op == abi.OpMore:
	case h.answer != nil:
		reply = h.answer(op, in)
	default:
		reply = h.call(op, in)
	}
	h.pending = nil
	if len(reply) > int(room) {
		h.pending = reply
	} else if !m.Memory().Write(out, reply) {
		panic("the guest's buffer is outside of its memory")
	}
	stack[0] = uint64(len(reply))
}

// deliver performs the task of handling one record.
func (p *program) deliver(h *host, rec abi.Record) error {
	return p.perform(h, abi.Task{Records: []abi.Record{rec}})
}

// perform starts the program, lets it do one task and drains it. The error is the
// runtime's, with what the program wrote to standard error.
func (p *program) perform(h *host, task abi.Task) error {
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), hostKey{}, h), time.Minute)
	defer cancel()
	var stderr strings.Builder
	m, err := p.runtime.InstantiateModule(ctx, p.module, wazero.NewModuleConfig().WithName("").
		WithStderr(&stderr).WithStartFunctions("_initialize"))
	if err == nil {
		defer m.Close(ctx)
		h.task = task
		_, err = m.ExportedFunction("handle").Call(ctx)
	}
	if err == nil {
		_, err = m.ExportedFunction("drain").Call(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, stderr.String())
	}
	return nil
}

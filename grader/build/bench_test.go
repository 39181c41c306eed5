package build_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"redeliver/exercises"
	"redeliver/grader/build/buildtest"
	"redeliver/grader/guest/abi"
)

// charge is what a usual handler does: JSON, a marker, a row, a balance.
const charge = `package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

type payment struct {
	ID      string ` + "`json:\"payment_id\"`" + `
	Account string ` + "`json:\"account\"`" + `
	Amount  int64  ` + "`json:\"amount\"`" + `
}

func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	r, err := tx.ExecContext(ctx, "INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)", p.ID, p.Account, p.Amount)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%d rows: %w", n, err)
	}
	var balance int64
	if err := tx.QueryRowContext(ctx, "SELECT balance FROM accounts WHERE id = ?", p.Account).Scan(&balance); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance - ? WHERE id = ?", p.Amount, p.Account); err != nil {
		return err
	}
	return tx.Commit()
}
`

// BenchmarkBuild compares a build with "go build" of the same program, each
// with a source that was never seen.
func BenchmarkBuild(b *testing.B) {
	b.Run("redeliver", func(b *testing.B) {
		c := buildtest.Compiler(b)
		for i := 0; b.Loop(); i++ {
			src := unseen(b, i)
			r, findings, err := c.Build(b.Context(), "handler", []exercises.File{{Name: "handler.go", Content: []byte(src)}})
			if err != nil || len(findings) > 0 || r.Cached {
				b.Fatal(err, findings, r.Cached)
			}
		}
	})
	b.Run("go_build", func(b *testing.B) {
		w := buildtest.GoBuild(b, buildtest.Handler, charge)
		for i := 0; b.Loop(); i++ {
			w.Build(b, unseen(b, i))
		}
	})
}

// unseen is a program that no cache knows. A text of it is new and not only a
// comment: the go command would see the same archive, and not link again.
func unseen(b *testing.B, i int) string {
	b.Helper()
	return strings.Replace(charge, "decode: ", fmt.Sprintf("decode %s %d: ", b.TempDir(), i), 1)
}

// BenchmarkHandle is the guest's part of one delivery, in the interpreter, in a
// process that lives on: the host answers at once, without a database. Beside
// the mean it reports the quickest delivery, which a busy machine spoils least.
func BenchmarkHandle(b *testing.B) {
	c := buildtest.Compiler(b)
	r, findings, err := c.Build(b.Context(), "handler", []exercises.File{{Name: "handler.go", Content: []byte(charge)}})
	if err != nil || len(findings) > 0 {
		b.Fatal(err, findings)
	}
	p := loadProgram(b, r.Wasm)
	for name, off := range map[string]bool{"with_positions": false, "without": true} {
		b.Run(name, func(b *testing.B) {
			h := &host{answer: stub(abi.Task{
				Records:     []abi.Record{{Topic: "payments", Value: []byte(`{"payment_id":"p-1","account":"a","amount":1}`)}},
				NoPositions: off,
			})}
			ctx := context.WithValue(context.Background(), hostKey{}, h)
			m, err := p.runtime.InstantiateModule(ctx, p.module, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
			if err != nil {
				b.Fatal(err)
			}
			handle, drain := m.ExportedFunction("handle"), m.ExportedFunction("drain")
			quickest := time.Hour
			for b.Loop() {
				start := time.Now()
				_, err1 := handle.Call(ctx)
				_, err2 := drain.Call(ctx)
				if err := errors.Join(err1, err2); err != nil {
					b.Fatal(err)
				}
				quickest = min(quickest, time.Since(start))
			}
			b.ReportMetric(float64(quickest.Microseconds()), "min-µs")
		})
	}
}

// stub answers without a database: every statement succeeds.
func stub(task abi.Task) func(op uint32, in []byte) []byte {
	return func(op uint32, in []byte) []byte {
		switch op {
		case abi.OpTask:
			return abi.AppendTask(nil, task)
		case abi.OpExec:
			return abi.AppendExecReply(nil, abi.ExecReply{RowsAffected: 1, LastInsertID: 1})
		case abi.OpQuery:
			return abi.AppendQueryReply(nil, abi.QueryReply{Columns: []abi.Column{{Name: "balance", Type: "INTEGER"}}, Rows: [][]driver.Value{{int64(1)}}})
		case abi.OpReturn:
			if ret := abi.NewReader(in).Return(); ret.Failed {
				panic(ret.Text)
			}
			return nil
		default:
			return abi.AppendError(nil, abi.Error{})
		}
	}
}

package build_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"redeliver/exercises"
	"redeliver/grader/build/buildtest"
	"redeliver/grader/guest"
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
		dir, env := goBuildWorkspace(b)
		for i := 0; b.Loop(); i++ {
			src := unseen(b, i)
			if err := os.WriteFile(filepath.Join(dir, "handler", "handler.go"), []byte(src), 0o644); err != nil {
				b.Fatal(err)
			}
			goBuild(b, dir, env)
		}
	})
}

// unseen is a program that no cache knows. A text of it is new and not only a
// comment: the go command would see the same archive, and not link again.
func unseen(b *testing.B, i int) string {
	b.Helper()
	return strings.Replace(charge, "decode: ", fmt.Sprintf("decode %s %d: ", b.TempDir(), i), 1)
}

// goBuildWorkspace lays out the same program for the go command, with vendored
// modules, and builds it once to fill the cache.
func goBuildWorkspace(b *testing.B) (dir string, env []string) {
	b.Helper()
	shared, err := buildtest.Dir()
	if err != nil {
		b.Fatal(err)
	}
	dir = b.TempDir()
	files := map[string]string{
		"main.go":            "package main\n\nimport _ \"redeliver/handler\"\n\nfunc main() {}\n",
		"handler/handler.go": charge,
		"handler/start.go":   "package handler\n\nimport \"redeliver/grader/guest/sdk\"\n\nfunc init() { sdk.Start(Handle) }\n",
		"go.mod":             "module redeliver\n\ngo 1.26\n\nrequire github.com/twmb/franz-go v1.22.3\n",
		"vendor/modules.txt": "# github.com/twmb/franz-go v1.22.3\n## explicit; go 1.26\ngithub.com/twmb/franz-go/pkg/kgo\n",
	}
	if err := guest.Sources(func(name string, content []byte) error {
		rest, lookalike := strings.CutPrefix(name, "lookalike/")
		switch {
		case strings.HasPrefix(rest, "github.com/twmb/franz-go/pkg/kgo/"):
			files["vendor/"+rest] = string(content)
		case !lookalike:
			files["grader/guest/"+name] = string(content)
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	for name, content := range files {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(content), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOCACHE="+filepath.Join(shared, "gocache"))
	goBuild(b, dir, env)
	return dir, env
}

func goBuild(b *testing.B, dir string, env []string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "go", "build", "-mod=vendor", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", "out.wasm", ".")
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
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
			h := &host{answer: stub(abi.Record{
				Topic: "payments", Value: []byte(`{"payment_id":"p-1","account":"a","amount":1}`), NoPositions: off,
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
func stub(rec abi.Record) func(op uint32, in []byte) []byte {
	return func(op uint32, in []byte) []byte {
		switch op {
		case abi.OpRecord:
			return abi.AppendRecord(nil, rec)
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

package build_test

import (
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	_ "modernc.org/sqlite"

	"redeliver/exercises"
	"redeliver/grader/build/buildtest"
	handler "redeliver/grader/build/conformance"
	"redeliver/grader/guest/abi"
)

// TestMain gives the native half of the conformance test the zone that the
// sandbox has.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// build compiles one file and stops the test unless it is accepted.
func buildFile(t *testing.T, file string) []byte {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return buildSource(t, string(source))
}

func buildSource(t *testing.T, source string) []byte {
	t.Helper()
	return buildFor(t, "handler", source)
}

func buildFor(t *testing.T, signature, source string) []byte {
	t.Helper()
	r, findings, err := buildtest.Compiler(t).Build(t.Context(), signature, []exercises.File{{Name: "handler.go", Content: []byte(source)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Errorf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	}
	if len(findings) > 0 {
		t.FailNow()
	}
	return r.Wasm
}

// A program sees the same values and the same error texts in the sandbox as
// with the real driver.
func TestConformance(t *testing.T) {
	t.Parallel()
	guest := loadProgram(t, buildFile(t, "conformance/programs.go"))
	for _, name := range handler.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := native(t, name)
			h := newHost(t, handler.Schema)
			if err := guest.deliver(h, abi.Record{Key: []byte(name)}); err != nil {
				t.Fatal(err)
			}
			if !h.ret.Failed {
				t.Fatal("the program returned nil")
			}
			if d := cmp.Diff(want, h.ret.Text); d != "" {
				t.Errorf("the real driver (-) and the sandbox (+) differ:\n%s", d)
			}
			if testing.Verbose() {
				t.Log(want)
			}
		})
	}
}

// native runs a program with the real driver.
func native(t *testing.T, name string) string {
	t.Helper()
	dsn := url.URL{Scheme: "file", Opaque: filepath.Join(t.TempDir(), "native.db")}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(handler.Schema); err != nil {
		t.Fatal(err)
	}
	err = handler.Handle(t.Context(), db, &kgo.Record{Key: []byte(name)})
	if err == nil {
		t.Fatal("the program returned nil")
	}
	return err.Error()
}

package buildtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"redeliver/grader/guest"
)

// Workspace is the program that a Compiler makes of a handler, laid out for the
// go command with vendored modules: the measure that builds are compared with.
type Workspace struct{ dir, cache string }

// The starts of programs: the package that has it, and the call.
var (
	Handler  = Start{"redeliver/grader/guest/sdk", "sdk.Start(Handle)"}
	Consumer = Start{"redeliver/grader/guest/withclients", "withclients.StartConsumer(Run)"}
)

// Start is how a program hands the functions of its handler over.
type Start struct{ Package, Call string }

// GoBuild lays out a workspace and builds it once with source as handler.go, so
// that later builds find all but the handler in the go command's cache.
func GoBuild(t testing.TB, start Start, source string) *Workspace {
	t.Helper()
	shared, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	w := &Workspace{dir: t.TempDir(), cache: filepath.Join(shared, "gocache")}
	files, err := workspaceFiles(start)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		w.write(t, name, content)
	}
	w.Build(t, source)
	return w
}

// Build runs "go build" with source as handler.go. A source is linked only when
// its archive is new to the cache: a comment more does not make it new, a text
// that is used does.
func (w *Workspace) Build(t testing.TB, source string) {
	t.Helper()
	w.write(t, "handler/handler.go", source)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-mod=vendor", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", "out.wasm", ".")
	cmd.Dir = w.dir
	cmd.Env = append(cmd.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOCACHE="+w.cache)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func (w *Workspace) write(t testing.TB, name, content string) {
	t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o750), os.WriteFile(p, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// workspaceFiles is everything but the handler: content by path.
func workspaceFiles(start Start) (map[string]string, error) {
	files := map[string]string{
		"main.go":            "package main\n\nimport _ \"redeliver/handler\"\n\nfunc main() {}\n",
		"handler/start.go":   "package handler\n\nimport \"" + start.Package + "\"\n\nfunc init() { " + start.Call + " }\n",
		"go.mod":             "module redeliver\n\ngo 1.26\n\nrequire github.com/twmb/franz-go v1.22.3\n",
		"vendor/modules.txt": "# github.com/twmb/franz-go v1.22.3\n## explicit; go 1.26\ngithub.com/twmb/franz-go/pkg/kerr\ngithub.com/twmb/franz-go/pkg/kgo\n",
	}
	err := guest.Sources(func(name string, content []byte) error {
		rest, lookalike := strings.CutPrefix(name, "lookalike/")
		switch {
		case strings.HasPrefix(rest, "github.com/twmb/franz-go/pkg/"):
			files["vendor/"+rest] = string(content)
		case !lookalike:
			files["grader/guest/"+name] = string(content)
		}
		return nil
	})
	return files, err
}

package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// preparing is the step that takes long.
const preparing = "preparing the compiler"

// buildFlags are used for everything that is prepared. Their effect on the
// archives is what lets them be linked with a submission that is compiled by
// hand.
var buildFlags = [...]string{"-mod=vendor", "-trimpath", "-ldflags=-s -w"}

// Prepare makes the compiler ready: it compiles every package that a
// submission can import, about 20 s of processor time the first time and a
// fraction of a second later. progress, which may be nil, hears of each step;
// State says the same. Several processes may prepare one folder at once: one
// works, the others wait for it. When it fails it may be called again.
func (c *Compiler) Prepare(ctx context.Context, progress func(step string, done, total int)) error {
	c.preparing.Lock()
	defer c.preparing.Unlock()
	report := func(done, total int) {
		c.setState(State{Step: preparing, Done: done, Total: total})
		if progress != nil {
			progress(preparing, done, total)
		}
	}
	report(0, 0)
	k, err := c.prepare(ctx, report)
	if err != nil {
		err = fmt.Errorf("prepare the compiler: %w", err)
		c.setState(State{Step: preparing, Err: err})
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kit, c.state = k, State{Ready: true}
	return nil
}

func (c *Compiler) prepare(ctx context.Context, report func(done, total int)) (*kit, error) {
	goPath, err := exec.LookPath(c.goTool)
	if err != nil {
		return nil, fmt.Errorf("the go command was not found (%w): install Go %s or later, or name its path", err, languageVersion)
	}
	if goPath, err = filepath.Abs(goPath); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.tmp(), 0o755); err != nil {
		return nil, err
	}
	version, toolDir, err := c.toolchain(ctx, goPath)
	if err != nil {
		return nil, err
	}
	files, err := workspaceFiles()
	if err != nil {
		return nil, err
	}
	hash := hashFiles(files, version, standardPackages, fmt.Sprint(buildFlags))
	name := kitPrefix + hash[:16]
	if c.prepared != "" {
		if k, err := loadKit(filepath.Join(c.prepared, name), hash, toolDir); err == nil {
			return k, nil
		}
	}
	dir := filepath.Join(c.dir, name)
	if k, err := loadKit(dir, hash, toolDir); err == nil {
		return k, nil
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if k, err := loadKit(dir, hash, toolDir); err == nil { // another process was faster
		return k, nil
	}
	if err := c.makeKit(ctx, goPath, dir, files, report); err != nil {
		return nil, err
	}
	return loadKit(dir, hash, toolDir)
}

func (c *Compiler) ownBuildCache() string { return filepath.Join(c.dir, "gocache") }

func (c *Compiler) tmp() string { return filepath.Join(c.dir, "tmp") }

// environment is all that the go command and its tools see.
func (c *Compiler) environment() []string {
	return []string{
		"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0",
		"GOPROXY=off", "GOFLAGS=", "GOENV=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off",
		"GO111MODULE=on", "GOPATH=" + filepath.Join(c.dir, "gopath"),
		"GOCACHE=" + cmp.Or(c.buildCache, c.ownBuildCache()),
		"TMPDIR=" + c.tmp(), "PATH=",
	}
}

func (c *Compiler) toolchain(ctx context.Context, goPath string) (version, toolDir string, err error) {
	out, err := c.goCommand(ctx, tool{path: goPath, args: []string{"env", "GOVERSION", "GOTOOLDIR"}, dir: c.tmp()})
	if err != nil {
		return "", "", err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 {
		return "", "", fmt.Errorf("%s env gave an unexpected answer: %q", goPath, out)
	}
	return lines[0], lines[1], nil
}

// goCommand runs the go command and returns its standard output.
func (c *Compiler) goCommand(ctx context.Context, t tool) (string, error) {
	t.env = c.environment()
	messages, out, failure, err := t.run(ctx)
	if err != nil {
		return "", err
	}
	if failure != toolOK {
		return "", errors.Join(fmt.Errorf("go %s failed: %.1000s", t.args[0], strings.TrimSpace(messages)), ctx.Err())
	}
	return out, nil
}

// lock waits until no other process prepares this folder.
func (c *Compiler) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		if ok, err := tryLock(f); err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
		} else if ok {
			return func() { _ = f.Close() }, nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		}
	}
}

// makeKit compiles the packages and moves them to dir in one step, so that a
// crash leaves either a whole folder or none. Go's build cache is kept when it
// fails, so that the next try continues, and removed when it is done: what
// counts was copied out of it.
func (c *Compiler) makeKit(ctx context.Context, goPath, dir string, files map[string]string, report func(done, total int)) error {
	work, err := os.MkdirTemp(c.tmp(), "prepare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	src, out := filepath.Join(work, "src"), filepath.Join(work, "out")
	if err := writeFiles(src, files); err != nil {
		return err
	}
	list, err := c.compilePackages(ctx, goPath, src, report)
	if err != nil {
		return err
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	if err := saveKit(out, list); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil { // damaged, or it would have been loaded
		return err
	}
	if err := os.Rename(out, dir); err != nil {
		return err
	}
	if c.buildCache == "" {
		err = os.RemoveAll(c.ownBuildCache())
	}
	return errors.Join(err, c.removeOldKits())
}

// unusedFor is when a prepared folder of another version is removed. Until then
// a server that still runs with it, or one that is rolled back, finds it.
const unusedFor = 7 * 24 * time.Hour

// removeOldKits removes folders that no process has opened for long.
func (c *Compiler) removeOldKits() error {
	manifests, err := filepath.Glob(filepath.Join(c.dir, kitPrefix+"*", manifestName))
	if err != nil {
		return err
	}
	for _, m := range manifests {
		info, err := os.Stat(m)
		if err == nil && time.Since(info.ModTime()) > unusedFor {
			err = os.RemoveAll(filepath.Dir(m))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (c *Compiler) compilePackages(ctx context.Context, goPath, src string, report func(done, total int)) ([]archive, error) {
	var packages []string
	for p := range importable() {
		packages = append(packages, p)
	}
	packages = append(packages, ourPackages[:]...)
	slices.Sort(packages)
	run := func(t tool, args ...string) (string, error) {
		t.path, t.dir, t.args = goPath, src, slices.Concat(args, packages)
		return c.goCommand(ctx, t)
	}
	all, err := run(tool{}, "list", buildFlags[0], "-deps", "-f", "{{.ImportPath}}")
	if err != nil {
		return nil, err
	}
	total := strings.Count(all, "\n") - 1 // unsafe has no code
	report(0, total)
	counter := &lineCounter{each: func(n int) { report(min(n, total), total) }}
	// "go build -v" names each package as it is compiled.
	if _, err := run(tool{stderr: counter}, append([]string{"build", "-v"}, buildFlags[:]...)...); err != nil {
		return nil, err
	}
	report(total, total)
	args := []string{"list", "-deps", "-export", "-f", "{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}"}
	exported, err := run(tool{}, append(args, buildFlags[:]...)...)
	if err != nil {
		return nil, err
	}
	var list []archive
	for line := range strings.Lines(exported) {
		path, file, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok {
			list = append(list, archive{path: path, file: file})
		}
	}
	return list, nil
}

// lineCounter tells each line that is written to it.
type lineCounter struct {
	n    int
	each func(n int)
}

// Write implements io.Writer and never fails.
func (l *lineCounter) Write(p []byte) (int, error) {
	if lines := bytes.Count(p, []byte("\n")); lines > 0 {
		l.n += lines
		l.each(l.n)
	}
	return len(p), nil
}

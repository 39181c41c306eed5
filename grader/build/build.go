package build

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"redeliver/exercises"
	"redeliver/grader/verdict"
)

// Result is a program that the sandbox can load.
type Result struct {
	Wasm   []byte
	Key    string // hash of the source, the entry and everything compiled with it
	Cached bool   // it was not compiled now
	// Compile and Link are how long the tools ran; 0 when cached.
	Compile, Link time.Duration
}

// Build compiles a submission for an entry and its services ("handler+kafka", see
// exercises.Exercise.Signature). It checks the source
// itself, but for the names of the files, which Check does. What is wrong with
// the submission comes back as findings; an error is ours, or ctx has ended.
// A build that goes over a limit is a finding: the source made it so large.
func (c *Compiler) Build(ctx context.Context, entryName string, files []exercises.File) (Result, []verdict.Finding, error) {
	r, findings, err := c.build(ctx, entryName, files)
	if err != nil {
		return Result{}, nil, fmt.Errorf("build: %w", err)
	}
	return r, findings, nil
}

func (c *Compiler) build(ctx context.Context, entryName string, files []exercises.File) (Result, []verdict.Finding, error) {
	e, ok := entryOf(entryName)
	if !ok {
		return Result{}, nil, fmt.Errorf("there is no entry %q", entryName)
	}
	k, err := c.ready()
	if err != nil {
		return Result{}, nil, err
	}
	if findings := Check(entryName, fileNames(files), files); len(findings) > 0 {
		return Result{}, findings, nil
	}
	trees, fset, err := parseSources(files)
	if err != nil {
		return Result{}, nil, fmt.Errorf("parse what the check accepted: %w", err)
	}
	j := &job{c: c, kit: k, entry: e, trees: trees, fset: fset}
	r := Result{Key: j.key(files)}
	if r.Wasm = c.cache.get(r.Key); r.Wasm != nil {
		r.Cached = true
		return r, nil, nil
	}
	findings, err := j.compileAndLink(ctx, files, &r)
	if err != nil || len(findings) > 0 {
		return Result{}, findings, err
	}
	if err := c.cache.put(r.Key, r.Wasm); err != nil {
		return Result{}, nil, fmt.Errorf("keep the program: %w", err)
	}
	return r, nil, nil
}

func fileNames(files []exercises.File) []string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

// job is one build.
type job struct {
	c     *Compiler
	kit   *kit
	entry entry
	trees []*ast.File
	fset  *token.FileSet
	dir   string   // with handler, generated and main below; "" until it is made
	names []string // of the candidate's Go files
}

// key is a hash of all that goes into the program: what the candidate wrote,
// what we add, how it is compiled, and the prepared packages.
func (j *job) key(files []exercises.File) string {
	sources := map[string]string{"/start": startSource(j.entry, j.trees), "/warm": warmSource(j.trees), "/main": mainSource}
	for _, f := range files {
		if path.Ext(f.Name) == ".go" {
			sources[f.Name] = string(f.Content)
		}
	}
	args := append(j.compileArgs("handler", "redeliver/handler", nil), j.linkArgs()...)
	return hashFiles(sources, append(args, j.kit.hash)...)
}

// patience is how many times its processor time a build may take by the clock. A
// build that takes longer meets a busy machine, which is no fault of the source.
const patience = 6

func (j *job) compileAndLink(ctx context.Context, files []exercises.File, r *Result) (_ []verdict.Finding, err error) {
	if j.dir, err = os.MkdirTemp(j.c.tmp(), "build-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(j.dir)
	if err := j.write(files); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, patience*j.c.limits.CPU)
	defer cancel()
	findings, err := j.run(limited, r)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return findings, err
}

// The files that are compiled together with the candidate's, from the folder
// of the build. They lie beside the candidate's folder, so no name can clash.
const (
	startFile = "generated/start.go"
	warmFile  = "generated/warm.go"
)

// write lays out the folder of a build.
func (j *job) write(files []exercises.File) error {
	content := map[string]string{
		"imports.cfg":  j.kit.imports,
		"main/main.go": mainSource,
		startFile:      startSource(j.entry, j.trees),
		warmFile:       warmSource(j.trees),
	}
	for _, f := range files {
		if path.Ext(f.Name) == ".go" {
			content["handler/"+f.Name] = string(f.Content)
			j.names = append(j.names, "./"+f.Name)
		}
	}
	slices.Sort(j.names)
	return writeFiles(j.dir, content)
}

func (j *job) path(elem ...string) string {
	return filepath.Join(append([]string{j.dir}, elem...)...)
}

func (j *job) run(ctx context.Context, r *Result) ([]verdict.Finding, error) {
	start := time.Now()
	findings, err := j.compile(ctx)
	if err != nil || len(findings) > 0 {
		return findings, err
	}
	compiled := time.Now()
	findings, err = j.link(ctx)
	if err != nil || len(findings) > 0 {
		return findings, err
	}
	r.Compile, r.Link = compiled.Sub(start), time.Since(compiled)
	return j.read(r)
}

// compile makes the archives of the candidate's package and of main.
func (j *job) compile(ctx context.Context) ([]verdict.Finding, error) {
	findings, err := j.compileHandler(ctx)
	if err != nil || len(findings) > 0 {
		return findings, err
	}
	main := j.kit.imports + "packagefile redeliver/handler=" + j.path("handler.a") + "\n"
	if err := os.WriteFile(j.path("imports.cfg"), []byte(main), 0o644); err != nil {
		return nil, err
	}
	messages, findings, err := j.tool(ctx, j.kit.compile, "main", j.compileArgs("main", "main", []string{"./main.go"}))
	if err == nil && messages != "" {
		err = fmt.Errorf("the main package does not compile: %.500s", messages)
	}
	return findings, err
}

func (j *job) compileHandler(ctx context.Context) ([]verdict.Finding, error) {
	sources := append(slices.Clone(j.names), "../"+startFile)
	withWarm := append(slices.Clone(sources), "../"+warmFile)
	if warmSource(j.trees) == "" {
		withWarm = sources
	}
	messages, findings, err := j.compilePackage(ctx, withWarm)
	if strings.Contains(messages, warmFile+":") {
		// The candidate has redefined something that the generated file uses.
		// Warming up only saves time, so do without.
		messages, findings, err = j.compilePackage(ctx, sources)
	}
	if err != nil || len(findings) > 0 || messages == "" {
		return findings, err
	}
	findings = compilerFindings(messages, j.trees)
	if _, message, ok := strings.Cut(messages, startFile+":"); ok { // it only uses the functions of the entry
		findings = append(findings, signatureFinding(j.entry, message, j.trees, j.fset))
		sortFindings(findings)
	}
	if len(findings) == 0 {
		return nil, fmt.Errorf("the compiler refused the submission without a message about it: %.500s", messages)
	}
	return findings, nil
}

func (j *job) compilePackage(ctx context.Context, sources []string) (messages string, findings []verdict.Finding, err error) {
	return j.tool(ctx, j.kit.compile, "handler", j.compileArgs("handler", "redeliver/handler", sources))
}

// compileArgs are those that the go command gives the compiler.
func (j *job) compileArgs(name, importPath string, sources []string) []string {
	args := []string{
		"-o", j.path(name + ".a"), "-p", importPath, "-lang=go" + languageVersion,
		"-complete", "-pack", "-nolocalimports", "-dwarf=false", "-c=2", "-e",
		// So that a panic shows redeliver/handler/handler.go:31.
		"-trimpath", j.path(name) + "=>" + importPath + ";" + j.dir + "=>redeliver",
		"-importcfg", j.path("imports.cfg"),
	}
	return append(args, sources...)
}

func (j *job) link(ctx context.Context) ([]verdict.Finding, error) {
	cfg := j.kit.imports + "packagefile redeliver/handler=" + j.path("handler.a") + "\npackagefile main=" + j.path("main.a") + "\n"
	if err := os.WriteFile(j.path("link.cfg"), []byte(cfg), 0o644); err != nil {
		return nil, err
	}
	messages, findings, err := j.tool(ctx, j.kit.link, "main", append(j.linkArgs(), j.path("main.a")))
	if err == nil && len(findings) == 0 && messages != "" {
		err = fmt.Errorf("the linker failed: %.500s", messages)
	}
	return findings, err
}

// linkArgs leave the names of functions in the program: the sandbox tells by them
// which functions it need not load.
func (j *job) linkArgs() []string {
	return []string{"-o", j.path("out.wasm"), "-importcfg", j.path("link.cfg"), "-buildmode=c-shared", "-w"}
}

// tool runs the compiler or the linker. Without an error or a finding, messages
// say why the tool refused; "" is success.
func (j *job) tool(ctx context.Context, program, dir string, args []string) (messages string, findings []verdict.Finding, err error) {
	t := tool{
		path: program, args: args, dir: j.path(dir),
		memory: j.c.limits.Memory, cpu: j.c.limits.CPU,
		// The tools are short-lived: collecting rarely is quicker.
		env: []string{"GOOS=wasip1", "GOARCH=wasm", "GOROOT=", "TMPDIR=" + j.dir, "GOGC=400"},
	}
	messages, _, failure, err := t.run(ctx)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil, fmt.Errorf("%w: the Go installation that was prepared is gone; start again", err)
	case err != nil || failure == toolOK:
		return "", nil, err
	case failure == toolTooSlow:
		return "", []verdict.Finding{limitFinding("The compiler needed more than %s of processor time for this submission.", j.c.limits.CPU)}, nil
	case failure == toolTooLarge:
		return "", []verdict.Finding{limitFinding("The compiler needed more than %d MiB of memory for this submission.", j.c.limits.Memory>>20)}, nil
	case messages == "":
		return "", nil, fmt.Errorf("%s failed without a message", filepath.Base(program))
	default:
		return messages, nil, nil
	}
}

func limitFinding(format string, args ...any) verdict.Finding {
	return verdict.Finding{Kind: verdict.Compile, Message: fmt.Sprintf(format, args...)}
}

// read takes the program in, unless it is too large.
func (j *job) read(r *Result) ([]verdict.Finding, error) {
	info, err := os.Stat(j.path("out.wasm"))
	if err != nil {
		return nil, err
	}
	if info.Size() > j.c.limits.Program {
		return []verdict.Finding{limitFinding("The compiled program has %d bytes; %d are allowed.", info.Size(), j.c.limits.Program)}, nil
	}
	r.Wasm, err = os.ReadFile(j.path("out.wasm"))
	return nil, err
}

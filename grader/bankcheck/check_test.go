package bankcheck_test

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"redeliver/content"
	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/bankcheck"
	"redeliver/grader/verdict"
)

// judge answers without grading: by the name of the exercise.
type judge func(req grader.Request) (verdict.Verdict, error)

func (j judge) Grade(_ context.Context, req grader.Request) (verdict.Verdict, error) { return j(req) }

func check(t *testing.T, j judge) (bankcheck.Report, error) {
	t.Helper()
	bank, err := content.Questions()
	if err != nil {
		t.Fatal(err)
	}
	cfg := bankcheck.Config{Catalog: exercises.Open(exercises.Builtin(), nil), Workers: 2}
	if j != nil {
		cfg.Judge = j
	}
	return bankcheck.Check(t.Context(), cfg, bank)
}

// What questions and exercises name of each other is there, for those that are
// built in. Running the handlers takes minutes: the command does that.
func TestBuiltIn(t *testing.T) {
	t.Parallel()
	r, err := check(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Passed || r.Questions == 0 || len(r.Runs) == 0 {
		t.Errorf("%s\n%s", r.Summary, strings.Join(r.Problems, "\n"))
	}
	if !strings.Contains(r.Summary, "handlers not run") {
		t.Errorf("the summary does not say that nothing ran: %s", r.Summary)
	}
}

// A handler that does not fail refutes nothing, and is named with its claims.
func TestRuns(t *testing.T) {
	t.Parallel()
	r, err := check(t, func(req grader.Request) (verdict.Verdict, error) {
		v := verdict.Verdict{Outcome: verdict.Failed}
		switch req.Exercise.Name() {
		case "core/redis-gap":
			v.Outcome = verdict.Passed
		case "core/outbox":
			v.Outcome = verdict.Inconclusive
		}
		return v, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(r.Problems, "\n")
	for _, want := range []string{
		"core/redis-gap starter: It passed, so it refutes nothing of redis-check/cache-first.",
		"core/outbox wrong/mark-before-send: The grading was inconclusive",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no problem says %q:\n%s", want, all)
		}
	}
	if r.Passed || !r.Inconclusive() || !strings.HasPrefix(r.Summary, "FAIL content: ") {
		t.Errorf("passed %v, inconclusive %v: %s", r.Passed, r.Inconclusive(), r.Summary)
	}
	broken := errors.New("no disk")
	if _, err := check(t, func(grader.Request) (verdict.Verdict, error) { return verdict.Verdict{}, broken }); !errors.Is(err, broken) {
		t.Errorf("a failure of ours is %v", err)
	}
}

// Links that lead nowhere are told, in both directions.
func TestDeadLinks(t *testing.T) {
	t.Parallel()
	bank, err := content.Questions()
	if err != nil {
		t.Fatal(err)
	}
	empty, err := bankcheck.Check(t.Context(), bankcheck.Config{Catalog: exercises.Open(nil, nil)}, bank)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(empty.Problems, "\n"); empty.Passed || !strings.Contains(all, "There is no exercise core/charge-once") {
		t.Errorf("without exercises: %s", all)
	}
	small, problems := content.Load(oneQuestion(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	other, err := bankcheck.Check(t.Context(), bankcheck.Config{Catalog: exercises.Open(exercises.Builtin(), nil)}, small)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(other.Problems, "\n"); !strings.Contains(all, "core/redis-gap names the question redis-check, which is not there") {
		t.Errorf("with one question: %s", all)
	}
}

// oneQuestion is the built-in bank without all questions but one.
func oneQuestion(t *testing.T) fs.FS {
	t.Helper()
	const slug = "poison-pill"
	files := fstest.MapFS{}
	err := fs.WalkDir(content.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Count(name, "/") == 2 && !strings.HasPrefix(name, "questions/"+slug+"/") {
			return err
		}
		text, err := fs.ReadFile(content.Files(), name)
		files[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	replace := func(name, pattern, with string) {
		files[name].Data = regexp.MustCompile(pattern).ReplaceAll(files[name].Data, []byte(with))
	}
	replace("questions/bank.yaml", `(?s)\nquestions:.*`, "\nquestions: ["+slug+"]\n")
	replace("questions/"+slug+"/question.yaml", `(?m)^follow_ups: .*$`, "follow_ups: []")
	return files
}

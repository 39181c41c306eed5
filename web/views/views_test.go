package views

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/verdict"
	"redeliver/web/views/htmlcheck"
	"redeliver/web/views/locale"
)

func english(t *testing.T) Page {
	t.Helper()
	c, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	return Page{Words: c.Words("en")}
}

func TestNewTimeline(t *testing.T) {
	t.Parallel()
	source := NewSource([]FileModel{{Name: "handler.go", Content: "one\ntwo\n"}})
	step := func(lane, event string) verdict.Step { return verdict.Step{Lane: lane, Event: event} }

	for _, tc := range []struct {
		name      string
		trace     []verdict.Step
		lanes     []string
		processes []string
	}{
		{"OneInstance", []verdict.Step{step("A", "deliver"), step("", "check")}, []string{"A", ""}, []string{"", ""}},
		{"TwoInstances", []verdict.Step{step("B", "sql"), step("A", "sql")}, []string{"A", "", "B"}, []string{"", ""}},
		{"RestartStaysInItsLane", []verdict.Step{step("A", "crash"), step("A2", "restart")}, []string{"A", ""}, []string{"", "A2"}},
		{"ThreeInstances", []verdict.Step{step("A", "sql"), step("C2", "sql"), step("B", "sql")}, []string{"A", "", "B", "C"}, []string{"", "C2", ""}},
		{"NoInstance", []verdict.Step{step("", "produce")}, []string{""}, []string{""}},
		{"Empty", nil, []string{""}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tl := NewTimeline(tc.trace, source)
			var processes []string
			for _, r := range tl.Rows {
				processes = append(processes, r.Process)
			}
			if diff := cmp.Diff(tc.lanes, tl.Lanes) + cmp.Diff(tc.processes, processes); diff != "" {
				t.Error(diff)
			}
		})
	}

	t.Run("FaultsStandOut", func(t *testing.T) {
		t.Parallel()
		for event, want := range map[string]bool{"crash": true, "fault": true, "limit": true, "sql": false, "restart": false, "check": false} {
			if got := NewTimeline([]verdict.Step{step("A", event)}, source).Rows[0].Fault; got != want {
				t.Errorf("%s: %v", event, got)
			}
		}
	})

	t.Run("LinesAreLinked", func(t *testing.T) {
		t.Parallel()
		for want, s := range map[SourceLink]verdict.Step{
			{Label: "handler.go:2", URL: "#f0-L2"}: {File: "handler.go", Line: 2},
			{Label: "handler.go:3"}:                {File: "handler.go", Line: 3}, // not on the page
			{Label: "other.go:1"}:                  {File: "other.go", Line: 1},
			{Label: "handler.go"}:                  {File: "handler.go"},
			{}:                                     {Line: 1},
		} {
			if got := NewTimeline([]verdict.Step{s}, source).Rows[0].Link; got != want {
				t.Errorf("%s:%d: %+v, want %+v", s.File, s.Line, got, want)
			}
		}
	})
}

// Both lanes of two instances, a restart and row differences, as HTML.
func TestTimelineTable(t *testing.T) {
	t.Parallel()
	tl := NewTimeline([]verdict.Step{
		{Step: 1, Lane: "A", Event: "sql", Text: "INSERT <x>", Rows: []string{"+charges(1)", "-charges(2)", "charges(3): a → b"}},
		{Step: 2, Lane: "B", Event: "sql", Text: "SELECT 1", Decisive: true},
		{Step: 3, Lane: "A2", Event: "restart", Text: "A new process starts."},
		{Step: 4, Event: "produce", Text: "The producer sends again."},
	}, nil)
	var b strings.Builder
	if err := timelineTable(english(t), tl).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	htmlcheck.Page(t, b.String(), htmlcheck.NothingInline,
		htmlcheck.In("thead", htmlcheck.Text("Step Instance A Kafka and database Instance B")),
		htmlcheck.In("tbody tr:nth-child(1) td:nth-child(2) code", htmlcheck.Text("INSERT <x>")),
		htmlcheck.In("tbody tr:nth-child(1) td:nth-child(3)", htmlcheck.Contains("+charges(1) -charges(2) charges(3): a → b")),
		htmlcheck.In(".rows .removed", htmlcheck.Text("-charges(2)")), htmlcheck.In(".rows .changed"),
		htmlcheck.In("tbody tr:nth-child(1) td:nth-child(4).empty"),
		htmlcheck.In("tbody tr.decisive td:nth-child(4) .decisive-mark"),
		htmlcheck.In("tbody tr:nth-child(3) td:nth-child(2) .process", htmlcheck.Text("A2")),
		htmlcheck.In("tbody tr:nth-child(4) td:nth-child(3)", htmlcheck.Contains("The producer sends again.")))
}

// A verdict of a newer grader has names that this program has no words for.
func TestUnknownNamesAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	v := verdict.Verdict{
		Outcome:  verdict.Failed,
		Findings: []verdict.Finding{{Kind: "eaten", Phase: "full-moon"}},
		Coverage: []verdict.Coverage{{Phase: "full-moon"}},
	}
	m, err := NewSubmission(english(t), SubmissionState{Verdict: &v, CreatedAt: time.UnixMilli(0)}, "unknown-notice")
	if err != nil {
		t.Fatal(err)
	}
	f := m.Result.Findings[0]
	if f.KindText != "eaten" || f.Where != "full-moon" || m.Result.Coverage[0].Phase != "full-moon" || m.Notice != "" {
		t.Errorf("%+v, notice %q", f, m.Notice)
	}
	running := SubmissionState{Attempt: 1, Steps: []Progress{{Stage: "dreaming"}}}
	if p, err := NewProgress(english(t), running); err != nil || p.Status != "dreaming" {
		t.Errorf("status %q, err %v", p.Status, err)
	}
}

// Each name of the contract has words.
func TestNamesHaveWords(t *testing.T) {
	t.Parallel()
	words := english(t).Words
	for _, name := range phaseNames {
		if !words.Has("phase." + name) {
			t.Errorf("no words for the phase %s", name)
		}
	}
	for _, k := range []verdict.Kind{
		verdict.Duplicate, verdict.Lost, verdict.Misordered, verdict.Stuck, verdict.Leaked, verdict.Crash,
		verdict.Timeout, verdict.Memory, verdict.Output, verdict.Compile, verdict.Policy,
	} {
		if !words.Has("kind." + string(k)) {
			t.Errorf("no words for the kind %s", k)
		}
	}
	for _, o := range []verdict.Outcome{"", verdict.Passed, verdict.Failed, verdict.Rejected, verdict.Inconclusive} {
		if !words.Has("state." + stateName(o)) {
			t.Errorf("no words for the outcome %q", o)
		}
	}
	for _, s := range []string{"started", "again", "preparing", "check", "build", "load", "explore"} {
		if !words.Has("stage." + s) {
			t.Errorf("no words for the stage %s", s)
		}
	}
}

func TestNewProblem(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		404: "There is no such page", 418: "The request cannot be used", 502: "An error of this server", 413: "That is too much text",
	} {
		m, err := NewProblem(english(t), status, "id", 65536)
		if err != nil || m.Title != want {
			t.Errorf("%d: %q, err %v", status, m.Title, err)
		}
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"/en/exercises/core/charge-once":             string(ExerciseURL("en", "core/charge-once")),
		"/en/exercises/a/b%3F%2F":                    string(ExerciseURL("en", "a/b?/")),
		"/en/submissions/a%2F..%3Fb":                 string(SubmissionURL("en", "a/..?b")),
		"/en/submissions/x/events?after=7":           string(EventsURL("en", "x", 7)),
		"/en/submissions/x?notice=stored":            string(WithNotice(SubmissionURL("en", "x"), "stored")),
		"/en/exercises/core/charge-once?version=3":   string(ExerciseVersionURL("en", "core/charge-once", 3)),
		"/en/exercises/core/charge-once/submissions": string(SubmitURL("en", "core/charge-once")),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

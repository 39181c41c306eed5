package views

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

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

// laid is the model of a timeline as the pages build it.
func laid(t *testing.T, steps []verdict.Step, source Source) Timeline {
	t.Helper()
	words := text{words: english(t).Words}
	tl := words.timeline(steps, source)
	if words.err != nil {
		t.Fatal(words.err)
	}
	return tl
}

func TestTimelineLinks(t *testing.T) {
	t.Parallel()
	source := NewSource([]FileModel{{Name: "handler.go", Content: "one\ntwo\n"}})
	for want, s := range map[SourceLink]verdict.Step{
		{Label: "handler.go:2", URL: "#f0-L2"}: {File: "handler.go", Line: 2},
		{Label: "handler.go:3"}:                {File: "handler.go", Line: 3}, // not on the page
		{Label: "other.go:1"}:                  {File: "other.go", Line: 1},
		{Label: "handler.go"}:                  {File: "handler.go"},
		{}:                                     {Line: 1},
	} {
		if got := laid(t, []verdict.Step{s}, source).Rows()[0].Link; got != want {
			t.Errorf("%s:%d: %+v, want %+v", s.File, s.Line, got, want)
		}
	}
}

// twoInstances is a story with row differences, a lock wait, a crash and a
// restart.
func twoInstances() []verdict.Step {
	return []verdict.Step{
		{Step: 1, Lane: "A", Event: "sql", Text: "INSERT <x>", Rows: []string{"+charges(1)", "-charges(2)", "charges(3): a → b"}},
		{Step: 2, Lane: "B", Event: "sql", Text: "SELECT 1", Decisive: true},
		{Step: 3, Lane: "A", Event: "crash", Text: "A dies."},
		{Step: 4, Lane: "A2", Event: "restart", Text: "A new process starts."},
		{Step: 5, Event: "produce", Text: "The producer sends again."},
		{Step: 6, Lane: "A2", Event: "deliver", Text: "A2 receives it again."},
		{Step: 7, Lane: "B", Event: "wait", Text: "INSERT → waits: a transaction of A has locked charges(id 1)"},
	}
}

func rendered(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTimelineTable(t *testing.T) {
	t.Parallel()
	htmlcheck.Page(t, rendered(t, timelineTable(english(t), laid(t, twoInstances(), nil))), htmlcheck.NothingInline,
		htmlcheck.In("thead", htmlcheck.Text("Step Instance A Kafka and database Instance B")),
		htmlcheck.In("tbody tr:nth-child(1) td:nth-child(2) code", htmlcheck.Text("INSERT <x>")),
		htmlcheck.In("tbody tr:nth-child(1) td:nth-child(3)", htmlcheck.Contains("+charges(1) -charges(2) charges(3): a → b")),
		htmlcheck.In(".rows .removed", htmlcheck.Text("-charges(2)")), htmlcheck.In(".rows .changed"),
		htmlcheck.In("tbody tr:nth-child(1) td:nth-child(4).empty"),
		htmlcheck.In("tbody tr.decisive td:nth-child(4) .decisive-mark"),
		htmlcheck.In("tbody tr:nth-child(4) td:nth-child(2) .process", htmlcheck.Text("A2")),
		htmlcheck.In("tbody tr:nth-child(5) td:nth-child(3)", htmlcheck.Contains("The producer sends again.")))
}

func TestTimelinePicture(t *testing.T) {
	t.Parallel()
	htmlcheck.Page(t, rendered(t, timelinePicture(english(t), laid(t, twoInstances(), nil))), htmlcheck.NothingInline,
		htmlcheck.In(".tl.tl-wide[data-timeline]", htmlcheck.Attr("tabindex", "0")),
		htmlcheck.Count(".tl-head text", 4), htmlcheck.Count(".tl-row", 7),
		// From A, a sixth across, to the middle.
		htmlcheck.In(".tl-row:nth-child(1) .tl-arrow", htmlcheck.Attr("x1", "16.67%"), htmlcheck.Attr("x2", "50%")),
		htmlcheck.In(".tl-row:nth-child(1) .tl-tip", htmlcheck.Attr("d", shapeRight)),
		htmlcheck.In(".tl-row:nth-child(2) .tl-arrow", htmlcheck.Attr("x1", "83.33%"), htmlcheck.Attr("x2", "50%")),
		htmlcheck.In(".tl-row:nth-child(2) .tl-tip", htmlcheck.Attr("d", shapeLeft)),
		htmlcheck.In(".tl-row:nth-child(6) .tl-arrow", htmlcheck.Attr("x1", "50%"), htmlcheck.Attr("x2", "16.67%")),
		htmlcheck.In(".tl-row:nth-child(6) .tl-tip", htmlcheck.Attr("d", shapeLeftOfDot)),
		htmlcheck.In(".tl-row:nth-child(6) .again-mark"),
		htmlcheck.In(".tl-row:nth-child(7) .tl-waits"),
		htmlcheck.In(".tl-row:nth-child(3).is-fault .tl-crash"), htmlcheck.NotIn(".tl-row:nth-child(3) .tl-arrow"),
		htmlcheck.In(".tl-row:nth-child(4) svg text", htmlcheck.Text("A2")),
		// A's line ends at the sign of the crash.
		htmlcheck.In(".tl-row:nth-child(3) .tl-line.tl-lane-0", htmlcheck.Attr("y2", "18")),
		htmlcheck.Count(".tl-row:nth-child(3) .tl-line.tl-lane-0", 1),
		htmlcheck.In(".tl-row:nth-child(1) .rows .added code", htmlcheck.Text("+charges(1)")),
		htmlcheck.NotIn("details"))
}

func TestTimelineFolds(t *testing.T) {
	t.Parallel()
	var steps []verdict.Step
	for i := range 14 {
		steps = append(steps, verdict.Step{Step: i + 1, Lane: "A", Event: "sql", Text: "SELECT 1", Decisive: i == 0 || i == 13})
	}
	htmlcheck.Page(t, rendered(t, timelinePicture(english(t), laid(t, steps, nil))), htmlcheck.NothingInline,
		htmlcheck.Count(".tl > .tl-steps > li", 3),
		htmlcheck.In(".tl-fold details:not([open]) summary", htmlcheck.Text("12 steps of A")),
		htmlcheck.Count(".tl-fold .tl-row", 12))
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

// Where an exercise names two databases, the page says of each phase and of each
// finding which one it is about.
func TestDatabasesAreToldApart(t *testing.T) {
	t.Parallel()
	v := verdict.Verdict{
		Outcome:  verdict.Failed,
		Findings: []verdict.Finding{{Kind: verdict.Duplicate, Phase: "interleavings", Database: "read-committed"}},
		Coverage: []verdict.Coverage{
			{Phase: "interleavings", Complete: true, Database: "sqlite"},
			{Phase: "interleavings", Database: "read-committed", Outside: []string{"a third transaction"}},
		},
	}
	m, err := NewSubmission(english(t), SubmissionState{Verdict: &v, CreatedAt: time.UnixMilli(0)}, "")
	if err != nil {
		t.Fatal(err)
	}
	if where := m.Result.Findings[0].Where; where != "Two instances in every order, found on READ COMMITTED" {
		t.Errorf("found: %q", where)
	}
	htmlcheck.Page(t, rendered(t, coverage(m.Page, *m.Result)), htmlcheck.NothingInline,
		htmlcheck.In("thead", htmlcheck.Text("Phase Database Schedules Failed Extent")),
		htmlcheck.In("tbody tr:nth-child(1) td:nth-child(2)", htmlcheck.Text("SQLite")),
		htmlcheck.In("tbody tr:nth-child(2) td:nth-child(2)", htmlcheck.Text("READ COMMITTED")),
		htmlcheck.In("tbody tr:nth-child(2) .outside", htmlcheck.Text("a third transaction")),
		htmlcheck.In("p.muted", htmlcheck.Contains("is a model of PostgreSQL")))

	running := SubmissionState{
		Attempt: 1, Planned: []string{"happy-path"}, Databases: []string{"sqlite", "read-committed"},
		Steps: []Progress{{Stage: "explore", Coverage: &verdict.Coverage{Phase: "happy-path", Schedules: 3, Database: "read-committed"}}}, StepNumbers: []int64{1},
	}
	p, err := NewProgress(english(t), running)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Phases) != 2 || p.Phases[0].Done || !p.Phases[1].Done || !strings.Contains(p.Phases[1].Text, "READ COMMITTED: 3 schedules") {
		t.Errorf("phases under way: %+v", p.Phases)
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
	for _, name := range []string{"sqlite", "read-committed"} {
		if !words.Has("database." + name) {
			t.Errorf("no words for the database %s", name)
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
	en := BasePath("").In("en")
	for want, got := range map[string]string{
		"/en/exercises/core/charge-once":             string(ExerciseURL(en, "core/charge-once")),
		"/en/exercises/a/b%3F%2F":                    string(ExerciseURL(en, "a/b?/")),
		"/en/submissions/a%2F..%3Fb":                 string(SubmissionURL(en, "a/..?b")),
		"/en/submissions/x/events?after=7":           string(EventsURL(en, "x", 7)),
		"/en/runs/rd1.x-_.0a":                        string(RunURL(en, "rd1.x-_.0a")),
		"/en/runs/rd1.x.0a.mmd":                      string(RunFileURL(en, "rd1.x.0a", MermaidFile)),
		"/en/submissions/x?notice=stored":            string(WithNotice(SubmissionURL(en, "x"), "stored")),
		"/en/exercises/core/charge-once?version=3":   string(ExerciseVersionURL(en, "core/charge-once", 3)),
		"/en/exercises/core/charge-once/submissions": string(SubmitURL(en, "core/charge-once")),
		"/a/b/tl%2Fh/exercises":                      string(ExercisesURL(BasePath("/a/b").In("tl/h"))),
		"/a/en/a/x%2Fy/submissions/z":                string(SubmissionURL(BasePath("/a").In("en").Within(SittingRoot("x/y")), "z")),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestBasePath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]BasePath{"": "", "/": "", "/redeliver": "/redeliver", "/a-b/c.d/~e_f": "/a-b/c.d/~e_f", "/en": "/en"} {
		var got BasePath
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %q, err %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"redeliver":      "begin with a slash",
		"https://host/x": "begin with a slash",
		"/redeliver/":    "no slash at its end",
		"//":             "no slash at its end",
		"//evil.example": "empty parts",
		"/a//b":          "empty parts",
		"/a/../b":        "nor . nor ..",
		"/.":             "nor . nor ..",
		"/a b":           "letters from a to z",
		"/a%20b":         "letters from a to z",
		"/:lang":         "letters from a to z",
		"/*":             "letters from a to z",
		"/тренировка":    "letters from a to z",
		"/a?b":           "letters from a to z",
		"/a\x00b":        "letters from a to z",
		"/metrics":       "whoever watches it",
	} {
		got := BasePath("as before")
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || got != "as before" {
			t.Errorf("%q: %q, err %v", text, got, err)
		}
	}
	for path, want := range map[string]string{"/a/": "/", "/a/en/x": "/en/x", "/a": "", "/ab/en": "", "/": "", "": ""} {
		if rest, ok := BasePath("/a").Cut(path); ok != (want != "") || ok && rest != want {
			t.Errorf("%q: %q, %v", path, rest, ok)
		}
	}
}

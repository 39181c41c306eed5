package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"redeliver/exercises"
	"redeliver/grader/build"
	"redeliver/grader/packcheck"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
	"redeliver/web/views"
)

// asProgram makes the test binary the program itself.
const asProgram = "REDELIVER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"redeliver": main})
}

// compilerCache is shared with the other tests: preparing the compiler takes 20 s
// of processor time.
func compilerCache(t testing.TB) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "redeliver-test")
	if err := build.New(build.Config{Dir: dir}).Prepare(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The command line, from outside.
func TestScripts(t *testing.T) {
	t.Parallel()
	cache := compilerCache(t)
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("REDELIVER_CACHE", cache)
			e.Setenv("CHARGE_ONCE", filepath.Join(root, "exercises/packs/core/charge-once"))
			return nil
		},
	})
}

// server is a running `redeliver serve` or, without a base, `redeliver worker`.
type server struct {
	cmd  *exec.Cmd
	base string
	log  *strings.Builder
}

var listening = regexp.MustCompile(`address=(http://[0-9.:]+)`)

func startServer(t testing.TB, data string, packs ...string) *server {
	t.Helper()
	return start(t, listening, []string{"REDELIVER_PACKS=" + strings.Join(packs, ":")},
		"serve", "--addr", "127.0.0.1:0", "--data", data, "--workers", "1")
}

// start runs a command until its log says that it is ready.
func start(t testing.TB, ready *regexp.Regexp, env []string, args ...string) *server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: exec.CommandContext(context.Background(), exe, args...), log: &strings.Builder{}}
	s.cmd.Env = append(append(os.Environ(), asProgram+"=1"), env...)
	out, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.kill(t) })
	found := make(chan string, 1)
	go func() {
		buf := make([]byte, 4096)
		sent := false
		for {
			n, err := out.Read(buf)
			s.log.Write(buf[:n])
			if m := ready.FindStringSubmatch(s.log.String()); m != nil && !sent {
				sent = true
				found <- m[len(m)-1]
			}
			if err != nil {
				close(found)
				return
			}
		}
	}()
	base, ok := <-found
	if !ok {
		t.Fatalf("the server ended: %s", s.log)
	}
	s.base = base
	return s
}

// kill is kill -9. A second call does nothing.
func (s *server) kill(t testing.TB) {
	t.Helper()
	if s.cmd.ProcessState != nil {
		return
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = s.cmd.Wait() // it was killed
}

// visitor is a browser with cookies.
type visitor struct {
	http.Client
	submission string // path
}

func (v *visitor) get(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	res, err := v.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

func (v *visitor) submit(t testing.TB, base, exercise, source string) {
	t.Helper()
	path := "/en/exercises/" + exercise
	if _, err := v.get(t.Context(), base+path); err != nil {
		t.Fatal(err)
	}
	form := url.Values{views.BaseField: {"0"}, views.FieldOf("handler.go"): {source}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path+"/submissions", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := v.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	v.submission = res.Request.URL.Path
	if res.StatusCode != http.StatusOK || !strings.Contains(v.submission, "/submissions/") {
		t.Fatalf("submit: %s at %s: %.500s", res.Status, v.submission, body)
	}
}

var outcome = regexp.MustCompile(`class="verdict is-([a-z]+)"`)

// TestKilledServer kills `serve` while 20 submissions wait or run. After a new
// start each of them has one verdict.
func TestKilledServer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute; left out by -short")
	}
	t.Parallel()
	const submissions = 20
	data := t.TempDir()
	// The compiler's files are there, as they are on a server that was started before.
	if err := os.Symlink(compilerCache(t), filepath.Join(data, "build")); err != nil {
		t.Fatal(err)
	}
	catalog := exercises.Open(exercises.Builtin(), nil)
	exercise, _ := catalog.Exercise("core/charge-once")
	s := startServer(t, data)
	visitors := make([]*visitor, submissions)
	for i := range visitors {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		visitors[i] = &visitor{Client: http.Client{Jar: jar}}
		source := fmt.Sprintf("%s\n// submission %d\n", exercise.Starter[0].Content, i)
		if i%2 == 1 {
			source = fmt.Sprintf("%s\n// submission %d\n", exercise.Solutions[0].Files[0].Content, i)
		}
		visitors[i].submit(t, s.base, "core/charge-once", source)
		if i == submissions/2 {
			waitForVerdict(t, visitors[0], s.base) // so that some are done, one runs, the others wait
		}
	}
	s.kill(t)
	s = startServer(t, data)
	for i, v := range visitors {
		want := []string{"failed", "passed"}[i%2]
		if got := waitForVerdict(t, v, s.base); got != want {
			t.Errorf("submission %d: %s, want %s", i, got, want)
		}
	}
}

func waitForVerdict(t testing.TB, v *visitor, base string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// The stream ends with the verdict; a page is asked for again after each end.
	for ctx.Err() == nil {
		page, err := v.get(ctx, base+v.submission)
		if err != nil {
			t.Fatal(err)
		}
		if m := outcome.FindStringSubmatch(page); m != nil {
			return m[1]
		}
		if _, err := v.get(ctx, base+v.submission+"/events"); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
	t.Fatal("no verdict within two minutes")
	return ""
}

var working = regexp.MustCompile(`msg=working`)

// The pages and the gradings in two processes that share nothing but a database:
// what the site takes in, the worker grades, and the page shows it.
func TestWorkerOnAnotherMachine(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	var data [2]string
	for i := range data {
		data[i] = t.TempDir()
		if err := os.Symlink(compilerCache(t), filepath.Join(data[i], "build")); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"REDELIVER_DATABASE=" + address, "REDELIVER_METRICS_TOKEN=t0ken"}
	s := start(t, listening, env, "serve", "--addr", "127.0.0.1:0", "--data", data[0], "--workers", "0")
	start(t, working, env, "worker", "--data", data[1], "--workers", "1")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{Client: http.Client{Jar: jar}}
	catalog := exercises.Open(exercises.Builtin(), nil)
	exercise, _ := catalog.Exercise("core/charge-once")
	v.submit(t, s.base, "core/charge-once", string(exercise.Starter[0].Content))
	if got := waitForVerdict(t, v, s.base); got != "failed" {
		t.Errorf("the starter: %s", got)
	}
}

// An exercise of a third-party folder is shown and judged without a rebuild. What
// is broken is told in the log and left out, and what is assigned is on no page.
func TestThirdPartyPacks(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	for _, id := range []string{"tea-house", "broken", "hollow", "secret"} {
		if err := packcheck.New(filepath.Join(dir, id), id); err != nil {
			t.Fatal(err)
		}
	}
	change := func(name, old, replacement string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		content, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, []byte(strings.Replace(string(content), old, replacement, 1)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change("broken/grant-once/exercise.yaml", "level: 1 ", "level: 9 ")
	change("secret/grant-once/exercise.yaml", "visibility: public", "visibility: assigned")
	change("secret/grant-once/exercise.yaml", "Grant points once", "Nobody may read this")
	change("tea-house/grant-once/exercise.yaml", "Grant points once", "Grant <script>points</script> once")
	change("tea-house/grant-once/statement.en.md", "A shop", "<script>alert(1)</script> [a link](javascript:alert(2)) {{.Secret}} A shop")
	if err := os.Symlink(compilerCache(t), filepath.Join(data, "build")); err != nil {
		t.Fatal(err)
	}
	// What no list shows is found while the server runs: it starts without.
	if err := os.Remove(filepath.Join(dir, "hollow/grant-once/schema.sql")); err != nil {
		t.Fatal(err)
	}
	verified := regexp.MustCompile(listening.String() + `(?s:.*)hollow/grant-once/schema.sql: The file is missing`)
	s := start(t, verified, []string{"REDELIVER_PACKS=" + dir}, "serve", "--addr", "127.0.0.1:0", "--data", data, "--workers", "1")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{Client: http.Client{Jar: jar}}
	for _, path := range []string{
		"/en", "/en/exercises/tea-house/grant-once", "/ru/exercises/tea-house/grant-once", "/en/exercises/secret/grant-once",
		"/en/exercises/broken/grant-once", "/en/exercises/hollow/grant-once",
	} {
		page, err := v.get(t.Context(), s.base+path)
		if err != nil {
			t.Fatal(err)
		}
		for _, hostile := range []string{"<script>alert", "<script>points", `href="javascript:`, "Nobody may read this"} {
			if strings.Contains(page, hostile) {
				t.Errorf("%s holds %q", path, hostile)
			}
		}
		if strings.Contains(page, "/hollow/") && path == "/en" {
			t.Error("a pack that turned out to be broken is listed")
		}
		if shown := strings.Contains(page, "Grant &lt;script&gt;points"); shown != (path == "/en" || strings.Contains(path, "tea-house")) {
			t.Errorf("%s: the exercise is shown: %v", path, shown)
		}
	}
	starter, err := os.ReadFile(filepath.Join(dir, "tea-house/grant-once/starter/handler.go"))
	if err != nil {
		t.Fatal(err)
	}
	v.submit(t, s.base, "tea-house/grant-once", string(starter))
	if got := waitForVerdict(t, v, s.base); got != "failed" {
		t.Errorf("the starter: %s", got)
	}
	s.kill(t)
	if want := "broken/grant-once/exercise.yaml:6:8: The level must be 1, 2, 3 or 4."; !strings.Contains(s.log.String(), want) {
		t.Errorf("the log does not tell %q:\n%s", want, s.log)
	}
}

// Each exit status, through the door that main uses.
func TestExitStatus(t *testing.T) {
	t.Parallel()
	cache := compilerCache(t)
	const pack = "exercises/packs/core/charge-once"
	for _, tc := range []struct {
		name string
		args []string
		want int
	}{
		{"Passed", []string{"grade", "--cache", cache, "core/charge-once", pack + "/solutions/returning"}, 0},
		{"Failed", []string{"grade", "--cache", cache, "core/charge-once", pack + "/starter"}, 1},
		{"Rejected", []string{"grade", "--cache", cache, "core/charge-once", pack + "/schema.sql"}, 1},
		{"NoExercise", []string{"grade", "--cache", cache, "core/x", pack + "/starter"}, 2},
		{"NoFile", []string{"grade", "--cache", cache, "core/charge-once", pack + "/nowhere"}, 2},
		{"NoCommand", nil, 2},
		{"UnknownFlag", []string{"grade", "--fast"}, 2},
		{"BadToken", []string{"grade", "--cache", cache, "--replay", "rd1.x", "core/charge-once", pack + "/starter"}, 2},
		{"Help", []string{"--help"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out, errOut strings.Builder
			if got := run(t.Context(), tc.args, &out, &errOut); got != tc.want {
				t.Errorf("status %d, want %d\n%s\n%s", got, tc.want, out.String(), errOut.String())
			}
		})
	}
}

func TestDataFolderInUseIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := store.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	}()
	var out, errOut strings.Builder
	code := run(t.Context(), []string{"serve", "--addr", "127.0.0.1:0", "--data", dir}, &out, &errOut)
	if code == 0 || !strings.Contains(errOut.String(), "another redeliver uses this data folder ("+dir+")") {
		t.Errorf("status %d, %q", code, errOut.String())
	}
}

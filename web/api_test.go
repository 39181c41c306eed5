package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"redeliver/grader/verdict"
	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
)

// apiSpec is the description of the API, against which every answer is held.
type apiSpec struct {
	Paths map[string]map[string]struct {
		OperationID string           `json:"operationId"`
		Security    []map[string]any `json:"security"`
		Parameters  []struct{ Name, In string }
		Responses   map[string]struct {
			Content map[string]json.RawMessage
		}
	}
	schemas *jsonschema.Compiler
}

func describedAPI(t *testing.T) *apiSpec {
	t.Helper()
	spec := &apiSpec{schemas: jsonschema.NewCompiler()}
	if err := json.Unmarshal(apiDescription, spec); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(apiDescription))
	if err != nil {
		t.Fatal(err)
	}
	spec.schemas.AssertFormat()
	if err := spec.schemas.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	return spec
}

// schema compiles the one at a place of the document.
func (spec *apiSpec) schema(t *testing.T, place ...string) *jsonschema.Schema {
	t.Helper()
	for i, part := range place {
		place[i] = url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
	}
	sch, err := spec.schemas.Compile("openapi.json#/" + strings.Join(place, "/"))
	if err != nil {
		t.Fatal(err)
	}
	return sch
}

var placeInPath = regexp.MustCompile(`\{[^}]+\}`)

// path is the description's name for an address.
func (spec *apiSpec) path(t *testing.T, address string) string {
	t.Helper()
	address, _, _ = strings.Cut(address, "?")
	for name := range spec.Paths {
		if name == address || regexp.MustCompile("^"+placeInPath.ReplaceAllString(name, "[^/]+")+"$").MatchString(address) {
			return name
		}
	}
	t.Fatalf("%s is not described", address)
	return ""
}

// holds fails unless an answer is as described.
func (spec *apiSpec) holds(t *testing.T, method, address string, a answer) {
	t.Helper()
	name, status := spec.path(t, address), fmt.Sprint(a.status)
	kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	if _, ok := spec.Paths[name][strings.ToLower(method)].Responses[status].Content[kind]; !ok {
		t.Fatalf("%s %s answers %s as %s, which is not described: %s", method, address, status, kind, a.body)
	}
	body, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
	if err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	sch := spec.schema(t, "paths", name, strings.ToLower(method), "responses", status, "content", kind, "schema")
	if err := sch.Validate(body); err != nil {
		t.Errorf("%s %s: %v\n%s", method, address, err, a.body)
	}
}

// program asks with a token and without a browser.
type program struct {
	*visitor
	token string
	spec  *apiSpec
}

// program makes a token on the page of an account.
func (v *visitor) program(t *testing.T, days string) *program {
	t.Helper()
	a := v.post(t, "/en/account/tokens", url.Values{views.NameField: {"a test"}, views.DaysField: {days}})
	token := regexp.MustCompile(`redeliver_[A-Z2-7]{26}`).FindString(a.body)
	if a.status != http.StatusOK || token == "" {
		t.Fatalf("status %d, no token in %s", a.status, a.body)
	}
	htmlcheck.Page(t, a.body, htmlcheck.NothingInline, htmlcheck.LinksWithin, htmlcheck.In("#token[readonly]", htmlcheck.Attr("value", token)))
	return &program{v.b.visitor(t), token, describedAPI(t)}
}

// ask wants an answer with this status and as described, and reads it.
func (p *program) ask(t *testing.T, method, path, body string, status int) map[string]any {
	t.Helper()
	a := p.send(t, method, path, body)
	if a.status != status {
		t.Fatalf("%s %s: status %d, want %d: %s", method, path, a.status, status, a.body)
	}
	p.spec.holds(t, method, path, a)
	var out map[string]any
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (p *program) send(t *testing.T, method, path, body string) answer {
	t.Helper()
	return p.sendUnder(t, method, path, body)
}

// sendUnder sends under keys; one is usual.
func (p *program) sendUnder(t *testing.T, method, path, body string, keys ...string) answer {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + p.token}, idempotencyHeader: keys}
	if body != "" {
		header.Set("Content-Type", "application/json")
	}
	a := p.do(t, method, path, strings.NewReader(body), header)
	if cookies := a.header.Values("Set-Cookie"); len(cookies) > 0 {
		t.Errorf("%s %s sets cookies: %q", method, path, cookies)
	}
	return a
}

// The description has every address for programs with every method, and no other, and
// is sound in itself.
func TestAPIDescription(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	spec := describedAPI(t)
	e, ok := b.srv.handler.(*echo.Echo)
	if !ok {
		t.Fatalf("the handler is a %T", b.srv.handler)
	}
	var known, described []string
	for _, r := range e.Routes() {
		if strings.HasPrefix(r.Path, apiRoot) && r.Method != http.MethodHead && r.Method != echo.RouteNotFound {
			known = append(known, strings.ToLower(r.Method)+" "+regexp.MustCompile(`:(\w+)`).ReplaceAllString(r.Path, "{$1}"))
		}
	}
	ids := map[string]bool{}
	for path, methods := range spec.Paths {
		for method, op := range methods {
			described = append(described, method+" "+path)
			if op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s %s: the operation is called %q", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
			var places []string
			for _, p := range op.Parameters {
				if p.In == "path" {
					places = append(places, "{"+p.Name+"}")
				}
			}
			if want := placeInPath.FindAllString(path, -1); !slices.Equal(places, want) {
				t.Errorf("%s %s: parameters %v, places %v", method, path, places, want)
			}
			for status, r := range op.Responses {
				for kind := range r.Content {
					spec.schema(t, "paths", path, method, "responses", status, "content", kind, "schema")
				}
			}
			if _, refuses := op.Responses["401"]; refuses == (op.Security != nil) {
				t.Errorf("%s %s: says 401 %v, security %v", method, path, refuses, op.Security)
			}
		}
	}
	slices.Sort(known)
	slices.Sort(described)
	if len(known) < 10 || !slices.Equal(known, described) {
		t.Errorf("known\n%s\ndescribed\n%s", strings.Join(known, "\n"), strings.Join(described, "\n"))
	}
	a := b.visitor(t).get(t, "/api/v1/openapi.json", http.StatusOK)
	spec.holds(t, "GET", "/api/v1/openapi.json", a)
}

// at walks into an answer.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, part := range path {
		switch part := part.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[part]
		case int:
			list, _ := v.([]any)
			if part >= len(list) {
				t.Fatalf("%v has no place %d", v, part)
			}
			v = list[part]
		}
	}
	return v
}

func TestAPI(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{BaseURL: "https://practice.example"}, testCatalog())
	b.start(t)
	ada := b.owner(t)
	p := ada.program(t, "90")

	made := p.ask(t, "POST", "/api/v1/assignments", `{"title":"Backend","lang":"de","exercises":["core/charge-once"],"minutes":60,`+
		`"closes_at":"2999-01-02T03:04:00+01:00","hints":true,"retain_days":30}`, http.StatusCreated)
	if made["minutes"] != 60.0 || made["closes_at"] != "2999-01-02T02:04:00Z" || made["hints"] != true || made["all_phases"] != false {
		t.Errorf("made %v", made)
	}
	one := fmt.Sprintf("/api/v1/assignments/%v", made["id"])
	if again := p.ask(t, "GET", one, "", http.StatusOK); fmt.Sprint(again) != fmt.Sprint(made) {
		t.Errorf("%v, made was %v", again, made)
	}

	invited := p.ask(t, "POST", one+"/candidates", `{"name":"Grace","extra_minutes":15}`, http.StatusCreated)
	link, _ := invited["link"].(string)
	sitting, ok := strings.CutPrefix(link, "https://practice.example")
	if !ok || !strings.HasPrefix(sitting, "/de/a/") {
		t.Fatalf("invited %v", invited)
	}
	grace := b.visitor(t)
	grace.post(t, sitting+"/start", nil)
	grace.post(t, sitting+"/exercises/core/charge-once/drafts", form(0, "package handler // draft\n"))
	handedIn := grace.post(t, sitting+"/exercises/core/charge-once/submissions", form(1, "package handler // done\n"))
	candidate := fmt.Sprintf("%s/candidates/%v", one, invited["candidate"])
	path, _, _ := strings.Cut(handedIn.header.Get("Location"), "?")
	_, id, _ := strings.Cut(path, "/submissions/")
	if waits := p.ask(t, "GET", candidate+"/submissions/"+id, "", http.StatusOK); waits["verdict"] != nil {
		t.Errorf("a verdict before the grading: %v", waits)
	}
	v := failedVerdict(t)
	b.grader.verdicts <- v
	b.graded(t, grace, path)

	report := p.ask(t, "GET", candidate, "", http.StatusOK)
	events := at(t, report, "exercises", 0, "events")
	if report["name"] != "Grace" || report["state"] != "sits" || report["extra_minutes"] != 15.0 || report["deadline"] == nil ||
		at(t, report, "exercises", 0, "outcome") != "failed" || at(t, events, 0, "draft") != 1.0 || at(t, events, 2, "submission") != id {
		t.Errorf("report %v", report)
	}
	sub := p.ask(t, "GET", candidate+"/submissions/"+id, "", http.StatusOK)
	if at(t, sub, "files", "handler.go") != "package handler // done\n" || at(t, sub, "verdict", "findings", 0, "schedule") != v.Findings[0].Schedule {
		t.Errorf("submission %v", sub)
	}
	draft := p.ask(t, "GET", candidate+"/exercises/core/charge-once/drafts/1", "", http.StatusOK)
	if at(t, draft, "files", "handler.go") != "package handler // draft\n" {
		t.Errorf("draft %v", draft)
	}
	p.ask(t, "GET", candidate+"/exercises/core/charge-once/drafts/99", "", http.StatusNotFound)
	p.ask(t, "GET", candidate+"/submissions/x", "", http.StatusNotFound)
	export := p.ask(t, "GET", candidate+"/export", "", http.StatusOK)
	if at(t, export, "candidates", 0, "exercises", 0, "submissions", 0, "id") != id {
		t.Errorf("export %v", export)
	}

	if more := p.ask(t, "PUT", candidate+"/extra-time", `{"extra_minutes":30}`, http.StatusOK); more["extra_minutes"] != 30.0 {
		t.Errorf("extra time: %v", more)
	}
	if ended := p.ask(t, "POST", candidate+"/cancel", "", http.StatusOK); ended["state"] != "ended" || ended["ended_by"] != "cancelled" {
		t.Errorf("cancelled: %v", ended)
	}
	p.ask(t, "POST", candidate+"/cancel", "", http.StatusConflict)
	p.ask(t, "PUT", candidate+"/extra-time", `{"extra_minutes":45}`, http.StatusConflict)
	if a := b.visitor(t).post(t, sitting+"/exercises/core/charge-once/drafts", form(1, "late")); a.status != http.StatusGone {
		t.Errorf("who was cancelled goes on: status %d", a.status)
	}

	// Closing: a link that was not used yet is too late.
	late := p.ask(t, "POST", one+"/candidates", `{"name":"Linus"}`, http.StatusCreated)
	closed := p.ask(t, "POST", one+"/close", "", http.StatusOK)
	if again := p.ask(t, "POST", one+"/close", "", http.StatusOK); again["closes_at"] != closed["closes_at"] || closed["closes_at"] == made["closes_at"] {
		t.Errorf("closed %v, then %v", closed, again)
	}
	sitting, _ = strings.CutPrefix(fmt.Sprint(late["link"]), "https://practice.example")
	b.visitor(t).post(t, sitting+"/start", nil)
	if linus := p.ask(t, "GET", fmt.Sprintf("%s/candidates/%v", one, late["candidate"]), "", http.StatusOK); linus["state"] != "invited" {
		t.Errorf("began after the end: %v", linus)
	}
	log := ada.get(t, "/en/people/log", http.StatusOK).body
	for _, said := range []string{"made a token for programs", "closed an assignment", "made a link for a candidate"} {
		if n := strings.Count(log, said); n == 0 || said == "closed an assignment" && n != 1 {
			t.Errorf("the log says %d times %q", n, said)
		}
	}
	if strings.Contains(log, p.token) {
		t.Error("the log holds the token")
	}
}

// What a newer submission took the place of has an outcome that no verdict has.
func TestAPIReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{BaseURL: "https://practice.example"}, testCatalog())
	ada := b.owner(t)
	p := ada.program(t, "")
	made := p.ask(t, "POST", "/api/v1/assignments", `{"title":"Backend","lang":"en","exercises":["core/charge-once"],"minutes":60,"retain_days":30}`, http.StatusCreated)
	one := fmt.Sprintf("/api/v1/assignments/%v", made["id"])
	invited := p.ask(t, "POST", one+"/candidates", `{"name":"Grace"}`, http.StatusCreated)
	sitting, _ := strings.CutPrefix(fmt.Sprint(invited["link"]), "https://practice.example")
	grace := b.visitor(t)
	grace.post(t, sitting+"/start", nil)
	for base, text := range []string{"one", "two"} { // nobody grades
		grace.post(t, sitting+"/exercises/core/charge-once/submissions", form(base, text))
	}
	report := p.ask(t, "GET", fmt.Sprintf("%s/candidates/%v", one, invited["candidate"]), "", http.StatusOK)
	events, _ := at(t, report, "exercises", 0, "events").([]any)
	var outcomes, ids []any
	for _, e := range events {
		if e, _ := e.(map[string]any); e["submission"] != nil {
			outcomes, ids = append(outcomes, e["outcome"]), append(ids, e["submission"])
		}
	}
	if want := []any{"replaced", nil}; !slices.Equal(outcomes, want) {
		t.Errorf("outcomes %v, want %v", outcomes, want)
	}
	if outcome := p.ask(t, "GET", fmt.Sprintf("%s/candidates/%v/submissions/%v", one, invited["candidate"], ids[0]), "", http.StatusOK)["outcome"]; outcome != "replaced" {
		t.Errorf("the submission alone: %v", outcome)
	}
	page := ada.get(t, fmt.Sprintf("/en/assign/%v/candidates/%v", made["id"], invited["candidate"]), http.StatusOK).body
	checked(t, page, htmlcheck.Count(".axis-run.is-replaced", 1), htmlcheck.Count(".axis-run.is-queued", 1), htmlcheck.In(".exercise-report .submissions", htmlcheck.Contains("Replaced")))
	file := ada.get(t, fmt.Sprintf("/en/assign/%v/candidates/%v/candidate.json", made["id"], invited["candidate"]), http.StatusOK).body
	if n := strings.Count(file, `"outcome":"replaced"`); n != 1 {
		t.Errorf("the export names %d replaced submissions: %s", n, file)
	}
}

func TestAPIPages(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	ada := b.owner(t)
	p := ada.program(t, "")
	who, _, err := b.st.Password(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	by := store.Actor{Person: who}
	for range 5 {
		newAssignment(t, b, by, store.Assignment{})
	}
	a := newAssignment(t, b, by, store.Assignment{})
	for range 5 {
		newCandidate(t, b, by, a)
	}
	for path, newestFirst := range map[string]bool{"/api/v1/assignments": true, fmt.Sprintf("/api/v1/assignments/%d/candidates", a.ID): false} {
		var ids []float64
		pages := 0
		for next := path + "?limit=2"; next != ""; pages++ {
			page := p.ask(t, "GET", next, "", http.StatusOK)
			items, _ := page["items"].([]any)
			for i := range items {
				id, _ := at(t, items, i, "id").(float64)
				ids = append(ids, id)
			}
			next, _ = page["next"].(string)
		}
		sorted := slices.Clone(ids)
		slices.Sort(sorted)
		if newestFirst {
			slices.Reverse(sorted)
		}
		if pages != 3 || len(ids) != len(slices.Compact(slices.Clone(sorted))) || !slices.Equal(ids, sorted) || len(ids) < 5 {
			t.Errorf("%s: %v on %d pages", path, ids, pages)
		}
	}
}

// What is no token, or none any more, opens nothing, and a cookie does not either.
func TestAPITokens(t *testing.T) {
	t.Parallel()
	now := &testTime{}
	now.Store(time.Now().UnixMilli())
	b := setup(t, Config{Now: now.now}, testCatalog())
	ada := b.owner(t)
	refused := func(t *testing.T, p *program) {
		t.Helper()
		a := p.send(t, "GET", "/api/v1/assignments", "")
		if a.status != http.StatusUnauthorized || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") ||
			a.header.Get("Content-Type") != "application/problem+json" || !strings.Contains(a.body, "Send a valid token") {
			t.Errorf("status %d, %v: %s", a.status, a.header, a.body)
		}
		p.spec.holds(t, "GET", "/api/v1/assignments", a)
	}
	works := func(t *testing.T, p *program) {
		t.Helper()
		p.ask(t, "GET", "/api/v1/assignments", "", http.StatusOK)
	}

	short, long := ada.program(t, "1"), ada.program(t, "")
	works(t, short)
	refused(t, &program{ada, "", short.spec}) // with her cookie
	refused(t, &program{ada, "redeliver_" + auth.NewToken(), short.spec})
	basic := ada.do(t, "GET", "/api/v1/assignments", nil, http.Header{"Authorization": {"Basic " + short.token}})
	if basic.status != http.StatusUnauthorized {
		t.Errorf("another scheme: status %d", basic.status)
	}
	page := ada.get(t, "/en/account", http.StatusOK).body
	htmlcheck.Page(t, page, htmlcheck.LinksWithin, htmlcheck.NothingInline, htmlcheck.Count("tbody tr", 2),
		htmlcheck.In("tbody tr:nth-child(2)", htmlcheck.Contains("a test")), htmlcheck.In("tbody tr:nth-child(2)", htmlcheck.Contains("when revoked")),
		htmlcheck.In("tbody tr:nth-child(2)", htmlcheck.Contains("never")), htmlcheck.In("tbody tr:nth-child(1) td:nth-child(4) time"))
	if strings.Contains(page, short.token) {
		t.Error("the token is shown a second time")
	}
	var kept string
	if err := b.st.Read.QueryRowContext(t.Context(), "SELECT group_concat(token_hash) FROM api_tokens").Scan(&kept); err != nil || strings.Contains(kept, short.token[10:]) ||
		!strings.Contains(kept, store.HashToken(short.token)) {
		t.Errorf("kept %s, err %v", kept, err)
	}

	// It ends by itself, another one when it is revoked.
	now.advance(24*time.Hour + time.Second)
	refused(t, short)
	works(t, long)
	htmlcheck.Page(t, ada.get(t, "/en/account", http.StatusOK).body, htmlcheck.Count("tbody tr", 1))
	bob := b.visitor(t)
	bob.become(t, ada.invited(t, "interviewer"), "bob")
	if a := bob.post(t, "/en/account/tokens/2/revoke", nil); a.status != http.StatusNotFound {
		t.Errorf("bob revokes a token of ada: status %d", a.status)
	}
	works(t, long)
	if a := ada.post(t, "/en/account/tokens/2/revoke", nil); a.status != http.StatusSeeOther {
		t.Errorf("status %d", a.status)
	}
	refused(t, long)

	// What ends the sessions of a person ends its tokens.
	ofBob := bob.program(t, "")
	ada.post(t, bobsPage(t, b)+"/sign-out", nil)
	refused(t, ofBob)
	bob.signIn(t, "bob", testPassword)
	ofBob = bob.program(t, "")
	bob.post(t, "/en/account/password", url.Values{views.OldPasswordField: {testPassword}, views.PasswordField: {"another " + testPassword}})
	refused(t, ofBob)
	ofBob = bob.program(t, "")
	works(t, ofBob)
	ada.post(t, bobsPage(t, b)+"/remove", nil)
	refused(t, ofBob)
}

func TestTokenForm(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	ada := b.owner(t)
	for name, tc := range map[string]struct {
		name, days, field string
	}{
		"Nameless": {" ", "90", "token"}, "Long": {strings.Repeat("x", 81), "90", "token"}, "LineEnd": {"a\x01b", "", "token"},
		"Never": {"a", "0", "days"}, "Words": {"a", "soon", "days"}, "Centuries": {"a", "100000", "days"},
	} {
		a := ada.post(t, "/en/account/tokens", url.Values{views.NameField: {tc.name}, views.DaysField: {tc.days}})
		if a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: status %d", name, a.status)
		}
		htmlcheck.Page(t, a.body, htmlcheck.In("#"+tc.field+"-problem[role=alert]"), htmlcheck.In("#days", htmlcheck.Attr("value", tc.days)))
	}
	for range store.MaxTokens {
		ada.program(t, "")
	}
	a := ada.post(t, "/en/account/tokens", url.Values{views.NameField: {"one more"}})
	if a.status != http.StatusConflict {
		t.Errorf("status %d", a.status)
	}
	htmlcheck.Page(t, a.body, htmlcheck.In("#token-problem", htmlcheck.Contains("as many tokens")))
}

// What a program gets wrong is said in a sentence, in the form of the description.
func TestAPIRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	p := b.owner(t).program(t, "")
	valid := `{"title":"Backend","lang":"en","exercises":["core/charge-once"],"retain_days":30`
	made := p.ask(t, "POST", "/api/v1/assignments", valid+"}", http.StatusCreated)
	candidates := fmt.Sprintf("/api/v1/assignments/%v/candidates", made["id"])
	for name, tc := range map[string]struct {
		method, path, body string
		status             int
		field              any
	}{
		"NoObject":         {"POST", "/api/v1/assignments", `[]`, 422, nil},
		"NoJSON":           {"POST", "/api/v1/assignments", `{"title":`, 400, nil},
		"TwoObjects":       {"POST", "/api/v1/assignments", valid + "}{}", 400, nil},
		"UnknownField":     {"POST", "/api/v1/assignments", valid + `,"owner":1}`, 400, nil},
		"WrongType":        {"POST", "/api/v1/assignments", `{"title":1}`, 422, "title"},
		"NoBody":           {"POST", "/api/v1/assignments", "", 415, nil},
		"LargeBody":        {"POST", "/api/v1/assignments", `{"title":"` + strings.Repeat("x", maxAPIBody) + `"}`, 413, nil},
		"HugeBody":         {"POST", "/api/v1/assignments", `{"title":"` + strings.Repeat("x", 1<<20) + `"}`, 413, nil},
		"Nameless":         {"POST", "/api/v1/assignments", `{"lang":"en","exercises":["core/charge-once"],"retain_days":30}`, 422, "title"},
		"NoExercise":       {"POST", "/api/v1/assignments", `{"title":"x","lang":"en","exercises":["core/nothing"],"retain_days":30}`, 422, "exercises"},
		"Twice":            {"POST", "/api/v1/assignments", `{"title":"x","lang":"en","exercises":["core/secret","core/secret"],"retain_days":30}`, 422, "exercises"},
		"Language":         {"POST", "/api/v1/assignments", `{"title":"x","lang":"fr","exercises":["core/charge-once"],"retain_days":30}`, 422, "lang"},
		"Minutes":          {"POST", "/api/v1/assignments", valid + `,"minutes":5}`, 422, "minutes"},
		"Past":             {"POST", "/api/v1/assignments", valid + `,"closes_at":"2001-01-01T00:00:00Z"}`, 422, "closes_at"},
		"ForEver":          {"POST", "/api/v1/assignments", strings.Replace(valid, "30", "0", 1) + "}", 422, "retain_days"},
		"CandidateNoName":  {"POST", candidates, `{}`, 422, "name"},
		"CandidateExtra":   {"POST", candidates, `{"name":"x","extra_minutes":181}`, 422, "extra_minutes"},
		"Limit":            {"GET", "/api/v1/assignments?limit=1000", "", 422, "limit"},
		"Before":           {"GET", "/api/v1/assignments?before=x", "", 422, "before"},
		"After":            {"GET", candidates + "?after=-1", "", 422, "after"},
		"OfNobody":         {"GET", "/api/v1/assignments/123456", "", 404, nil},
		"NoNumber":         {"GET", "/api/v1/assignments/x", "", 404, nil},
		"CandidateUnknown": {"POST", candidates + "/123456/cancel", "", 404, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := p.ask(t, tc.method, tc.path, tc.body, tc.status)
			if a["field"] != tc.field || a["status"] != float64(tc.status) {
				t.Errorf("%v", a)
			}
		})
	}
	for _, path := range []string{"/api/v1/nothing", "/api/nothing", "/api/v1/assignments"} {
		a := p.send(t, "DELETE", path, "")
		if a.status != http.StatusNotFound || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("DELETE %s: status %d, %v", path, a.status, a.header)
		}
	}
}

func TestAPIRate(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{APIPerMinute: 3, Now: func() time.Time { return time.UnixMilli(1) }}, testCatalog())
	p := b.owner(t).program(t, "")
	for range 3 {
		p.ask(t, "GET", "/api/v1/assignments", "", http.StatusOK)
	}
	a := p.send(t, "GET", "/api/v1/assignments", "")
	if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
		t.Errorf("status %d, %v", a.status, a.header)
	}
	p.spec.holds(t, "GET", "/api/v1/assignments", a)
	b.visitor(t).get(t, "/en/exercises", http.StatusOK) // pages count for themselves
}

// An inconclusive verdict and one without findings are as described, too.
func TestAPIVerdicts(t *testing.T) {
	t.Parallel()
	spec := describedAPI(t)
	for _, v := range []verdict.Verdict{verdictOf(verdict.Passed), verdictOf(verdict.Inconclusive), failedVerdict(t), {
		Exercise: "core/charge-once", Outcome: verdict.Rejected, Coverage: []verdict.Coverage{}, Stdout: "x", Replay: &verdict.Replay{Schedule: "rd1.x", Trace: []verdict.Step{{Step: 1}}},
		Findings: []verdict.Finding{{Kind: verdict.Compile, Message: "x", File: "handler.go", Line: 1, Column: 2}},
	}} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := spec.schema(t, "components", "schemas", "Verdict").Validate(doc); err != nil {
			t.Error(err)
		}
	}
}

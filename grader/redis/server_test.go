package redis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/guest/abi"
	"redeliver/grader/redis"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// testServer is a server with a clock of the test's.
type testServer struct {
	*redis.Server
	t   *testing.T
	now time.Time
}

func setup(t *testing.T) *testServer {
	t.Helper()
	s := &testServer{redis.Start(), t, start}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	s.reset()
	return s
}

func (s *testServer) reset() {
	s.t.Helper()
	if err := s.Reset(s.t.Context(), start); err != nil {
		s.t.Fatal(err)
	}
	s.now = start
}

func (s *testServer) do(req abi.RedisRequest) redis.Answer {
	s.t.Helper()
	a, err := s.Do(s.t.Context(), s.now, req)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// send sends commands, one per line, and returns their replies as redis-cli
// shows them.
func (s *testServer) send(commands string) string {
	s.t.Helper()
	return redis.Result(s.do(request(commands)).Reply.Values)
}

func request(commands string) abi.RedisRequest {
	var req abi.RedisRequest
	for line := range strings.Lines(commands) {
		req.Commands = append(req.Commands, strings.Fields(line))
	}
	return req
}

func (s *testServer) want(commands, reply string) {
	s.t.Helper()
	if got := s.send(commands); got != reply {
		s.t.Errorf("%s gave %s, want %s", commands, got, reply)
	}
}

func TestKeysExpireByTheClockOfTheSchedule(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.want("SET k v EX 86400 NX\nSET forever v", "OK; OK")
	if got := s.Expiry(s.now); got != 24*time.Hour {
		t.Errorf("the last expiry is in %s", got)
	}
	s.now = s.now.Add(24*time.Hour - time.Millisecond)
	s.want("GET k\nPTTL k", "v; 1")
	s.now = s.now.Add(time.Millisecond)
	s.want("GET k\nTTL k\nGET forever\nTTL forever", "nil; -2; v; -1")
	if got := s.Expiry(s.now); got != 0 {
		t.Errorf("the last expiry is in %s", got)
	}
}

func TestResetForgetsEverything(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.now = s.now.Add(time.Hour)
	s.do(abi.RedisRequest{Commands: [][]string{{"SET", "k", "v", "EX", "10"}, {"EVAL", "return 1", "0"}}})
	empty := setup(t).State()
	s.reset()
	if got := s.State(); got != empty {
		t.Errorf("the state is %q", got)
	}
	s.want("EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0", "error: NOSCRIPT No matching script. Please use EVAL.")
	s.want("SET k v EX 10\nTTL k", "OK; 10") // the clock went back
}

func TestAccess(t *testing.T) {
	t.Parallel()
	type access struct {
		Reads, Writes []string
		Changed       bool
	}
	for name, c := range map[string]struct {
		commands string
		want     access
	}{
		"Read":         {"GET a", access{Reads: []string{"redis", "redis:a"}}},
		"SeveralReads": {"EXISTS a b\nTTL a", access{Reads: []string{"redis", "redis:a", "redis:b"}}},
		"Write":        {"SET a 1", access{Reads: []string{"redis"}, Writes: []string{"redis:a"}, Changed: true}},
		"NoChange":     {"SET present 1 NX", access{Reads: []string{"redis"}, Writes: []string{"redis:present"}}},
		"SameValue":    {"SET present x", access{Reads: []string{"redis"}, Writes: []string{"redis:present"}}},
		"OnlyExpiry":   {"EXPIRE present 10", access{Reads: []string{"redis"}, Writes: []string{"redis:present"}, Changed: true}},
		"Delete":       {"DEL present b", access{Reads: []string{"redis"}, Writes: []string{"redis:present", "redis:b"}, Changed: true}},
		"LowerCase":    {"set a 1", access{Reads: []string{"redis"}, Writes: []string{"redis:a"}, Changed: true}},
		"Script":       {"EVALSHA x 1 a", access{Writes: []string{"redis"}}},
		"Ping":         {"PING", access{}},
		"Refused":      {"FLUSHALL", access{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			s.want("SET present x", "OK")
			a := s.do(request(c.commands))
			if d := cmp.Diff(c.want, access{a.Reads, a.Writes, a.Changed}); d != "" {
				t.Errorf("access (-want +got):\n%s", d)
			}
		})
	}
}

func TestWhatIsNotAvailable(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("GET a\n", 65)
	for name, c := range map[string]struct{ commands, want string }{
		"Command":      {"CONFIG SET dir /", `error: ERR the command "CONFIG" is not available in this exercise`},
		"BesideOthers": {"SET a 1\nKEYS *\nGET a", `OK; error: ERR the command "KEYS" is not available in this exercise; 1`},
		"Large":        {"SET a " + strings.Repeat("x", 64<<10), "error: ERR a request of 65540 bytes is not available in this exercise: at most 65536"},
		"Many":         {many, strings.TrimSuffix(strings.Repeat("error: ERR a pipeline of 65 commands is not available in this exercise: at most 64; ", 65), "; ")},
		"NoArguments":  {"EVAL", "error: ERR wrong number of arguments for 'eval' command"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup(t).want(c.commands, c.want)
		})
	}
}

func TestRefusedCommandDiscardsTheTransaction(t *testing.T) {
	t.Parallel()
	s := setup(t)
	req := request("SET a 1\nKEYS *")
	req.Tx = true
	a := s.do(req)
	want := `error: EXECABORT Transaction discarded because of previous errors.; error: ERR the command "KEYS" is not available in this exercise`
	if got := redis.Result(a.Reply.Values); got != want || !strings.HasPrefix(a.Reply.Discarded, "EXECABORT") || a.Changed {
		t.Errorf("got %s, discarded %q, changed %t", got, a.Reply.Discarded, a.Changed)
	}
	s.want("EXISTS a", "0")
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"CompareAndDelete": {`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`, "1"},
		"Locals":           {"local v = redis.call('GET', KEYS[1])\nif not v then return nil end\nv = v .. '!'\nreturn {v, tonumber('3'), #ARGV}", "[me!, 3, 1]"},
		"Fallthrough":      {"do local x = -1; return x + 2 end", "1"},
		"ByIndex":          {"return redis['call']('get', KEYS[1])", "me"},

		"Loop":              {"while true do end", "a loop, a jump or a function"},
		"For":               {"for i = 1, 1e9 do end", "a loop, a jump or a function"},
		"Each":              {"for k, v in pairs(KEYS) do end", "a loop, a jump or a function"},
		"Repeat":            {"repeat until false", "a loop, a jump or a function"},
		"Goto":              {"::a:: goto a", "a loop, a jump or a function"},
		"Function":          {"local function f() return f() end return f()", "a function"},
		"NamedFunction":     {"function f() end", "a loop, a jump or a function"},
		"FunctionValue":     {"local f = function() end", "a function"},
		"FunctionArgument":  {"return redis.call('get', function() end)", "a function"},
		"ReadsFiles":        {"return dofile('/etc/passwd')", "a call of anything but"},
		"LoadsCode":         {"return loadstring('while true do end')()", "a call of anything but"},
		"StringLibrary":     {"return string.rep('x', 1e9)", "a call of anything but"},
		"StringMethod":      {"return ('x'):rep(1e9)", "a call of anything but"},
		"ByAnotherName":     {"local call = redis.call; return call('keys', '*')", "redis without a call"},
		"AsTheName":         {"local tonumber = 1", "a variable with the name tonumber"},
		"Assigned":          {"KEYS = {}", "a variable with the name KEYS"},
		"TableAssigned":     {"KEYS[1] = 'x'", "an assignment to a table's element"},
		"Passed":            {"return tostring(tonumber)", "tonumber without a call"},
		"OtherCommand":      {"return redis.call('flushall')", `the command "flushall"`},
		"CommandByVariable": {"return redis.call(ARGV[1])", `the command ""`},
		"NoCommand":         {"return redis.call()", `the command ""`},
		"OtherFunction":     {"return redis.sha1hex('x')", "a call of anything but"},
		"Growing":           {"local s = ARGV[1]\n" + strings.Repeat("s = s .. s\n", 5), "more than 4 concatenations"},
		"Long":              {"return '" + strings.Repeat("x", 2<<10) + "'", "a script of 2057 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			s.want("SET lock me", "OK")
			a := s.do(abi.RedisRequest{Commands: [][]string{{"EVAL", c.script, "1", "lock", "me"}}})
			got := redis.Result(a.Reply.Values)
			if refused, ok := strings.CutPrefix(got, "error: ERR "); ok && strings.HasPrefix(refused, c.want) && strings.Contains(got, "not available in this exercise") {
				return
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTooManyScripts(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var last string
	for i := range 9 {
		last = redis.Result(s.do(abi.RedisRequest{Commands: [][]string{{"EVAL", "return 1 " + strings.Repeat(" ", i), "0"}}}).Reply.Values)
	}
	if !strings.Contains(last, "more than 8 different scripts") {
		t.Errorf("the ninth script gave %s", last)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		req         abi.RedisRequest
		text, label string
	}{
		{request("set payment:1 x EX 10 NX"), "SET payment:1 x EX 10 NX", "SET payment:1"},
		{abi.RedisRequest{Commands: [][]string{{"get", "a b"}, {"set", "", "\n"}}}, `GET "a b"; SET "" "\n"`, `GET "a b" …`},
		{abi.RedisRequest{Tx: true, Commands: [][]string{{"incr", "n"}, {"expire", "n", "5"}}}, "MULTI; INCR n; EXPIRE n 5; EXEC", "MULTI … INCR n …"},
		{abi.RedisRequest{Commands: [][]string{{"eval", "return\n  1", "0"}}}, `EVAL "return 1" 0`, "EVAL"},
	} {
		if got := redis.Text(c.req); got != c.text {
			t.Errorf("text %s, want %s", got, c.text)
		}
		if got := redis.Label(c.req); got != c.label {
			t.Errorf("label %s, want %s", got, c.label)
		}
	}
}

package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redeliver/grader/guest/abi"
)

// Limits of one request. The keys of a schedule lie in our memory.
const (
	maxCommands = 64
	maxBytes    = 64 << 10
)

// command says what a command does with keys.
type command struct {
	write bool
	// keys says which arguments are keys: the first, or all.
	all bool
}

// commands are those that the client in the sandbox can send, beside PING, EVAL
// and EVALSHA.
var commands = map[string]command{
	"GET": {}, "EXISTS": {all: true}, "TTL": {}, "PTTL": {},
	"SET": {write: true}, "SETEX": {write: true}, "GETDEL": {write: true}, "DEL": {write: true, all: true},
	"INCR": {write: true}, "INCRBY": {write: true}, "DECR": {write: true}, "DECRBY": {write: true},
	"EXPIRE": {write: true}, "PEXPIRE": {write: true}, "PERSIST": {write: true},
}

// nameOf is the name of a command in upper case.
func nameOf(c []string) string { return strings.ToUpper(c[0]) }

func isScript(name string) bool { return name == "EVAL" || name == "EVALSHA" }

// check says why a command is not sent, "" when it is.
func (s *Server) check(c []string) string {
	name := nameOf(c)
	switch _, known := commands[name]; {
	case known, name == "PING", name == "EVALSHA":
		return ""
	case name != "EVAL":
		return fmt.Sprintf("the command %.20q is not available in this exercise", c[0])
	case len(c) < 2:
		return "wrong number of arguments for 'eval' command"
	}
	if s.scripts[c[1]] {
		return ""
	}
	if len(s.scripts) == maxScripts {
		return fmt.Sprintf("more than %d different scripts are not available in this exercise: pass what differs as KEYS and ARGV", maxScripts)
	}
	if why := checkScript(c[1]); why != "" {
		return why
	}
	s.scripts[c[1]] = true
	return ""
}

func tooLarge(req abi.RedisRequest) string {
	if len(req.Commands) > maxCommands {
		return fmt.Sprintf("a pipeline of %d commands is not available in this exercise: at most %d", len(req.Commands), maxCommands)
	}
	size := 0
	for _, c := range req.Commands {
		for _, arg := range c {
			size += len(arg)
		}
	}
	if size > maxBytes {
		return fmt.Sprintf("a request of %d bytes is not available in this exercise: at most %d", size, maxBytes)
	}
	return ""
}

// touch notes what a command reads and writes.
func touch(c []string, a *Answer) {
	name := nameOf(c)
	if isScript(name) {
		a.Writes = add(a.Writes, "redis")
		return
	}
	if name == "PING" {
		return
	}
	a.Reads = add(a.Reads, "redis")
	does, keys := commands[name], c[1:]
	if !does.all {
		keys = keys[:min(1, len(keys))]
	}
	for _, key := range keys {
		if does.write {
			a.Writes = add(a.Writes, "redis:"+key)
		} else {
			a.Reads = add(a.Reads, "redis:"+key)
		}
	}
}

func add(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// Text writes a request as a step of the timeline shows it.
func Text(req abi.RedisRequest) string {
	parts := make([]string, 0, len(req.Commands))
	for _, c := range req.Commands {
		words := []string{nameOf(c)}
		for i, arg := range c[1:] {
			if i == 0 && isScript(words[0]) {
				arg = strings.Join(strings.Fields(arg), " ")
			}
			words = append(words, quoted(arg))
		}
		parts = append(parts, strings.Join(words, " "))
	}
	text := strings.Join(parts, "; ")
	if req.Tx {
		return "MULTI; " + text + "; EXEC"
	}
	return text
}

// quoted puts what is not one plain word in quotes, as redis-cli does.
func quoted(arg string) string {
	plain := arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return r <= ' ' || r == '"' || r == ';' || r > '~' })
	if plain {
		return arg
	}
	return fmt.Sprintf("%q", arg)
}

// ShortKey is the beginning of a long key, for sentences that name it more than
// once; the timeline has all of it.
func ShortKey(key string) string {
	const most, kept = 32, 24
	if runes := []rune(key); len(runes) > most {
		return string(runes[:kept]) + "…"
	}
	return key
}

// Label names a request inside a sentence: "SET payment:p-1".
func Label(req abi.RedisRequest) string {
	c := req.Commands[0]
	label := nameOf(c)
	if !isScript(label) && len(c) > 1 {
		label += " " + ShortKey(quoted(c[1]))
	}
	if req.Tx {
		label = "MULTI … " + label
	}
	if len(req.Commands) > 1 {
		label += " …"
	}
	return label
}

// Result writes the values as redis-cli shows them, on one line.
func Result(values []abi.RedisValue) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = show(v)
	}
	return strings.Join(parts, "; ")
}

func show(v abi.RedisValue) string {
	switch v.Kind {
	case abi.RedisInt:
		return strconv.FormatInt(v.Int, 10)
	case abi.RedisText:
		return quoted(v.Text)
	case abi.RedisError:
		return "error: " + v.Text
	case abi.RedisList:
		return "[" + strings.ReplaceAll(Result(v.List), "; ", ", ") + "]"
	default:
		return "nil"
	}
}

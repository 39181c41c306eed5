// Package handler is a submission that uses the Redis client in every way that a
// handler may. A test runs each program natively with the real client and in the
// sandbox, and compares what they write.
package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/twmb/franz-go/pkg/kgo"
)

// program writes down everything that it can see of Redis.
type program func(ctx context.Context, rdb *redis.Client, p *protocol)

// Handle runs the program that the record's key names. It returns what the
// program wrote as an error, the one thing that a handler can return.
func Handle(ctx context.Context, _ *sql.DB, rdb *redis.Client, rec *kgo.Record) error {
	run, ok := programs()[string(rec.Key)]
	if !ok {
		return fmt.Errorf("there is no program %q", rec.Key)
	}
	var p protocol
	run(ctx, rdb, &p)
	return errors.New(p.String())
}

// Names lists the programs, sorted.
func Names() []string {
	var names []string
	for name := range programs() {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// protocol is what a program writes.
type protocol struct{ strings.Builder }

func (p *protocol) say(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *protocol) err(err error) {
	var e redis.Error
	p.say("  error %v nil=%t server=%t noscript=%t wrong=%t failed=%t canceled=%t", err, errors.Is(err, redis.Nil), errors.As(err, &e),
		errors.Is(err, redis.ErrNoScript), redis.HasErrorPrefix(err, "WRONG"), errors.Is(err, redis.TxFailedErr), errors.Is(err, context.Canceled))
}

// cmd writes a command as it shows itself, its parts and its reply.
func (p *protocol) cmd(c redis.Cmder) {
	p.say("%T %s | %s %s %v", c, c.String(), c.Name(), c.FullName(), c.Args())
	switch c := c.(type) {
	case *redis.StatusCmd:
		b, _ := c.Bytes()
		p.say("  %q %q", c.Val(), b)
	case *redis.StringCmd:
		p.text(c)
	case *redis.IntCmd:
		n, _ := c.Uint64()
		p.say("  %d %d", c.Val(), n)
	case *redis.BoolCmd:
		p.say("  %t", c.Val())
	case *redis.DurationCmd:
		p.say("  %s", c.Val())
	case *redis.Cmd:
		p.any(c)
	}
	p.err(c.Err())
}

func (p *protocol) text(c *redis.StringCmd) {
	raw, _ := c.Bytes()
	n, err1 := c.Int()
	n64, err2 := c.Int64()
	u, err3 := c.Uint64()
	f, err4 := c.Float64()
	ok, err5 := c.Bool()
	at, err6 := c.Time()
	p.say("  %q %q %d %d %d %v %t %s", c.Val(), raw, n, n64, u, f, ok, at)
	p.say("  %v | %v | %v | %v | %v | %v", err1, err2, err3, err4, err5, err6)
}

func (p *protocol) any(c *redis.Cmd) {
	text, err1 := c.Text()
	n, err2 := c.Int()
	n64, err3 := c.Int64()
	ok, err4 := c.Bool()
	list, err5 := c.Slice()
	texts, err6 := c.StringSlice()
	p.say("  %T %v %q %d %d %t %v %q", c.Val(), c.Val(), text, n, n64, ok, list, texts)
	p.say("  %v | %v | %v | %v | %v | %v", err1, err2, err3, err4, err5, err6)
}

// evals is a program that runs scripts.
func evals(scripts ...string) program {
	return func(ctx context.Context, rdb *redis.Client, p *protocol) {
		for _, text := range scripts {
			p.err(rdb.Set(ctx, "k", "text", 0).Err())
			p.cmd(rdb.Eval(ctx, text, []string{"k"}, "7", "b"))
		}
	}
}

type payment struct{ ID string }

// MarshalBinary implements encoding.BinaryMarshaler.
func (p payment) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

type refuses struct{}

// MarshalBinary implements encoding.BinaryMarshaler.
func (refuses) MarshalBinary() ([]byte, error) { return nil, errors.New("not today") }

type status string

func programs() map[string]program {
	return map[string]program{
		"get and set": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			p.cmd(rdb.Get(ctx, "k"))
			p.cmd(rdb.Set(ctx, "k", "v", 0))
			p.cmd(rdb.Get(ctx, "k"))
			p.cmd(rdb.GetDel(ctx, "k"))
			p.cmd(rdb.GetDel(ctx, "k"))
			p.cmd(rdb.Ping(ctx))
			p.cmd(rdb.Set(ctx, "", "Zoë\x00 日本\r\n", 0))
			p.cmd(rdb.Get(ctx, ""))
		},
		"values of every type": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			s, n, yes, none := "s", 5, true, (*string)(nil)
			at := time.Date(2024, 2, 29, 13, 14, 15, 123, time.UTC)
			hour := time.Hour
			for _, v := range []any{
				nil, "x",
				[]byte{0, 255},
				1, int8(-2), int16(3), int32(4), int64(-5), uint(6), uint8(7), uint16(8), uint32(9), uint64(1 << 63),
				float32(0.1), 1e21, true, false, at, time.Second,
				payment{"p"},
				&payment{"p"}, &s, &n, &yes, none, &at, &hour,
				status("own type"),
				struct{ A int }{1},
				[]string{"a"},
				refuses{},
				map[string]int{},
			} {
				p.err(rdb.Set(ctx, "k", v, 0).Err()) // a pointer would show its address
				p.cmd(rdb.Get(ctx, "k"))
			}
		},
		"numbers as text": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			for _, v := range []string{"", "12", "-3", "1.5", "true", "99999999999999999999", "2024-02-29T13:14:15Z"} {
				p.cmd(rdb.Set(ctx, "k", v, 0))
				p.cmd(rdb.Get(ctx, "k"))
			}
		},
		"set if it is not there": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			for _, ttl := range []time.Duration{0, time.Second, 1500 * time.Millisecond, time.Nanosecond, redis.KeepTTL, -time.Hour} {
				p.cmd(rdb.SetNX(ctx, "k", "a", ttl))
				p.cmd(rdb.SetNX(ctx, "k", "b", ttl))
				p.cmd(rdb.SetXX(ctx, "k", "c", ttl))
				p.cmd(rdb.PTTL(ctx, "k"))
				p.cmd(rdb.Del(ctx, "k"))
				p.cmd(rdb.SetXX(ctx, "k", "d", ttl))
			}
		},
		"set with arguments": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			at := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
			for _, a := range []redis.SetArgs{
				{},
				{Mode: "NX"},
				{Mode: "XX"},
				{Mode: "NX", Get: true},
				{Get: true},
				{TTL: time.Minute},
				{KeepTTL: true},
				{ExpireAt: at},
				{ExpireAt: at.Add(250 * time.Millisecond)},
				{TTL: 10 * time.Millisecond, Mode: "XX", Get: true},
				{Mode: "YY"},
				{TTL: time.Second, KeepTTL: true},
			} {
				p.cmd(rdb.SetArgs(ctx, "k", "v", a))
				p.cmd(rdb.TTL(ctx, "k"))
			}
			p.cmd(rdb.SetArgs(ctx, "new", "v", redis.SetArgs{Get: true}))
			p.cmd(rdb.SetArgs(ctx, "other", "v", redis.SetArgs{Mode: "XX"}))
		},
		"expiry": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			p.cmd(rdb.TTL(ctx, "k"))
			p.cmd(rdb.Expire(ctx, "k", time.Minute))
			p.cmd(rdb.Set(ctx, "k", "v", 0))
			p.cmd(rdb.TTL(ctx, "k"))
			p.cmd(rdb.Expire(ctx, "k", 90*time.Second))
			p.cmd(rdb.TTL(ctx, "k"))
			p.cmd(rdb.Expire(ctx, "k", 20*time.Millisecond))
			p.cmd(rdb.TTL(ctx, "k"))
			p.cmd(rdb.PExpire(ctx, "k", 1234*time.Millisecond))
			p.cmd(rdb.PTTL(ctx, "k"))
			p.cmd(rdb.Persist(ctx, "k"))
			p.cmd(rdb.Persist(ctx, "k"))
			p.cmd(rdb.Set(ctx, "k", "v", time.Hour))
			p.cmd(rdb.Set(ctx, "k", "v", redis.KeepTTL))
			p.cmd(rdb.TTL(ctx, "k"))
			p.cmd(rdb.SetEx(ctx, "k", "v", 90*time.Second)) //nolint:staticcheck // candidates use it
			p.cmd(rdb.SetEx(ctx, "k", "v", 0))              //nolint:staticcheck // candidates use it
			p.cmd(rdb.Expire(ctx, "k", -time.Second))
			p.cmd(rdb.Exists(ctx, "k"))
		},
		"counting": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			p.cmd(rdb.Incr(ctx, "n"))
			p.cmd(rdb.IncrBy(ctx, "n", 41))
			p.cmd(rdb.Decr(ctx, "n"))
			p.cmd(rdb.DecrBy(ctx, "n", -5))
			p.cmd(rdb.Get(ctx, "n"))
			p.cmd(rdb.Set(ctx, "n", "x", 0))
			p.cmd(rdb.Incr(ctx, "n"))
			p.cmd(rdb.Set(ctx, "n", "9223372036854775807", 0))
			p.cmd(rdb.Exists(ctx, "n", "n", "m"))
			p.cmd(rdb.Del(ctx, "n", "m"))
			p.cmd(rdb.Del(ctx))
			p.cmd(rdb.Exists(ctx))
		},
		"scripts": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			unlock := `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`
			p.cmd(rdb.Set(ctx, "lock", "me", time.Minute))
			p.cmd(rdb.Eval(ctx, unlock, []string{"lock"}, "you"))
			p.cmd(rdb.Eval(ctx, unlock, []string{"lock"}, "me"))
			p.cmd(rdb.Eval(ctx, "return #ARGV", nil, []string{"a", "b"}))
			p.cmd(rdb.Eval(ctx, "return #ARGV", nil, []any{"a", 2, 3.5}))
			p.cmd(rdb.Eval(ctx, "return ARGV[1]", nil, time.Second))
		},
		"scripts and what they return": evals("return 1", "return 1.9", "return 'a'", "return '12'", "return nil", "return true", "return false"),
		"scripts and lists":            evals("return {1, 'a', {2}}", "return {1, nil, 3}", "return {}", "return {redis.error_reply('ERR no')}", "return", ""),
		"scripts and the server": evals("return redis.call('get', KEYS[1])", "return redis.call('incr', 'n')", "return redis.pcall('incr', KEYS[1])",
			"return redis.call('incr', KEYS[1])", "return redis.status_reply('FINE')", "return redis.error_reply('MINE no')"),
		"scripts with mistakes": evals("return ARGV[1] .. tostring(#ARGV)", "local n = tonumber(ARGV[1]); if n then return n + 1 end", "return (", "x = 1", "return y"),
		"scripts by name": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			s := redis.NewScript("return redis.call('set', KEYS[1], ARGV[1], 'ex', 10)")
			p.say("%s", s.Hash())
			p.cmd(s.EvalSha(ctx, rdb, []string{"k"}, "v"))
			p.cmd(s.Run(ctx, rdb, []string{"k"}, "v"))
			p.cmd(s.EvalSha(ctx, rdb, []string{"k"}, "w"))
			p.cmd(s.Eval(ctx, rdb, []string{"k"}, "x"))
			p.cmd(rdb.Get(ctx, "k"))
		},
		"pipelines": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			for _, piped := range []func(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error){rdb.Pipelined, rdb.TxPipelined} {
				cmds, err := piped(ctx, func(pipe redis.Pipeliner) error {
					pipe.Set(ctx, "a", 1, time.Minute)
					n := pipe.Incr(ctx, "a")
					p.say("queued %d %v %d", n.Val(), n.Err(), pipe.Len())
					pipe.Get(ctx, "missing")
					pipe.SetNX(ctx, "a", "no", 0)
					pipe.Eval(ctx, "return KEYS[1]", []string{"a"})
					return nil
				})
				p.err(err)
				for _, c := range cmds {
					p.cmd(c)
				}
				cmds, err = piped(ctx, func(redis.Pipeliner) error { return errors.New("own error") })
				p.say("%d", len(cmds))
				p.err(err)
				cmds, err = piped(ctx, func(redis.Pipeliner) error { return nil })
				p.say("%d", len(cmds))
				p.err(err)
				cmds, err = piped(ctx, func(pipe redis.Pipeliner) error {
					pipe.Set(ctx, "text", "t", 0)
					pipe.Incr(ctx, "text")
					pipe.Incr(ctx, "a")
					return nil
				})
				p.err(err)
				for _, c := range cmds {
					p.cmd(c)
				}
				cmds, err = piped(ctx, func(pipe redis.Pipeliner) error {
					pipe.Set(ctx, "a", struct{}{}, 0)
					pipe.Get(ctx, "a")
					return nil
				})
				p.err(err)
				for _, c := range cmds {
					p.cmd(c)
				}
			}
			pipe := rdb.TxPipeline()
			pipe.Del(ctx, "a")
			pipe.Discard()
			p.say("%d", pipe.Len())
			pipe.Exists(ctx, "a")
			cmds, err := pipe.Exec(ctx)
			p.say("%d %d", len(cmds), pipe.Len())
			p.err(err)
			_, err = rdb.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Del(ctx)
				pipe.Get(ctx, "a")
				return nil
			})
			p.err(err)
		},
		"ended context": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			p.cmd(rdb.Set(ctx, "k", "v", 0))
			p.cmd(rdb.Get(ctx, "k"))
		},
		"general interface": func(ctx context.Context, rdb *redis.Client, p *protocol) {
			set := func(c redis.Cmdable) error { return c.Set(ctx, "k", "v", 0).Err() }
			p.err(set(rdb))
			cmd := rdb.Get(ctx, "k")
			p.err(rdb.Process(ctx, cmd))
			p.cmd(cmd)
		},
	}
}

package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"redeliver/grader/guest/abi"
)

// Server is one Redis server. It is not safe for concurrent use: a schedule runs
// one effect at a time.
type Server struct {
	mini    *miniredis.Miniredis
	client  *goredis.Client
	scripts map[string]bool // texts that this schedule has sent
}

// Start starts an empty server. It opens no port.
func Start() *Server {
	s := &Server{mini: miniredis.NewMiniRedis(), scripts: map[string]bool{}}
	s.mini.ClockTTL(true)
	s.client = goredis.NewClient(&goredis.Options{
		Dialer:   func(context.Context, string, string) (net.Conn, error) { return s.mini.Dial() },
		PoolSize: 1,
		// A call ends when the server has answered: never by a clock of ours, and
		// never sent twice.
		MaxRetries: -1, ReadTimeout: -1, WriteTimeout: -1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	return s
}

// Close stops the server.
func (s *Server) Close() error {
	err := s.client.Close()
	s.mini.Close()
	return err
}

// Reset empties the server for the next schedule, which begins at now.
func (s *Server) Reset(ctx context.Context, now time.Time) error {
	s.mini.FlushAll()
	s.mini.SetTime(now)
	s.scripts = map[string]bool{}
	if err := s.client.ScriptFlush(ctx).Err(); err != nil {
		return fmt.Errorf("reset Redis: %w", err)
	}
	return nil
}

// Answer is what a request did.
type Answer struct {
	Reply abi.RedisReply
	// Reads and Writes name what the request touched: "redis:" and a key, and
	// "redis", which every command reads and a script writes, because nobody knows
	// its keys.
	Reads, Writes []string
	Changed       bool // keys, values or expiries are others than before
}

// Do executes a request at an instant that is not before that of the last one.
// What the server answers, errors included, is the Answer; an error is ours.
func (s *Server) Do(ctx context.Context, now time.Time, req abi.RedisRequest) (Answer, error) {
	s.mini.SetTime(now)
	a := Answer{Reply: abi.RedisReply{Values: make([]abi.RedisValue, len(req.Commands))}}
	if why := tooLarge(req); why != "" {
		for i := range a.Reply.Values {
			a.Reply.Values[i] = refusal(why)
		}
		return a, nil
	}
	send := s.admit(req, &a)
	if len(send) == 0 {
		return a, nil
	}
	before := s.State()
	if err := s.exec(ctx, req, send, &a); err != nil {
		return Answer{}, fmt.Errorf("redis: %w", err)
	}
	a.Changed = s.State() != before
	return a, nil
}

// admit decides which commands are sent, by their index, and notes what they
// touch. A refused one has its answer; in MULTI it refuses the others too.
func (s *Server) admit(req abi.RedisRequest, a *Answer) (send []int) {
	for i, c := range req.Commands {
		if why := s.check(c); why != "" {
			a.Reply.Values[i] = refusal(why)
			continue
		}
		send = append(send, i)
		touch(c, a)
	}
	if req.Tx && len(send) < len(req.Commands) {
		a.Reply.Discarded = discarded
		for _, i := range send {
			a.Reply.Values[i] = abi.RedisValue{Kind: abi.RedisError, Text: discarded}
		}
		a.Reads, a.Writes = nil, nil
		return nil
	}
	return send
}

// discarded is what the server answers to EXEC after a command that it refused.
const discarded = "EXECABORT Transaction discarded because of previous errors."

func refusal(why string) abi.RedisValue {
	return abi.RedisValue{Kind: abi.RedisError, Text: "ERR " + why}
}

// exec sends commands in one round trip.
func (s *Server) exec(ctx context.Context, req abi.RedisRequest, send []int, a *Answer) error {
	cmds := make([]*goredis.Cmd, 0, len(send))
	queue := func(p goredis.Pipeliner) error {
		for _, i := range send {
			cmds = append(cmds, p.Do(ctx, anys(req.Commands[i])...))
		}
		return nil
	}
	switch { // errors are in the commands too
	case req.Tx:
		if _, err := s.client.TxPipelined(ctx, queue); goredis.HasErrorPrefix(err, "EXECABORT") {
			a.Reply.Discarded = err.Error()
		}
	case len(send) > 1:
		_, _ = s.client.Pipelined(ctx, queue)
	default:
		cmds = append(cmds, s.client.Do(ctx, anys(req.Commands[send[0]])...))
	}
	for n, i := range send {
		v, err := valueOf(cmds[n].Result())
		if err != nil {
			return err
		}
		a.Reply.Values[i] = v
	}
	return nil
}

func anys(args []string) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		out[i] = arg
	}
	return out
}

// valueOf translates what the real client read. An error that is not the
// server's is ours.
func valueOf(val any, err error) (abi.RedisValue, error) {
	var answered goredis.Error
	switch {
	case errors.Is(err, goredis.Nil):
		return abi.RedisValue{}, nil
	case errors.As(err, &answered):
		return abi.RedisValue{Kind: abi.RedisError, Text: answered.Error()}, nil
	case err != nil:
		return abi.RedisValue{}, err
	}
	switch x := val.(type) {
	case nil:
		return abi.RedisValue{}, nil
	case int64:
		return abi.RedisValue{Kind: abi.RedisInt, Int: x}, nil
	case string:
		return abi.RedisValue{Kind: abi.RedisText, Text: x}, nil
	case goredis.Error: // in a list
		return abi.RedisValue{Kind: abi.RedisError, Text: x.Error()}, nil
	case []any:
		list := make([]abi.RedisValue, len(x))
		for i, e := range x {
			if list[i], err = valueOf(e, nil); err != nil {
				return abi.RedisValue{}, err
			}
		}
		return abi.RedisValue{Kind: abi.RedisList, List: list}, nil
	default:
		return abi.RedisValue{}, fmt.Errorf("the server answered with a %T", val)
	}
}

// State describes what the server holds: equal states have equal futures. An
// expiry counts by what is left of it, in whole seconds.
func (s *Server) State() string {
	var b []byte
	for _, key := range s.mini.Keys() {
		value, err := s.mini.Get(key)
		if err != nil {
			value = err.Error() // no command of ours makes a key that is not a string
		}
		b = abi.AppendString(abi.AppendString(b, key), value)
		b = abi.AppendInt(b, int64((s.mini.TTL(key)+time.Second-1)/time.Second))
	}
	return string(b)
}

// Expiry is when the last of the keys that expire does so, counted from now.
// 0: none does.
func (s *Server) Expiry(now time.Time) time.Duration {
	s.mini.SetTime(now)
	var last time.Duration
	for _, key := range s.mini.Keys() {
		last = max(last, s.mini.TTL(key))
	}
	return last
}

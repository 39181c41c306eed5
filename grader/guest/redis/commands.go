package redis

import (
	"context"
	"time"
)

// Cmdable is what a client and a pipeline have in common.
type Cmdable interface {
	Pipeline() Pipeliner
	Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error)
	TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error)
	TxPipeline() Pipeliner

	Ping(ctx context.Context) *StatusCmd
	Get(ctx context.Context, key string) *StringCmd
	GetDel(ctx context.Context, key string) *StringCmd
	Set(ctx context.Context, key string, value interface{}, expiration time.Duration) *StatusCmd
	SetArgs(ctx context.Context, key string, value interface{}, a SetArgs) *StatusCmd
	SetEx(ctx context.Context, key string, value interface{}, expiration time.Duration) *StatusCmd
	SetNX(ctx context.Context, key string, value interface{}, expiration time.Duration) *BoolCmd
	SetXX(ctx context.Context, key string, value interface{}, expiration time.Duration) *BoolCmd
	Incr(ctx context.Context, key string) *IntCmd
	IncrBy(ctx context.Context, key string, value int64) *IntCmd
	Decr(ctx context.Context, key string) *IntCmd
	DecrBy(ctx context.Context, key string, decrement int64) *IntCmd
	Del(ctx context.Context, keys ...string) *IntCmd
	Exists(ctx context.Context, keys ...string) *IntCmd
	Expire(ctx context.Context, key string, expiration time.Duration) *BoolCmd
	PExpire(ctx context.Context, key string, expiration time.Duration) *BoolCmd
	Persist(ctx context.Context, key string) *BoolCmd
	TTL(ctx context.Context, key string) *DurationCmd
	PTTL(ctx context.Context, key string) *DurationCmd
	Eval(ctx context.Context, script string, keys []string, args ...interface{}) *Cmd
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...interface{}) *Cmd
}

var (
	_ Cmdable   = (*Client)(nil)
	_ Pipeliner = (*pipeline)(nil)
)

// cmdable has the methods of the commands over a function that sends one, or
// queues it.
type cmdable func(ctx context.Context, cmd Cmder) error

// Ping asks whether the server is there. The value is PONG.
func (c cmdable) Ping(ctx context.Context) *StatusCmd {
	cmd := NewStatusCmd(ctx, "ping")
	_ = c(ctx, cmd)
	return cmd
}

// Get reads a key. Without the key the error is Nil.
func (c cmdable) Get(ctx context.Context, key string) *StringCmd {
	cmd := NewStringCmd(ctx, "get", key)
	_ = c(ctx, cmd)
	return cmd
}

// GetDel reads a key and removes it, in one step.
func (c cmdable) GetDel(ctx context.Context, key string) *StringCmd {
	cmd := NewStringCmd(ctx, "getdel", key)
	_ = c(ctx, cmd)
	return cmd
}

// Set writes a key. An expiration of 0 means that it does not expire, KeepTTL
// that it expires as before.
func (c cmdable) Set(ctx context.Context, key string, value interface{}, expiration time.Duration) *StatusCmd {
	args := []interface{}{"set", key, value}
	switch {
	case expiration > 0:
		args = append(args, expiry(expiration)...)
	case expiration == KeepTTL:
		args = append(args, "keepttl")
	}
	cmd := NewStatusCmd(ctx, args...)
	_ = c(ctx, cmd)
	return cmd
}

// SetArgs are the options of the command SET.
type SetArgs struct {
	// Mode is "NX" (only when the key is not there), "XX" (only when it is), or "".
	Mode string
	// TTL and ExpireAt are zero for a key that does not expire.
	TTL      time.Duration
	ExpireAt time.Time
	// Get asks for the value that the key had; the error is Nil when there was none.
	Get bool
	// KeepTTL lets the key expire as before.
	KeepTTL bool
}

// SetArgs writes a key with the options of the command SET. With a Mode that does
// not apply the error is Nil.
func (c cmdable) SetArgs(ctx context.Context, key string, value interface{}, a SetArgs) *StatusCmd {
	args := []interface{}{"set", key, value}
	if a.KeepTTL {
		args = append(args, "keepttl")
	}
	switch {
	case a.ExpireAt.IsZero():
	case a.ExpireAt.Nanosecond() >= int(time.Millisecond):
		args = append(args, "pxat", a.ExpireAt.UnixMilli())
	default:
		args = append(args, "exat", a.ExpireAt.Unix())
	}
	if a.TTL > 0 {
		args = append(args, expiry(a.TTL)...)
	}
	if a.Mode != "" {
		args = append(args, a.Mode)
	}
	if a.Get {
		args = append(args, "get")
	}
	cmd := NewStatusCmd(ctx, args...)
	_ = c(ctx, cmd)
	return cmd
}

// SetEx writes a key that expires after whole seconds.
func (c cmdable) SetEx(ctx context.Context, key string, value interface{}, expiration time.Duration) *StatusCmd {
	cmd := NewStatusCmd(ctx, "setex", key, seconds(expiration), value)
	_ = c(ctx, cmd)
	return cmd
}

// SetNX writes a key if it is not there, and says whether it did.
func (c cmdable) SetNX(ctx context.Context, key string, value interface{}, expiration time.Duration) *BoolCmd {
	return c.setIf(ctx, "nx", key, value, expiration)
}

// SetXX writes a key if it is there, and says whether it did.
func (c cmdable) SetXX(ctx context.Context, key string, value interface{}, expiration time.Duration) *BoolCmd {
	return c.setIf(ctx, "xx", key, value, expiration)
}

func (c cmdable) setIf(ctx context.Context, mode, key string, value interface{}, expiration time.Duration) *BoolCmd {
	args := []interface{}{"set", key, value}
	switch expiration {
	case 0:
	case KeepTTL:
		args = append(args, "keepttl")
	default: // also a negative one, which the server refuses
		args = append(args, expiry(expiration)...)
	}
	cmd := NewBoolCmd(ctx, append(args, mode)...)
	_ = c(ctx, cmd)
	return cmd
}

// Incr adds one to a key; without the key it begins at 0.
func (c cmdable) Incr(ctx context.Context, key string) *IntCmd { return c.count(ctx, "incr", key) }

// IncrBy adds to a key.
func (c cmdable) IncrBy(ctx context.Context, key string, value int64) *IntCmd {
	return c.count(ctx, "incrby", key, value)
}

// Decr subtracts one from a key.
func (c cmdable) Decr(ctx context.Context, key string) *IntCmd { return c.count(ctx, "decr", key) }

// DecrBy subtracts from a key.
func (c cmdable) DecrBy(ctx context.Context, key string, decrement int64) *IntCmd {
	return c.count(ctx, "decrby", key, decrement)
}

// Del removes keys and says how many there were.
func (c cmdable) Del(ctx context.Context, keys ...string) *IntCmd {
	return c.count(ctx, append([]interface{}{"del"}, anys(keys)...)...)
}

// Exists says how many of the keys are there.
func (c cmdable) Exists(ctx context.Context, keys ...string) *IntCmd {
	return c.count(ctx, append([]interface{}{"exists"}, anys(keys)...)...)
}

func (c cmdable) count(ctx context.Context, args ...interface{}) *IntCmd {
	cmd := NewIntCmd(ctx, args...)
	_ = c(ctx, cmd)
	return cmd
}

// Expire lets a key expire after whole seconds, and says whether it is there.
func (c cmdable) Expire(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.ask(ctx, "expire", key, seconds(expiration))
}

// PExpire lets a key expire, and says whether it is there.
func (c cmdable) PExpire(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.ask(ctx, "pexpire", key, milliseconds(expiration))
}

// Persist lets a key stay for ever, and says whether that was new.
func (c cmdable) Persist(ctx context.Context, key string) *BoolCmd { return c.ask(ctx, "persist", key) }

func (c cmdable) ask(ctx context.Context, args ...interface{}) *BoolCmd {
	cmd := NewBoolCmd(ctx, args...)
	_ = c(ctx, cmd)
	return cmd
}

// TTL says in seconds when a key expires: -1 (a nanosecond) for never, -2 when the
// key is not there.
func (c cmdable) TTL(ctx context.Context, key string) *DurationCmd {
	cmd := NewDurationCmd(ctx, time.Second, "ttl", key)
	_ = c(ctx, cmd)
	return cmd
}

// PTTL is TTL in milliseconds.
func (c cmdable) PTTL(ctx context.Context, key string) *DurationCmd {
	cmd := NewDurationCmd(ctx, time.Millisecond, "pttl", key)
	_ = c(ctx, cmd)
	return cmd
}

// Eval runs a Lua script at the server, as one command.
func (c cmdable) Eval(ctx context.Context, script string, keys []string, args ...interface{}) *Cmd {
	return c.eval(ctx, "eval", script, keys, args)
}

// EvalSha runs a script that the server has run before, named by its SHA-1.
func (c cmdable) EvalSha(ctx context.Context, sha1 string, keys []string, args ...interface{}) *Cmd {
	return c.eval(ctx, "evalsha", sha1, keys, args)
}

func (c cmdable) eval(ctx context.Context, name, what string, keys []string, args []interface{}) *Cmd {
	all := append([]interface{}{name, what, len(keys)}, anys(keys)...)
	cmd := NewCmd(ctx, append(all, spread(args)...)...)
	_ = c(ctx, cmd)
	return cmd
}

func anys(keys []string) []interface{} {
	out := make([]interface{}, len(keys))
	for i, k := range keys {
		out[i] = k
	}
	return out
}

// spread takes a single slice of arguments apart, as the real client does.
func spread(args []interface{}) []interface{} {
	if len(args) != 1 {
		return args
	}
	switch list := args[0].(type) {
	case nil:
		return nil
	case []string:
		return anys(list)
	case []interface{}:
		return list
	default:
		return args
	}
}

// expiry is an expiration as SET takes it: whole seconds when that is exact.
func expiry(d time.Duration) []interface{} {
	if d < time.Second || d%time.Second != 0 {
		return []interface{}{"px", milliseconds(d)}
	}
	return []interface{}{"ex", seconds(d)}
}

// seconds and milliseconds round down, but never a positive duration to 0.
func seconds(d time.Duration) int64 { return roundTo(d, time.Second) }

func milliseconds(d time.Duration) int64 { return roundTo(d, time.Millisecond) }

func roundTo(d, unit time.Duration) int64 {
	if d > 0 && d < unit {
		return 1
	}
	return int64(d / unit)
}

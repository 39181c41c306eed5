package grader

import (
	"context"
	"fmt"
	"io"

	"redeliver/grader/guest/abi"
	"redeliver/grader/invariant"
	"redeliver/grader/ledger"
	"redeliver/grader/redis"
	"redeliver/grader/sandbox"
	"redeliver/grader/trace"
)

// redisEffect is one round trip to Redis: a command or a pipeline.
type redisEffect struct{ req abi.RedisRequest }

func readRedis(q request) (redisEffect, error) {
	r := abi.NewReader(q.in)
	e := redisEffect{r.RedisRequest()}
	if err := r.End(); err != nil {
		return redisEffect{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return e, nil
}

func (e redisEffect) position() abi.Position { return e.req.At }

func (e redisEffect) event() string { return trace.Redis }

func (e redisEffect) text() string { return ledger.Shorten(redis.Text(e.req), 300) }

func (e redisEffect) noun() string { return ledger.Shorten(redis.Label(e.req), 80) }

func (e redisEffect) perform(ctx context.Context, w *world, _ string) (outcome, error) {
	if w.redis == nil {
		return e.noAnswer("the exercise has no Redis"), nil
	}
	a, err := w.redis.server.Do(ctx, w.clock.Now(), e.req)
	if err != nil {
		return outcome{}, err
	}
	return outcome{
		reply:  abi.AppendRedisReply(nil, a.Reply),
		result: ledger.Shorten(redis.Result(a.Reply.Values), 160),
		access: ledger.Access{Reads: a.Reads, Writes: a.Writes, Durable: a.Changed},
	}, nil
}

// fault is the network error of a client that waited in vain for the answer. It
// says the same whether the commands were executed or not.
func (e redisEffect) fault(what string) outcome {
	const text = "read tcp 10.0.0.2:41794->10.0.0.1:6379: i/o timeout"
	out := e.noAnswer(text)
	out.result, out.fault = "error: i/o timeout ("+what+")", true
	return out
}

func (redisEffect) abandon(*world, string) error { return nil }

func (redisEffect) noAnswer(text string) outcome {
	return outcome{reply: abi.AppendRedisReply(nil, abi.RedisReply{Lost: text}), result: "error: " + text}
}

// redisKeys is the service behind the submission's Redis client.
type redisKeys struct {
	server *redis.Server
	clock  *sandbox.Clock
}

func (k *redisKeys) reset(ctx context.Context, _ *recordSet) error {
	return k.server.Reset(ctx, k.clock.Now())
}

// kill does nothing: a client that dies leaves no trace at the server, which
// executes a transaction only when all of it has arrived.
func (*redisKeys) kill(string) error { return nil }

func (k *redisKeys) state(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, k.server.State())
	return err
}

func (*redisKeys) tables(context.Context) (map[string]invariant.Table, error) { return nil, nil }

func (k *redisKeys) close() error { return k.server.Close() }
